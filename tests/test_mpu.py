"""The margin perceptron with unlearning keeps what its header proves, native and in NumPy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from pairs import BLOCKS, Case, assert_same_run, assert_same_while_rows_leave, cases, describe, poll
from refusals import refused

from hinge import MPU, Problem, _core, solve
from hinge.problem import Intercept, InterceptKind, as_loss, as_rows
from hinge.reference import core
from hinge.reference.mpu import MOST_COUNTS, counts_due
from hinge.reference.problem import Problem as TwinProblem
from hinge.reference.rows import Rows
from hinge.solvers.mpu import _first_counts
from hinge.solvers.native import kappa_of


def mpu_pair(case: Case, N: int, order: tuple[int, int] = (0, 1)) -> tuple[_core.Mpu, core.Mpu]:
    """With any number of counts, which the configuration would choose."""
    problem, slow_problem = case.make()
    kappa = kappa_of(problem)
    native = _core.Mpu(problem.native, N, True, kappa, _core.Order(*order), _core.Rng([5]))
    return native, core.Mpu(slow_problem, N, True, kappa, core.Order(*order), core.Rng([5]))


@pytest.mark.parametrize("N", [1, 16, 2**14, 2**52])
@pytest.mark.parametrize("case", [*cases("none", "penalized"), *cases("free")], ids=describe)
def test_native_mpu_equals_the_twin(case: Case, N: int) -> None:
    assert_same_run(*mpu_pair(case, N, (BLOCKS.rows, BLOCKS.group)), [1, 3, 7, 15])


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
def test_native_mpu_equals_the_twin_to_the_end(intercept: InterceptKind, C: float) -> None:
    """Rows leave and come back, by themselves and when the caller's check on all rows says so; the step shrinks."""
    layout: Any = "csr" if intercept == "none" else "dense"
    native, slow = mpu_pair(Case(layout, intercept=intercept, weights=True, C=C, m=90), 2)
    n_active = assert_same_while_rows_leave(native, slow, 75)
    assert min(n_active) < max(n_active), "no row was left out: the test shows nothing"
    assert slow.N > 2, "the step was never halved: the test shows nothing"


def test_counts_due_are_what_single_steps_count() -> None:
    for g, zone, N, start in itertools.product(range(-9, 30), range(1, 6), (1, 2, 8), range(9)):
        if start > N:
            continue
        count, margin = start, g
        while margin <= 0 and count < N:
            count, margin = count + 1, margin + zone
        while margin > zone and count > 0:
            count, margin = count - 1, margin - zone
        assert counts_due(start, N, g, zone) == count - start, f"g={g}, zone={zone}, N={N}, I={start}"


@pytest.mark.parametrize("zone", [0.0, 5e-324, 1e-300, 1e300])
def test_counts_due_at_the_ends_of_float64(zone: float) -> None:
    """Quotients that overflow: as many counts as there are."""
    assert counts_due(0, 8, -1.0, zone) == (1 if zone > 1 else 8)
    assert counts_due(3, 8, -1.0, zone) == (1 if zone > 1 else 5)
    assert counts_due(3, 8, 1.0, zone) == (0 if zone > 1 else -3)


class Fixed(core.Mpu):
    """The paper's algorithm at one step size, on all rows."""

    def run_epoch(self) -> None:
        self.width = math.inf
        super().run_epoch()

    def raised(self) -> float:
        """sum_k (1 + h_k q_k / 2) a_k - |w|^2 / 2: what each move raises."""
        norms = [self.problem.rows.squared_norm(k) for k in range(self.problem.m)]
        terms = [(1.0 + 0.5 * self.step(k) * q) * self.multiplier(k) for k, q in enumerate(norms)]
        return float(sum(terms) - 0.5 * self.w @ self.w)

    def rests(self) -> bool:
        """One more epoch; whether no row has moved."""
        before = self.counts.copy()
        self.advance(1)
        return np.array_equal(before, self.counts)


@pytest.mark.parametrize("N", [1, 4, 64])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_each_epoch_at_one_step_raises_its_function_until_no_row_moves(C: float, weights: bool, N: int) -> None:
    """Then the gap is at most sum_k a_k h_k q_k."""
    _, problem = Case(C=C, weights=weights, m=40).make()
    run = Fixed(problem, N, False, 0.0, core.Order(), core.Rng([1]))
    before = run.raised()
    for _ in range(2000):
        rests = run.rests()
        after = run.raised()
        assert after >= before - 1e-9 * (1.0 + abs(before)), "a move lowered the function that it should raise"
        before = after
        if rests:
            break
    else:
        pytest.fail("rows still move after 2000 epochs at one step size")
    w, _, a = run.point()
    margins = np.array(problem.target) * (problem.rows.augmented() @ w)
    loss = float(np.array(problem.cost) @ np.maximum(0.0, 1.0 - margins))
    gap = 0.5 * w @ w + loss - (a.sum() - 0.5 * w @ w)
    left = sum(a[k] * run.step(k) * problem.rows.squared_norm(k) for k in range(problem.m))
    assert gap <= left * (1.0 + 1e-9)


@pytest.mark.parametrize("delta", [0.5, 0.1])
def test_delta_bounds_the_gap_before_the_run(delta: float) -> None:
    native, problem = Case(C=0.3, weights=True).make()
    run = Fixed(problem, _first_counts(native, delta / (2.0 + delta)), False, 0.0, core.Order(), core.Rng([1]))
    while not run.rests():
        pass
    assert 0.0 < run.gap <= delta * run.dual


def test_a_row_with_margin_exactly_1_learns_and_unlearning_is_reached() -> None:
    X = np.array([[1.0], [0.5], [3.0]])
    run = core.Mpu(TwinProblem(Rows.dense(X), [1, 1, 1], [1.0, 1.0, 1.0]), 1, True, 0.0, core.Order(), core.Rng([2]))
    run.counts[0], run.w[0] = 1, 1.0  # margins 1, 0.5 and 3
    assert counts_due(1, 1, 0.0, 1.0) == 0, "at the cap"
    assert counts_due(0, 1, 0.0, 1.0) == 1, "margin 1 is an error"
    seen = set()
    for _ in range(20):
        before = run.counts / run.N
        run.advance(1)
        seen.update(np.sign(run.counts / run.N - before).tolist())
    assert seen == {-1.0, 0.0, 1.0}, "rows should learn, rest and unlearn"


def test_steps_get_no_smaller_than_float64_counts_exactly() -> None:
    native, slow = mpu_pair(Case(m=20), MOST_COUNTS)
    assert_same_run(native, slow, [50])
    assert slow.N == MOST_COUNTS


@pytest.mark.parametrize("size", [1e-160, 1e-3, 1.0, 1e3, 1e6, 1e149])
def test_first_counts_are_a_power_of_two_within_limits(size: float) -> None:
    rows = as_rows(np.array([[size], [-size]]))
    problem = Problem.make(rows, np.array([1.0, -1.0]), np.ones(2), loss=as_loss("hinge"), intercept=Intercept("none"))
    for zone in (10.0, 1e-3, 1e-300):
        N = _first_counts(problem, zone)
        assert 2 <= N <= MOST_COUNTS
        assert N & (N - 1) == 0
        assert size * size / N <= zone or N == MOST_COUNTS


@pytest.mark.parametrize("delta", [0, -1.0, math.inf, math.nan, "small"])
def test_delta_that_is_no_accuracy_is_refused(delta: Any) -> None:
    with refused("delta"):
        MPU(delta=delta)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"N": 3}, "power of two"), ({"N": 2**53}, "power of two"), ({"N": 1}, "between 0 and N"), ({"N": -4}, "N")],
)
def test_saved_counts_beyond_their_cap_are_refused(change: dict[str, Any], reason: str) -> None:
    native, _ = mpu_pair(Case(), 2)
    native.advance(10, poll())
    state = native.state()
    assert state["counts"].max() > 1
    with refused(reason):
        native.restore({**state, **change})


@pytest.mark.parametrize("delta", [None, 0.1])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_mpu_and_dcd_certify_the_same_optimum(C: float, delta: float | None) -> None:
    """Below delta, too: the step does not stop the run."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 5))
    X[7] = 0.0
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=1500) > 0, 1, -1)
    kinds: tuple[InterceptKind, ...] = ("none", "penalized", "free")
    for intercept in kinds:
        options: dict[str, Any] = {"C": C, "intercept": intercept, "tol": 1e-4, "max_iter": 20_000}
        found, expected = solve(X, y, solver=MPU(delta=delta), **options), solve(X, y, solver="dcd", **options)
        assert found.status == "converged"
        one, two = found.certificate, expected.certificate
        assert max(one.dual, two.dual) <= min(one.primal, two.primal)
