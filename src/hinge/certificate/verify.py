"""An independent check of certificates, in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_array

from hinge import checks
from hinge.certificate.certificate import Certificate
from hinge.certificate.per_class import Certificates
from hinge.problem import Floats, Intercept, Loss


@dataclass(frozen=True)
class Claim:
    """One binary problem and what a model says of it. Arrays are over all samples; costs may be zero."""

    label: Any
    coef: Floats
    b: float
    multipliers: Floats | None
    target: Floats
    cost: Floats
    loss: Loss
    intercept: Intercept


class Claimant(Protocol):
    """A model that says what it solved: :class:`hinge.Solution`, :class:`hinge.Path`, :class:`hinge.LinearSVC` do."""

    def claims(self, y: Any, sample_weight: Any) -> list[Claim]:
        """One claim for each binary problem."""
        ...


def verify(model: Claimant, X: Any, y: Any, sample_weight: Any = None) -> Certificate | Certificates:
    """Recompute the certificate of a model from its coefficients and multipliers.

    Uses NumPy and the definitions of primal and dual only, nothing of the native code that trained the model::

        P = 1/2 |w|^2 + sum_i C_i loss(1 - t_i (w.x_i + b))        [+ 1/2 (b / scale)^2 for a penalised intercept]
        D = sum_i dual_term(a_i) - 1/2 |sum_i a_i t_i x_i|^2       [- scale^2 / 2 (sum_i a_i t_i)^2]

    For a free intercept what rounding has left of ``sum_i a_i t_i`` is charged to D.

    The model's own certificate is rounded to the safe side. This one is not: it is what NumPy computes, within a few
    roundings of the exact values, and may lie above the exact D or below the exact P by as much.

    Parameters
    ----------
    model : LinearSVC, Solution or Path
        Fitted, with its multipliers (``store_dual=True``).
    X, y, sample_weight :
        What it was fitted on.

    Returns
    -------
    Certificate, or Certificates in the order of ``classes_``
        The values as NumPy finds them. They agree with the model's own up to the rounding that those include.

    Raises
    ------
    TypeError
        For a model that has no multipliers to check: :func:`hinge.certify` finds its own.
    ValueError
        If the multipliers are missing or outside their box, if X is corrupt or holds NaN or infinity, and for weights
        that training refuses.

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
    if isinstance(model, type) or not hasattr(model, "claims"):
        raise TypeError(_instead(model))
    checks.sparse_structure(X)
    X = check_array(X, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False, estimator="verify")
    checks.sound_rows(X)
    if X.shape[0] != np.shape(y)[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y has {np.shape(y)[0]}.")
    weight = checks.weights(sample_weight, X)
    claims = model.claims(y, weight)
    certificates = [_certificate(X, claim) for claim in claims]
    return certificates[0] if len(claims) == 1 else Certificates(certificates, [claim.label for claim in claims])


def _instead(model: Any) -> str:
    """What to call for a model that makes no claims."""
    if isinstance(model, type):
        return f"verify needs a fitted model, got the class {model.__name__}: make an object of it, and fit it."
    if hasattr(model, "steps"):
        return (
            "verify checks the model at the end of a Pipeline on the rows that it was fitted on: "
            "verify(pipeline[-1], pipeline[:-1].transform(X), y)."
        )
    if hasattr(model, "estimator"):
        return (
            f"verify checks one model of hinge's, and {type(model).__name__} wraps others: hand over the fitted one, "
            "for example search.best_estimator_."
        )
    return (
        "verify checks multipliers, which only models of hinge's own keep (LinearSVC(store_dual=True), solve, path). "
        f"For a model of type {type(model).__name__} use hinge.certify(model, X, y, C=...): it finds its own."
    )


def checked_multipliers(claim: Claim) -> Floats:
    """The multipliers of a claim; refuses those that are missing or outside their box."""
    a = claim.multipliers
    if a is None:
        raise ValueError(
            "The multipliers are missing: fit with store_dual=True. "
            "Or hinge.certify(model, X, y) finds other ones, for any linear model."
        )
    if a.shape != claim.cost.shape:
        raise ValueError(f"The model was fitted on {a.size} rows, but X has {claim.cost.size}.")
    box = np.where(claim.cost > 0, claim.loss.box(claim.cost), 0.0)
    outside = ~((a >= 0) & (a <= box) & np.isfinite(a))  # NaN too
    if np.any(outside):
        row = int(np.flatnonzero(outside)[0])
        raise ValueError(
            f"Multiplier {row} is {float(a[row])!r}, outside [0, {float(box[row])!r}]: this proves nothing."
        )
    return a


def _certificate(X: Any, claim: Claim) -> Certificate:
    coef, b, t, intercept = claim.coef, claim.b, claim.target, claim.intercept
    a = checked_multipliers(claim)
    counts = claim.cost > 0
    primal = 0.5 * coef @ coef + claim.cost @ claim.loss.value(1.0 - t * (X @ coef + b))
    w = X.T @ (a * t)
    dual = a.sum() - claim.loss.dual_penalty(a[counts], claim.cost[counts]).sum() - 0.5 * w @ w
    residue = float(a @ t)
    if intercept.kind == "penalized":
        primal += 0.5 * (b / intercept.scale) ** 2
        dual -= 0.5 * (intercept.scale * residue) ** 2
    if intercept.kind == "free":
        dual -= _charge(X, w, a, t, residue)
    return Certificate(float(primal), max(0.0, float(dual)))


def _charge(X: Any, w: Floats, a: Floats, t: Floats, residue: float) -> float:
    """What D loses when sum a t = 0 is restored by taking the residue off one multiplier."""
    if residue == 0.0:
        return 0.0
    delta = abs(residue)
    j = int(np.argmax(np.where(t == np.sign(residue), a, -1.0)))
    if a[j] < delta:
        return np.inf
    x = X[[j]].astype(np.float64)
    squared_norm = float((x.multiply(x) if hasattr(x, "multiply") else x * x).sum())
    return float(delta * (1.0 + abs(x @ w).item()) + 0.5 * delta**2 * squared_norm)
