"""Everything converges by default: LinearSVC() on many data sets, for C from 1e-3 to 1e3, beside scikit-learn's LinearSVC.

    python benchmarks/converges.py                          # all cells: benchmarks/results/converges.md
    python benchmarks/converges.py --data digits wine --output trial.md

A cell of ours is a default call but for C and tol: status, seconds, whether a warning was given. scikit-learn's is
LinearSVC(loss="hinge", C=C, tol=tol), also a default call, in a process of its own that is ended after --limit seconds. Both have
a free or penalised intercept by their own defaults, so times are compared, not objectives.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

sys.path.insert(0, str(Path(__file__).resolve().parent))

import data

import hinge

CS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
TOLS = (1e-3, 1e-6)
_RESULTS = Path(__file__).resolve().parent / "results"


def _california_like(seed: int = 0) -> tuple[Any, Any]:
    """20,000 x 8 raw columns with the scales of the California housing data."""
    rng = np.random.default_rng(seed)
    scales = np.array([2.0, 12.0, 2.5, 0.5, 1100.0, 10.0, 2.1, 2.0])
    centres = np.array([3.9, 28.0, 5.4, 1.1, 1425.0, 3.0, 35.6, -119.6])
    X = np.abs(rng.normal(size=(20_000, 8))) * scales + centres
    y = (X - centres) / scales @ np.array([1.0, 0.2, -0.1, 0.3, 0.0, -0.4, -0.5, -0.5]) + rng.normal(size=20_000)
    return X, (y > np.median(y)).astype(int)


def _made(rows: int, columns: int, informative: int) -> Callable[[], tuple[Any, Any]]:
    return lambda: datasets.make_classification(rows, columns, n_informative=informative, random_state=0)


def _covertype(change: Callable[[Any], Any]) -> Callable[[], tuple[Any, Any]]:
    def load() -> tuple[Any, Any]:
        X, y = data.covertype_raw(data.data_dir())
        return np.ascontiguousarray(change(X)), y

    return load


def _digits(raw: bool) -> tuple[Any, Any]:
    X, y = datasets.load_digits(return_X_y=True)
    return (X if raw else scale(X)), y


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "breast cancer, standardised": lambda: _scaled(datasets.load_breast_cancer),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "wine, standardised": lambda: _scaled(datasets.load_wine),
    "digits": lambda: _digits(True),
    "digits, standardised": lambda: _digits(False),
    "California-like": _california_like,
    "California-like, standardised": lambda: (scale(_california_like()[0]), _california_like()[1]),
    "made 5,000 x 20": _made(5000, 20, 2),
    "made 50,000 x 50, 10 informative": _made(50_000, 50, 10),
    "made 50,000 x 50, 30 informative": _made(50_000, 50, 30),
    "made 5,000 x 500": _made(5000, 500, 100),
    "Adult": lambda: data.adult(data.data_dir()),
    "Web": lambda: data.web(data.data_dir()),
    "IJCNN1": lambda: data.ijcnn1(data.data_dir()),
    "Covertype": _covertype(lambda X: X),
    "Covertype, standardised": _covertype(scale),
    "Covertype x 0.001": _covertype(lambda X: 0.001 * X),
    "MNIST 0-4 against 5-9": lambda: data.mnist(data.data_dir()),
    "20 newsgroups": lambda: data.newsgroups(data.data_dir()),
    "RCV1-like 200,000": lambda: data.text(200_000),
}


def _scaled(load: Callable[..., tuple[Any, Any]]) -> tuple[Any, Any]:
    X, y = load(return_X_y=True)
    return scale(X), y


def ours(X: Any, y: Any, C: float, tol: float) -> dict[str, Any]:
    """One default call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        model = hinge.LinearSVC(C=C, tol=tol).fit(X, y)
        seconds = time.perf_counter() - began
    certificates = model.certificate_ if isinstance(model.certificate_, list | tuple) else [model.certificate_]
    return {
        "seconds": seconds,
        "status": model.status_,
        "gap": max(certificate.relative_gap for certificate in certificates),
        "warned": any(issubclass(warning.category, ConvergenceWarning) for warning in caught),
    }


def _theirs(X: Any, y: Any, C: float, tol: float, out: Any) -> None:
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        LinearSVC(loss="hinge", C=C, tol=tol).fit(X, y)
        out.send((time.perf_counter() - began, not caught))


def theirs(X: Any, y: Any, C: float, tol: float, limit: float) -> tuple[float, bool]:
    """Seconds, and whether it converged without a warning."""
    mine, other = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_theirs, args=(X, y, C, tol, other))
    child.start()
    found = mine.recv() if mine.poll(limit) else (limit, False)
    child.kill()
    child.join()
    return found


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=list(SETS), metavar="NAME")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a fit of scikit-learn's")
    parser.add_argument("--no-peer", action="store_true", help="ours alone")
    parser.add_argument("--output", type=Path, default=_RESULTS / "converges.md")
    given = parser.parse_args()
    rows, missed, figures = [], 0, []
    for name in given.data:
        X, y = SETS[name]()
        mine, peer, worst, converged, arrived = 0.0, 0.0, 0.0, 0, 0
        for C in CS:
            for tol in TOLS:
                cell = ours(X, y, C, tol)
                good = cell["status"] == "converged" and not cell["warned"]
                missed += not good
                converged += good
                mine += cell["seconds"]
                worst = max(worst, cell["seconds"])
                figures.append({"data": name, "C": C, "tol": tol, **cell})
                if not given.no_peer:
                    seconds, ended = theirs(X, y, C, tol, given.limit)
                    peer += seconds
                    arrived += ended
                    figures[-1]["scikit-learn"] = seconds
                print(name, C, tol, cell, figures[-1].get("scikit-learn", ""), flush=True)
        cells = len(CS) * len(TOLS)
        beside = "" if given.no_peer else f" {arrived} of {cells} | {peer:.1f} |"
        rows.append(f"| {name} | {converged} of {cells} | {mine:.2f} | {worst:.2f} |{beside}")
    head = "| data | converged | seconds, all cells | slowest cell |"
    rule = "|---|---|---|---|"
    if not given.no_peer:
        head += f" scikit-learn converged | seconds (at most {given.limit:g} a cell) |"
        rule += "---|---|"
    given.output.write_text(
        "# Everything converges by default\n\n"
        "`python benchmarks/converges.py`: LinearSVC() for C in {1e-3, 1e-2, ..., 1e3} and tol in {1e-3, 1e-6}; beside it "
        'scikit-learn\'s LinearSVC(loss="hinge") with the same C and tol. One thread, one run.\n\n'
        + "\n".join([head, rule, *rows])
        + "\n",
        encoding="utf-8",
    )
    given.output.with_suffix(".json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(given.output.read_text(encoding="utf-8"))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
