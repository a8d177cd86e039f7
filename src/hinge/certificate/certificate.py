"""The certificate: a proven bracket around the optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """Proof of quality: ``dual <= optimum <= primal``, in float64 with the rounding counted.

    `primal` is P(w, b) of the model at hand, rounded up. `dual` is the largest D(a) found at feasible multipliers,
    rounded down.

    Examples
    --------
    >>> from hinge import Certificate
    >>> certificate = Certificate(primal=101.0, dual=100.0)
    >>> certificate.gap, round(certificate.relative_gap, 6)
    (1.0, 0.01)
    """

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """P - D: the model's objective is at most this far from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """(P - D) / D, the quantity that ``tol`` bounds; infinite while D = 0."""
        return self.gap / self.dual if self.dual > 0 else math.inf

    @property
    def worst(self) -> Certificate:
        """Itself: a fit of several classes has the certificate of the worst of them here."""
        return self

    def within(self, tol: float) -> bool:
        """Whether P - D <= tol * D."""
        return self.dual > 0 and self.gap <= tol * self.dual

    def __str__(self) -> str:
        return (
            f"optimum in [{self.dual:.10g}, {self.primal:.10g}]: "
            f"this model is within {100 * self.relative_gap:.3g} % of it"
        )
