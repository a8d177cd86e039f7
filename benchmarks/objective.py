"""benchopt: the objective that all programs minimise, and what is measured of their results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from benchopt import BaseObjective

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common.harness import Attempt, Fit
from common.measure import measure
from common.optimum import bracket
from common.problem import Problem, error_rate

_WIDTH = 1e-7  # of the bracket of the optimum


class Objective(BaseObjective):
    """1/2 |w|^2 + C sum_i max(0, 1 - y_i w.x_i), without intercept.

    `accuracy` ends a curve (:func:`common.measure.measure` has the rule), `time_limit` ends a fit, in seconds.
    """

    name = "hinge loss"
    min_benchopt_version = "1.9"
    requirements = ["scikit-learn"]
    parameters = {"C": [1.0], "accuracy": [1e-3], "time_limit": [10.0]}

    def skip(self, reason: str | None = None, **data: Any) -> tuple[bool, str | None]:
        return reason is not None, reason

    def set_data(self, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
        self.problem = Problem(X, y, self.C, "laboratory")
        self.bracket = bracket(self.problem, _WIDTH)
        self.X_test, self.y_test = X_test, y_test

    def get_objective(self) -> dict[str, Any]:
        return {"problem": self.problem, "time_limit": self.time_limit}

    def evaluate_result(self, attempt: Attempt) -> dict[str, Any]:
        tested = np.nan if attempt.fit is None else error_rate(self.X_test, self.y_test, attempt.fit.w)
        limits = {"accuracy": self.accuracy, "time_limit": self.time_limit}
        return measure(self.problem, self.bracket, attempt, **limits) | {
            "test_error": tested,
            "failure": attempt.failure,
            "seconds": attempt.seconds,
            "wall": attempt.wall,
            "lower": self.bracket.lower,
            "upper": self.bracket.upper,
            "rows": self.problem.X.shape[0],
            "features": self.problem.X.shape[1],
            "stored": self.problem.X.nnz,
        }

    def get_one_result(self) -> dict[str, Any]:
        return {"attempt": Attempt(Fit(np.zeros(self.problem.X.shape[1])), seconds=0.0, wall=0.0)}
