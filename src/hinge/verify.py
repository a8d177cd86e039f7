"""An independent check of certificates, in plain NumPy."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hinge.certificate import Certificate
from hinge.problem import Floats, Intercept


class Certified(Protocol):
    """A model that says what problem it solved: :class:`hinge.Solution` and :class:`hinge.LinearSVC` do."""

    def certified_problems(
        self, y: Any, sample_weight: Any
    ) -> list[tuple[Floats, float, Floats | None, Floats, Floats, Intercept]]:
        """(coef, b, multipliers, signs, costs, intercept) of each binary problem."""
        ...


def verify(model: Certified, X: Any, y: Any, sample_weight: Any = None) -> Certificate | tuple[Certificate, ...]:
    """Recompute the certificate of a model from its coefficients and multipliers.

    Uses NumPy and the definitions of primal and dual only, nothing of the native code that trained the model::

        P = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))      [+ 1/2 (b / scale)^2 for a penalised intercept]
        D = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2                  [- scale^2 / 2 (sum_i a_i y_i)^2]

    For a free intercept what rounding has left of ``sum_i a_i y_i`` is charged to D.

    Parameters
    ----------
    model : LinearSVC or Solution
        Fitted, with its multipliers (``store_dual=True``).
    X, y, sample_weight :
        What it was fitted on.

    Returns
    -------
    Certificate, or a tuple of them in the order of ``classes_``
        The values as NumPy finds them. They agree with the model's own up to the rounding that those include.

    Raises
    ------
    ValueError
        If the multipliers are missing or outside their box.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import LinearSVC, verify
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> model = LinearSVC(store_dual=True).fit(X, y)
    >>> certificate = verify(model, X, y)
    >>> bool(np.isclose(certificate.primal, model.certificate_.primal))
    True
    """
    X = X if sp.issparse(X) else np.asarray(X)
    if X.shape[0] != np.shape(y)[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y has {np.shape(y)[0]}.")
    problems = model.certified_problems(y, sample_weight)
    certificates = tuple(_certificate(X, *problem) for problem in problems)
    return certificates[0] if len(certificates) == 1 else certificates


def _certificate(
    X: Any, coef: Floats, b: float, a: Floats | None, y: Floats, cost: Floats, intercept: Intercept
) -> Certificate:
    if a is None:
        raise ValueError("verify needs the multipliers: fit with store_dual=True.")
    if a.shape != cost.shape:
        raise ValueError(f"The model was fitted on {a.size} rows, but X has {cost.size}.")
    outside = ~((a >= 0) & (a <= cost))  # NaN too
    if np.any(outside):
        row = int(np.flatnonzero(outside)[0])
        raise ValueError(f"Multiplier {row} is {a[row]!r}, outside [0, {cost[row]!r}]: this proves nothing.")
    slack = np.maximum(0.0, 1.0 - y * (X @ coef + b))
    primal = 0.5 * coef @ coef + cost @ slack
    w = X.T @ (a * y)
    dual = a.sum() - 0.5 * w @ w
    residue = float(a @ y)
    if intercept.kind == "penalized":
        primal += 0.5 * (b / intercept.scale) ** 2
        dual -= 0.5 * (intercept.scale * residue) ** 2
    if intercept.kind == "free":
        dual -= _charge(X, w, a, y, residue)
    return Certificate(float(primal), max(0.0, float(dual)))


def _charge(X: Any, w: Floats, a: Floats, y: Floats, residue: float) -> float:
    """What D loses when sum a y = 0 is restored by taking the residue off one multiplier."""
    if residue == 0.0:
        return 0.0
    delta = abs(residue)
    j = int(np.argmax(np.where(y == np.sign(residue), a, -1.0)))
    if a[j] < delta:
        return np.inf
    x = X[[j]].astype(np.float64)
    squared_norm = float((x.multiply(x) if hasattr(x, "multiply") else x * x).sum())
    return float(delta * (1.0 + abs(x @ w).item()) + 0.5 * delta**2 * squared_norm)
