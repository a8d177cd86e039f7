"""Newton: the augmented Lagrangian of the dual, minimised by semismooth Newton steps.

Slacks z_i = 1 - t_i (w.x_i + b), multipliers a, zone rate s. Around its kink the hinge of a row becomes a parabola, on
a zone of slacks of width 1/s::

    u_i = a_i + s C_i z_i,    a+_i = clip(u_i, 0, C_i),    J = {i : 0 < u_i < C_i}
    F(w, b) = 1/2 |w|^2 + (smooth losses),    gradient  w - sum a+_i t_i x_i,   - sum a+_i t_i
    H p = -gradient,    H = I + s sum_J C_i x_i x_i'

A step goes along p to the minimum of F on that ray (`hinge.reference.zone`). When F is minimised well enough, a round
ends: a = a+, and s grows. For the squared hinge F is the objective itself: one round does it.

The gap comes for nothing: P(w, b) - D(a+) = sum_i (C_i max(0, z_i) - a+_i z_i) + 1/2 |w - w(a+)|^2 + what balancing a+
costs. The first part falls with s, the others with the steps of a round.

A row outside of its zone by more than |x_i| times the distance that w has moved since the row was read keeps its a+_i:
it sleeps, and is not read. The places of w are kept, and each row knows at which of them it was read. Lengths are those
of a metric (`hinge.reference.metric`), which becomes that of the steps on a sample.

The first rounds run on samples, each eight times as large as the one before, with the costs raised accordingly. What
is found there is only a start: native code reads copies of these rows in single precision, and so does this.

H p = -gradient is linear algebra, so that the steps agree with native code to rounding, not to the bit. Here it is
always the matrix H; native code also has two other ways, for many features. Where conjugate gradients are its only way,
s grows more slowly and rounds are more exact: here, too.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from hinge.reference.algorithm import Algorithm, Point, Stopped, inside
from hinge.reference.metric import Metric
from hinge.reference.problem import Problem
from hinge.reference.rows import Rows
from hinge.reference.sums import Floats, squared_norm
from hinge.reference.zone import Numbers, Zones

FIRST_RATE = 0.5  # with it, all rows are in their zones at w = 0
LAST_RATE = 2.0**24  # narrower zones are lost in rounding
ALWAYS, SHARE = 2048**2, 0.125  # entries that native code's matrices may have; or a share of the stored values
LONGER = 4.0  # a step may be so many times as long as the one before
MOST_PLACES, LEAST_PLACES = 128, 8
FIRST_STRIDE, NEXT_STRIDE = 8**10, 8
LEAST_SAMPLE, SAMPLE_PER_FEATURE = 500, 5  # rows
SAMPLE_TOLERANCE = 0.01
LARGEST = float(np.finfo(np.float32).max) ** 2  # |x|^2 of a row that single precision can hold
FAITHFUL = 100  # rows of a sample for each feature, after which w is so close that the zones may be narrower
MOST_STEPS = 50
DRIFT = 1e4  # the Gram matrix is computed anew when so much more weight than it has went through it
BARELY_CURVED = 1e-10  # the curvature along b without any row, as a share of that with all rows
RIDGES = (1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)  # added to the unit diagonal: features may be dependent


@dataclass(frozen=True)
class Pace:
    """How rounds follow each other."""

    faster: float  # s grows by this factor
    minimised: float  # a round ends when the rest of the gap is at most so many times the part that only s can lower


BY_MATRIX, BY_GRADIENTS = Pace(2.0, 5.0), Pace(1.25, 1.0)


@dataclass(frozen=True)
class Sample:
    """Every stride-th row, with its cost raised accordingly."""

    numbers: Numbers  # of its rows in the problem
    rows: Rows  # copies of them, or those of the problem if these are all
    target: Floats
    cost: Floats

    @classmethod
    def of(cls, problem: Problem, stride: int) -> Sample:
        numbers = np.arange(stride // 2, problem.m, stride)
        rows = problem.rows if stride == 1 else problem.rows.copies(numbers.tolist())
        return cls(numbers, rows, np.array(problem.target)[numbers], stride * np.array(problem.cost)[numbers])

    @property
    def size(self) -> int:
        return self.numbers.size


class Newton(Algorithm):
    """One epoch reads about as many rows as there are, or ends before, when the gap has fallen to a quarter."""

    fields: ClassVar[tuple[str, ...]] = (
        *("a", "z", "read_at", "w", "sum", "places", "rate", "radius", "stride", "total", "dual", "zone_gap"),
        *("rest_gap", "minimised", "iterations", "gram", "gram_rows", "gram_weights", "gram_passed"),
        *("lengths", *inside("metric", Metric.fields)),
    )
    varying: ClassVar[tuple[str, ...]] = ("z", "read_at", "lengths")

    def __init__(self, problem: Problem, sampling: bool, n_threads: int) -> None:
        super().__init__(problem)
        self.sampling = sampling
        self.hinge = problem.loss.name == "hinge"
        # Of the rows of the sample, one after the other:
        self.a: Floats = np.zeros(problem.m)  # multipliers of the round, behind them room for those of all rows
        self.z: Floats = np.zeros(0)  # slacks, as of the place where the row was read
        self.read_at: npt.NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)  # which place that was
        self.lengths: npt.NDArray[np.float32] = np.zeros(0, dtype=np.float32)  # squared, in the metric
        self.w: Floats = np.zeros(problem.n_features + 1)  # the last is b if the intercept is free
        self.metric = Metric(self.w.size)
        self.sum: Floats = np.zeros_like(self.w)  # of a+_i t_i x_i
        self.places = array("d")  # of w, one after the other; the last is the present one
        self.rate = FIRST_RATE  # s
        self.radius = math.inf  # how far the next step may go
        self.stride = 0  # 0: nothing has begun, and `a` has all rows
        self.total = 0.0  # sum_i dual_term(a+_i)
        self.dual = 0.0  # estimates: D(a+),
        self.zone_gap = math.inf  # the first part of the gap,
        self.rest_gap = math.inf  # and the others
        self.minimised = False  # the round has ended
        self.iterations = 30.0  # of native code's conjugate gradients: not used here
        self.in_zone: Numbers = np.zeros(0, dtype=np.int64)  # J, as rows of the sample
        self.gram = array("d")  # the Gram matrix of the step before, its lower triangle row by row,
        self.gram_rows = array("q")  # the rows in it,
        self.gram_weights = array("d")  # what they weigh,
        self.gram_passed = 0.0  # and the weight that went through it

    def point(self) -> Point:
        w, multipliers = self.w.copy(), self.a.copy()
        b = float(w[-1]) if self.problem.free_intercept else 0.0
        if self.problem.free_intercept:
            w[-1] = 0.0
        if self.stride > 0:
            sample = self._sample
            n = sample.size
            multipliers = np.zeros(self.problem.m)
            multipliers[sample.numbers] = self._zones(sample).next(self.a[:n], self.z) / self.stride
        return w, b, multipliers

    def estimate(self) -> tuple[float, float] | None:
        return (self.dual + self.zone_gap + self.rest_gap, self.dual) if self.stride == 1 else (math.inf, 0.0)

    def make_consistent(self) -> None:
        """The multipliers and w are a start on another problem, or on this one: the rest is computed anew."""
        self.a = np.minimum(self.point()[2], [self.problem.box(i) for i in range(self.problem.m)])
        self.stride = 0

    def run_epoch(self) -> None:
        try:
            if self.stride == 0:
                self._begin()
            last = self.touched + self.problem.m
            sampled = True
            while sampled and self.touched < last:
                sampled = self.stride > 1
                self._steps_on(self._sample, last)
        except Stopped:  # some rows may have moved and others not: w alone is what the next epoch begins with
            self.stride, self.a = 0, 0.5 * np.array(self.problem.cost)
            raise

    @property
    def _sample(self) -> Sample:
        return Sample.of(self.problem, self.stride)

    def _zones(self, sample: Sample) -> Zones:
        return Zones.of(self.problem.loss, sample.cost, self.rate)

    # The start

    def _begin(self) -> None:
        cold = not self.w.any() and not self.a.any()
        if cold:
            self.rate = FIRST_RATE
        self.stride = self._next_stride(FIRST_STRIDE * NEXT_STRIDE) if cold and self.sampling else 1
        self.metric.make_plain(self._scale_of_b())
        if self.stride > 1:
            self.metric.average(self._augmented(self._sample))
        self._read_all(self._sample)

    def _next_stride(self, stride: int) -> int:
        """The next smaller stride whose sample is worth solving by itself."""
        while (stride := stride // NEXT_STRIDE) > 1:
            enough = max(LEAST_SAMPLE, SAMPLE_PER_FEATURE * self.problem.n_features)
            if self.problem.m // stride < enough:
                continue
            sample = Sample.of(self.problem, stride)
            if np.ptp(sample.target) > 0.0 and self._can_copy(sample):
                return stride
        return 1

    def _can_copy(self, sample: Sample) -> bool:
        return all(self.problem.rows.squared_norm(i) <= LARGEST for i in sample.numbers.tolist())

    def _next_sample(self) -> None:
        """From the present w. Multipliers begin in the middle of the box: a row is in its zone if z is about zero."""
        if self.problem.m // self.stride >= FAITHFUL * self.problem.n_features:
            self.rate = min(BY_MATRIX.faster * self.rate, LAST_RATE)
        self.stride = self._next_stride(self.stride)
        sample = self._sample
        self.a[: sample.size] = 0.5 * sample.cost
        self.metric.adapt(self._augmented(sample))
        self._read_all(sample)

    def _read_all(self, sample: Sample) -> None:
        """Reads all rows at the present w."""
        self._forget_gram()
        self.places = array("d", self.w)
        self.radius = math.inf
        if not self.hinge:
            self.a[:] = 0.0
        everyone = np.arange(sample.size)
        self.z = self._slacks(sample, self.each(everyone), self.w)
        self.lengths = self.metric.squares_of(self._augmented(sample)).astype(np.float32)
        self.read_at = np.zeros(sample.size, dtype=np.uint8)
        self.sum, self.total = np.zeros_like(self.w), 0.0
        self._move(sample, everyone, np.zeros(everyone.size), before=np.zeros(everyone.size))

    def _slacks(self, sample: Sample, chosen: Iterable[int], w: Floats) -> Floats:
        b = float(w[-1]) if self.problem.free_intercept else 0.0
        return np.array([1.0 - sample.target[k] * (sample.rows.dot(int(k), w) + b) for k in chosen])

    # Steps

    def _steps_on(self, sample: Sample, last: int) -> None:
        """On a sample until it is solved well enough, and the next one begun; on all rows until the epoch ends."""
        n = sample.size
        self.in_zone = np.flatnonzero(self._zones(sample).contain(self.a[:n], self.z))
        wanted = 0.0 if self.stride > 1 else 0.25 * (self.zone_gap + self.rest_gap)
        for _ in range(MOST_STEPS):
            if self.touched >= last:
                return
            stuck = not self._step(sample)
            gap = self.zone_gap + self.rest_gap
            if self.stride > 1 and (gap <= SAMPLE_TOLERANCE * self.dual or stuck):
                self._next_sample()
                return
            if gap <= wanted or stuck:
                return

    def _step(self, sample: Sample) -> bool:
        """One step; false if it did not move."""
        if self.minimised:
            self._next_round(sample)
        gradient = self._gradient()
        p = self._direction(sample, gradient)
        slope = float(gradient @ p)
        moved = slope < 0.0 and self._move_along(sample, p, slope)
        if not moved:
            self.minimised = True
        return moved

    def _gradient(self) -> Floats:
        gradient = self.w - self.sum
        if self.problem.free_intercept:
            gradient[-1] = -self.sum[-1]
        return gradient

    def _direction(self, sample: Sample, gradient: Floats) -> Floats:
        """H p = -gradient. A free b is eliminated: rows count from their mean."""
        J, free = self.in_zone, self.problem.free_intercept
        X = self._augmented(sample, J)
        self._keep_gram(X, J, sample.cost[J])
        weight = float(Zones.of(self.problem.loss, np.ones(1), self.rate).weight[0])
        c = weight * sample.cost[J]
        if not free:
            return _solved(np.eye(gradient.size) + (X.T * c) @ X, -gradient)
        X, of_b = X[:, :-1], float(gradient[-1])
        if not J.size:
            return np.append(-gradient[:-1], -of_b / (BARELY_CURVED * weight * self.problem.total_cost))
        mean = c @ X / c.sum()
        centred = X - mean
        p = _solved(np.eye(mean.size) + (centred.T * c) @ centred, mean * of_b - gradient[:-1])
        return np.append(p, -of_b / c.sum() - mean @ p)

    def _augmented(self, sample: Sample, chosen: Numbers | None = None) -> Floats:
        """These rows, or all, with the constant feature behind their values: 1 for a free b."""
        X = sample.rows.augmented(None if chosen is None else chosen.tolist())
        if self.problem.free_intercept:
            X[:, -1] = 1.0
        return X

    def _keep_gram(self, X: Floats, rows: Numbers, cost: Floats) -> None:
        """The Gram matrix of the rows in J. Native code adds and takes off those that have changed: what it reads."""
        old = dict(zip(self.gram_rows, self.gram_weights, strict=True))
        new = dict(zip(rows.tolist(), cost.tolist(), strict=True))
        changed = [old[i] if i in old else new[i] for i in old.keys() ^ new.keys()]
        self.gram_passed += sum(changed)
        if not self.gram or len(changed) >= rows.size or self.gram_passed > DRIFT * cost.sum():
            changed = cost.tolist()
            self.gram_passed = float(cost.sum())
        self.touched += len(changed)
        self.gram = array("d", np.tril((X.T * cost) @ X).ravel())
        self.gram_rows, self.gram_weights = array("q", rows), array("d", cost)

    def _forget_gram(self) -> None:
        self.gram, self.gram_rows, self.gram_weights, self.gram_passed = array("d"), array("q"), array("d"), 0.0

    def _move_along(self, sample: Sample, p: Floats, slope: float) -> bool:
        """To the minimum on the ray, but not farther than `radius`; false if that is here."""
        length = self._length(p)
        longest = min(1.0, self.radius / length)
        awake = self._awake(sample, p, longest)
        asleep = awake[self.read_at[awake] != self._n_places - 1]  # until now
        self.z[asleep] = self._slacks(sample, asleep, self.w)
        change = self._slacks(sample, self.each(awake), p) - 1.0
        zones, a, z = self._zones(sample).part(awake), self.a[awake], self.z[awake]
        t = zones.minimum(a, z, change, slope, self._squared_norm(p), longest)
        if t == 0.0:
            return False
        self.w = self.w + t * p
        self.metric.note(t * p)
        radius = LONGER * t * length
        if self._n_places >= min(max(self._stored // (64 * self.w.size), LEAST_PLACES), MOST_PLACES):
            self._read_all(sample)  # too many places: one is enough when all rows are read there
        else:
            self.places.extend(self.w)
            self._move(sample, awake, t * change, before=zones.next(a, z))
        self.radius = radius
        return True

    @property
    def _stored(self) -> int:
        return sum(self.problem.rows.stored(i) for i in range(self.problem.m))

    @property
    def _pace(self) -> Pace:
        """By the order of the smaller matrix of native code."""
        order = min(self.w.size, self.in_zone.size)
        return BY_MATRIX if order * order <= max(ALWAYS, SHARE * self._stored) else BY_GRADIENTS

    @property
    def _n_places(self) -> int:
        return len(self.places) // self.w.size

    def _squared_norm(self, v: Floats) -> float:
        """|v|^2 without a free b."""
        return squared_norm(v[:-1] if self.problem.free_intercept else v)

    def _scale_of_b(self) -> float:
        """The inverse mean of |x|^2: it balances the two terms that bound a change of w.x + b."""
        if not self.problem.free_intercept:
            return 1.0
        squares = sum(self.problem.rows.squared_norm(i) for i in range(self.problem.m))
        scale = self.problem.m / squares if squares > 0.0 else math.inf
        return scale if 0.0 < scale < math.inf else 1.0

    def _length(self, p: Floats) -> float:
        """In the plain metric."""
        return math.sqrt(squared_norm(p[:-1]) + self._scale_of_b() * float(p[-1]) ** 2)

    def _awake(self, sample: Sample, p: Floats, longest: float) -> Numbers:
        """The rows that may leave or enter their zones within `longest` of p."""
        ends = (self.w, self.w + longest * p)
        places = np.array(self.places).reshape(-1, self.w.size)
        moved = np.array([max(self.metric.length(end - place) for end in ends) for place in places])
        zones, n = self._zones(sample), sample.size
        norms = np.sqrt(self.lengths.astype(np.float64))
        outside = zones.outside(self.a[:n], self.z)
        return np.flatnonzero(~((outside > 0.0) & (outside > zones.weight * norms * moved[self.read_at])))

    def _move(self, sample: Sample, chosen: Numbers, change: Floats, before: Floats) -> None:
        """The slacks of these rows change; `before` is what they had in `sum`."""
        zones = self._zones(sample).part(chosen)
        self.z[chosen] += change
        self.read_at[chosen] = self._n_places - 1
        a, z = self.a[chosen], self.z[chosen]
        following = zones.next(a, z)
        self._change_multipliers(sample, chosen, before, following)
        self.in_zone = chosen[zones.contain(a, z)]
        self.zone_gap = max(0.0, float(np.sum(zones.gap(following, z))))
        self._estimate_gap()

    def _change_multipliers(self, sample: Sample, chosen: Numbers, before: Floats, following: Floats) -> None:
        """What follows from a+, for the rows whose a+ has changed."""
        problem = self.problem
        changed = np.flatnonzero(following != before)
        for j in changed.tolist():
            k, old, new = int(chosen[j]), float(before[j]), float(following[j])
            cost, step = float(sample.cost[k]), (new - old) * float(sample.target[k])
            sample.rows.add(k, step, self.sum)
            if problem.free_intercept:
                self.sum[-1] += step
            self.total += new - problem.loss.dual_penalty(new, cost) - (old - problem.loss.dual_penalty(old, cost))
            self.touched += 1
            self.ask_poll(k)

    def _estimate_gap(self) -> None:
        """D(a+), and the parts of the gap that steps can lower."""
        self.dual = self.total - 0.5 * self._squared_norm(self.sum)
        self.rest_gap = 0.5 * self._squared_norm(self._gradient())
        if self.problem.free_intercept and self.total > 0.0:
            loss = max(0.0, self.dual + self.zone_gap + self.rest_gap - 0.5 * self._squared_norm(self.w))
            self.rest_gap += 2.0 * abs(float(self.sum[-1])) / self.total * loss
        self.minimised = self.hinge and self.rest_gap <= self._pace.minimised * self.zone_gap

    def _next_round(self, sample: Sample) -> None:
        """a = a+, and s grows: only rows in their zones get another a+."""
        self.minimised = False
        if not self.hinge:
            return
        n, J = sample.size, self.in_zone
        self.a[:n] = self._zones(sample).next(self.a[:n], self.z)
        self.rate = min(self._pace.faster * self.rate, LAST_RATE)
        self._move(sample, J, np.zeros(J.size), before=self.a[J])


def _solved(H: Floats, right: Floats) -> Floats:
    """H p = right, H scaled to a unit diagonal."""
    scale = 1.0 / np.sqrt(H.diagonal())
    unit = H * np.outer(scale, scale)
    for ridge in RIDGES:
        np.fill_diagonal(unit, 1.0 + ridge * scale.size)
        try:
            p: Floats = scale * cho_solve(cho_factor(unit), right * scale)
        except (LinAlgError, ValueError):  # not positive definite, or not finite
            continue
        return p
    return right
