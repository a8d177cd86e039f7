"""lightning (sklearn-contrib-lightning)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark_utils.adapters.modules import missing_module
from benchmark_utils.harness import Adapter, Fit
from benchmark_utils.problem import Problem

_PACKAGE = "--no-build-isolation sklearn-contrib-lightning (with cython and numpy installed)"


class LightningSDCA(Adapter):
    """Stochastic dual coordinate ascent. Its dual coefficients are a_i y_i, up to rounding in [-C, C]."""

    def missing(self) -> str | None:
        return missing_module("lightning.classification", _PACKAGE)

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> Any:
        from lightning.classification import SDCAClassifier

        model = SDCAClassifier(
            alpha=1.0 / (problem.C * problem.y.size), loss="hinge", tol=budget, max_iter=100_000, random_state=seed
        )
        return model.fit(problem.X, problem.y)

    def read(self, problem: Problem, model: Any) -> Fit:
        a = np.clip(np.asarray(model.dual_coef_, dtype=np.float64).ravel() * problem.y, 0.0, problem.C)
        return Fit(model.coef_.ravel(), a)


class LightningSGD(Adapter):
    """Stochastic subgradient descent with the steps of Pegasos."""

    knob = "epochs"

    def missing(self) -> str | None:
        return missing_module("lightning.classification", _PACKAGE)

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> Any:
        from lightning.classification import SGDClassifier

        model = SGDClassifier(
            alpha=1.0 / (problem.C * problem.y.size),
            loss="hinge",
            learning_rate="pegasos",
            fit_intercept=False,
            max_iter=int(budget),
            random_state=seed,
        )
        model.epochs = budget
        return model.fit(problem.X, problem.y)

    def read(self, problem: Problem, model: Any) -> Fit:
        return Fit(model.coef_.ravel(), epochs=model.epochs)
