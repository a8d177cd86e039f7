"""Both sides of a certificate: P at a model, rounded up, and D at feasible multipliers, rounded down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hinge import _core, checks
from hinge.problem import Floats, Problem

# docs/certificate.md, "Bounds that read no rows", derives these.
# Relative: far more than the roundings of a sum in NumPy.
_ROUNDOFF = 1e-12
# Absolute: far more than 1e10 rows can lose to underflow.
_TINY = 1e-290


@dataclass(frozen=True)
class Upper:
    """P at the model (w, b), rounded up by `rounding`: no less than the optimum."""

    value: float
    rounding: float
    w: Floats
    b: float


@dataclass(frozen=True)
class Lower:
    """D at feasible multipliers, rounded down by `rounding`: no more than the optimum; w is w(a) rebuilt from them."""

    value: float
    rounding: float
    multipliers: Floats
    w: Floats


class Evaluator(Protocol):
    """Who the training loop asks for exact values. Both sides are sums over rows, wherever the rows are."""

    def upper(self, w: Floats, poll: _core.Poll, b: float | None = None) -> Upper | None:
        """P at w and, if the intercept is free, at b or the best b for this w; None when stopped by the poll."""
        ...

    def lower(self, multipliers: Floats, poll: _core.Poll) -> Lower | None:
        """D at the multipliers made feasible; None when stopped by the poll."""
        ...

    def both(self, w: Floats, multipliers: Floats, poll: _core.Poll) -> tuple[Upper, Lower] | None:
        """What `upper` says of w and `lower` of the multipliers; None when stopped by the poll."""
        if (model := self.upper(w, poll)) is None or (bound := self.lower(multipliers, poll)) is None:
            return None
        return model, bound


@dataclass(frozen=True)
class LocalEvaluator(Evaluator):
    """Rows in this process, summed in fixed parts by `n_threads` threads: the same bits for any number of them."""

    problem: Problem
    n_threads: int = 1

    def upper(self, w: Floats, poll: _core.Poll, b: float | None = None) -> Upper | None:
        """P at w and, if the intercept is free, at b or the best b for this w; None when stopped by the poll."""
        w = np.array(w, dtype=np.float64, order="C")  # a copy: the solver may go on to change its own
        found = _core.primal(self.problem.native, w, b, poll, self.n_threads)
        if found is None:
            return None
        value, rounding, at = found
        return Upper(value, rounding, w, at + self.problem.shift(w))

    def lower(self, multipliers: Floats, poll: _core.Poll) -> Lower | None:
        """D at the multipliers made feasible; None when stopped by the poll."""
        a = np.ascontiguousarray(multipliers, dtype=np.float64)
        found = _core.dual(self.problem.native, a, poll, self.n_threads)
        return None if found is None else Lower(*found)

    def both(self, w: Floats, multipliers: Floats, poll: _core.Poll) -> tuple[Upper, Lower] | None:
        """What `upper` says of w and `lower` of the multipliers, in one pass over the rows; None when stopped."""
        w = np.array(w, dtype=np.float64, order="C")
        # They are read more than once, and must be the same each time: others can change what is writable.
        a = multipliers if _is_sealed(multipliers) else np.array(multipliers, dtype=np.float64, order="C")
        found = _core.both_sides(self.problem.native, w, a, poll, self.n_threads)
        if found is None:
            return None
        (value, rounding, at), lower = found
        return Upper(value, rounding, w, at + self.problem.shift(w)), Lower(*lower)


def _is_sealed(array: Floats) -> bool:
    """Whether nobody can change it: read-only, and its memory belongs to the core, as with the points of native runs.

    Being read-only is not enough: the memory of a view, of a buffer or of a file may be written to by others.
    """
    owner = type(getattr(array.base, "obj", None))
    of_core = owner.__module__ == "nanobind"
    return of_core and not array.flags.writeable and array.flags.c_contiguous and array.dtype == np.float64


def trivial(problem: Problem) -> tuple[Upper, Lower]:
    """w = 0 and a = 0: a valid, useless certificate that costs nothing."""
    positive, negative = _cost_of(problem, problem.target > 0), _cost_of(problem, problem.target < 0)
    b = 0.0
    if problem.intercept.kind == "free":
        balance = (positive - negative) / (positive + negative)
        b = (1.0 if balance >= 0 else -1.0) if problem.loss.bounded else balance
    value = float(positive * problem.loss.value(1.0 - b) + negative * problem.loss.value(1.0 + b))
    rounding = _ROUNDOFF * value + _TINY
    # One zero in memory: training and the first evaluation need the rest.
    w, a = np.broadcast_to(0.0, problem.n_weights), np.broadcast_to(0.0, problem.m)
    return Upper(value + rounding, rounding, w, b), Lower(0.0, 0.0, a, w)


def _cost_of(problem: Problem, chosen: npt.NDArray[np.bool_]) -> float:
    if checks.kept_once(problem.cost):
        return float(problem.cost[0]) * int(np.count_nonzero(chosen))
    return float(np.sum(problem.cost * chosen))


def unread(problem: Problem, w: Floats, b: float) -> Upper:
    """A bound of P at (w, b) from the norms of the rows alone, valid and loose: the rows are not read.

    ``s_i <= 1 + |w| |x_i| + |b|``. For a model that there was no time to evaluate.
    """
    b = b if problem.intercept.kind == "free" else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(_lengths(np.array([problem.squared_length(w)]), w.size)[0])
        slack = _lengths(problem.squared_norms.copy(), w.size)
        slack *= length
        slack += 1.0 + abs(b)
        loss = problem.loss.value(slack)
        loss *= problem.cost
        value = (0.5 * length**2 + float(loss.sum())) * (1.0 + _ROUNDOFF) + _TINY
    value = value if np.isfinite(value) else float("inf")
    return Upper(value, value, np.array(w, dtype=np.float64), b + problem.shift(w))


def _lengths(squared: Floats, n: int) -> Floats:
    """Upper bounds of lengths, in place, from sums of n squares: each may be rounded n times, or have underflowed."""
    squared *= 1.0 + n * 2.0**-52
    squared += n * 1e-307
    return np.sqrt(squared, out=squared)
