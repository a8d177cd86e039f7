"""Linear models from anywhere: what they predict with, and the problem that they say they solve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hinge import checks
from hinge.problem import LOSSES, Floats, Intercept
from hinge.problem.labels import distinct


@dataclass(frozen=True)
class LinearModel:
    """Weights and intercepts of each class against the rest (one row for two classes), and the problem behind them.

    `C` and `alpha` are None where the model does not say; `alpha` is the lambda of the papers, ``C = 1 / (alpha m)``.
    With `unit_norm` the model is about rows scaled to norm 1.
    """

    classes: npt.NDArray[Any]
    coef: Floats
    intercept: Floats
    loss: str | None = None
    treatment: Intercept | None = None
    C: float | None = None
    alpha: float | None = None
    class_weight: Any = None
    unit_norm: bool = False

    def __post_init__(self) -> None:
        n_models = 1 if self.classes.size == 2 else self.classes.size
        if self.coef.ndim != 2 or len(self.coef) != n_models or self.intercept.shape != (n_models,):
            raise ValueError(
                f"Weights of shape {self.coef.shape} and intercepts of shape {self.intercept.shape} for "
                f"{self.classes.size} classes: certify needs {n_models} of each, a model for each class against the "
                "rest, or one for two classes."
            )
        for name, values in (("coef", self.coef), ("intercept", self.intercept)):
            if not np.all(np.isfinite(values)):
                raise ValueError(f"The model's {name} contains NaN or infinity: it predicts nothing.")

    def cost(self, n_rows: int) -> float:
        """C on so many rows; ValueError if the model does not say."""
        if self.C is not None:
            return self.C
        if self.alpha is not None:
            return 1.0 / (self.alpha * n_rows)
        raise ValueError(
            "certify needs C, the cost of a unit of loss: this model does not say which problem it was meant to solve."
        )


@runtime_checkable
class Linear(Protocol):
    """A model that says so itself: those of hinge do."""

    def as_linear(self) -> LinearModel:
        """Its weights and its problem."""
        ...


def final_model(model: Any, X: Any) -> tuple[Any, Any]:
    """The model at the heart of a search or a pipeline, and the rows as they arrive there."""
    if isinstance(model, type):
        raise TypeError(f"certify needs a fitted model, got the class {model.__name__}: make an object, and fit it.")
    if hasattr(model, "best_estimator_"):
        return final_model(model.best_estimator_, X)
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return final_model(model[-1], model[:-1].transform(X) if len(model.steps) > 1 else X)
    return model, X


def linear_model(model: Any, y: npt.NDArray[Any]) -> LinearModel:
    """What a model is: one of hinge's, one with `coef_`, or a bare pair (coef, intercept) of the classes in y."""
    if isinstance(model, LinearModel):
        return model
    if isinstance(model, Linear):
        return model.as_linear()
    if isinstance(model, tuple):
        if len(model) != 2:
            raise ValueError(f"certify takes a pair (coef, intercept), got {len(model)} objects.")
        return LinearModel(distinct(y), *_weights(*model))
    if not hasattr(model, "coef_"):
        fitted = "is not fitted, or it " if hasattr(model, "get_params") else ""
        raise TypeError(
            f"certify needs a linear model: {type(model).__name__} {fitted}has no attribute coef_. Give a fitted "
            "model, a Pipeline that ends in one, or a pair (coef, intercept)."
        )
    if not hasattr(model, "classes_"):
        raise TypeError(
            f"certify needs a classifier, and {type(model).__name__} has no classes_. If its sign is what predicts, "
            "give the pair (model.coef_, model.intercept_)."
        )
    return _foreign(model)


def _foreign(model: Any) -> LinearModel:
    """By scikit-learn's conventions."""
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    if "kernel" in params and (params["kernel"] != "linear" or "n_components" in params):
        raise TypeError(f"{type(model).__name__} is not linear in the features of X: it has a kernel.")
    found = LinearModel(np.asarray(model.classes_), *_weights(model.coef_, getattr(model, "intercept_", 0.0)))
    if "decision_function_shape" in params and found.classes.size > 2:
        raise ValueError(
            f"The models of {type(model).__name__} are of pairs of classes, not of a class against the rest. Certify "
            "each one as a pair (coef, intercept) on the rows of its two classes."
        )
    found = replace(found, class_weight=params.get("class_weight"), treatment=_treatment(params))
    loss = "hinge" if params.get("kernel") == "linear" else params.get("loss")
    if loss is not None and loss not in LOSSES:
        return replace(found, loss=str(loss))
    if loss is None or params.get("penalty", "l2") != "l2":  # its C would be the C of another problem
        return found
    return replace(found, loss=loss, C=params.get("C"), alpha=params.get("alpha"))


def _treatment(params: dict[str, Any]) -> Intercept:
    """liblinear penalises b, through a constant feature; nobody else does."""
    if not params.get("fit_intercept", True):
        return Intercept("none")
    if "intercept_scaling" in params and params.get("solver", "liblinear") == "liblinear":
        return Intercept("penalized", params["intercept_scaling"])
    return Intercept("free")


def _weights(coef: Any, intercept: Any) -> tuple[Floats, Floats]:
    """A row for each model, whatever the shape they came in."""
    checks.unmasked("coef", coef)
    rows = np.atleast_2d(np.asarray(coef.toarray() if sp.issparse(coef) else coef, dtype=np.float64))
    b = np.asarray(intercept, dtype=np.float64).ravel()
    return rows, np.full(len(rows), b[0]) if b.size == 1 else b
