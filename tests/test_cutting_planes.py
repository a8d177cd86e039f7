"""Cutting planes: the native methods and their NumPy twins agree to the bit, and the bounds at hand are the values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from pairs import EPOCHS, Case, all_of, assert_same, assert_same_run, bits, describe, few_of
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import OCAS, CuttingPlane, _core
from hinge import _reference as twin
from hinge._reference import objective
from hinge.problem import Intercept, Problem, Selection, as_rows

METHODS = ["cutting-plane", "ocas"]


def make_pair(name: str, problem: Problem, slow: twin.Problem, mu: float = 0.1, patience: int = 50) -> tuple[Any, Any]:
    if name == "ocas":
        return _core.Ocas(problem.native, mu, patience), twin.Ocas(slow, mu, patience)
    return _core.CuttingPlane(problem.native, patience), twin.CuttingPlane(slow, patience)


def assert_same_result(native: Any, slow: Any) -> None:
    assert [bits(part) for part in native.point()] == [bits(part) for part in slow.point()]
    assert native.estimate() == slow.estimate()


# Twins


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", all_of("none", "penalized"), ids=describe)
def test_native_method_equals_the_twin(case: Case, name: str) -> None:
    native, slow = make_pair(name, *case.make())
    assert_same_result(native, slow)
    assert_same_run(native, slow, [*EPOCHS, 20])
    assert_same_result(native, slow)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("C", [0.01, 100.0])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_native_method_that_drops_planes_equals_the_twin(layout: Any, C: float, name: str) -> None:
    """To the end, where planes come again and the method is settled."""
    problem, slow_problem = Case(layout, C=C, m=150, weights=True, seed=3).make()
    native, slow = make_pair(name, problem, slow_problem, patience=3)
    assert_same_run(native, slow, list(range(1, 121)))
    assert_same_result(native, slow)
    assert len(native.state()["offsets"]) < 100, "no plane was dropped"


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("case", few_of("none", "penalized"), ids=describe)
def test_native_ocas_equals_the_twin_wherever_it_takes_its_planes(case: Case, mu: float) -> None:
    native, slow = make_pair("ocas", *case.make(), mu=mu)
    assert_same_run(native, slow, EPOCHS)
    assert_same_result(native, slow)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", few_of("none", "penalized"), ids=describe)
def test_rebuilt_method_equals_the_twin(case: Case, name: str) -> None:
    native, slow = make_pair(name, *case.make())
    poll = _core.Poll(_core.StopFlag())
    for epoch in range(1, 13):
        native.advance(1, poll)
        slow.run_epoch()
        if epoch in (1, 4, 12):
            native.rebuild(poll)
            slow.rebuild()
            assert_same(native, slow, f"after {epoch} epochs and rebuilding")
    native.advance(1, poll)
    slow.run_epoch()
    assert_same_result(native, slow)


@pytest.mark.parametrize("name", METHODS)
def test_native_method_on_equal_rows_and_ties_equals_the_twin(name: str) -> None:
    """Integers: planes that are multiples of each other, rows exactly on the margin, breakpoints at the same place."""
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0], [2.0], [-1.0], [1.0]] * 9)
    y = np.array([1, -1, 1, -1, 1, 1, -1, 1] * 9, dtype=np.int8)
    cost = np.full(y.size, 0.5)
    problem = Problem(Selection.make(as_rows(X), cost, Intercept("none")), y)
    native, slow = make_pair(name, problem, twin.Problem(twin.DenseRows(X), y, cost))
    assert_same_run(native, slow, list(range(1, 21)))
    assert_same_result(native, slow)


# Bounds


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", few_of("none", "penalized"), ids=describe)
def test_bounds_at_hand_are_the_values(case: Case, name: str) -> None:
    """P at the best point, D at the multipliers of the planes, which lie in the box."""
    problem, slow_problem = case.make()
    native, _ = make_pair(name, problem, slow_problem)
    poll = _core.Poll(_core.StopFlag())
    for _ in range(12):
        native.advance(1, poll)
        primal, dual = native.estimate()
        w, multipliers = native.point()
        assert np.all(multipliers >= 0) and np.all(multipliers <= problem.cost * (1 + 1e-12)), "outside the box"
        assert dual == pytest.approx(objective.dual(slow_problem, multipliers), rel=1e-8)
        if primal != dual:  # a settled run says that its gap is nothing
            assert primal == pytest.approx(objective.primal(slow_problem, w), rel=1e-8)


@pytest.mark.parametrize("solver", [CuttingPlane(), OCAS(), OCAS(mu=1.0)], ids=str)
def test_settled_run_ends_before_its_last_epoch(solver: Any) -> None:
    """A tolerance below rounding: the method notices that it can do no more."""
    X, y = np.random.default_rng(0).normal(size=(3000, 4)), np.arange(3000) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = hinge.solve(X, y, solver=solver, intercept="none", tol=1e-15, max_iter=100_000)
    assert solution.status in ("stalled", "converged")
    assert solution.certificate.relative_gap < 1e-10


def test_exact_evaluation_happens_once() -> None:
    X, y = np.random.default_rng(0).normal(size=(3000, 20)), np.arange(3000) % 2
    for solver in (CuttingPlane(), OCAS()):
        assert len(hinge.solve(X, y, solver=solver, intercept="penalized").history) == 1


# Stops and states


@pytest.mark.parametrize("solver", [CuttingPlane(), OCAS()], ids=str)
def test_method_goes_on_from_wherever_it_was_stopped(solver: Any) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200_000, 8))
    y = np.where(X[:, 0] + random.normal(size=len(X)) > 0, 1, -1).astype(np.int8)
    problem = Problem(Selection.make(as_rows(X), np.full(len(X), 0.1), Intercept("none")), y)
    state, unfinished = None, 0
    for milliseconds in range(30):
        poll = _core.Poll(_core.StopFlag())
        run = solver.start(problem, order=None, stream=(0,), poll=poll)
        if state is not None:
            run.restore(state, same_problem=milliseconds % 10 != 9)  # now and then as if from another problem
        poll.set_deadline(1e-3 * milliseconds)
        run.advance(1)
        unfinished += poll.stopped
        state = run.state()
    assert unfinished > 0, "no epoch was stopped"
    poll = _core.Poll(_core.StopFlag())
    run = solver.start(problem, order=None, stream=(0,), poll=poll)
    run.restore(state, same_problem=True)
    run.advance(200)
    point = run.point()
    primal, *_ = _core.primal(problem.native, point.w, poll)
    dual, *_ = _core.dual(problem.native, point.multipliers, poll)
    assert primal - dual <= 1e-4 * dual, "a stop has spoiled the run"


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("key", ["members", "cut_members"])
def test_rows_beyond_the_last_one_are_refused(name: str, key: str) -> None:
    problem, slow_problem = Case().make()
    native, _ = make_pair(name, problem, slow_problem)
    native.advance(3, _core.Poll(_core.StopFlag()))
    state = native.state()
    state[key][-1] |= np.uint64(1 << 63)
    with pytest.raises(ValueError, match="beyond the last row"):
        native.restore(state)


@pytest.mark.parametrize("name", METHODS)
def test_counts_out_of_range_are_refused(name: str) -> None:
    problem, slow_problem = Case().make()
    native, _ = make_pair(name, problem, slow_problem)
    state = native.state()
    for count in (-1, 2**62):
        with pytest.raises(ValueError, match="unused out of range"):
            native.restore({**state, "unused": np.array([count])})


@pytest.mark.parametrize("solver", METHODS)
def test_warm_start_at_another_C_saves_planes(solver: str) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 10))
    y = X[:, 0] + random.normal(size=len(X)) > 0
    options = {"solver": solver, "intercept": "none", "tol": 1e-4}
    state = hinge.solve(X, y, C=1.0, **options).state
    cold, warm = hinge.solve(X, y, C=1.2, **options), hinge.solve(X, y, C=1.2, state=state, **options)
    assert warm.n_iter <= 0.7 * cold.n_iter, f"{warm.n_iter} planes from C=1, {cold.n_iter} from nothing"
