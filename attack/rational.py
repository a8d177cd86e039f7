"""Primal and dual of a small problem without any rounding: floats are integers times a power of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

# Bits behind the point of a quotient that is rounded up; far beyond any float64.
_BITS = 256


class Dyadic(NamedTuple):
    """``digits * 2**exponent``; `digits` is an array of Python integers, or one."""

    digits: Any
    exponent: int

    def value(self) -> Fraction:
        """The number itself."""
        digits, exponent = int(self.digits), self.exponent
        return Fraction(digits << exponent) if exponent >= 0 else Fraction(digits, 1 << -exponent)


def dyadic(values: Any) -> Dyadic:
    """Finite floats, exactly, with one exponent for all."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    digits, exponents = np.ldexp(mantissas, 53).astype(np.int64), exponents.astype(np.int64) - 53
    least = int(exponents[digits != 0].min(initial=0))
    shifts = np.where(digits != 0, exponents - least, 0)
    return Dyadic(digits.astype(object) << shifts.astype(object), least)


def aligned(one: Dyadic, other: Dyadic) -> tuple[Any, Any, int]:
    """The digits of both at their smaller exponent, and that."""
    least = min(one.exponent, other.exponent)
    return one.digits << (one.exponent - least), other.digits << (other.exponent - least), least


class ExactProblem:
    """One binary problem in exact arithmetic.

    Slack ``s_i = 1 - t_i (w.x_i + b)``::

        hinge           P = 1/2 |w|^2 + sum_i C_i max(0, s_i)      D = sum_i a_i                     - 1/2 |w(a)|^2
        squared hinge   P = 1/2 |w|^2 + sum_i C_i max(0, s_i)^2    D = sum_i (a_i - a_i^2 / (4 C_i)) - 1/2 |w(a)|^2

    A penalised intercept adds ``1/2 (b / scale)^2`` to P and takes ``scale^2 / 2 (sum_i a_i t_i)^2`` off D.

    Parameters
    ----------
    X : array of shape (m, d), dense
    target : array of shape (m,) of -1 and 1
    cost : array of shape (m,)
    loss : {"hinge", "squared_hinge"}
    intercept : {"none", "free", "penalized"}
    scale : float
        The constant feature of a penalised intercept.
    """

    def __init__(self, X: Any, target: Any, cost: Any, loss: str, intercept: str, scale: float) -> None:
        self._rows, self._cost, self._floats = dyadic(X), dyadic(cost), np.asarray(cost, dtype=np.float64)
        self._bits = _BITS + max(map(int.bit_length, self._cost.digits))
        self._signs = np.asarray(target).astype(np.int64).astype(object)
        self._squared, self._intercept, self._scale = loss == "squared_hinge", intercept, Fraction(float(scale))

    def primal(self, coef: Any, b: float) -> Fraction:
        """P(w, b)."""
        return self._primal(dyadic(coef), dyadic(b))

    def native_primal(self, w: Any, b: float) -> Fraction:
        """P at weights whose last entry belongs to the constant feature of a penalised intercept."""
        if self._intercept != "penalized":
            return self.primal(w[:-1], b)
        last, scale = dyadic(w[-1]), dyadic(float(self._scale))
        return self._primal(dyadic(w[:-1]), Dyadic(last.digits * scale.digits, last.exponent + scale.exponent))

    def _primal(self, w: Dyadic, b: Dyadic) -> Fraction:
        products = Dyadic(self._rows.digits @ w.digits, self._rows.exponent + w.exponent)
        scores, shift, exponent = aligned(products, b)
        exponent, up = min(exponent, 0), max(exponent, 0)
        slack = np.maximum((1 << -exponent) - self._signs * ((scores + shift) << up), 0)
        losses = Dyadic(
            self._cost.digits @ (slack * slack if self._squared else slack),
            self._cost.exponent + exponent * (2 if self._squared else 1),
        )
        total = losses.value() + Dyadic(w.digits @ w.digits, 2 * w.exponent - 1).value()
        return total + (b.value() / self._scale) ** 2 / 2 if self._intercept == "penalized" else total

    def outside(self, a: Any) -> str | None:
        """Why these multipliers are not in their box, or None."""
        inside = (a >= 0) & (np.isfinite(a) if self._squared else a <= self._floats)  # NaN is not
        if inside.all():
            return None
        row = int(np.flatnonzero(~inside)[0])
        return f"multiplier {row} is {a[row]!r}, its cost {self._floats[row]!r}"

    def proves(self, a: Any, bound: float) -> bool:
        """Whether these multipliers, or a balanced neighbour of them if the intercept is free, have D >= bound."""
        digits, exponent = dyadic(a)
        residue = int(self._signs @ digits)
        if self._intercept != "free" or residue == 0:
            return self._dual(digits, exponent) >= Fraction(bound)
        # Take the residue off one multiplier of the class that has too much: of the largest one, or of any.
        side = np.flatnonzero(self._signs == (1 if residue > 0 else -1))
        for row in sorted(side, key=lambda i: -digits[i]):
            if digits[row] >= abs(residue):
                balanced = digits.copy()
                balanced[row] -= abs(residue)
                if self._dual(balanced, exponent) >= Fraction(bound):
                    return True
        return False

    def _dual(self, digits: Any, exponent: int) -> Fraction:
        """D; of the squared hinge from below, by less than 2**-256 of it."""
        w = (self._signs * digits) @ self._rows.digits
        total = Dyadic(int(digits.sum()), exponent).value()
        total -= Dyadic(int(w @ w), 2 * (self._rows.exponent + exponent) - 1).value()
        if self._squared:
            quotients = -((-(digits * digits) << self._bits) // self._cost.digits)  # a^2 / C, rounded up
            total -= Dyadic(int(quotients.sum()), 2 * exponent - self._cost.exponent - self._bits - 2).value()
        if self._intercept == "penalized":
            residue = Dyadic(int(self._signs @ digits), exponent).value()
            total -= (self._scale * residue) ** 2 / 2
        return total
