"""Snap ML."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark_utils.adapters.modules import missing_module
from benchmark_utils.harness import Adapter, Fit
from benchmark_utils.problem import Problem


class Snap(Adapter):
    """Dual coordinate descent in single precision, one thread."""

    first = 0.1

    def missing(self) -> str | None:
        return missing_module("snapml", "snapml")

    def prepare(self, problem: Problem) -> tuple[Any, Any, float]:
        return problem.X.astype(np.float32), problem.y, problem.C

    def train(self, prepared: tuple[Any, Any, float], budget: float, seed: int, limit: float) -> Any:
        from snapml import SupportVectorMachine

        X, y, C = prepared
        model = SupportVectorMachine(
            regularizer=1.0 / C, fit_intercept=False, tol=budget, max_iter=100_000, n_jobs=1, random_state=seed
        )
        model.fit(X, y)
        return model

    def read(self, prepared: tuple[Any, Any, float], model: Any) -> Fit:
        return Fit(np.asarray(model.coef_, dtype=np.float64).ravel(), epochs=int(np.ravel(model.n_iter_)[0]))
