"""scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from benchmark_utils.harness import Adapter, Fit
from benchmark_utils.problem import Problem

_MANY = 10**6


class Scikit(Adapter):
    """What the two have in common: `coef_` and `n_iter_`."""

    def read(self, problem: Problem, model: Any) -> Fit:
        return Fit(model.coef_.ravel(), epochs=int(model.n_iter_))


class ScikitLinearSVC(Scikit):
    """liblinear inside scikit-learn. It converts the rows in `fit`, which cannot be timed apart."""

    first = 10.0

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> LinearSVC:
        model = LinearSVC(
            loss="hinge", dual=True, fit_intercept=False, C=problem.C, tol=budget, max_iter=_MANY, random_state=seed
        )
        return model.fit(problem.X, problem.y)


class ScikitSGD(Scikit):
    """Averaged stochastic gradient descent for a number of epochs: its own stopping rule is not used."""

    knob = "epochs"

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> SGDClassifier:
        model = SGDClassifier(
            loss="hinge",
            alpha=1.0 / (problem.C * problem.y.size),
            fit_intercept=False,
            tol=None,
            max_iter=int(budget),
            average=True,
            random_state=seed,
        )
        return model.fit(problem.X, problem.y)
