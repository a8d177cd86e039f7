"""The one table of optima: every bracket that a benchmark has needed, certified once and kept in results/optima.json.

    python benchmarks/common/optimum.py        # print the table

An entry is made by a run of hinge; what is stored are P and D of its weights and multipliers, computed here in plain NumPy, not the
run's claims. It is found again by a fingerprint of rows, labels, C and kind of intercept. A measurement that it does not admit is an
error.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hinge
from common.problem import Bracket, Problem
from common.store import RESULTS, Results, markdown

TABLE = RESULTS / "optima.json"
WIDTH = 1e-6
_SECONDS = 600.0


def bracket(problem: Problem, width: float = WIDTH, table: Path = TABLE) -> Bracket:
    """Both sides of the optimum, at most `width` apart, from the table or certified now."""
    key = problem.fingerprint()
    entry = Results(table).cells.get(key)
    if entry is None or entry["upper"] / entry["lower"] - 1.0 > width:
        found = certified(problem, width)
        size = {"rows": len(problem.y), "features": int(problem.X.shape[1]), "type": str(problem.X.dtype)}
        free = {"intercept": "free"} if problem.intercept == "free" else {}
        entry = {"data": problem.name, "C": problem.C, **free, **size, "lower": found.lower, "upper": found.upper}
        Results(table).put(key, entry)  # read again: another measurement may have added to it
    return Bracket(entry["lower"], entry["upper"])


def certified(problem: Problem, width: float) -> Bracket:
    """A long run; RuntimeError if it does not get there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the width is judged instead
        solution = hinge.solve(
            problem.X,
            problem.y,
            C=problem.C,
            intercept=problem.intercept,
            tol=0.9 * width,
            max_iter=10**6,
            time_limit=_SECONDS,
        )
    found = Bracket(problem.dual(solution.dual), problem.primal(solution.coef))
    if not found.width <= width:
        raise RuntimeError(f"The optimum of {problem.name} at C = {problem.C:g} is known to {found.width:.1e} only.")
    return found


def main() -> None:
    """Print the table."""
    rows = []
    for e in sorted(Results(TABLE).cells.values(), key=lambda e: (e["data"], e["rows"], e["C"])):
        size = f"{e['rows']:,} x {e['features']:,}, {e['type']}" + (", free b" if "intercept" in e else "")
        width = f"{e['upper'] / e['lower'] - 1.0:.0e}"
        rows.append((e["data"], size, f"{e['C']:.6g}", f"{e['lower']:.9g}", f"{e['upper']:.9g}", width))
    print(markdown(("data", "size", "C", "lower", "upper", "width"), rows))


if __name__ == "__main__":
    main()
