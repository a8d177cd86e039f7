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
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common import data
from common.store import RESULTS, markdown

import hinge

CS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
TOLS = (1e-3, 1e-6)
_ELSEWHERE = ("made 50,000 x 50", "Adult test", "MNIST 0-4 against 5-9 test")  # of other benchmarks
SETS = (*(name for name in data.SETS if name not in _ELSEWHERE), "RCV1-like 200,000")


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
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=SETS, metavar="NAME")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a fit of scikit-learn's")
    parser.add_argument("--no-peer", action="store_true", help="ours alone")
    parser.add_argument("--output", type=Path, default=RESULTS / "converges.md")
    given = parser.parse_args()
    rows, missed, figures = [], 0, []
    for name in given.data:
        X, y = data.load(name)
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
        beside = [] if given.no_peer else [f"{arrived} of {cells}", f"{peer:.1f}"]
        rows.append([name, f"{converged} of {cells}", f"{mine:.2f}", f"{worst:.2f}", *beside])
    header = ["data", "converged", "seconds, all cells", "slowest cell"]
    if not given.no_peer:
        header += ["scikit-learn converged", f"seconds (at most {given.limit:g} a cell)"]
    given.output.write_text(
        "# Everything converges by default\n\n"
        "`python benchmarks/converges.py`: LinearSVC() for C in {1e-3, 1e-2, ..., 1e3} and tol in {1e-3, 1e-6}; beside it "
        'scikit-learn\'s LinearSVC(loss="hinge") with the same C and tol. One thread, one run.\n\n'
        f"{markdown(header, rows)}\n",
        encoding="utf-8",
    )
    given.output.with_suffix(".json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(given.output.read_text(encoding="utf-8"))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
