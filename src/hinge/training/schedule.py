"""When to evaluate, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hinge.certificate import Certificate
from hinge.solvers import BUDGET

# Evaluations that no estimate asks for: this share at most.
UNPROMPTED = 0.05
# Problems this small are solved to the limits of float64 by a solver that converges fast enough: it costs nothing, and
# equal problems get equal models.
TINY = 1000
TINY_TOLERANCE = 1e-15
# Estimates are never taken to be farther below the gap than this factor.
_LEAST_TRUST = 0.1
# An estimate that is better than what is wanted by this factor is worth an evaluation whatever the budget: a solver at
# work on a handful of rows reads so few that the budget would not allow one for dozens of epochs.
_CERTAIN = 0.5


class Schedule:
    """Decides after an epoch whether to compute the exact objective. Depends on rows read, never on the clock.

    Intermediate evaluations read at most `budget` times as many rows as training; the final one is not counted, nor is
    one that an estimate far below the tolerance asks for.
    A solver without estimates is evaluated as often as that allows. With estimates, an evaluation is due when
    they are within `comparison` times the tolerance: a number (the coefficient f of the SGD paper, whose rule this is),
    or None to learn it from evaluations that were made too early; then a few more are made, in case the estimates are
    wrong and for the record.
    """

    def __init__(
        self,
        m: int,
        tol: float,
        comparison: float | None,
        unprompted: float = UNPROMPTED,
        budget: float = BUDGET,
    ) -> None:
        self._m = m
        self._unprompted = unprompted
        self._budget = budget
        self._tol = tol
        self._comparison = comparison
        self._rows_evaluated = 0
        self._trust = 1.0

    def due(self, touched: int, estimate: tuple[float, float] | None) -> bool:
        """Whether to evaluate now, with `touched` rows read so far by training."""
        whole = self._rows_evaluated + 2 * self._m
        if estimate is None:
            return whole <= self._budget * touched
        primal, dual = estimate
        comparison = self._trust if self._comparison is None else self._comparison
        wanted = comparison * self._tol * dual
        affordable = self._rows_evaluated <= self._budget * touched
        if self._comparison is None and whole <= self._unprompted * touched:
            return True
        return primal - dual <= (wanted if affordable else _CERTAIN * wanted)

    def failed(self, estimate: tuple[float, float] | None, certificate: Certificate) -> None:
        """Learn from an evaluation that was made too early: how far the estimate was below the gap.

        An evaluation that the primal value has ended has no dual value of its own: the estimated one stands for it.
        """
        if self._comparison is None and estimate is not None and estimate[1] > 0:
            gap = certificate.primal - max(certificate.dual, estimate[1])
            seemed = estimate[0] - estimate[1]
            self._trust = min(max(seemed / gap, _LEAST_TRUST), 1.0) if gap > 0 else 1.0

    def evaluated(self, rows: int) -> None:
        """Count the rows that an evaluation has read."""
        self._rows_evaluated += rows

    def save(self) -> dict[str, float]:
        """What was counted and learned."""
        return {"rows_evaluated": self._rows_evaluated, "trust": self._trust}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._rows_evaluated, self._trust = int(saved["rows_evaluated"]), float(saved["trust"])


class Stagnation:
    """Notices that the gap has stopped to shrink, or is as small as rounding lets it be."""

    _PATIENCE = 5

    def __init__(self, tol: float) -> None:
        self._tol = tol
        self._best = math.inf
        self._waited = 0

    def reached(self, certificate: Certificate, rounding: float) -> bool:
        """Look at one more evaluation; `rounding` is what counting it has added to the gap of the best certificate."""
        if certificate.gap < 0.99 * self._best:
            self._best = certificate.gap
            self._waited = 0
        else:
            self._waited += 1
        return self.over(certificate, rounding)

    def over(self, certificate: Certificate, rounding: float) -> bool:
        """Whether the gap is as small as rounding lets it be, or has long not shrunk, and need not or cannot."""
        if certificate.gap <= 4.0 * rounding:
            return True
        at_limit = rounding >= self._tol * certificate.dual and certificate.gap <= 1000.0 * rounding
        return self._waited >= self._PATIENCE and (at_limit or certificate.within(self._tol))

    def save(self) -> dict[str, float]:
        """What was seen."""
        return {"best_gap": self._best, "waited": self._waited}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._best, self._waited = float(saved["best_gap"]), int(saved["waited"])
