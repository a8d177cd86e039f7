"""The native core and its NumPy twins agree to the bit: random numbers, order, rows and objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from pairs import Case, all_of, bits, describe

from hinge import _core
from hinge import _reference as twin
from hinge._reference import objective
from hinge.problem import as_rows


@pytest.mark.parametrize("key", [[], [0], [1], [1, 2, 3], [2**64 - 1, 5]])
def test_native_random_numbers_equal_the_twin(key: list[int]) -> None:
    native, slow = _core.Rng(key), twin.Rng(key)
    assert [native.next() for _ in range(50)] == [slow.next() for _ in range(50)]
    assert [native.uniform() for _ in range(50)] == [slow.uniform() for _ in range(50)]
    for bound in [1, 2, 3, 10, 2**32 + 1, 2**62 + 1, 2**63 - 1]:  # the large ones reject often
        assert [native.below(bound) for _ in range(50)] == [slow.below(bound) for _ in range(50)]
    assert native.next() == slow.next()


@pytest.mark.parametrize(("block", "group"), [(0, 1), (1, 1), (2, 2), (3, 2), (2, 5)])
@pytest.mark.parametrize("m", [0, 1, 2, 15, 63, 64, 65, 131, 200])
def test_native_order_equals_the_twin(block: int, group: int, m: int) -> None:
    native, slow = _core.Rng([7, m]), twin.Rng([7, m])
    for _ in range(3):
        visit = _core.Order(block, group).of_all(m, native)
        assert visit.tolist() == twin.Order(block, group).of_all(m, slow)
        assert sorted(visit) == list(range(m))
    assert native.next() == slow.next()


def test_blocks_keep_consecutive_rows_together() -> None:
    visit = np.array(twin.Order(block=4, group=2).of_all(128, twin.Rng([3])))
    blocks_of_groups = [set(piece // 4) for piece in visit.reshape(-1, 8)]
    assert all(len(blocks) == 2 for blocks in blocks_of_groups)
    assert not np.array_equal(visit, np.arange(128))


@pytest.mark.parametrize("case", all_of("none", "penalized"), ids=describe)
def test_native_rows_equal_the_twin(case: Case) -> None:
    for d in [1, 3, 4, 7, 8, 9, 16, 21]:
        native, slow = replace(case, d=d).make()
        random = np.random.default_rng(d)
        w = random.normal(size=d + 1)
        added = w.copy()
        for i in range(native.m):
            assert native.rows.dot(i, w) == slow.rows.dot(i, w), f"dot of row {i}"
            assert native.rows.squared_norms[i] == slow.rows.squared_norm(i), f"squared norm of row {i}"
            change = random.normal()
            native.rows.add(i, change, w)
            slow.rows.add(i, change, added)
            assert bits(w) == bits(added), f"add of row {i}"
        assert native.native.total_cost == slow.total_cost


def test_unsorted_indices_are_read_as_they_are() -> None:
    X = sp.csr_array((np.array([1.0, 2.0, 1e-9]), np.array([4, 0, 2]), np.array([0, 3])), shape=(1, 5))
    w = np.random.default_rng(0).normal(size=6)
    assert as_rows(X).dot(0, w) == twin.CsrRows(X).dot(0, w)


def feasible(problem: twin.Problem, a: Sequence[float]) -> list[Fraction]:
    """sum a_i y_i = 0 exactly: what rounding left of it is taken off one multiplier."""
    exact = [Fraction(a_i) for a_i in a]
    residue = sum(a_i * y for a_i, y in zip(exact, problem.y, strict=True))
    j = max(range(problem.m), key=lambda i: exact[i] * problem.y[i] * (1 if residue >= 0 else -1))
    exact[j] -= abs(residue)
    assert exact[j] >= 0, "no multiplier is large enough for the repair"
    return exact


def exactly(
    problem: twin.Problem, w: Sequence[float], b: float, a: Sequence[float | Fraction]
) -> tuple[Fraction, Fraction]:
    """P(w, b) and D(a) as rational numbers."""
    X = [[Fraction(x) for x in row] for row in objective.augmented(problem).tolist()]
    weights = [Fraction(x) for x in w]
    multipliers = [Fraction(a_i) for a_i in a]
    primal = sum(x * x for x in weights) / 2
    combined = [Fraction(0)] * len(weights)
    for x, y, cost, a_i in zip(X, problem.y, problem.cost, multipliers, strict=True):
        margin = y * (sum(p * q for p, q in zip(x, weights, strict=True)) + Fraction(b))
        primal += Fraction(cost) * max(Fraction(0), 1 - margin)
        combined = [total + a_i * y * p for total, p in zip(combined, x, strict=True)]
    return primal, sum(multipliers) - sum(x * x for x in combined) / 2


@pytest.mark.parametrize("case", all_of("none", "penalized", "free"), ids=describe)
def test_native_objective_brackets_the_exact_values(case: Case) -> None:
    problem, slow = case.make()
    poll = _core.Poll(_core.StopFlag())
    random = np.random.default_rng(1)
    near = random.uniform(0.0, 1.0, problem.m) * problem.cost / (1.0 + problem.rows.squared_norms.mean())
    for start in (np.zeros(problem.m), near, 2.0 * near - 0.1 * problem.cost, 5.0 * problem.cost):
        D, lowered, a, w = _core.dual(problem.native, start, poll)
        P, raised, b = _core.primal(problem.native, w, poll)
        exact_P, exact_D = exactly(slow, w, b, a)
        assert np.all((a >= 0.0) & (a <= problem.cost))
        assert Fraction(D) <= exact_D, "the dual bound is above the dual value"
        assert Fraction(P) >= exact_P, "the primal bound is below the primal value"
        assert float(exact_D - Fraction(D)) <= 2.0 * lowered + 1e-300
        assert float(Fraction(P) - exact_P) <= 2.0 * raised + 1e-300
        assert objective.primal(slow, w, b) == pytest.approx(float(exact_P), rel=1e-12)
        assert objective.dual(slow, a) == pytest.approx(float(exact_D), rel=1e-12, abs=1e-12 * float(a.sum()))
        if case.intercept == "free":
            z = [slow.rows.dot(i, w) for i in range(slow.m)]
            assert b == pytest.approx(objective.best_intercept(z, slow.y, slow.cost), rel=1e-12, abs=1e-12)
            assert exactly(slow, w, b, feasible(slow, a))[1] >= Fraction(D), "the bound is not that of a feasible point"


@pytest.mark.parametrize("m", [1, 2, 3, 10, 41])
@pytest.mark.parametrize("ties", [False, True])
def test_best_intercept_minimises_the_loss(m: int, ties: bool) -> None:
    random = np.random.default_rng(m)
    for _ in range(40):
        z = random.integers(-3, 4, m).astype(float) if ties else random.normal(size=m) * 10.0
        y = np.where(random.random(m) < 0.5, 1, -1).astype(np.int8)
        cost = random.integers(1, 3, m).astype(float) if ties else random.uniform(0.1, 2.0, m)
        b = _core.best_intercept(z, y, cost)
        assert b == pytest.approx(objective.best_intercept(z.tolist(), y.tolist(), cost.tolist()), rel=1e-12, abs=1e-12)

        def loss(b: float, z: Any = z, y: Any = y, cost: Any = cost) -> float:
            return float(cost @ np.maximum(0.0, 1.0 - y * (z + b)))

        assert loss(b) <= min(loss(at) for at in y - z) * (1.0 + 1e-12)
