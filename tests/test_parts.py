"""Parts of a problem: rows selected twice, without a copy, and problems on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import make
from registry import INTERCEPTS, with_losses

from hinge import Problem, _core
from hinge.problem import LOSSES, Intercept, as_loss, as_rows, decision, side_by_side
from hinge.solvers import SOLVERS
from hinge.training import Options, train

M = 10_000  # evaluation has two parts of rows
X, labels = make(M)
X *= np.random.default_rng(1).random(X.shape) < 0.7
T = np.where(labels == 1, 1.0, -1.0)
COST = np.random.default_rng(2).uniform(0.0, 0.05, M)
COST[np.random.default_rng(3).random(M) < 0.1] = 0.0
LAYOUTS: dict[str, Any] = {"dense": np.asarray, "float32": lambda X: X.astype(np.float32), "csr": sp.csr_array}


def problem_of(X: Any, target: Any = T, cost: Any = COST, loss: str = "hinge", intercept: Any = "penalized") -> Problem:
    return Problem.make(as_rows(X), target, cost, loss=as_loss(loss), intercept=Intercept(intercept, 0.7))


def assert_same_outcome(part: Problem, alone: Problem, solver: str = "dcd") -> None:
    options = Options(max_iter=10, tol=1e-9)
    found, expected = (train(problem, SOLVERS[solver], options) for problem in (part, alone))
    assert found.certificate == expected.certificate
    assert found.model.b == expected.model.b
    assert np.array_equal(found.model.w, expected.model.w)
    assert np.array_equal(found.bound.multipliers, expected.bound.multipliers)
    assert (found.status, found.n_iter) == (expected.status, expected.n_iter)


def test_equal_costs_are_in_memory_once() -> None:
    whole = problem_of(X, cost=np.full(M, 0.01))
    for problem in (whole, whole.part(np.arange(0, M, 2)), whole.with_target(-T), whole.with_cost(np.full(M, 0.02))):
        assert problem.cost.strides == (0,)
        assert not problem.cost.flags.writeable
    assert problem_of(X).cost.strides == (8,), "these differ"


@pytest.mark.parametrize(("solver", "loss"), with_losses())
def test_equal_costs_give_the_same_bits_however_they_are_stored(solver, loss) -> None:
    def found(cost: Any) -> Any:
        problem = problem_of(X[:3000], T[:3000], cost, loss)
        assert problem.cost.strides == (0,)
        if cost.strides == (8,):
            problem.native = _core.Problem(problem.rows, problem.target, cost, problem.loss.native, False)
        return problem.fingerprint, problem.native.total_cost, train(problem, SOLVERS[solver], Options(max_iter=10))

    (*once, one), (*each, other) = found(np.broadcast_to(0.01, 3000)), found(np.full(3000, 0.01))
    assert once == each
    assert one.certificate == other.certificate
    assert np.array_equal(one.model.w, other.model.w)
    assert np.array_equal(one.bound.multipliers, other.bound.multipliers)


@pytest.mark.parametrize("cost", [np.nan, 0.0, -1.0, np.inf])
@pytest.mark.parametrize("shared", [True, False])
def test_native_code_refuses_costs_that_are_none(cost, shared) -> None:
    problem = problem_of(X[:100], T[:100], np.full(100, 0.01))
    costs = np.broadcast_to(cost, 100) if shared else np.full(100, cost)
    with pytest.raises(ValueError, match="positive and finite"):
        Problem(problem.rows, problem.target, costs)
    with pytest.raises(ValueError, match="side by side"):
        _core.Problem(problem.rows, problem.target, np.full(200, 0.01)[::2], problem.loss.native, False)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_part_of_a_part_is_the_problem_of_those_rows(layout, loss, intercept) -> None:
    rows = LAYOUTS[layout](X)
    whole = problem_of(rows, loss=loss, intercept=intercept)
    random = np.random.default_rng(4)
    first = np.flatnonzero(random.random(whole.m) < 0.9)
    second = random.permutation(first.size)[:6000]  # in any order
    part = whole.part(first).part(second)
    counted = np.flatnonzero(COST > 0)[first][second]
    alone = problem_of(rows[counted], T[counted], COST[counted], loss, intercept)
    assert (part.m, part.n_features, part.loss, part.intercept) == (6000, 10, alone.loss, alone.intercept)
    assert np.array_equal(part.target, alone.target)
    assert np.array_equal(part.cost, alone.cost)
    assert np.array_equal(part.rows.squared_norms, alone.rows.squared_norms)
    assert part.fingerprint == alone.fingerprint
    assert np.array_equal(part.positions, counted), "where its rows stand among all samples"
    assert_same_outcome(part, alone)


@pytest.mark.parametrize(("solver", "loss"), with_losses())
def test_every_solver_trains_on_a_part(solver, loss) -> None:
    chosen = np.arange(0, M, 3)
    whole = problem_of(X, cost=np.full(M, 0.01), loss=loss)
    alone = problem_of(X[chosen], T[chosen], np.full(chosen.size, 0.01), loss)
    assert_same_outcome(whole.part(chosen), alone, solver)


def test_multipliers_of_a_part_are_spread_over_all_samples() -> None:
    whole = problem_of(X)
    part = whole.part(np.arange(0, whole.m, 2))
    a = np.arange(1.0, part.m + 1)
    full = part.spread(a)
    assert full.shape == (M,)
    assert np.array_equal(full[part.positions], a)
    assert np.count_nonzero(full) == part.m
    assert not full[COST == 0].any()


def test_rows_may_come_twice() -> None:
    """As in a bootstrap: a row drawn twice counts twice."""
    drawn = np.random.default_rng(5).integers(0, 500, 500)
    whole = problem_of(X[:500], T[:500], np.full(500, 0.01))
    assert_same_outcome(whole.part(drawn), problem_of(X[:500][drawn], T[:500][drawn], np.full(500, 0.01)))


@pytest.mark.parametrize("indices", [[-1], [10_000], [0, 2**40], [[0, 1]]])
def test_positions_out_of_range_are_refused(indices) -> None:
    whole = problem_of(X, cost=np.full(M, 0.01))
    with pytest.raises((IndexError, ValueError, TypeError)):
        whole.part(indices)
    with pytest.raises((IndexError, ValueError, TypeError)):
        whole.rows.part(np.array(indices))


def test_rows_of_a_part_outlive_their_problem() -> None:
    def part_only() -> Problem:
        return problem_of(X.copy()).part(np.arange(100)).part(np.arange(50))

    parts = [part_only() for _ in range(5)]
    certificates = {train(part, SOLVERS["dcd"], Options()).certificate for part in parts}
    assert len(certificates) == 1


def test_part_keeps_the_constant_feature() -> None:
    part = problem_of(X, cost=np.full(M, 0.01)).part([3, 1])
    w = np.zeros(11)
    w[-1] = 2.0
    assert part.rows.dot(0, w) == pytest.approx(1.4)
    part.rows.add(1, 1.0, w)
    assert w[-1] == pytest.approx(2.7)
    np.testing.assert_allclose(w[:-1], X[1])


def test_other_targets_share_rows_and_costs() -> None:
    problem = problem_of(X)
    other = problem.with_target(-T)
    assert other.rows is problem.rows
    assert np.shares_memory(other.cost, problem.cost)
    assert np.array_equal(other.target, -problem.target)
    assert_same_outcome(other, problem_of(X, -T))


def test_decision_of_a_part_is_that_of_its_rows() -> None:
    n_classes = 7  # several at once, and some left over
    weights, b = np.random.default_rng(6).normal(size=(10, n_classes)), np.arange(n_classes) + 1.0
    chosen = np.random.default_rng(7).permutation(M)[:9000]
    for layout in LAYOUTS.values():
        rows: _core.Rows = as_rows(layout(X))
        whole = rows.decision(weights, b, 1)
        np.testing.assert_allclose(whole, X @ weights + b, rtol=0, atol=1e-5)
        for c in range(n_classes):
            alone = rows.decision(np.ascontiguousarray(weights[:, [c]]), b[[c]])
            assert np.array_equal(alone[:, 0], whole[:, c]), "the bits depend on how many classes there are"
        for n_threads in (1, 2, 3):
            assert rows.decision(weights, b, n_threads).tobytes() == whole.tobytes()
            assert rows.part(chosen).decision(weights, b, n_threads).tobytes() == whole[chosen].tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fingerprint_of_a_part_is_that_of_its_rows(layout: str) -> None:
    given = LAYOUTS[layout](X)
    chosen = np.random.default_rng(7).permutation(M)[:999]
    part = as_rows(given).part(chosen)
    assert part.fingerprint() == as_rows(given[chosen]).fingerprint() != as_rows(given[:999]).fingerprint()
    whole = {as_rows(given, n_threads=n, fingerprint=early).fingerprint() for n in (1, 2, 3) for early in (True, False)}
    assert len(whole) == 1, "it depends on when it is taken, or on the threads"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_decisions_in_one_pass_have_the_bits_and_the_faults_of_checked_rows(layout: str) -> None:
    weights, b = np.random.default_rng(6).normal(size=(10, 3)), np.arange(3.0)
    given = LAYOUTS[layout](X.copy())
    expected = as_rows(given).decision(weights, b).tobytes()
    assert all(decision(given, weights, b, n_threads=n).tobytes() == expected for n in (1, 2, 3))
    values = given.data if sp.issparse(given) else given.reshape(-1)
    values[[values.size // 3, values.size // 2]] = np.nan, np.inf
    with pytest.raises(ValueError, match="NaN") as fault:
        as_rows(given)
    for n_threads in (1, 2):
        with pytest.raises(ValueError, match="NaN") as found:
            decision(given, weights, b, n_threads=n_threads)
        assert str(found.value) == str(fault.value)


def test_decisions_with_more_weights_than_the_cache_holds_have_the_same_bits() -> None:
    rows = sp.random_array((700, 20_000), density=0.003, format="csr", rng=np.random.default_rng(0))
    weights, b = np.random.default_rng(1).normal(size=(20_000, 5)), np.zeros(5)
    whole = decision(rows, weights, b)
    np.testing.assert_allclose(whole, rows @ weights, rtol=0, atol=1e-12)
    alone = [decision(rows, np.ascontiguousarray(weights[:, [c]]), b[:1])[:, 0] for c in range(5)]
    assert np.array_equal(np.column_stack(alone), whole)
    unsorted = rows.copy()  # its rows from the last to the first, and so are their columns
    unsorted.indices[:], unsorted.data[:] = rows.indices[::-1], rows.data[::-1]
    unsorted.indptr[:] = (rows.nnz - rows.indptr)[::-1]
    unsorted.has_sorted_indices = False
    np.testing.assert_allclose(decision(unsorted, weights, b)[::-1], whole, rtol=0, atol=1e-12)


def test_weights_side_by_side_begin_a_line_of_the_cache() -> None:
    given = np.arange(12.0).reshape(3, 4)
    found = side_by_side(given)
    assert np.array_equal(found, given)
    assert found.T.flags.c_contiguous and found.ctypes.data % 64 == 0 and found.flags.writeable
    assert not np.shares_memory(found, given)
