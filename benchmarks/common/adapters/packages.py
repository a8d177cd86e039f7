"""Python packages: scikit-learn, liblinear, Snap ML, lightning, skglm."""

from __future__ import annotations

import importlib
import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC, LinearSVC

from common.harness import Adapter, Fit
from common.problem import Problem

_MANY = 10**6


def missing_module(module: str, package: str) -> str | None:
    """None if `module` can be imported, else why not and what to install."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a package says of itself when it is imported
            importlib.import_module(module)
    except ImportError as error:
        return f"cannot import {module} ({error}): pip install {package}"
    return None


class Package(Adapter):
    """A module that pip has. It is imported inside the methods, so that a machine without it can say so."""

    module: ClassVar[str]
    package: ClassVar[str]

    def missing(self) -> str | None:
        return missing_module(self.module, self.package)


class ScikitLinearSVC(Adapter):
    """liblinear inside scikit-learn. It converts the rows in `fit`, which cannot be timed apart.

    Its intercept is penalised, the less so the larger the constant feature is: 10 comes close enough to a free one.
    """

    first = 10.0

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> LinearSVC:
        options = {"loss": "hinge", "dual": True, "max_iter": _MANY}
        options |= {"fit_intercept": problem.intercept == "free", "intercept_scaling": 10.0}
        return LinearSVC(C=problem.C, tol=budget, random_state=seed, **options).fit(problem.X, problem.y)

    def read(self, problem: Problem, model: Any) -> Fit:
        return Fit(model.coef_.ravel(), epochs=int(model.n_iter_))


class ScikitSGD(ScikitLinearSVC):
    """Averaged stochastic gradient descent for a number of epochs: its own stopping rule is not used."""

    knob = "epochs"
    first = 1.0

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> SGDClassifier:
        options = {"loss": "hinge", "fit_intercept": problem.intercept == "free", "tol": None, "average": True}
        model = SGDClassifier(alpha=problem.lam, max_iter=int(budget), random_state=seed, **options)
        return model.fit(problem.X, problem.y)


class ScikitSVC(Adapter):
    """LIBSVM with a linear kernel, whose intercept is free."""

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> SVC:
        return SVC(C=problem.C, kernel="linear", tol=budget, cache_size=1000).fit(problem.X, problem.y)

    def read(self, problem: Problem, model: Any) -> Fit:
        return Fit(np.asarray(model.coef_.todense(), dtype=np.float64).ravel())


class Liblinear(Package):
    """``-s 3``: dual coordinate descent for the hinge loss. It takes no seed, and tells no number of passes."""

    module, package = "liblinear.liblinearutil", "liblinear-official"
    first = 10.0

    def prepare(self, problem: Problem) -> tuple[Any, float, int]:
        from liblinear.liblinearutil import problem as convert

        return convert(problem.y, problem.X), problem.C, problem.X.shape[1]

    def train(self, prepared: tuple[Any, float, int], budget: float, seed: int, limit: float) -> Any:
        from liblinear.liblinearutil import parameter, train

        rows, C, _ = prepared
        return train(rows, parameter(f"-s 3 -c {C!r} -e {budget!r} -q"))

    def read(self, prepared: tuple[Any, float, int], model: Any) -> Fit:
        w = np.zeros(prepared[2])  # the model ends at the last feature that occurs
        w[: model.nr_feature] = model.w[: model.nr_feature]
        return Fit(w if model.get_labels()[0] == 1 else -w)


class Snap(Package):
    """Snap ML: dual coordinate descent in single precision, one thread."""

    module, package = "snapml", "snapml"
    first = 0.1

    def prepare(self, problem: Problem) -> tuple[Any, Any, float]:
        return problem.X.astype(np.float32), problem.y, problem.C

    def train(self, prepared: tuple[Any, Any, float], budget: float, seed: int, limit: float) -> Any:
        from snapml import SupportVectorMachine

        X, y, C = prepared
        options = {"fit_intercept": False, "max_iter": 100_000, "n_jobs": 1}
        model = SupportVectorMachine(regularizer=1.0 / C, tol=budget, random_state=seed, **options)
        model.fit(X, y)
        return model

    def read(self, prepared: tuple[Any, Any, float], model: Any) -> Fit:
        return Fit(np.asarray(model.coef_, dtype=np.float64).ravel(), epochs=int(np.ravel(model.n_iter_)[0]))


class LightningSDCA(Package):
    """Stochastic dual coordinate ascent. Its dual coefficients are a_i y_i, up to rounding in [-C, C]."""

    module = "lightning.classification"
    package = "--no-build-isolation sklearn-contrib-lightning (with cython and numpy installed)"

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> Any:
        from lightning.classification import SDCAClassifier

        model = SDCAClassifier(alpha=problem.lam, loss="hinge", tol=budget, max_iter=100_000, random_state=seed)
        return model.fit(problem.X, problem.y)

    def read(self, problem: Problem, model: Any) -> Fit:
        a = np.clip(np.asarray(model.dual_coef_, dtype=np.float64).ravel() * problem.y, 0.0, problem.C)
        return Fit(model.coef_.ravel(), a)


class LightningSGD(LightningSDCA):
    """Stochastic subgradient descent with the steps of Pegasos."""

    knob = "epochs"

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> Any:
        from lightning.classification import SGDClassifier

        options = {"loss": "hinge", "learning_rate": "pegasos", "fit_intercept": False}
        model = SGDClassifier(alpha=problem.lam, max_iter=int(budget), random_state=seed, **options)
        return model.fit(problem.X, problem.y)

    def read(self, problem: Problem, model: Any) -> Fit:
        return Fit(model.coef_.ravel(), epochs=model.max_iter)


class Skglm(Package):
    """Working sets and accelerated coordinate descent on the dual. Compiled when first used: not timed."""

    module, package = "skglm", "skglm"
    first = 10.0

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
