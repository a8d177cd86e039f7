"""Known optima on real data: C = 0.1, no intercept, dual coordinate descent.

    python benchmarks/optima.py

The brackets were measured independently: the optimum lies between a valid dual and a valid primal value. A certificate
[dual, primal] is refuted if it lies wholly above or below its bracket. Table 1 of Panagiotakopoulos & Tsampouka has the
same optima: 1149.90, 755.11 and 36427.5.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import hinge

sys.path.insert(0, str(Path(__file__).resolve().parent))
import data

_C = 0.1
#: data set, tolerance, bracket
KNOWN = (
    ("Adult", 1e-4, (1149.9040, 1149.9051)),
    ("Web", 1e-4, (755.1134, 755.1136)),
    ("Covertype", 1e-3, (36427.478, 36427.542)),
)


def main() -> int:
    """Print the table; 1 if a certificate is refuted or a run did not converge."""
    print("| data set | tol | dual | primal | relative gap | bracket | epochs | seconds | status | agrees |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    failures = 0
    for name, tol, (low, high) in KNOWN:
        X, y = data.load(name)
        began = time.perf_counter()
        solution = hinge.solve(X, y, C=_C, tol=tol, intercept="none", solver="dcd")
        seconds = time.perf_counter() - began
        certificate = solution.certificate
        agrees = solution.status == "converged" and certificate.dual <= high and certificate.primal >= low
        failures += not agrees
        print(
            f"| {name} | {tol:g} | {certificate.dual:.4f} | {certificate.primal:.4f} "
            f"| {certificate.relative_gap:.1e} | [{low}, {high}] | {solution.n_iter} | {seconds:.2f} "
            f"| {solution.status} | {'yes' if agrees else 'NO'} |",
            flush=True,
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
