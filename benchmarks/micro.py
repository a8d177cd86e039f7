"""Micro-benchmark: a native epoch beside a hand-written C loop (loop.c) over the same arrays in the same order.

    python benchmarks/micro.py            # 200,000 x 47,236, about two minutes; writes benchmarks/results/micro.md
    python benchmarks/micro.py --rows 20000 --output -

Two requirements are checked, on CSR rows of float64:
- an epoch of sgd-s or dcd (no shrinking) takes at most 1.3 times the time of the C loop, both charged for making the
  visiting order (with the same code), the C loop with or without prefetching, whichever is faster;
- an epoch in block order takes at most 0.6 times the time of one in full permutation.
Float32 and dense rows are measured for information.

Times are CPU times of the one thread that works (the epochs do no I/O), medians over repetitions; native epoch and C
loops take turns within a repetition, and a ratio is the median of the ratios of the repetitions. After the last one,
native state and C state are compared: equal to the bit, so the work measured is the same.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hinge import _core
from hinge.problem import LOSSES, Blocks, Intercept, Problem, as_rows

sys.path.insert(0, str(Path(__file__).resolve().parent))
from common.data import load
from common.store import RESULTS, machine

_SOURCE = Path(__file__).resolve().with_name("loop.c")
_C = 1.0
_SEED = 0
_WARM_UP = 2
_PREFETCH = 2  # rows ahead, as in the native loops
_LIMIT_LOOP, _LIMIT_BLOCK = 1.3, 0.6


class _SgdState(ctypes.Structure):
    _fields_ = (("loss", ctypes.c_double), ("r", ctypes.c_double), ("errors", ctypes.c_double), ("t", ctypes.c_int64))


def compile_loops(directory: str) -> dict[str, ctypes.CDLL]:
    """loop.c as a shared library per value type."""
    libraries = {}
    for dtype, name in (("float64", "double"), ("float32", "float")):
        target = str(Path(directory) / f"loop_{dtype}.so")
        command = [os.environ.get("CC", "cc"), "-O3", "-shared", "-fPIC", "-ffp-contract=off", f"-DVALUE={name}"]
        subprocess.run([*command, str(_SOURCE), "-o", target], check=True)
        libraries[dtype] = ctypes.CDLL(target)
    return libraries


def pointer(array: npt.NDArray[Any] | None) -> ctypes.c_void_p:
    """The address of an array's first element."""
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


class Arrays:
    """Rows and labels, as the native core and as the C loops see them."""

    def __init__(self, X: Any, y: npt.NDArray[np.float64], libraries: dict[str, ctypes.CDLL]) -> None:
        self.X = X
        self.y = y.astype(np.int8)
        self.m, self.d = X.shape
        self.problem = Problem.make(
            as_rows(X), y, np.full(self.m, _C), loss=LOSSES["hinge"], intercept=Intercept("none")
        )
        self.norms = np.array(self.problem.rows.squared_norms)
        self.sparse = bool(sp.issparse(X))
        self.bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if self.sparse else X.nbytes
        self.library = libraries[str(X.dtype)]

    @property
    def name(self) -> str:
        return f"{'CSR' if self.sparse else 'dense'} {self.X.dtype}"

    def native(self, solver: str, order: _core.Order) -> Any:
        """A native run."""
        rng = _core.Rng([_SEED])
        if solver == "sgd-s":
            return _core.Sgd(self.problem.native, _core.Presentation.single, order, rng)
        return _core.Dcd(self.problem.native, False, False, 0.0, 0.0, 0, order, rng, 1)

    def loop(self, solver: str, ahead: int) -> tuple[Callable[[npt.NDArray[np.int64]], None], npt.NDArray[np.float64]]:
        """The C loop as a function of the visiting order, and the weights it works on."""
        function = getattr(self.library, f"{'sgd' if solver == 'sgd-s' else 'dcd'}_{'csr' if self.sparse else 'dense'}")
        function.restype = None
        values, index, indptr = (self.X.data, self.X.indices, self.X.indptr) if self.sparse else (self.X, None, None)
        if self.sparse and (index.dtype != np.int32 or indptr.dtype != np.int32):
            raise TypeError("loop.c reads int32 indices")
        weights = np.zeros(self.d)
        if solver == "sgd-s":
            state = (np.zeros(self.m, dtype=np.int64), _SgdState())
            rest = (pointer(state[0]), ctypes.byref(state[1]))
        else:
            state = (np.zeros(self.m),)
            rest = (pointer(state[0]),)
        size = (ctypes.c_int64(self.m), ctypes.c_int64(self.d))
        rows = (pointer(values), pointer(index), pointer(indptr), pointer(self.y), pointer(self.norms))

        def epoch(visit: npt.NDArray[np.int64], _keep: Any = state) -> None:
            function(*size, *rows, ctypes.c_double(_C), pointer(visit), ctypes.c_int64(ahead), pointer(weights), *rest)

        return epoch, weights


@dataclass
class Times:
    """Seconds of CPU per repetition."""

    native: list[float] = field(default_factory=list)
    order: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    fetching: list[float] = field(default_factory=list)

    def ratio(self, charged: bool = True) -> float:
        """Native time over that of the faster C loop, with or without the time of making the order."""
        order = np.array(self.order) if charged else 0.0
        native = np.array(self.native)
        return float(max(np.median(native / (np.array(c) + order)) for c in (self.plain, self.fetching)))


def timed(work: Callable[[], Any], into: list[float]) -> Any:
    """The result of `work`; its CPU time goes to `into`."""
    began = time.thread_time()
    result = work()
    into.append(time.thread_time() - began)
    return result


def measure(arrays: Arrays, solver: str, orders: dict[str, _core.Order], repetitions: int) -> dict[str, Times]:
    """Native and C epochs in turn, for every order."""
    times = {name: Times() for name in orders}
    poll = _core.Poll(_core.StopToken())
    runs = {}
    for name, order in orders.items():
        plain, w_plain = arrays.loop(solver, 0)
        fetching, w_fetching = arrays.loop(solver, _PREFETCH)
        runs[name] = (arrays.native(solver, order), _core.Rng([_SEED]), plain, fetching, (w_plain, w_fetching))
    for repetition in range(_WARM_UP + repetitions):
        for name, order in orders.items():
            native, rng, plain, fetching, _ = runs[name]
            into = times[name] if repetition >= _WARM_UP else Times()
            visit = timed(partial(order.of_all, arrays.m, rng), into.order)
            turns: list[tuple[Callable[[], Any], list[float]]] = [
                (partial(native.advance, 1, poll), into.native),
                (partial(plain, visit), into.plain),
                (partial(fetching, visit), into.fetching),
            ]
            for k in range(len(turns)):
                timed(*turns[(k + repetition) % len(turns)])
    for name, (native, _, _, _, weights) in runs.items():
        found = native.state()["a" if solver == "sgd-s" else "w"][:-1]
        for w in weights:
            if not np.array_equal(found, w):
                largest = np.abs(found - w).max()
                raise AssertionError(f"{arrays.name}, {solver}, {name}: native and C loop differ by {largest}")
    return times


def sequential(arrays: Arrays, solver: str, repetitions: int) -> float:
    """The C loop over the rows as they lie in memory."""
    epoch, _ = arrays.loop(solver, 0)
    visit = np.arange(arrays.m)
    seconds: list[float] = []
    for _ in range(_WARM_UP + repetitions):
        timed(partial(epoch, visit), seconds)
    return float(np.median(seconds[_WARM_UP:]))


def tasks(n_rows: int, libraries: dict[str, ctypes.CDLL]) -> Iterator[Arrays]:
    """CSR text in float64 (the requirement) and float32, dense rows of 200 features."""
    X, y = load(f"RCV1-like {n_rows}")
    yield Arrays(X, y, libraries)
    yield Arrays(X.astype(np.float32), y, libraries)
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((n_rows, 200)) / np.sqrt(200.0)
    y = np.where(dense @ rng.standard_normal(200) + 0.5 * rng.standard_normal(n_rows) > 0, 1.0, -1.0)
    yield Arrays(dense, y, libraries)
    yield Arrays(dense.astype(np.float32), y, libraries)


HEADER = (
    "| rows | solver | order | native ms | GB/s | order ms | C loop ms | C loop, prefetching ms "
    "| ratio with order | ratio without |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def line(arrays: Arrays, solver: str, order: str, times: Times) -> str:
    """A row of the table."""
    native, made, plain, fetching = (
        1e3 * float(np.median(x)) for x in (times.native, times.order, times.plain, times.fetching)
    )
    return (
        f"| {arrays.name} | {solver} | {order} | {native:.1f} | {arrays.bytes / native / 1e6:.2f} | {made:.1f} "
        f"| {plain:.1f} | {fetching:.1f} | {times.ratio():.2f} | {times.ratio(charged=False):.2f} |"
    )


def verdicts(solver: str, times: dict[str, Times]) -> Iterator[tuple[bool, str]]:
    """The requirements on CSR float64."""
    for name in ("permutation", "blocks"):
        ratio = times[name].ratio()
        yield ratio <= _LIMIT_LOOP, f"{solver}, {name}: {ratio:.2f} x the C loop (at most {_LIMIT_LOOP})"
    ratio = float(np.median(np.array(times["blocks"].native) / np.array(times["permutation"].native)))
    text = f"{solver}: block order takes {ratio:.2f} x the full permutation (at most {_LIMIT_BLOCK})"
    yield ratio <= _LIMIT_BLOCK, text


def main() -> int:
    """Measure, print, write; 1 if a requirement is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repetitions", type=int, default=11)
    parser.add_argument("--only-required", action="store_true", help="CSR float64 only")
    parser.add_argument("--output", default=str(RESULTS / "micro.md"), help="file for the report; - for none")
    options = parser.parse_args()
    blocks = Blocks()
    orders = {
        "permutation": _core.Order(0, 1),
        "blocks": _core.Order(blocks.rows, blocks.group),
        "blocks in turn": _core.Order(blocks.rows, 1),
    }
    lines, checks = [HEADER], []
    print(f"{machine()}\n\n{HEADER}")

    def report(text: str) -> None:
        lines.append(text)
        print(text, flush=True)

    with tempfile.TemporaryDirectory() as directory:
        for number, arrays in enumerate(tasks(options.rows, compile_loops(directory))):
            if number == 0:
                shape = f"{arrays.m:,} x {arrays.d:,} with {arrays.X.nnz:,} stored values"
            elif options.only_required:
                break
            for solver in ("sgd-s", "dcd"):
                times = measure(arrays, solver, orders, options.repetitions)
                for name in orders:
                    report(line(arrays, solver, name, times[name]))
                if number == 0:
                    checks += list(verdicts(solver, times))
                seconds = sequential(arrays, solver, options.repetitions)
                speed = arrays.bytes / seconds / 1e9
                report(f"| {arrays.name} | {solver} | sequential | | {speed:.2f} | | {1e3 * seconds:.1f} | | | |")
    judged = [f"- {'met' if met else '**missed**'}: {text}" for met, text in checks]
    print("\n" + "\n".join(judged))
    if options.output != "-":
        Path(options.output).write_text(
            "# Native epochs beside a hand-written C loop\n\n"
            f"Made by `python benchmarks/micro.py --rows {options.rows} --repetitions {options.repetitions}` on: "
            f"{machine()}.\n\n"
            f"CSR rows: {shape}; dense rows: {options.rows:,} x 200; C = {_C:g}. CPU milliseconds of one epoch on one "
            f"thread, medians of {options.repetitions}. `order ms` is the time to make the visiting order, which the "
            "native epoch contains. Ratios are to the faster of the two C loops: *with order* charges the loop for an "
            "order too (this is the requirement); *without* compares the native epoch, order included, with the bare "
            f"loop. Blocks are of {blocks.rows} rows, {blocks.group} open at a time. GB/s: values and indices of all "
            "rows, counted once per epoch, over the native time (sequential: over that of the C loop).\n\n"
            + "\n".join(lines)
            + "\n\nRequirements:\n\n"
            + "\n".join(judged)
            + "\n"
        )
    return 0 if all(met for met, _ in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
