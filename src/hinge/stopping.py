"""When to evaluate, and when to stop."""

from __future__ import annotations

import math

from hinge.certificate import Certificate

# Evaluations may read this share of the rows that training reads, the final one not counted.
BUDGET = 0.2
# Evaluations that no estimate asks for: this share at most.
UNPROMPTED = 0.05
# Problems this small are solved to the limits of float64 by a solver that converges fast enough: it costs nothing, and
# equal problems get equal models.
TINY = 1000
TINY_TOLERANCE = 1e-15


class Schedule:
    """Decides after an epoch whether to compute the exact objective. Depends on rows read, never on the clock.

    A solver without estimates is evaluated as often as the budget allows. With estimates, an evaluation is due when
    they are within `comparison` times the tolerance: a number (the coefficient f of the SGD paper, whose rule this is),
    or None to learn it from evaluations that were made too early; then a few more are made, in case the estimates are
    wrong and for the record.
    """

    def __init__(self, m: int, tol: float, comparison: float | None, unprompted: float = UNPROMPTED) -> None:
        self._m = m
        self._unprompted = unprompted
        self._tol = tol
        self._comparison = comparison
        self.rows_evaluated = 0
        self.trust = 1.0

    def due(self, touched: int, estimate: tuple[float, float] | None) -> bool:
        """Whether to evaluate now, with `touched` rows read so far by training."""
        whole = self.rows_evaluated + 2 * self._m
        if estimate is None:
            return whole <= BUDGET * touched
        primal, dual = estimate
        comparison = self.trust if self._comparison is None else self._comparison
        seems_done = primal - dual <= comparison * self._tol * dual
        unprompted = self._comparison is None and whole <= self._unprompted * touched
        return unprompted or (seems_done and self.rows_evaluated <= BUDGET * touched)

    def failed(self, estimate: tuple[float, float] | None, certificate: Certificate) -> None:
        """Learn from an evaluation that was made too early: how far the estimate was below the exact gap."""
        if self._comparison is None and estimate is not None and estimate[1] > 0:
            seemed = (estimate[0] - estimate[1]) / estimate[1]
            self.trust = min(max(seemed / certificate.relative_gap, 0.1), 1.0)

    def evaluated(self, rows: int) -> None:
        """Count the rows that an evaluation has read."""
        self.rows_evaluated += rows


class Stagnation:
    """Notices that the gap has stopped to shrink, or is as small as rounding lets it be."""

    _PATIENCE = 5

    def __init__(self, tol: float) -> None:
        self._tol = tol
        self._best = math.inf
        self._waited = 0

    def reached(self, certificate: Certificate, rounding: float) -> bool:
        """`certificate` is the best so far, `rounding` what counting the rounding has added to its gap."""
        gap = certificate.gap
        if gap <= 4.0 * rounding:
            return True
        if gap < 0.99 * self._best:
            self._best = gap
            self._waited = 0
            return False
        self._waited += 1
        hopeless = rounding >= self._tol * certificate.dual and gap <= 1000.0 * rounding
        return self._waited >= self._PATIENCE and (hopeless or certificate.within(self._tol))
