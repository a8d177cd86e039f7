"""Everything converges by default: LinearSVC() on many data sets, for C from 1e-3 to 1e3, beside scikit-learn's and liblinear.

    python benchmarks/converges.py                          # all cells: benchmarks/results/converges.md
    python benchmarks/converges.py --data digits wine --output trial.md
    python benchmarks/converges.py --peers                  # ours alone

A cell of ours is a default call but for C and tol: status, seconds, whether a warning was given. scikit-learn's is
LinearSVC(loss="hinge", C=C, tol=tol), liblinear's is ``-s 3 -B 1 -c C -e tol``, whose rows are converted before the clock starts; both
in a process of their own that is ended after --limit seconds. Intercepts are free or penalised by each one's own defaults, so
times are compared, not objectives.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
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


def scikit_learn(X: Any, y: Any, C: float, tol: float) -> Callable[[], bool]:
    """A fit that tells whether it converged without a warning."""
    from sklearn.svm import LinearSVC

    def fit() -> bool:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            LinearSVC(loss="hinge", C=C, tol=tol).fit(X, y)
        return not caught

    return fit


def liblinear(X: Any, y: Any, C: float, tol: float) -> Callable[[], bool]:
    """The same of liblinear itself, on rows that are converted already. It prints its warning."""
    from liblinear.liblinearutil import parameter, problem, train

    _, labels = np.unique(y, return_inverse=True)
    rows, options = problem(labels.astype(float), sp.csr_matrix(X)), parameter(f"-s 3 -B 1 -c {C!r} -e {tol!r}")

    def fit() -> bool:
        with tempfile.TemporaryFile() as printed:
            os.dup2(printed.fileno(), sys.stdout.fileno())  # this process does nothing else
            train(rows, options)
            ctypes.CDLL(None).fflush(None)
            printed.seek(0)
            return b"WARNING" not in printed.read()

    return fit


PEERS: dict[str, Callable[[Any, Any, float, float], Callable[[], bool]]] = {
    "scikit-learn": scikit_learn,
    "liblinear": liblinear,
}


def within(limit: float, peer: str, *cell: Any) -> tuple[float, bool]:
    """Seconds, and whether the peer converged; it has so many of them, from when it is ready to fit."""
    mine, other = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        fit = PEERS[peer](*cell)
        other.send("ready")
        began = time.perf_counter()
        converged = fit()
        other.send((time.perf_counter() - began, converged))

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    other.close()  # or a child that fails would be waited for forever
    mine.recv()
    found = mine.recv() if mine.poll(limit) else (limit, False)
    child.kill()
    child.join()
    return found


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=SETS, metavar="NAME")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a fit of a peer")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS, metavar="NAME")
    parser.add_argument("--output", type=Path, default=RESULTS / "converges.md")
    given = parser.parse_args()
    rows, missed, figures = [], 0, []
    for name in given.data:
        X, y = data.load(name)
        mine, worst, converged = 0.0, 0.0, 0
        seconds, arrived = dict.fromkeys(given.peers, 0.0), dict.fromkeys(given.peers, 0)
        for C in CS:
            for tol in TOLS:
                cell = ours(X, y, C, tol)
                good = cell["status"] == "converged" and not cell["warned"]
                missed += not good
                converged += good
                mine += cell["seconds"]
                worst = max(worst, cell["seconds"])
                figures.append({"data": name, "C": C, "tol": tol, **cell})
                for peer in given.peers:
                    taken, ended = within(given.limit, peer, X, y, C, tol)
                    seconds[peer] += taken
                    arrived[peer] += ended
                    figures[-1][peer] = taken
                print(*figures[-1].values(), sep=" | ", flush=True)
        cells = len(CS) * len(TOLS)
        beside = [text for peer in given.peers for text in (f"{arrived[peer]} of {cells}", f"{seconds[peer]:.1f}")]
        rows.append([name, f"{converged} of {cells}", f"{mine:.2f}", f"{worst:.2f}", *beside])
    header = ["data", "converged", "seconds, all cells", "slowest cell"]
    for peer in given.peers:
        header += [f"{peer} converged", f"seconds (at most {given.limit:g} a cell)"]
    given.output.write_text(
        "# Everything converges by default\n\n"
        "`python benchmarks/converges.py`: LinearSVC() for C in {1e-3, 1e-2, ..., 1e3} and tol in {1e-3, 1e-6}; beside it "
        "scikit-learn's LinearSVC(loss=\"hinge\") and liblinear's -s 3 -B 1 with the same C and tol. One thread, one run.\n\n"
        f"{markdown(header, rows)}\n",
        encoding="utf-8",
    )
    given.output.with_suffix(".json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(given.output.read_text(encoding="utf-8"))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
