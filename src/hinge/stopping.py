"""When to evaluate, and when to stop."""

from __future__ import annotations

import math

from hinge.certificate import Certificate, Evaluation
from hinge.problem import Problem

# Evaluations may read this share of the rows that training reads, the final one not counted.
BUDGET = 0.2
# Evaluations that no estimate asks for: this share at most.
UNPROMPTED = 0.05
# With an estimate at hand, evaluate each time that the gap seems to have shrunk to this share of the last one.
STAGE = 0.3
# Problems this small are solved to the limits of float64: it costs nothing, and equal problems get equal models.
TINY = 1000
_TINY_TOLERANCE = 1e-15


class Schedule:
    """Decides after an epoch whether to compute the exact objective. Depends on rows read, never on the clock.

    A solver without estimates is evaluated as often as the budget allows. Estimates save evaluations (but for a few,
    in case they are wrong): the first one
    that is within `comparison` times the target is checked, and then the ratio of exact gap to estimate corrects the
    later ones (the paper's comparison coefficient f, learned).
    """

    def __init__(self, problem: Problem, tol: float, comparison: float) -> None:
        self._m = problem.m
        self._tol = tol
        self._comparison = comparison
        self._stage = math.inf
        self._evaluated = 0

    def due(self, touched: int, estimate: tuple[float, float] | None) -> bool:
        """Whether to evaluate now, with `touched` rows read so far by training."""
        wanted = self._evaluated + 2 * self._m
        within_budget = wanted <= BUDGET * touched
        if estimate is None:
            return within_budget
        if wanted <= UNPROMPTED * touched:
            return True
        primal, dual = estimate
        gap = primal - dual
        seems_done = gap <= self._comparison * self._tol * dual
        seems_better = gap <= self._comparison * self._stage * dual
        return (seems_done and self._evaluated <= BUDGET * touched) or (seems_better and within_budget)

    def evaluated(self, evaluation: Evaluation, estimate: tuple[float, float] | None) -> None:
        """Learn from an exact evaluation."""
        self._evaluated += self._m + int((evaluation.multipliers > 0).sum())
        exact = evaluation.certificate.relative_gap
        self._stage = max(self._tol, STAGE * exact)
        if estimate is not None and 0 < exact < math.inf:
            primal, dual = estimate
            ratio = (primal - dual) / (dual * exact) if dual > 0 else 1.0
            self._comparison = min(max(ratio, 0.5), 2.0)


class Stagnation:
    """Notices that the gap has stopped to shrink, or is as small as rounding lets it be."""

    _PATIENCE = 5

    def __init__(self, tol: float) -> None:
        self._tol = tol
        self._best = math.inf
        self._waited = 0

    def reached(self, certificate: Certificate, rounding: float) -> bool:
        """`certificate` is the best so far, `rounding` what the last evaluation added to the gap."""
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


def target_of(problem: Problem, tol: float, refines: bool) -> float:
    """The relative gap to work towards: `tol`, or nothing less than all of float64 on a tiny problem."""
    return min(tol, _TINY_TOLERANCE) if refines and problem.m <= TINY else tol
