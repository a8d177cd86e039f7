"""From labels to targets and back: one-vs-rest, class weights, predicted classes."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge import checks
from hinge.problem.problem import Floats


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The distinct values, in ascending order."""
    # Not by numpy.unique: NumPy 2.3 and later hash, and a daemon thread that is in that code when the interpreter
    # exits aborts the process. Two labels, the most frequent case by far, need no sorting.
    if values.size > 0:
        others = values != values[0]
        second = int(np.argmax(others))  # 0 if there is none
        if np.all(~others | (values == values[second])):
            return np.sort(values[[0, second]] if second > 0 else values[:1])
    ordered = np.sort(values)
    first = np.ones(ordered.size, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    found: npt.NDArray[Any] = ordered[first]
    return found


def counted(y: npt.NDArray[Any], weight: Floats) -> npt.NDArray[Any]:
    """The labels of the rows of positive weight."""
    return y if np.all(checks.in_memory(weight) > 0) else y[weight > 0]


def one_vs_rest(classes: npt.NDArray[Any], y: npt.NDArray[Any]) -> list[Floats]:
    """Targets of each binary problem: the second class against the first, or each against the rest."""
    positives = classes[1:] if classes.size == 2 else classes
    return [np.where(y == label, 1.0, -1.0) for label in positives]


def predicted(classes: npt.NDArray[Any], scores: Floats) -> npt.NDArray[Any]:
    """The class of each row of scores."""
    index = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    labels: npt.NDArray[Any] = classes[index]
    return labels


def without_absent(class_weight: Any, y: npt.NDArray[Any], weight: Floats) -> Floats:
    """The sample weights, zero for the rows of classes whose weight is zero."""
    absent = [label for label, factor in class_weight.items() if factor == 0] if isinstance(class_weight, dict) else []
    for label in absent:
        weight = np.where(y == label, 0.0, weight)
    return weight


def class_factors(class_weight: Any, classes: npt.NDArray[Any], y: npt.NDArray[Any], weight: Floats) -> Floats | float:
    """The class weight of every row, or of all; zero: rows count as absent, and `classes` may leave the class out."""
    if class_weight is None:
        return 1.0
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}."
                + checks.did_you_mean(class_weight, ["balanced"])
            )
        totals = [weight[y == label].sum() for label in classes]
        by_class = dict(zip(classes.tolist(), weight.sum() / (len(totals) * np.array(totals)), strict=True))
    else:
        by_class = dict(class_weight)
        present = set(classes.tolist())
        unknown = {label for label, factor in by_class.items() if factor != 0} - present
        if unknown and present - set(by_class):  # a typing error; a class that this fold lacks is none
            names = ", ".join(sorted(map(checks.shown, unknown)))
            raise ValueError(f"class_weight names classes that are not in y: {names}. y has {classes.tolist()}.")
    factors = np.ones(y.size)
    for label, factor in by_class.items():
        if not (isinstance(factor, Real) and 0 <= float(factor) < np.inf):
            raise ValueError(
                "class_weight must be finite and not negative (0: the class counts as absent), "
                f"got {checks.shown(factor)} for class {checks.shown(label)}."
            )
        factors[y == label] = factor
    return factors
