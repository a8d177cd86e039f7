"""A certificate in the space of the kernel itself, for a model that was trained in an approximation of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge import _core
from hinge.certificate.certificate import Certificate
from hinge.certificate.evaluate import LocalEvaluator
from hinge.certificate.verify import Claim, checked_multipliers
from hinge.features.blocks import for_each, row_blocks
from hinge.features.kernel import Columns, Kernel
from hinge.problem import Floats, Integers, Problem, as_rows

# Columns of a block of kernel values. A sum over them in float64 has an error of at most this many units of the sum of
# absolute values.
_COLUMNS = 4096
_UNIT = 2.0**-53

#: Called after each block of kernel values: how many of how many are done.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Function:
    """f_c = sum_s coefficients[s, c] k(z_s, .) for each class c."""

    kernel: Kernel
    Z: Any
    coefficients: Floats

    def values(self, X: Any, n_threads: int, progress: Progress) -> Floats:
        """f_c(x) for the rows of X, in blocks of rows and columns."""
        parts = [slice(at, at + _COLUMNS) for at in range(0, len(self.coefficients), _COLUMNS)]
        columns = [Columns(self.kernel, _wide(self.Z[part])) for part in parts]

        def work(rows: slice) -> Floats:
            block = _wide(X[rows])
            total = np.zeros((rows.stop - rows.start, self.coefficients.shape[1]))
            for part, of_part in zip(parts, columns, strict=True):
                total += of_part.block(block) @ self.coefficients[part]
            return total

        blocks = row_blocks(X.shape[0], 8 * min(_COLUMNS, max(len(self.coefficients), X.shape[1])))
        found = []
        for done, values in enumerate(for_each(work, blocks, n_threads), 1):
            found.append(values)
            progress(done, len(blocks))
        return np.concatenate(found)

    def rounding(self, X: Any) -> Floats:
        """A bound of the rounding error of every value, of shape (n_rows, n_classes).

        By |k(x, z)| <= sqrt(k(x, x) k(z, z)): as many units as numbers are added, of the sum of absolute values.
        """
        n = min(len(self.coefficients), _COLUMNS) + len(self.coefficients) // _COLUMNS + 2
        lengths = np.sqrt(np.maximum(self.kernel.diagonal(_wide(self.Z)), 0.0))
        total = 1.01 * (np.abs(self.coefficients).T @ lengths)
        return 2.0 * n * _UNIT * np.outer(np.sqrt(np.maximum(self.kernel.diagonal(_wide(X)), 0.0)), total)


def exact_certificates(
    kernel: Kernel, X: Any, claims: list[Claim], model: tuple[Any, Floats] | None, n_threads: int, progress: Progress
) -> tuple[Certificate, ...]:
    """P and D of the SVM with the kernel itself, of each claim.

    P is that of `model`, rows and their coefficients for each claim, with its b. Without one it is that of the
    multipliers' own function ``sum_i a_i t_i k(x_i, .)``, with the best b for it. D is that of the multipliers, times
    the factor in [0, 1] that is best for it: they are feasible in any space. Kernel values are taken as float64 has
    them; the rounding of all sums is counted.
    """
    signed = np.column_stack([checked_multipliers(claim) * claim.target for claim in claims])
    support = np.flatnonzero(np.any(signed != 0, axis=1))
    of_dual = Function(kernel, X[support], signed[support])
    if model is None:
        values, rounding = of_dual.values(X, n_threads, progress), of_dual.rounding(X)
        dual_values, dual_rounding = values[support], rounding[support]
    else:
        dual_values, dual_rounding = of_dual.values(X[support], n_threads, progress), of_dual.rounding(X[support])
        f = Function(kernel, *model)
        values, rounding = f.values(X, n_threads, progress), f.rounding(X)
        own, own_rounding = f.values(f.Z, n_threads, silent), f.rounding(f.Z)
    diagonal = kernel.diagonal(_wide(X[support]))
    certificates = []
    for c, claim in enumerate(claims):
        of_multipliers = _Quadratic.of(signed[support, c], dual_values[:, c], dual_rounding[:, c])
        norm2 = of_multipliers if model is None else _Quadratic.of(model[1][:, c], own[:, c], own_rounding[:, c])
        b = None if model is None else claim.b
        primal = _primal(claim, values[:, c], rounding[:, c], norm2, b)
        dual = _dual(claim, support, of_multipliers, dual_values[:, c], diagonal)
        certificates.append(Certificate(primal, dual))
    return tuple(certificates)


@dataclass(frozen=True)
class _Quadratic:
    """sum_i c_i f(x_i) and a bound of its error."""

    value: float
    rounding: float

    @classmethod
    def of(cls, coefficients: Floats, values: Floats, rounding: Floats) -> _Quadratic:
        size = np.abs(coefficients)
        sums = coefficients.size * _UNIT * float(size @ np.abs(values))
        return cls(float(coefficients @ values), 1.01 * (float(size @ rounding) + sums))

    @property
    def most(self) -> float:
        return max(0.0, self.value + self.rounding)


def _primal(claim: Claim, values: Floats, rounding: Floats, norm2: _Quadratic, b: float | None) -> float:
    """P: the values are a feature of their own, with a weight of 1 whose share in P is taken off again.

    b None: the best one if b is free; if it is penalised, that of the multipliers.
    """
    intercept = claim.intercept
    rows = as_rows(np.ascontiguousarray(values[:, np.newaxis]))
    problem = Problem.make(rows, claim.target, claim.cost, loss=claim.loss, intercept=intercept)
    constant = 0.0
    if intercept.kind == "penalized":
        constant = intercept.scale * _residue(claim) if b is None else b / intercept.scale
    poll = _core.Poll(_core.StopToken(), False)
    upper = LocalEvaluator(problem).upper(np.array([1.0, constant]), poll, b if intercept.kind == "free" else None)
    assert upper is not None
    slack = np.maximum(0.0, 1.0 - claim.target * (values + upper.b)) + rounding
    more = float(claim.cost @ (claim.loss.value(slack + rounding) - claim.loss.value(slack)))
    return (upper.value - 0.5) + 0.5 * norm2.most + 1.01 * more + 4.0 * _UNIT * (upper.value + norm2.most)


def _dual(claim: Claim, support: Integers, q: _Quadratic, values: Floats, diagonal: Floats) -> float:
    """D at the multipliers times theta, rounded down; what rounding has left of ``sum a t`` is charged if b is free."""
    a, target, cost = checked_multipliers(claim)[support], claim.target[support], claim.cost[support]
    total, residue = math.fsum(a), _residue(claim)
    counts = cost > 0
    penalty = math.fsum(claim.loss.dual_penalty(a[counts], cost[counts]))
    square = 0.5 * q.most + penalty
    if claim.intercept.kind == "penalized":
        square += 0.5 * (claim.intercept.scale * residue) ** 2
    best = total / (2.0 * square) if square > 0 else 1.0
    theta = min(1.0, best) if claim.loss.bounded else best
    dual = theta * total - theta**2 * square
    if claim.intercept.kind == "free" and residue != 0.0:
        delta = theta * abs(residue)
        j = int(np.argmax(np.where(target == np.sign(residue), a, -1.0)))
        if theta * a[j] < delta:
            return 0.0
        dual -= delta * (1.0 + theta * abs(float(values[j]))) + 0.5 * delta**2 * float(diagonal[j])
    return max(0.0, dual - 16.0 * _UNIT * (theta * total + theta**2 * square))


def _residue(claim: Claim) -> float:
    return math.fsum(checked_multipliers(claim) * claim.target)


def _wide(X: Any) -> Any:
    return X.astype(np.float64, copy=False)


def silent(done: int, of: int) -> None:
    """No progress is shown."""
