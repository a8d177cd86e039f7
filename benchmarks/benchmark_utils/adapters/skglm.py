"""skglm."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark_utils.adapters.modules import missing_module
from benchmark_utils.harness import Adapter, Fit
from benchmark_utils.problem import Problem


class Skglm(Adapter):
    """Working sets and accelerated coordinate descent on the dual. Compiled when first used: not timed."""

    first = 10.0

    def missing(self) -> str | None:
        return missing_module("skglm", "skglm")

    def prepare(self, problem: Problem) -> Problem:
        self.train(problem.few(), self.first, 0, 0.0)
        return problem

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> Any:
        from skglm import LinearSVC

        model = LinearSVC(C=problem.C, tol=budget, max_iter=10_000, max_epochs=100_000, fit_intercept=False)
        return model.fit(problem.X, problem.y)

    def read(self, problem: Problem, model: Any) -> Fit:
        a = np.clip(np.asarray(model.dual_coef_, dtype=np.float64).ravel(), 0.0, problem.C)
        return Fit(model.coef_.ravel(), a)
