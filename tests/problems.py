"""Random problems for the property tests, and their objective in exact arithmetic."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from registry import VARIANTS, fitted

from hinge.problem import Intercept, Problem, as_loss, as_rows

#: Examples of all property tests together; `make test-long` raises it.
EXAMPLES = int(os.environ.get("HINGE_EXAMPLES", "2400"))


def share(fraction: float) -> int:
    """This test's share of the examples."""
    return max(20, round(EXAMPLES * fraction))


@dataclass
class Case:
    """A problem and how to solve it."""

    seed: int
    m: int
    d: int
    scale: float
    C: float
    dtype: type
    sparse: bool
    weighted: bool
    intercept: str
    intercept_scaling: float
    solver: str
    max_iter: int
    loss: str = "hinge"
    X: Any = field(init=False, repr=False)
    y: Any = field(init=False, repr=False)
    weight: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.y = np.where(rng.random(self.m) < rng.uniform(0.1, 0.9), 1, -1)
        self.y[:2] = (1, -1)
        X = (
            rng.standard_normal((self.m, self.d))
            + rng.normal() * self.y[:, None]
            + rng.normal(scale=3) * (rng.random() < 0.3)
        )
        X *= (rng.random((self.m, self.d)) < rng.uniform(0.2, 1.0)) * self.scale * 10.0 ** rng.uniform(-1, 1, self.d)
        X[rng.random(self.m) < 0.1] = 0.0
        copies = rng.random(self.m) < 0.1
        X[copies] = X[0]
        self.X = np.ascontiguousarray(X, dtype=self.dtype)
        self.weight = None
        if self.weighted:
            self.weight = rng.choice([0.0, 0.5, 1.0, 3.0, 1e-3, 100.0], self.m)
            self.weight[:2] = 1.0

    @property
    def data(self) -> Any:
        return sp.csr_matrix(self.X) if self.sparse else self.X

    @property
    def cost(self) -> Any:
        return self.C * (np.ones(self.m) if self.weight is None else self.weight)

    @property
    def configuration(self) -> Any:
        """The solver, with options that fit the problem."""
        return fitted(self.solver, int(np.count_nonzero(self.cost)), math.fsum(self.cost))

    @property
    def problem(self) -> Problem:
        """The problem as a solver sees it."""
        return Problem.make(
            as_rows(self.data),
            self.y.astype(np.float64),
            self.cost,
            loss=as_loss(self.loss),
            intercept=Intercept(self.intercept, self.intercept_scaling),  # type: ignore[arg-type]
        )

    def options(self, **changes: Any) -> dict[str, Any]:
        """Keyword arguments of :func:`hinge.solve`."""
        given = {
            "C": self.C,
            "loss": self.loss,
            "solver": self.configuration,
            "max_iter": self.max_iter,
            "intercept": self.intercept,
            "intercept_scaling": self.intercept_scaling,
            "sample_weight": self.weight,
            "random_state": self.seed % 1000,
        }
        return given | changes


@st.composite
def cases(draw: st.DrawFn, **fixed: Any) -> Case:
    """Random cases; `fixed` pins some of the fields."""
    solver = fixed.get("solver") or draw(st.sampled_from(sorted(VARIANTS)))
    traits = VARIANTS[solver].traits
    drawn = {
        "seed": draw(st.integers(0, 2**32 - 1)),
        "m": draw(st.integers(2, 30)),
        "d": draw(st.integers(1, 8)),
        "scale": 10.0 ** draw(st.integers(-3, 3)),
        "C": 10.0 ** draw(st.integers(-3, 3)),
        "dtype": draw(st.sampled_from([np.float64, np.float32])),
        "sparse": draw(st.booleans()),
        "weighted": draw(st.booleans()),
        "solver": solver,
        "intercept": draw(st.sampled_from(traits.intercepts)),
        "loss": draw(st.sampled_from(traits.losses)),
        "intercept_scaling": draw(st.sampled_from([1.0, 0.1, 10.0])),
        "max_iter": draw(st.sampled_from([1, 2, 5, 20, 300])),
    }
    return Case(**(drawn | fixed))


def exact_primal(case: Case, coef: Any, b: float) -> Fraction:
    """P(w, b) without rounding."""
    w = [Fraction(float(x)) for x in coef]
    total = sum((x * x for x in w), Fraction(0)) / 2
    if case.intercept == "penalized":
        total += (Fraction(b) / Fraction(case.intercept_scaling)) ** 2 / 2
    for x, label, cost in zip(case.X, case.y, case.cost, strict=True):
        decision = sum((wj * Fraction(float(xj)) for wj, xj in zip(w, x, strict=True)), Fraction(b))
        total += Fraction(float(cost)) * _loss(case.loss, 1 - int(label) * decision)
    return total


def _loss(loss: str, slack: Fraction) -> Fraction:
    return {"hinge": max(Fraction(0), slack), "squared_hinge": max(Fraction(0), slack) ** 2}[loss]


def _dual_term(loss: str, a: Fraction, cost: Fraction) -> Fraction:
    """What a multiplier in its box adds to D; a row that counts nothing has none."""
    assert 0 <= a, "a negative multiplier"
    assert a == 0 or (a <= cost if loss == "hinge" else cost > 0), "a multiplier outside its box"
    return a if loss == "hinge" or a == 0 else a - a * a / (4 * cost)


def exact_dual(case: Case, a: Any) -> Fraction:
    """D of the multipliers, which must lie in the box; for a free intercept with the residue taken off one of them."""
    multipliers = [Fraction(float(x)) for x in a]
    residue = sum((int(label) * x for label, x in zip(case.y, multipliers, strict=True)), Fraction(0))
    if case.intercept == "free" and residue != 0:
        side = 1 if residue > 0 else -1
        j = max((i for i in range(case.m) if case.y[i] == side), key=lambda i: multipliers[i])
        assert multipliers[j] >= abs(residue), "cannot be repaired"
        multipliers[j] -= abs(residue)
        residue = Fraction(0)
    w = [Fraction(0)] * case.d
    for x, label, multiplier in zip(case.X, case.y, multipliers, strict=True):
        for j in range(case.d):
            w[j] += int(label) * multiplier * Fraction(float(x[j]))
    costs = (Fraction(float(cost)) for cost in case.cost)
    terms = (_dual_term(case.loss, x, cost) for x, cost in zip(multipliers, costs, strict=True))
    total = sum(terms, Fraction(0)) - sum((x * x for x in w), Fraction(0)) / 2
    if case.intercept == "penalized":
        total -= (Fraction(case.intercept_scaling) * residue) ** 2 / 2
    return total
