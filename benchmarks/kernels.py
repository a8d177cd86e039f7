"""Kernel machines against scikit-learn: CPU and wall seconds of training to a test error.

    python benchmarks/kernels.py [features] [covertype] [exact] [lasvm] [streams] [ijcnn1] [landmarks] [splits]

All programs run in one process, one after the other, and the table has medians. `seconds` are those of the wall clock with two
threads, which other work on the machine disturbs; `CPU s` are those of all threads of the process, with those in which the threads of
a matrix library wait for each other. The parameters are those of the ASSET paper. `lasvm`, `streams`, `ijcnn1`,
`landmarks` and `splits` have one thread.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common import data, sources
from common.problem import Split
from common.store import RESULTS, markdown
from papers import printed
from papers.asset_online import SampledSGD

import hinge

RESULT = RESULTS / "kernels.md"
_PASSES = 100  # of LinearSVC, which takes minutes for more
_HEADER = ("data set", "program", "training rows", "test error", "seconds", "CPU s", "runs")
_STREAMED = ("rows", "program", "features", "test error", "CPU s", "rows / s", "microseconds a row", "runs")
_BY_SEED = ("data set", "program", "training rows", "test errors by seed, %", "mean", "CPU s")
_BATCH = 1000  # rows of a call of partial_fit


@dataclass(frozen=True)
class Case:
    """Dense rows in float32, and the paper's C, gamma and s."""

    name: str
    rows: Split
    paper: printed.Kernelised

    @classmethod
    def load(cls, name: str) -> Case:
        return cls.of(name, sources.split_of(name))

    @classmethod
    def of(cls, name: str, split: Split) -> Case:
        dense = Split(_dense(split.X), split.y, _dense(split.X_test), split.y_test)
        return cls(name, dense, printed.ASSET_2[name])

    def first(self, count: int) -> Case:
        """With so many rows to train on, drawn at random."""
        chosen = np.random.default_rng(0).permutation(self.rows.y.size)[:count]
        rows = Split(self.rows.X[chosen], self.rows.y[chosen], self.rows.X_test, self.rows.y_test)
        return Case(self.name, rows, self.paper)


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray(), dtype=np.float32)


Make = Callable[[Case], Any]


def ours(**options: Any) -> Make:
    """KernelSVC with as many components as the paper has, and two threads."""
    return lambda case: hinge.KernelSVC(
        case.paper.C, gamma=case.paper.gamma, **{"n_components": case.paper.s, "n_jobs": 2, **options}
    )


def _behind_nystroem(case: Case, linear: Any) -> Any:
    return make_pipeline(Nystroem(gamma=case.paper.gamma, n_components=case.paper.s, random_state=0), linear)


def _linear_svc(case: Case) -> Any:
    return _behind_nystroem(case, LinearSVC(loss="hinge", C=case.paper.C, max_iter=_PASSES, random_state=0))


def _sgd(case: Case) -> Any:
    alpha = 1.0 / (case.paper.C * case.rows.y.size)
    return _behind_nystroem(case, SGDClassifier(alpha=alpha, average=True, random_state=0))


def _svc(case: Case) -> Any:
    return SVC(C=case.paper.C, gamma=case.paper.gamma, cache_size=1000)


def _intel_svc(case: Case) -> Any:
    from sklearnex.svm import SVC as IntelSVC  # an optional competitor

    return IntelSVC(C=case.paper.C, gamma=case.paper.gamma)


def measured(case: Case, name: str, make: Make, repeats: int) -> tuple[str, ...]:
    """A line: the medians of `repeats` runs."""
    wall, cpu = [], []
    for _ in range(repeats):
        model = make(case)
        began = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those that did not converge say so
            model.fit(case.rows.X, case.rows.y)
        wall.append(time.perf_counter() - began[0])
        cpu.append(time.process_time() - began[1])
    error = float(np.mean(model.predict(case.rows.X_test) != case.rows.y_test))
    found = (statistics.median(wall), statistics.median(cpu))
    line = (
        case.name,
        name,
        f"{case.rows.y.size:,}",
        f"{100 * error:.2f} %",
        *(f"{x:.2f}" for x in found),
        str(repeats),
    )
    print(*line, f"load {os.getloadavg()[0]:.1f}", sep=" | ", flush=True)
    return line


def features(repeats: int) -> list[tuple[str, ...]]:
    """Against scikit-learn's Nystroem with a linear model."""
    rivals = {"KernelSVC()": ours(), "KernelSVC(tol=0.1)": ours(tol=0.1), "Nystroem + LinearSVC": _linear_svc}
    rivals["Nystroem + SGDClassifier"] = _sgd
    lines = []
    for name in ("Adult", "ijcnn1", "MNIST", "Covertype"):
        case = Case.load(name)
        for program, make in rivals.items():
            # LinearSVC copies the features of Covertype twice, 15 GB in all: once is enough.
            large = name == "Covertype" and program == "Nystroem + LinearSVC"
            lines.append(measured(case, program, make, 1 if large else repeats))
    return lines


def covertype(repeats: int) -> list[tuple[str, ...]]:
    """Against the exact kernel on 50,000 rows of Covertype."""
    case = Case.load("Covertype").first(50_000)
    lines = [measured(case, "KernelSVC()", ours(), repeats)]
    lines.append(measured(case, "KernelSVC(n_components=2048)", ours(n_components=2048), repeats))
    return [*lines, measured(case, "SVC", _svc, 1)]


def exact(repeats: int) -> list[tuple[str, ...]]:
    """Against the SVC of scikit-learn and of scikit-learn-intelex, with the exact kernel."""
    rivals = {"KernelSVC()": ours(), 'KernelSVC(approximation="none")': ours(approximation="none")}
    rivals |= {"scikit-learn-intelex: SVC": _intel_svc, "SVC": _svc}
    cases = [
        Case.load("Adult"),
        Case.load("Adult").first(10_000),
        Case.load("MNIST").first(20_000),
        Case.load("ijcnn1"),
    ]
    return [measured(case, name, make, 1) for case in cases for name, make in rivals.items()]


def lasvm(repeats: int) -> list[tuple[str, ...]]:
    """LASVM with and without an online epoch, to a gap of 1e-3, one thread."""
    shared: dict[str, Any] = {"approximation": "none", "tol": 1e-3, "n_jobs": 1}
    rivals = {"KernelSVC(approximation='none')": ours(**shared)}
    rivals["..., solver=Lasvm(online_epochs=1)"] = ours(solver=hinge.Lasvm(online_epochs=1), **shared)
    rivals["SVC"] = _svc
    cases = [Case.load(name).first(10_000) for name in ("Adult", "MNIST", "ijcnn1")]
    return [measured(case, name, make, repeats) for case in cases for name, make in rivals.items()]


def _online(case: Case, d: int, **options: Any) -> Any:
    alpha = 1.0 / (case.paper.C * case.rows.y.size)
    return hinge.OnlineKernelSVC(alpha=alpha, gamma=case.paper.gamma, n_components=d, **options)


def _sampled(case: Case, d: int) -> Any:
    return SampledSGD(1.0 / (case.paper.C * case.rows.y.size), d)


def _learned(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """CPU seconds of one pass. The first rows, with which random numbers are drawn, do not count."""
    classes = (-1.0, 1.0)
    model.partial_fit(X[:_BATCH], y[:_BATCH], classes=classes)
    began = time.process_time()
    for begin in range(_BATCH, y.size, _BATCH):
        model.partial_fit(X[begin : begin + _BATCH], y[begin : begin + _BATCH], classes=classes)
    return time.process_time() - began


def streams(repeats: int) -> list[tuple[str, ...]]:
    """Streams: one pass over MNIST, 0-4 against 5-9, in batches of 1,000 rows, one thread."""
    case = Case.load("MNIST")
    rivals: dict[str, tuple[int, Callable[[int], Any]]] = {
        "OnlineKernelSVC()": (4096, lambda d: _online(case, d)),
        'OnlineKernelSVC(frequencies="orthogonal")': (4096, lambda d: _online(case, d, frequencies="orthogonal")),
        "RBFSampler + SGDClassifier": (4096, lambda d: _sampled(case, d)),
        "OnlineKernelSVC(), more features": (16384, lambda d: _online(case, d)),
    }
    lines = []
    for dtype in (np.float32, np.float64):
        X, X_test = (rows.astype(dtype) for rows in (case.rows.X, case.rows.X_test))
        took: dict[str, list[float]] = {name: [] for name in rivals}
        errors: dict[str, float] = {}
        with threadpool_limits(1):
            for _ in range(repeats):  # one after the other, so that all see the same disturbances
                for name, (d, make) in rivals.items():
                    model = make(d)
                    took[name].append(_learned(model, X, case.rows.y))
                    errors[name] = float(np.mean(model.predict(X_test) != case.rows.y_test))
        for name, (d, _) in rivals.items():
            seconds, rows = statistics.median(took[name]), case.rows.y.size - _BATCH
            figures = f"{seconds:.2f}", f"{rows / seconds:,.0f}", f"{1e6 * seconds / rows:.1f}"
            lines.append((np.dtype(dtype).name, name, f"{d}", f"{errors[name]:.2%}", *figures, str(repeats)))
            print(*lines[-1], sep=" | ", flush=True)
    return lines


def by_run(name: str, runs: list[tuple[Case, Make]]) -> tuple[str, ...]:
    """A line: the test errors of several fits, one thread."""
    errors, took = [], []
    for case, make in runs:
        model = make(case)
        began = time.process_time()
        with threadpool_limits(1):
            model.fit(case.rows.X, case.rows.y)
        took.append(time.process_time() - began)
        errors.append(100.0 * float(np.mean(model.predict(case.rows.X_test) != case.rows.y_test)))
    case = runs[0][0]
    figures = ", ".join(f"{error:.2f}" for error in errors), f"{statistics.fmean(errors):.2f} %"
    line = (case.name, name, f"{case.rows.y.size:,}", *figures, f"{statistics.median(took):.1f}")
    print(*line, sep=" | ", flush=True)
    return line


def by_seed(case: Case, options: dict[str, Any], repeats: int) -> tuple[str, ...]:
    """A line: test errors of KernelSVC with so many seeds."""
    given = ", ".join(f"{name}={value!r}" for name, value in options.items())
    runs = [(case, ours(n_jobs=1, random_state=seed, **options)) for seed in range(repeats)]
    return by_run(f"KernelSVC({given})", runs)


def splits(repeats: int) -> list[tuple[str, ...]]:
    """ijcnn1, held out with so many seeds, which are those of the landmarks, too; one thread."""
    cases = [Case.of("ijcnn1", data.held_out(*data.ijcnn1(), seed=seed)) for seed in range(repeats)]
    rivals: dict[str, Callable[[int], Make]] = {
        "SVC": lambda seed: _svc,
        "KernelSVC(approximation='none')": lambda seed: ours(approximation="none", n_jobs=1),
        "KernelSVC()": lambda seed: ours(random_state=seed, n_jobs=1),
        "KernelSVC(landmarks='support')": lambda seed: ours(random_state=seed, landmarks="support", n_jobs=1),
    }
    lines = []
    for part in (4, 2, 1):
        some = [case.first(case.rows.y.size // part) for case in cases]
        lines += [by_run(name, [(case, make(k)) for k, case in enumerate(some)]) for name, make in rivals.items()]
    return lines


def ijcnn1(repeats: int) -> list[tuple[str, ...]]:
    """KernelSVC on ijcnn1: landmarks, loss and rows, one thread."""
    whole = Case.load("ijcnn1")
    better = {"landmarks": "k-means++"}
    tried: list[tuple[Case, dict[str, Any]]] = [
        (whole, {}),
        (whole, better),
        (whole, {"landmarks": "leverage"}),
        (whole, {**better, "loss": "squared_hinge"}),
        (whole, {"n_components": 2048}),
        (whole, {**better, "n_components": 2048}),
        *((whole.first(whole.rows.y.size // part), better) for part in (2, 4, 8)),
    ]
    return [by_seed(case, options, repeats) for case, options in tried]


def landmarks(repeats: int) -> list[tuple[str, ...]]:
    """Rules for landmarks, one thread."""
    cases = [Case.load("Adult"), Case.load("ijcnn1"), Case.load("MNIST"), Case.load("Covertype").first(50_000)]
    rules = ("uniform", "k-means++", "support")
    return [by_seed(case, {"landmarks": rule}, repeats) for case in cases for rule in rules]


#: name -> what measures a table, and its header
_TABLES = {
    "features": (features, _HEADER),
    "covertype": (covertype, _HEADER),
    "exact": (exact, _HEADER),
    "lasvm": (lasvm, _HEADER),
    "streams": (streams, _STREAMED),
    "ijcnn1": (ijcnn1, _BY_SEED),
    "landmarks": (landmarks, _BY_SEED),
    "splits": (splits, _BY_SEED),
}


def main() -> None:
    """Measure the tables named, and write them all into one file that keeps those not measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", default=list(_TABLES), choices=list(_TABLES))
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    opening, *tables = RESULT.read_text().split("\n## ") if RESULT.exists() else ["# Kernel machines\n"]
    kept = dict(table.split("\n\n", 1) for table in tables)
    for name in chosen.tables:
        table, header = _TABLES[name]
        title = table.__doc__ or name
        command = f"`python benchmarks/kernels.py {name} --repeats {chosen.repeats}`"
        kept[title] = f"{command}\n\n{markdown(header, table(chosen.repeats))}\n"
        RESULT.write_text(opening + "".join(f"\n## {title}\n\n{text.strip()}\n" for title, text in kept.items()))


if __name__ == "__main__":
    main()
