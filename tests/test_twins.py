"""What solvers are made of is the same in the native core and in NumPy: random numbers, order, sums, rows, losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from pairs import Case, all_of, bits, cases, describe, poll

from hinge import _core
from hinge.problem import LOSSES as NATIVE_LOSSES
from hinge.problem import as_loss, as_rows
from hinge.reference import core, objective
from hinge.reference import problem as twin
from hinge.reference.loss import LOSSES, Loss
from hinge.reference.rows import Rows
from hinge.reference.sums import LANES, interleaved_sum, squared_norm
from hinge.reference.twin import in_numpy


@pytest.mark.parametrize("key", [[], [0], [1], [1, 2, 3], [2**64 - 1, 5]])
def test_native_random_numbers_equal_the_twin(key: list[int]) -> None:
    native, slow = _core.Rng(key), core.Rng(key)
    assert [native.next() for _ in range(50)] == [slow.next() for _ in range(50)]
    assert [native.uniform() for _ in range(50)] == [slow.uniform() for _ in range(50)]
    for bound in [1, 2, 3, 10, 2**32 + 1, 2**62 + 1, 2**63 - 1]:  # the large ones reject often
        assert [native.below(bound) for _ in range(50)] == [slow.below(bound) for _ in range(50)]
    assert native.next() == slow.next()


@pytest.mark.parametrize(("block", "group"), [(0, 1), (1, 1), (2, 2), (3, 2), (2, 5)])
def test_native_order_equals_the_twin(block: int, group: int) -> None:
    for m in [0, 1, 2, 15, 63, 64, 65, 131, 200]:
        native, slow = _core.Rng([7, m]), core.Rng([7, m])
        for _ in range(3):
            visit = _core.Order(block, group).of_all(m, native)
            assert visit.tolist() == core.Order(block, group).of_all(m, slow)
            assert sorted(visit) == list(range(m))
        assert native.next() == slow.next()


def test_blocks_keep_consecutive_rows_together() -> None:
    visit = np.array(core.Order(block=4, group=2).of_all(128, core.Rng([3])))
    blocks_of_groups = [set(piece // 4) for piece in visit.reshape(-1, 8)]
    assert all(len(blocks) == 2 for blocks in blocks_of_groups)
    assert not np.array_equal(visit, np.arange(128))


# Sums and rows


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_interleaved_sum_is_the_one_that_its_rule_describes(lanes: int) -> None:
    for n in (0, 1, 3, 4, 7, 8, 9, 31, 100):
        terms = np.random.default_rng(n).normal(size=n) * 10.0 ** np.arange(n)
        accumulators = [0.0] * lanes
        for j, term in enumerate(terms.tolist()):
            accumulators[j % lanes] += term
        while len(accumulators) > 1:
            accumulators = [accumulators[k] + accumulators[k + 1] for k in range(0, len(accumulators), 2)]
        assert interleaved_sum(terms, lanes) == accumulators[0]
    assert math.copysign(1.0, interleaved_sum(np.array([-0.0]), lanes)) == 1.0, "accumulators begin at +0"


def test_compensated_norm_is_that_of_exact_arithmetic() -> None:
    w = np.random.default_rng(0).normal(size=200) * 10.0 ** np.random.default_rng(1).integers(-6, 7, 200)
    exact = sum((Fraction(x) ** 2 for x in w.tolist()), Fraction(0))
    assert squared_norm(w) == pytest.approx(float(exact), rel=2e-16)


@pytest.mark.parametrize("case", all_of("penalized")[:2] + cases("none", "penalized"), ids=describe)
def test_native_rows_equal_the_twin(case: Case) -> None:
    for d in [1, 4, 7, 8, 9, 21]:
        native, slow = replace(case, d=d, m=20).make()
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


@pytest.mark.parametrize("case", cases("none", "penalized"), ids=describe)
def test_rows_of_a_problem_are_read_back_from_native_code(case: Case) -> None:
    problem, expected = case.make()
    found: Any = in_numpy(problem).native
    assert np.array_equal(found.rows.augmented(), expected.rows.augmented())
    assert (found.target, found.cost, found.loss.name) == (expected.target, expected.cost, expected.loss.name)
    assert (found.total_cost, found.rows.rho) == (expected.total_cost, expected.rows.rho)
    assert found.rows.layout == case.layout
    assert [found.rows.stored(i) for i in range(found.m)] == [expected.rows.stored(i) for i in range(found.m)]
    w = np.random.default_rng(0).normal(size=found.n_features + 1)
    assert [found.rows.dot(i, w) for i in range(found.m)] == [problem.rows.dot(i, w) for i in range(found.m)]


def test_unsorted_indices_are_read_as_they_are() -> None:
    X = sp.csr_array((np.array([1.0, 2.0, 1e-9]), np.array([4, 0, 2]), np.array([0, 3])), shape=(1, 5))
    w = np.random.default_rng(0).normal(size=6)
    assert as_rows(X).dot(0, w) == Rows.csr(X).dot(0, w)


def test_every_layout_has_its_lanes() -> None:
    assert set(LANES) == {"dense", "csr"}


# Losses


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
def test_losses_are_those_of_the_problem(loss: Loss) -> None:
    native = as_loss(loss.name)
    for s in (-2.0, -0.0, 0.0, 0.5, 3.0):
        assert loss.value(s) == native.value(s)
    for a, cost in ((0.0, 0.3), (0.2, 0.3), (5.0, 2.0)):
        assert loss.dual_penalty(a, cost) == native.dual_penalty(a, cost)
        assert native.bounded == (loss.box(cost) == cost)
    assert math.isnan(loss.value(math.nan)), "NaN is no row without loss"
    assert set(LOSSES) == set(NATIVE_LOSSES)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
def test_slope_diagonal_and_gap_share_follow_from_the_loss(loss: Loss) -> None:
    for s in (-1.0, 0.3, 2.0):
        assert loss.slope(s) == pytest.approx((loss.value(s + 1e-6) - loss.value(s - 1e-6)) / 2e-6, rel=1e-6, abs=1e-9)
    assert loss.slope(0.0) == 0.0, "no loss at the kink"
    for a, cost, s in ((0.0, 0.3, 1.5), (0.2, 0.3, 0.5), (0.2, 0.3, -2.0), (0.3, 0.3, 1.0)):
        diagonal = loss.diagonal(cost)
        assert loss.dual_penalty(a, cost) == pytest.approx(0.5 * diagonal * a * a)
        g = diagonal * a - s
        share = loss.gap_share(a, g, cost)
        assert share == pytest.approx(cost * loss.value(s) + a * g - 0.5 * diagonal * a * a, abs=1e-15)
        assert share >= 0.0


# The objective


def feasible(problem: twin.Problem, a: Sequence[float]) -> list[Fraction]:
    """sum a_i t_i = 0 exactly: what rounding left of it is taken off one multiplier."""
    exact = [Fraction(a_i) for a_i in a]
    residue = sum(a_i * int(t) for a_i, t in zip(exact, problem.target, strict=True))
    j = max(range(problem.m), key=lambda i: exact[i] * int(problem.target[i]) * (1 if residue >= 0 else -1))
    exact[j] -= abs(residue)
    assert exact[j] >= 0, "no multiplier is large enough for the repair"
    return exact


def exactly(
    problem: twin.Problem, w: Sequence[float], b: float, a: Sequence[float | Fraction]
) -> tuple[Fraction, Fraction]:
    """P(w, b) and D(a) as rational numbers."""
    X = [[Fraction(x) for x in row] for row in problem.rows.augmented().tolist()]
    weights, multipliers = [Fraction(x) for x in w], [Fraction(a_i) for a_i in a]
    squared = problem.loss.name == "squared_hinge"
    P, D = sum(x * x for x in weights) / 2, Fraction(0)
    combined = [Fraction(0)] * len(weights)
    for x, t, cost, a_i in zip(X, problem.target, map(Fraction, problem.cost), multipliers, strict=True):
        margin = int(t) * (sum(p * q for p, q in zip(x, weights, strict=True)) + Fraction(b))
        slack = max(Fraction(0), 1 - margin)
        P += cost * slack * (slack if squared else 1)
        D += a_i - (a_i * a_i / (4 * cost) if squared else 0)
        combined = [total + a_i * int(t) * p for total, p in zip(combined, x, strict=True)]
    return P, D - sum(x * x for x in combined) / 2


@pytest.mark.parametrize("case", cases("none", "penalized", "free", losses=tuple(LOSSES)), ids=describe)
def test_native_objective_brackets_the_exact_values(case: Case) -> None:
    problem, slow = case.make()
    near = np.random.default_rng(1).uniform(0.0, 1.0, problem.m) * problem.cost
    near /= 1.0 + problem.rows.squared_norms.mean()
    for start in (np.zeros(problem.m), near, 2.0 * near - 0.1 * problem.cost, 5.0 * problem.cost):
        D, lowered, a, w = _core.dual(problem.native, start, poll())
        P, raised, b = _core.primal(problem.native, w, None, poll())
        exact_P, exact_D = exactly(slow, w, b, a)
        assert np.all((a >= 0.0) & (a <= problem.box))
        assert Fraction(D) <= exact_D, "the dual bound is above the dual value"
        assert Fraction(P) >= exact_P, "the primal bound is below the primal value"
        assert float(exact_D - Fraction(D)) <= 2.0 * lowered + 1e-300
        assert float(Fraction(P) - exact_P) <= 2.0 * raised + 1e-300
        assert objective.primal(slow, w, b) == pytest.approx(float(exact_P), rel=1e-12)
        assert objective.dual(slow, a) == pytest.approx(float(exact_D), rel=1e-12, abs=1e-12 * float(a.sum()))
        if case.intercept == "free":
            z = [slow.rows.dot(i, w) for i in range(slow.m)]
            best = objective.best_intercept(z, slow.target, slow.cost, slow.loss)
            assert b == pytest.approx(best, rel=1e-9, abs=1e-12)
            assert exactly(slow, w, b, feasible(slow, a))[1] >= Fraction(D), "the bound is not that of a feasible point"


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
@pytest.mark.parametrize("m", [1, 2, 3, 10, 41])
@pytest.mark.parametrize("ties", [False, True])
def test_best_intercept_minimises_the_loss(m: int, ties: bool, loss: Loss) -> None:
    random, native = np.random.default_rng(m), as_loss(loss.name)
    for _ in range(20):
        z = random.integers(-3, 4, m).astype(float) if ties else random.normal(size=m) * 10.0
        target = np.where(random.random(m) < 0.5, 1.0, -1.0)
        cost = random.integers(1, 3, m).astype(float) if ties else random.uniform(0.1, 2.0, m)
        b = _core.best_intercept(z, target, cost, native.native)
        twins = objective.best_intercept(z.tolist(), target.tolist(), cost.tolist(), loss)
        assert b == pytest.approx(twins, rel=1e-9, abs=1e-9)

        def total(b: float, z: Any = z, target: Any = target, cost: Any = cost) -> float:
            return float(cost @ native.value(1.0 - target * (z + b)))

        others = [*(target - z), b - 1e-3, b + 1e-3]
        assert total(b) <= min(total(at) for at in others) + 1e-12 * total(0.0)
