"""Both sides of the certificate of an exact kernel machine: decisions, |w|^2 and multipliers are all that it needs."""

from __future__ import annotations

import math

import numpy as np

from hinge import _core
from hinge.certificate.evaluate import Evaluator, LocalEvaluator, Lower, Upper
from hinge.features import KernelProblem
from hinge.problem import Floats, Problem

# docs/certificate.md, "Exact kernels", derives what is made of these.
_ROUNDOFF = 2.0**-53
# Absolute: far more than underflow can take away.
_TINY = 1e-290


class KernelEvaluator(Evaluator):
    """P at functions sum_i v_i k(x_i, .) and D at multipliers, from kernel values in double precision, never kept.

    One evaluation takes m kernel values for each v_i that is not zero. The decisions of the last v are remembered, so
    that both sides of a model that is w(a) take them once.
    """

    def __init__(self, problem: KernelProblem, n_threads: int = 1) -> None:
        self.problem = problem
        self.n_threads = n_threads
        self._relative, self._scales = value_error(problem)
        self._last: tuple[Floats, Floats] | None = None

    def upper(self, w: Floats, poll: _core.Poll, b: float | None = None) -> Upper | None:
        """P at w and, if the intercept is free, at b or the best b for this w; None when stopped by the poll."""
        problem, v = self.problem, np.array(w, dtype=np.float64, order="C")
        if (z := self._decisions(v, poll)) is None:
            return None
        if b is None:
            free = problem.intercept.kind == "free"
            b = _core.best_intercept(z, problem.target, problem.cost, problem.loss.native) if free else 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            shift = problem.shift(v)
            half = 0.5 * self._square(v, z)
            half_up = 0.5 * self._square(v, z, up=True)
            slack = 1.0 - problem.target * (z + b)
            error = self._of_decisions(v) + 4.0 * _ROUNDOFF * (1.0 + np.abs(z) + abs(b))
            losses = _sum(problem.cost * problem.loss.value(slack))
            losses_up = _sum(problem.cost * problem.loss.value(slack + error))
            value = (half_up + losses_up) * (1.0 + 16.0 * _ROUNDOFF) + _TINY
        if not np.isfinite(value):
            return Upper(math.inf, math.inf, v, b + shift)
        return Upper(value, value - (half + losses), v, b + shift)

    def lower(self, multipliers: Floats, poll: _core.Poll) -> Lower | None:
        """D at the multipliers made feasible; None when stopped by the poll."""
        problem = self.problem
        a = self._feasible(np.array(multipliers, dtype=np.float64))
        if (z := self._decisions(a * problem.target, poll)) is None:
            return None
        theta = self._best_multiple(a, z)
        if theta != 1.0:
            a, z = a * theta, z * theta
            self._last = a * problem.target, z
        v = a * problem.target
        with np.errstate(over="ignore", invalid="ignore"):
            total, penalty = _sum(a), _sum(problem.loss.dual_penalty(a, problem.cost))
            value = total - penalty - 0.5 * self._square(v, z)
            lowered = (
                total * (1.0 - 16.0 * _ROUNDOFF)
                - penalty * (1.0 + 16.0 * _ROUNDOFF)
                - 0.5 * self._square(v, z, up=True) * (1.0 + 16.0 * _ROUNDOFF)
                - self._charge(a, v, z)
                - _TINY
            )
        if not (lowered > 0.0 and np.isfinite(lowered)):
            return Lower(0.0, 0.0, np.zeros(problem.m), np.zeros(problem.m))
        return Lower(lowered, value - lowered, a, v)

    def _decisions(self, v: Floats, poll: _core.Poll) -> Floats | None:
        """K v, which is z."""
        if self._last is not None and np.array_equal(self._last[0], v):
            return self._last[1]
        z = _core.kernel_sums(self.problem.rows, self.problem.native_kernel, v, poll, self.n_threads)
        if z is not None:
            self._last = v.copy(), z
        return z

    def _of_decisions(self, v: Floats) -> Floats:
        """What rounding may hide in each of them."""
        of_values = self._relative * _sum(np.abs(v) * self._scales) * self._scales
        return (of_values + self.problem.deficit * _sum(np.abs(v))) * (1.0 + 16.0 * _ROUNDOFF)

    def _square(self, v: Floats, z: Floats, up: bool = False) -> float:
        """|w|^2 = v.z, as computed or rounded up."""
        terms = v * z
        if not up:
            return _sum(terms)
        hidden = _sum(np.abs(v) * self._of_decisions(v)) + 4.0 * _ROUNDOFF * _sum(np.abs(terms))
        return max(0.0, _sum(terms)) + hidden

    def _feasible(self, a: Floats) -> Floats:
        """Into the box and, if b is free, into balance: a class without multipliers gets its costs."""
        problem = self.problem
        a = np.where(a > 0.0, np.minimum(a, np.minimum(problem.box, 1e150)), 0.0)
        if problem.intercept.kind != "free":
            return a
        classes = [problem.target < 0.0, problem.target > 0.0]
        empty = [not a[rows].any() for rows in classes]
        for rows, nothing in zip(classes, empty, strict=True):
            if nothing and not all(empty):
                a = np.where(rows, problem.cost, a)
        sums = [_sum(a[rows]) for rows in classes]
        for rows, own, other in zip(classes, sums, reversed(sums), strict=True):
            if own > other:
                a = np.where(rows, a * (other / own), a)
        return a

    def _best_multiple(self, a: Floats, z: Floats) -> float:
        """The factor with the largest dual; with the hinge only up to 1, where the box is."""
        problem = self.problem
        with np.errstate(all="ignore"):
            total, norm2 = _sum(a), _sum(a * problem.target * z)
            if problem.loss.bounded:
                return total / norm2 if norm2 > total else 1.0
            curvature = norm2 + 2.0 * _sum(problem.loss.dual_penalty(a, problem.cost))
            theta = total / curvature if curvature > 0.0 else 1.0
        return theta if np.isfinite(theta) and theta > 0.0 else 1.0

    def _charge(self, a: Floats, v: Floats, z: Floats) -> float:
        """What D loses when sum_i a_i t_i = 0 is restored by taking the residue off one multiplier."""
        if self.problem.intercept.kind != "free" or (residue := _sum(v)) == 0.0:
            return 0.0
        delta = abs(residue) * (1.0 + 4.0 * _ROUNDOFF)
        j = int(np.argmax(np.where(self.problem.target == np.sign(residue), a, -1.0)))
        if not a[j] >= delta:
            return math.inf
        at = abs(float(z[j])) + float(self._of_decisions(v)[j])
        square = float(self._scales[j]) ** 2  # at least k(x_j, x_j)
        return delta * (1.0 + at + 0.5 * delta * square) * (1.0 + 16.0 * _ROUNDOFF)


def evaluator_of(problem: Problem, n_threads: int = 1) -> Evaluator:
    """The evaluator of this process for the space that the problem lives in."""
    if isinstance(problem, KernelProblem):
        return KernelEvaluator(problem, n_threads)
    return LocalEvaluator(problem, n_threads)


def value_error(problem: KernelProblem) -> tuple[float, Floats]:
    """(r, s): |k(x_i, x_j)| is at most s_i s_j, and as it is computed, off by at most r s_i s_j.

    That is so of the values of kernel_rows.hpp and of their products in its compensated sums.
    """
    kernel, rows = problem.kernel, problem.rows
    dense = rows.layout == "dense"
    terms = rows.n_features if dense else rows.longest
    of_sums = (terms / (1 if dense else 4) + 16.0) * _ROUNDOFF  # relative to the sum of the terms without their signs
    norms2 = rows.squared_norms * (1.0 + of_sums) + 1e-300
    bounds, relative = np.ones(problem.m), of_sums
    if kernel.function == "linear":
        bounds = norms2
    elif kernel.function == "polynomial":
        bounds = (kernel.gamma * norms2 + abs(kernel.coef0)) ** kernel.degree
        relative = 1.01 * kernel.degree * of_sums
    elif kernel.function == "sigmoid":
        relative = kernel.gamma * float(norms2.max()) * of_sums + (1.0 + abs(kernel.coef0)) * of_sums
    elif kernel.function == "cosine":
        relative = 2.0 * of_sums
    else:
        # An exponent e is off by a share of it, and e exp(-e) is at most 1. Where sums cancel, it is a share of their
        # size.
        size = 4.0 * _core.kernel_reach(rows, problem.native_kernel)
        if kernel.function == "laplacian" and not dense:
            size = 16.0 * math.sqrt(terms * float(norms2.max()))
        relative = 2.0 * of_sums + kernel.gamma * (size * (1.0 + of_sums) * of_sums + terms * 1e-322)
    rho2 = problem.intercept.rho**2
    return min(2.0, relative) + 16.0 * _ROUNDOFF, np.sqrt(bounds + rho2) * (1.0 + 16.0 * _ROUNDOFF)


def _sum(terms: Floats) -> float:
    """Correctly rounded; not a number if a term is none or infinite."""
    return math.fsum(terms) if np.all(np.isfinite(terms)) else math.nan
