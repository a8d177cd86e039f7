"""The optimum that accuracies are measured against: a bracket, found by a long run and checked on every use."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import hinge
from benchmark_utils import store
from benchmark_utils.problem import Bracket, Problem

_TOL = 1e-7
_SECONDS = 900.0
_FEW_FEATURES = 1000  # up to here cutting planes reach such gaps soonest, beyond it coordinate descent


def bracket(problem: Problem) -> Bracket:
    """Both sides of the optimum of `problem`.

    The run is made once per data set and C. What is stored are its weights and multipliers, not its claims: P and D are
    computed from them here, in plain NumPy, every time.
    """
    vectors = store.kept(f"optimum-{fingerprint(problem)}", lambda: _long_run(problem))
    return Bracket(lower=problem.dual(vectors["a"]), upper=problem.primal(vectors["w"]))


def fingerprint(problem: Problem) -> str:
    """The same for equal rows, labels and C only."""
    digest = hashlib.sha256(repr((problem.X.shape, float(problem.C))).encode())
    for array in (problem.X.data, problem.X.indices, problem.X.indptr, problem.y):
        digest.update(memoryview(np.ascontiguousarray(array)).cast("B"))
    return digest.hexdigest()[:24]


def _long_run(problem: Problem) -> dict[str, Any]:
    solver = "ocas" if problem.X.shape[1] <= _FEW_FEATURES else "dcd"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the width of the bracket is reported instead
        solution = hinge.solve(
            problem.X,
            problem.y,
            C=problem.C,
            tol=_TOL,
            intercept="none",
            solver=solver,
            max_iter=10**6,
            time_limit=_SECONDS,
        )
    return {"w": solution.coef, "a": solution.dual}
