"""How the default call scales: against one pass over the rows, with threads, with a free intercept, and with the number of
rows (time and peak memory).

    python benchmarks/scaling.py                          # benchmarks/results/scaling.md and scaling.png
    python benchmarks/scaling.py --only threads --output trial.md

Every figure is a median of --repeats default calls at tol = 1e-3 and C = 1, wall-clock time, side by side in one run. A size of the
growth table runs in a process of its own; memory is what the call adds at its peak to the process that holds X and y.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common import data, plots
from common.problem import Labelled
from common.store import RESULTS, markdown

import hinge

_COVERTYPE_ROWS = (10_000, 40_000, 160_000, 640_000, 1_600_000, 5_800_000)
_TEXT_ROWS = (25_000, 100_000, 400_000, 1_600_000)


def covertype_like(rows: int) -> Labelled:
    """So many rows of Covertype, standardised, with noise, so that no two are the same."""
    X, y = data.load("Covertype, standardised")
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(y), size=rows)
    X = X[drawn]
    for begin in range(0, rows, 100_000):  # in parts: the noise takes as much memory as the rows
        part = X[begin : begin + 100_000]
        part += 0.05 * rng.standard_normal(part.shape)
    return X, y[drawn]


def dense_digits() -> Labelled:
    """MNIST, 0 to 4 against 5 to 9, dense."""
    X, y = data.mnist()
    return np.ascontiguousarray(X.toarray()), y


GROWING: dict[str, tuple[Callable[[int], Labelled], tuple[int, ...]]] = {
    "Covertype-like": (covertype_like, _COVERTYPE_ROWS),
    "RCV1-like": (data.MADE["RCV1-like"], _TEXT_ROWS),
}


def seconds(X: Any, y: Any, repeats: int, **options: Any) -> float:
    """The median of so many calls."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        solution = hinge.solve(X, y, **options)
        times.append(time.perf_counter() - began)
        assert solution.status == "converged", solution.status
        del solution  # or its multipliers and its state would count as memory of the next call
    return statistics.median(times)


def compared(names: list[str], ways: dict[str, dict[str, Any]], repeats: int, digits: int) -> str:
    """Two ways to call, and the ratio of the slower header to the first."""
    first, second = ways
    rows = []
    for name in names:
        X, y = dense_digits() if name.startswith("MNIST") else data.load(name)
        a, b = (seconds(X, y, repeats, **options) for options in ways.values())
        ratio = a / b if "thread" in first else b / a
        rows.append((name, f"{a:.{digits}f}", f"{b:.{digits}f}", f"{ratio:.2f}"))
        print(*rows[-1], sep=" | ", flush=True)
    return markdown(("data", f"{first} (s)", f"{second} (s)", "ratio"), rows)


def threads(repeats: int, text_rows: int) -> str:
    """One thread and two."""
    names = ["Covertype, standardised", "MNIST 0-4 against 5-9", f"RCV1-like {text_rows:,}"]
    return compared(names, {"one thread": {"n_jobs": 1}, "two": {"n_jobs": 2}}, repeats, 2)


def intercepts(repeats: int) -> str:
    """A free intercept against none."""
    names = ["Adult", "Web", "IJCNN1", "Covertype, standardised", "20 newsgroups", "RCV1-like 100,000"]
    return compared(names, {"none": {"intercept": "none"}, "free": {"intercept": "free"}}, repeats, 3)


def passes(repeats: int) -> str:
    """A fit against one pass over its rows: one thread each, one after the other."""
    X, y = data.load("Covertype, standardised")
    w = np.ones(X.shape[1])
    rows = []
    with threadpool_limits(1):
        for tol, wanted in ((1e-3, 12), (1e-6, 30)):
            passes, fits = [], []
            for _ in range(repeats):
                began = time.perf_counter()
                X @ w
                passes.append(time.perf_counter() - began)
                fits.append(seconds(X, y, 1, tol=tol))
            a, b = statistics.median(passes), statistics.median(fits)
            rows.append((f"{tol:g}", f"{1e3 * a:.1f}", f"{1e3 * b:.1f}", f"{b / a:.1f}", str(wanted)))
            print(*rows[-1], sep=" | ", flush=True)
    return markdown(("tol", "X @ w in NumPy (ms)", "hinge.solve (ms)", "ratio", "at most"), rows)


def _memory(field: str) -> int:
    """Bytes, from /proc."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(next(line for line in text.splitlines() if line.startswith(field)).split()[1])


def one_size(name: str, rows: int, repeats: int) -> None:
    """Prints: bytes of the data, seconds, peak bytes beyond them."""
    X, y = GROWING[name][0](rows)
    held = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    hinge.solve(X[:1000], y[:1000])  # what the first call imports does not count
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak begins anew
    taken = seconds(X, y, repeats)
    print(held, taken, _memory("VmHWM") - before)


def growth(repeats: int, largest: float, picture: Path) -> str:
    """Time and memory against the number of rows."""
    rows, slopes, curves = [], [], []
    looks = plots.styles(list(GROWING))
    for name, (_, sizes) in GROWING.items():
        times = []
        for size in (size for size in sizes if size <= largest):
            command = [sys.executable, __file__, "--one-size", name, str(size), "--repeats", str(repeats)]
            found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            held, taken, peak = (float(x) for x in found)
            times.append((size, taken))
            per_row = f"{1e6 * taken / size:.2f}"
            rows.append((name, f"{size:,}", f"{held / 1e6:.0f}", f"{taken:.3f}", per_row, f"{peak / held:.1%}"))
            print(*rows[-1], sep=" | ", flush=True)
        slope = np.polyfit(*np.log(np.array(times).T), 1)[0]
        slopes.append(f"- {name}: time grows with the power {slope:.2f} of the number of rows")
        x, y = zip(*times, strict=True)
        curves.append(plots.Curve(name, x, y, looks[name]))
        curves.append(plots.Curve("", x, [y[-1] * size / x[-1] for size in x], plots.dashed(looks[name])))
    title = "Time against rows (dashed: proportional to rows)"
    plots.save([plots.Panel(title, "rows", "seconds of a default call", curves)], picture)
    header = ("data", "rows", "data (MB)", "seconds", "microseconds a row", "peak memory beyond the data")
    return "\n".join([markdown(header, rows), "", *slopes, "", f"![Seconds against rows]({picture.name})"])


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=["passes", "threads", "intercepts", "growth"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--text-rows", type=int, default=804_414)
    parser.add_argument("--largest", type=float, default=1e9)
    parser.add_argument("--output", type=Path, default=RESULTS / "scaling.md")
    parser.add_argument("--one-size", nargs=2, metavar=("NAME", "ROWS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one_size is not None:
        one_size(given.one_size[0], int(given.one_size[1]), given.repeats)
        return
    sections = {
        "passes": ("Covertype, standardised, against one pass over its rows", lambda: passes(given.repeats)),
        "threads": ("Threads", lambda: threads(given.repeats, given.text_rows)),
        "intercepts": ("A free intercept", lambda: intercepts(given.repeats)),
        "growth": ("Growth", lambda: growth(given.repeats, given.largest, given.output.with_suffix(".png"))),
    }
    page = [
        "# Scaling",
        "",
        f"`python benchmarks/scaling.py {' '.join(sys.argv[1:])}`: default calls, C = 1, tol = 1e-3, wall-clock time, medians of "
        f"{given.repeats}, two cores.",
    ]
    for name in given.only or sections:
        title, measure = sections[name]
        page += ["", f"## {title}", "", measure()]
    given.output.write_text("\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
