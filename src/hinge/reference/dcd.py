"""Dual coordinate descent with shrinking.

Hsieh, Chang, Lin, Keerthi & Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM" (ICML 2008),
Algorithms 1 and 3. Maximise D(a) over 0 <= a_i <= box_i, one a_i at a time::

    g = t_i (w.x_i + b) - 1 + diagonal_i a_i,   a_i <- clip(a_i - g / q_i, 0, box_i),   w += (change of a_i) t_i x_i

Box and diagonal are those of the loss: C_i and 0 for the hinge, none and 1 / (2 C_i) for its square;
q_i = |x_i|^2 + diagonal_i.

Shrinking: a row at a bound is left out for a while if its gradient is larger than a quarter of what projected gradients
were on average in the last epoch. When the gap of those at work is small, the next epoch is a survey: all rows are
looked at, and those that are not far away come back. With eps > 0 it is the rule of the paper and of liblinear:
gradients are compared with the extreme ones of the last epoch, and when these lie within eps of each other, all rows
come back and the extremes are forgotten, or the run ends if none was left out.

Free intercept: the method of multipliers, `hinge.reference.free_intercept`. q_i grows by kappa.

Over-relaxation: in a run that lasts, steps are k times as long, 1 < k < 2. They go beyond the maximum along their
coordinate, and D still rises.

Lanes: before that, an epoch may be cut in rounds, in which two lanes have a half of the rows each. Both begin at the
same w. Each counts its steps twice, as if the other lane did the same: with delta_k for what lane k changes of w, they
end at w + 2 delta_0 and w + 2 delta_1. The mean of these is the w of all steps. D never falls: lanes.hpp has the proof.

Polish: now and then all free multipliers move at once (`hinge.reference.face`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hinge.reference import face
from hinge.reference.algorithm import ActiveRows, Point
from hinge.reference.free_intercept import Jump
from hinge.reference.order import Order
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import Floats, squared_norm

FAR = 0.25  # rows leave beyond this share of the mean projected gradient
LEAST_ROUNDS = 4  # an epoch of fewer has one lane
PATIENCE = 8.0  # passes after which steps are longer
RELAXED = 1.6  # so many times

# What a climb on the face costs, in units of one row's dot product; dcd.hpp says why.
FEW = 1000  # rows of a problem so small that steps on the face cost nothing
SHARE = 0.5  # of the rows read that a climb on the face may cost, on larger problems
VALUES_PER_ROW = 16.0  # a dot product costs as much as reading so many values more than the row has
ALWAYS = 100.0  # steps that a small problem may take whatever they cost


@dataclass
class Accounts:
    """What an epoch finds out about its rows."""

    leaving: set[int] = field(default_factory=set)
    highest: float = -math.inf  # of the projected gradients
    lowest: float = math.inf
    violation: float = 0.0  # the sum of their absolute values
    n_moved: int = 0  # how many are not zero
    share: float = 0.0  # P - D = sum_i gap_share_i, each term taken when its row is visited
    gained: float = 0.0  # D without -|w|^2 / 2
    jump: Jump = field(default_factory=Jump)

    def merge(self, other: Accounts) -> None:
        self.leaving |= other.leaving
        self.highest, self.lowest = max(self.highest, other.highest), min(self.lowest, other.lowest)
        self.violation += other.violation
        self.n_moved += other.n_moved
        self.share += other.share
        self.gained += other.gained
        self.jump.merge(other.jump)


@dataclass
class Lane:
    """Where rows make their steps; they count `weight` times."""

    w: Floats
    b: float
    residue: float
    dual: float  # D, if there is one lane
    weight: float
    relaxation: float = 1.0
    accounts: Accounts = field(default_factory=Accounts)


class Dcd(face.DualIterate):
    """One epoch visits the active rows once. kappa = 0 unless the intercept is free."""

    fields = (
        *("a", "w", "b", "residue", "last_residue", "rate", "at_work.active", "shrink_above", "shrink_below", "gap"),
        *("at_work.full_gap", "full_b", "survey_due", "dual", "summit", "credit", "passes", "rng"),
    )

    def __init__(
        self,
        problem: Problem,
        shrinking: bool,
        polish: bool,
        eps: float,
        kappa: float,
        block: int,
        order: Order,
        rng: Rng,
        n_threads: int = 1,
    ) -> None:
        super().__init__(problem, kappa)
        self.shrinking = shrinking
        self.polish = polish
        self.eps = eps  # 0: rows come back by the gap
        self.block = block  # rows of a lane in a round; 0: one lane
        self.order = order
        self.rng = rng
        self.at_work = ActiveRows(problem.m)
        self.shrink_above = math.inf  # a row at a = 0 leaves when its gradient is above
        self.shrink_below = -math.inf  # a row at a = box leaves when its gradient is below
        self.gap = math.inf  # estimate of the last epoch
        self.full_b = 0.0  # b after the last epoch over all rows
        self.credit = 0.0  # what a climb on the face may cost, in rows
        self.survey_due = False  # the next epoch is a survey
        self.within_eps = False  # the projected gradients of all rows are
        self.passes = 0.0  # over the rows

    def point(self) -> Point:
        return self.w.copy(), self.b if self.problem.free_intercept else 0.0, self.a.copy()

    def estimate(self) -> tuple[float, float]:
        return self.dual + self.gap, self.dual

    def run_epoch(self) -> None:
        before = self.touched
        try:
            if self.survey_due:
                self._survey()
            else:
                self._ascend()
        finally:  # also when the poll has ended it
            self.passes += (self.touched - before) / self.problem.m

    @property
    def _lasts(self) -> bool:
        """Whether the run is a long one: its steps are over-relaxed, in one lane. Small ones are solved on the face."""
        small = self.polish and self.problem.m <= FEW
        return self.eps == 0.0 and self.passes > PATIENCE and not small

    def _survey(self) -> None:
        """All rows are looked at, without a step; those that are not far away are at work from now on."""
        self.at_work.take_all()
        self.survey_due = False
        self.touched += self.problem.m
        share, far = 0.0, set()
        for i in range(self.problem.m):
            g = self._gradient(i, self.w, self.b)
            share += self.problem.loss.gap_share(float(self.a[i]), g, self.problem.cost[i])
            if self._is_far(i, g, ActiveRows.FAR_AGAIN):
                far.add(i)
            self.ask_poll(i)
        self.at_work.remove(far)
        self.gap = share + self.cost_of_residue()
        self._looked_at_all()
        self._earn(self.problem.m)

    def _ascend(self) -> None:
        visit = self.order.arrange(self.at_work.active, self.rng)
        two = not self._lasts and self.block > 0 and len(visit) >= LEAST_ROUNDS * 2 * self.block
        found = self._side_by_side(visit) if two else self._one_after_the_other(visit)
        full = self.at_work.full
        self.at_work.remove(found.leaving)
        self.follow(found.jump if found.highest <= 0.0 <= found.lowest else None)
        self.gap = found.share + self.cost_of_residue()
        if self.eps > 0.0:
            self._shrink_beyond(
                found.highest if found.highest > 0.0 else math.inf, found.lowest if found.lowest < 0.0 else -math.inf
            )
            self._return_rows_within_eps(full, found.highest - found.lowest)
        else:
            width = FAR * found.violation / found.n_moved if found.n_moved > 0 else math.inf
            self._shrink_beyond(width, -width)
            self._judge(full, max(found.highest, -found.lowest))
        if self.polish and visit:
            self._climb(visit)

    def _one_after_the_other(self, visit: list[int]) -> Accounts:
        lane = Lane(self.w, self.b, self.residue, self.dual, 1.0, RELAXED if self._lasts else 1.0)
        try:
            for i in self.each(visit):
                self._take(i, lane)
        finally:  # also when the poll has ended it: they must be those of the multipliers
            self.b, self.residue, self.dual = lane.b, lane.residue, lane.dual
        return lane.accounts

    def _side_by_side(self, visit: list[int]) -> Accounts:
        half_norm = 0.5 * squared_norm(self.w)
        first, second = Lane(self.w, self.b, self.residue, 0.0, 2.0), Lane(self.w.copy(), self.b, 0.0, 0.0, 2.0)
        try:
            for begin in range(0, len(visit), 2 * self.block):
                part = visit[begin : begin + 2 * self.block]
                for lane, its_rows in ((first, part[: len(part) // 2]), (second, part[len(part) // 2 :])):
                    for i in its_rows:
                        self._take(i, lane)
                first.w[:] = second.w[:] = 0.5 * (first.w + second.w)
                first.b = second.b = 0.5 * (first.b + second.b)
                self.touched += len(part)
                for i in part:  # after a whole round
                    self.ask_poll(i)
        finally:
            self.b, self.residue = first.b, first.residue + second.residue
            first.accounts.merge(second.accounts)
            self.dual += first.accounts.gained + (half_norm - 0.5 * squared_norm(self.w))
        return first.accounts

    def _take(self, i: int, lane: Lane) -> None:
        """The turn of row i."""
        target, found, a, box = self.problem.target[i], lane.accounts, float(self.a[i]), self.problem.box(i)
        g = self._gradient(i, lane.w, lane.b)
        found.share += self.problem.loss.gap_share(a, g, self.problem.cost[i])
        if self.shrinking and self._is_far(i, g, 1.0):
            found.leaving.add(i)
            return
        projected = min(g, 0.0) if a == 0.0 else max(g, 0.0) if a == box else g
        found.highest, found.lowest = max(found.highest, projected), min(found.lowest, projected)
        if projected != 0.0:
            found.violation, found.n_moved = found.violation + abs(projected), found.n_moved + 1
            self._move(i, g, lane)
        else:
            found.jump.add(-target if a == 0.0 else target, abs(g))

    def _gradient(self, i: int, w: Floats, b: float) -> float:
        problem = self.problem
        diagonal = problem.loss.diagonal(problem.cost[i])
        return float(problem.target[i] * (problem.rows.dot(i, w) + b) - 1.0 + diagonal * self.a[i])

    def _is_far(self, i: int, g: float, times: float) -> bool:
        """Whether row i rests at a bound, so many times farther from a move than where rows leave."""
        a = float(self.a[i])
        above, below = times * self.shrink_above, times * self.shrink_below
        return (a == 0.0 and g > above) or (a == self.problem.box(i) and g < below)

    def _move(self, i: int, g: float, lane: Lane) -> None:
        """To the maximum along coordinate i, or beyond it."""
        rows, target, a = self.problem.rows, self.problem.target[i], float(self.a[i])
        diagonal, box = self.problem.loss.diagonal(self.problem.cost[i]), self.problem.box(i)
        q = rows.squared_norm(i) + self.kappa + diagonal
        following = min(max(a - lane.relaxation * g / q, 0.0), box) if q > 0.0 else box
        change = following - a
        if change == 0.0:
            return
        counted = lane.weight * change * target
        rows.add(i, counted, lane.w)
        lane.dual -= change * (g - target * lane.b + 0.5 * change * (rows.squared_norm(i) + diagonal))
        lane.b += self.kappa * counted
        lane.residue += change * target
        penalty = self.problem.loss.dual_penalty
        lane.accounts.gained += change - (penalty(following, self.problem.cost[i]) - penalty(a, self.problem.cost[i]))
        self.a[i] = following

    def _shrink_beyond(self, highest: float, lowest: float) -> None:
        self.shrink_above, self.shrink_below = highest, lowest

    def _looked_at_all(self) -> None:
        self.at_work.full_gap, self.full_b = self.gap, self.b

    def _judge(self, full: bool, violation: float) -> None:
        """A survey is due when the active rows are settled, or when b has moved by half the largest violation."""
        if full:
            self._looked_at_all()
        else:
            self.survey_due = self.at_work.settled(self.gap) or abs(self.b - self.full_b) > 0.5 * violation

    def _return_rows_within_eps(self, full: bool, spread: float) -> None:
        """All rows come back, or the run ends, when the projected gradients are this close."""
        self.within_eps = full and spread <= self.eps
        if not full and spread <= self.eps:
            self.at_work.take_all()
            self._shrink_beyond(math.inf, -math.inf)

    def finished(self) -> bool:
        return self.within_eps

    def make_consistent(self) -> None:
        """Multipliers into their box, and what follows from them anew. All rows come back; a survey may be due."""
        self.recompute()
        if not self.problem.free_intercept:
            self.b = 0.0
        if self.eps == 0.0:
            self.at_work.take_all()
        self.survey_due = self.shrinking and self.eps == 0.0 and self.shrink_above < math.inf

    def _earn(self, n_visited: int) -> None:
        self.credit += self.problem.m if self.problem.m <= FEW else SHARE * n_visited

    def _climb(self, visit: list[int]) -> None:
        """A climb on the face of the free multipliers, once epochs have earned it."""
        m = self.problem.m
        self._earn(len(visit))
        f = sum(self.is_free(i) for i in self.at_work.active)
        if f == 0 or f > face.LARGEST:
            return
        per_row = sum(self.problem.rows.stored(i) for i in visit) / len(visit) + VALUES_PER_ROW
        one_step = f + f * f * f / (3.0 * per_row)  # r, and the Cholesky factor
        if self.credit >= 0.5 * f * f + one_step:  # f^2 / 2: half of K, which is symmetric
            affordable = self.credit / one_step
            at_least = min(f, ALWAYS) if m <= FEW else 1.0
            face.climb(self, int(min(max(affordable, at_least), face.LARGEST)))
            self.credit = 0.0
