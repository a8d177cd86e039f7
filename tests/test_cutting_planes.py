"""Cutting planes: native methods and twins agree to rounding, every small problem is solved, bounds are the values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from loops import make
from pairs import Case, cases, describe, pair, poll, setup
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import OCAS, CuttingPlane, Problem, _core
from hinge.problem import Intercept, InterceptKind, as_loss, as_rows
from hinge.reference import objective, simplex_qp
from hinge.reference.contact import touching
from hinge.reference.line_search import LONGEST, line_search
from hinge.reference.loss import LOSSES
from hinge.reference.planes import PART, unpacked
from hinge.reference.problem import Problem as Twin
from hinge.reference.rows import Rows

METHODS = {"cutting-plane": CuttingPlane(), "ocas": OCAS()}
VARIANTS = {**METHODS, "ocas far beyond": OCAS(mu=0.5), "ocas to the end": OCAS(mu=1.0), "forgets": OCAS(keep_unused=3)}
FREE = cases("free")
CASES = [*cases("none", "penalized"), *FREE]


@pytest.mark.parametrize("intercept", ["none", "free"])
@pytest.mark.parametrize("solver", METHODS)
def test_threads_change_no_bit(solver: str, intercept: InterceptKind) -> None:
    """Rows enough for several parts."""
    X, y = make(20_000, d=8)
    one, two = (hinge.solve(X, y, solver=solver, intercept=intercept, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert two.certificate == one.certificate and two.n_iter == one.n_iter
    assert two.coef.tobytes() == one.coef.tobytes() and two.dual.tobytes() == one.dual.tobytes()


# Twins


@pytest.mark.parametrize("solver", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("case", CASES, ids=describe)
def test_native_method_equals_the_twin_to_rounding(case: Case, solver: Any) -> None:
    native, slow = pair(solver, case)
    for epoch in range(1, 8):
        assert native.advance(1, poll()) == slow.advance(1, poll()), f"rows read in epoch {epoch}"
        assert native.estimate() == pytest.approx(slow.estimate(), rel=1e-9), f"bounds after epoch {epoch}"
        for name in ("w", "b", "v", "cut", "part_shares"):
            found, expected = native.state()[name], slow.state()[name]
            size = np.abs(expected).max(initial=0.0)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9 * size, err_msg=f"{name}, epoch {epoch}")
        for name in ("unused", "members", "cut_members", "part_rows", "cut_part_row"):
            assert np.array_equal(native.state()[name], slow.state()[name]), f"{name} after epoch {epoch}"


@pytest.mark.parametrize("solver", [CuttingPlane(), OCAS(), OCAS(keep_unused=3, mu=0.5)], ids=str)
@pytest.mark.parametrize("C", [0.01, 10.0])
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_native_method_and_twin_end_at_the_same_optimum(intercept: InterceptKind, C: float, solver: Any) -> None:
    """Where planes come again and the method is settled."""
    native, slow = pair(solver, Case("csr", C=C, m=60, weights=True, intercept=intercept, seed=3))
    for run in (native, slow):
        run.advance(200, poll())
    (P, D), (slow_P, slow_D) = native.estimate(), slow.estimate()
    assert P - D <= 1e-6 * D and slow_P - slow_D <= 1e-6 * slow_D
    assert pytest.approx(slow_D, rel=1e-6) == D
    np.testing.assert_allclose(native.point()[0], slow.point()[0], rtol=1e-2, atol=1e-3 * np.abs(slow.point()[0]).max())


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_a_run_may_change_hands_between_native_code_and_twin(intercept: InterceptKind, name: str) -> None:
    native, slow = pair(name, Case(weights=True, intercept=intercept))
    other_native, other_slow = pair(name, Case(weights=True, intercept=intercept))
    native.advance(4, poll())
    slow.advance(4, poll())
    other_slow.restore(native.state())
    other_native.restore(slow.state())
    for run in (native, slow, other_slow, other_native):
        run.advance(2, poll())
        assert run.estimate() == pytest.approx(native.estimate(), rel=1e-9)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", CASES, ids=describe)
def test_rebuilt_method_equals_the_twin_to_rounding(case: Case, name: str) -> None:
    native, slow = pair(name, case)
    for _ in range(3):
        for run in (native, slow):
            run.advance(2, poll())
            run.rebuild(poll())
        assert native.estimate()[1] == pytest.approx(slow.estimate()[1], rel=1e-9)
        np.testing.assert_allclose(native.state()["planes"], slow.state()["planes"], rtol=1e-9, atol=1e-9 * case.scale)


# The small problems, by their conditions of optimality


def assert_planes_are_those_of_their_rows(state: dict[str, Any], slow_problem: Any) -> None:
    n, m = state["offsets"].size, slow_problem.m
    members = unpacked(state["members"].reshape(n, -1), m).astype(float)
    assert np.all(members[np.arange(n), state["part_rows"]] * state["part_shares"] == 0.0), "wholly and in part"
    members[np.arange(n), state["part_rows"]] += state["part_shares"]
    cost, target = np.array(slow_problem.cost), np.array(slow_problem.target)
    planes = state["planes"].reshape(n, -1)
    expected = members @ ((cost * target)[:, None] * slow_problem.rows.augmented())
    np.testing.assert_allclose(planes, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(state["offsets"], members @ cost, rtol=1e-12)
    if slow_problem.free_intercept:
        assert np.all(np.abs(members @ (cost * target)) <= 1e-12 * state["offsets"]), "not balanced"
    np.testing.assert_allclose(state["gram"].reshape(n, n), planes @ planes.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", ["penalized", "free"])
def test_every_reduced_problem_is_solved(intercept: InterceptKind, C: float, name: str) -> None:
    """Of native code: beta lies in the simplex, v and D follow from it, and its gap is within what was asked for."""
    case = Case("csr", C=C, m=90, weights=True, intercept=intercept, seed=1)
    native, _ = pair(name, case)
    slow_problem = case.make()[1]
    before = native.state()
    for epoch in range(1, 61):
        native.advance(1, poll())
        state = native.state()
        n = state["beta"].size
        beta, offsets, gram = state["beta"], state["offsets"], state["gram"].reshape(n, n)
        assert np.all(beta >= 0.0) and beta.sum() == pytest.approx(1.0, rel=1e-12), f"epoch {epoch}: no simplex"
        g = offsets - gram @ beta
        rounding = 1e-13 * offsets.max() + 1e-16 * gram.max()
        asked = max(PART * (state["primal"] - before["dual"]), rounding)
        assert g.max() - beta @ g <= asked * (1.0 + 1e-6), f"epoch {epoch}: not solved"
        assert state["dual"] == pytest.approx(beta @ offsets - 0.5 * beta @ gram @ beta, rel=1e-9)
        v = beta @ state["planes"].reshape(n, -1)
        np.testing.assert_allclose(state["v"], v, rtol=1e-9, atol=1e-12 * np.abs(v).max())
        before = state
    assert_planes_are_those_of_their_rows(state, slow_problem)


@pytest.mark.parametrize("n", [1, 2, 5, 20])
@pytest.mark.parametrize("rank", [1, 3, 30])
def test_small_quadratic_problem_is_solved(n: int, rank: int) -> None:
    """Of the twin, by the condition of optimality: no slope is above the mean one. Planes may be dependent."""
    for seed in range(5):
        random = np.random.default_rng(seed)
        planes = random.normal(size=(n, rank))
        planes[random.random(n) < 0.2] = planes[0]
        offsets = random.uniform(0.0, 3.0, n)
        start = np.zeros(n)
        start[0] = 1.0
        beta, value, gap = simplex_qp.climb(planes @ planes.T, offsets, start, 1e-12)
        assert np.all(beta >= 0.0) and beta.sum() == pytest.approx(1.0, rel=1e-12)
        g = offsets - planes @ (planes.T @ beta)
        assert gap == pytest.approx(g.max() - beta @ g, abs=1e-14)
        assert gap <= 1e-10
        assert value == pytest.approx(beta @ offsets - 0.5 * np.sum((planes.T @ beta) ** 2), rel=1e-12)


def on_the_ray(w: Any, v: Any, rows: Any, target: Any, cost: Any, k: float) -> float:
    point = w + k * (v - w)
    return float(0.5 * point @ point + cost @ np.maximum(0.0, 1.0 - target * (rows @ point)))


def assert_minimum(k: float, *ray: Any) -> None:
    """Convex: what is a minimum among near neighbours is one."""
    lowest = on_the_ray(*ray, k)
    for other in [0.0, 0.5 * k, 0.999 * k, k - 1e-6, 1.001 * k, k + 1e-6, k + 1.0, 2.0 * k]:
        assert lowest <= on_the_ray(*ray, max(other, 0.0)) * (1.0 + 1e-12), f"k={other} is better than {k}"


@pytest.mark.parametrize("case", cases("none", "penalized"), ids=describe)
def test_ocas_goes_to_the_minimum_on_every_ray(case: Case) -> None:
    """Of native code, epoch by epoch."""
    native, _ = pair(OCAS(), case)
    slow_problem = case.make()[1]
    fixed = (slow_problem.rows.augmented(), np.array(slow_problem.target), np.array(slow_problem.cost))
    for _ in range(12):
        before = native.state()
        native.advance(1, poll())
        w, v, after = before["w"], before["v"], native.state()["w"]
        way = v - w
        if not way.any():
            continue
        k = float((after - w) @ way / (way @ way))
        np.testing.assert_allclose(after, w + k * way, rtol=1e-9, atol=1e-9 * np.abs(after).max())
        assert_minimum(k, w, v, *fixed)
        assert native.state()["primal"] == pytest.approx(on_the_ray(w, v, *fixed, k), rel=1e-9)


@pytest.mark.parametrize("case", FREE, ids=describe)
def test_free_intercept_is_no_worse_than_anywhere_on_the_ray(case: Case) -> None:
    """From the best w and its b to v and the best b there."""
    native, _ = pair(OCAS(), case)
    slow = case.make()[1]
    rows = slow.rows.augmented()
    for _ in range(12):
        before = native.state()
        native.advance(1, poll())
        w, v, b = before["w"], before["v"], before["b"]
        b_of_v = objective.best_intercept((rows @ v).tolist(), slow.target, slow.cost)
        for k in [0.0, 0.1, 0.5, 1.0, 1.5]:
            there = objective.primal(slow, w + k * (v - w), b + k * (b_of_v - b))
            assert native.state()["primal"] <= there * (1.0 + 1e-12), f"k={k} is better"


@pytest.mark.parametrize("integers", [False, True])
def test_best_shift_and_balanced_plane(integers: bool) -> None:
    """Of the twin: no other b has less risk, and the plane touches it there; integers: many rows at the same place."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        cost, target = random.uniform(0.1, 2.0, 20), np.where(random.random(20) < 0.5, 1.0, -1.0)
        if integers:
            cost = np.ceil(cost)
        margins = random.integers(-2, 3, 20).astype(float) if integers else random.normal(size=20)
        problem = Twin(Rows.dense(np.ones((20, 1)), 0.0), target, cost, LOSSES["hinge"], free_intercept=True)
        contact = touching(problem, margins)
        slack = 1.0 - margins - target * contact.shift
        best = objective.best_intercept((target * margins).tolist(), target.tolist(), cost.tolist())
        lowest = cost @ np.maximum(0.0, 1.0 - margins - target * best)
        assert contact.risk == pytest.approx(lowest, rel=1e-12)
        multipliers = cost * contact.rows
        multipliers[contact.part.row] += contact.part.share * cost[contact.part.row]
        assert np.all((multipliers >= 0.0) & (multipliers <= cost)), "outside the box"
        assert multipliers @ target == pytest.approx(0.0, abs=1e-12), "not balanced"
        assert multipliers @ slack == pytest.approx(lowest, rel=1e-12), "does not touch the risk"


@pytest.mark.parametrize("integers", [False, True])
def test_line_search_finds_the_minimum(integers: bool) -> None:
    """Of the twin; integers: rows exactly on the margin, and several jumps at the same place."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        rows = random.integers(-2, 3, (20, 3)).astype(float) if integers else random.normal(size=(20, 3))
        target = np.where(random.random(20) < 0.5, 1.0, -1.0)
        w, v = (random.integers(-1, 2, (2, 3)).astype(float)) if integers else random.normal(size=(2, 3))
        cost = random.uniform(0.1, 2.0, 20)
        way = v - w
        k = line_search(target * (rows @ w), target * (rows @ v), cost, float(w @ way), float(way @ way))
        assert 0.0 <= k <= LONGEST
        if way.any():
            assert_minimum(k, w, v, rows, target, cost)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_native_method_on_equal_rows_and_ties_is_solved(intercept: InterceptKind, name: str) -> None:
    """Integers: planes that are multiples of each other, rows exactly on the margin, breakpoints at the same place."""
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0], [2.0], [-1.0], [1.0]] * 9)
    y = np.array([1, -1, 1, -1, 1, 1, -1, 1] * 9)
    options: dict[str, Any] = {"C": 0.5, "intercept": intercept, "tol": 1e-9}
    fast, slow = (hinge.solve(X, y, solver=how, **options) for how in (name, getattr(hinge.reference, _kind(name))()))
    for solution in (fast, slow):
        assert solution.certificate.relative_gap <= 1e-9
    assert fast.coef == pytest.approx(slow.coef, rel=1e-6)


def _kind(name: str) -> str:
    return type(METHODS[name]).__name__


# Bounds


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", CASES, ids=describe)
def test_bounds_at_hand_are_the_values(case: Case, name: str) -> None:
    """P at the best point, D at the multipliers of the planes, which lie in the box and are balanced if b is free."""
    native, slow = pair(name, case)
    cost = np.array(slow.problem.cost)
    for _ in range(12):
        native.advance(1, poll())
        primal, dual = native.estimate()
        w, b, multipliers = native.point()
        assert np.all(multipliers >= 0) and np.all(multipliers <= cost * (1 + 1e-12)), "outside the box"
        if case.intercept == "free":
            residue = multipliers @ np.array(slow.problem.target)
            assert residue == pytest.approx(0.0, abs=1e-12 * multipliers.sum()), "not balanced"
        assert dual == pytest.approx(objective.dual(slow.problem, multipliers), rel=1e-8)
        if primal != dual:  # a settled run says that its gap is nothing
            assert primal == pytest.approx(objective.primal(slow.problem, w, b), rel=1e-8)


@pytest.mark.parametrize("solver", [CuttingPlane(), OCAS(), OCAS(mu=1.0)], ids=str)
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_settled_run_ends_before_its_last_epoch(intercept: InterceptKind, solver: Any) -> None:
    """A tolerance below rounding: the method notices that it can do no more."""
    X, y = np.random.default_rng(0).normal(size=(3000, 4)), np.arange(3000) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = hinge.solve(X, y, solver=solver, intercept=intercept, tol=1e-15, max_iter=100_000)
    assert solution.status in ("stalled", "converged")
    assert solution.certificate.relative_gap < 1e-10


@pytest.mark.parametrize("intercept", ["penalized", "free"])
def test_exact_evaluation_happens_once(intercept: InterceptKind) -> None:
    X, y = np.random.default_rng(0).normal(size=(3000, 20)), np.arange(3000) % 2
    for solver in METHODS.values():
        assert len(hinge.solve(X, y, solver=solver, intercept=intercept).history) == 1


# Stops and states


@pytest.mark.parametrize("solver", METHODS.values(), ids=METHODS.keys())
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_method_goes_on_from_wherever_it_was_stopped(intercept: InterceptKind, solver: Any) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(100_000, 8))
    target = np.where(X[:, 0] + random.normal(size=len(X)) > 0, 1.0, -1.0)
    cost = np.full(len(X), 0.1)
    problem = Problem.make(as_rows(X), target, cost, loss=as_loss("hinge"), intercept=Intercept(intercept))
    state, unfinished = None, 0
    for milliseconds in range(20):
        token = _core.StopToken()
        run = solver.build(_core, problem, setup(solver))
        if state is not None:
            run.restore(state)
            if milliseconds % 10 == 9:  # now and then as if from another problem
                run.rebuild(poll())
        token.set_deadline(1e-3 * milliseconds)
        unfinished += not run.advance(1, _core.Poll(token))[1]
        state = run.state()
    assert unfinished > 0, "no epoch was stopped"
    run = solver.build(_core, problem, setup(solver))
    run.restore(state)
    run.advance(200, poll())
    w, _, multipliers = run.point()
    primal, *_ = _core.primal(problem.native, w, None, poll())
    dual, *_ = _core.dual(problem.native, multipliers, poll())
    assert primal - dual <= 1e-4 * dual, "a stop has spoiled the run"


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("key", ["members", "cut_members"])
def test_rows_beyond_the_last_one_are_refused(name: str, key: str) -> None:
    for run in pair(name, Case()):
        run.advance(3, poll())
        state = run.state()
        state[key][-1] |= np.uint64(1 << 63)
        with pytest.raises(ValueError, match="saved state"):
            run.restore(state)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("change", [{"cut_part_row": 70}, {"cut_part_share": 1.5}, {"part_rows": 70}], ids=str)
def test_rows_in_part_that_do_not_exist_are_refused(name: str, change: dict[str, Any]) -> None:
    for run in pair(name, Case(intercept="free")):
        run.advance(3, poll())
        state = run.state()
        if "part_rows" in change:
            change = {"part_rows": np.full_like(state["part_rows"], 70)}
        with pytest.raises(ValueError, match="saved state"):
            run.restore({**state, **change})


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("of", "to"), [("none", "free"), ("penalized", "free"), ("free", "none")])
def test_planes_of_another_intercept_are_balanced_again(of: InterceptKind, to: InterceptKind, name: str) -> None:
    """As in a warm start; the state of a penalised problem has weights of the same length."""
    for run, other in zip(pair(name, Case(intercept=of)), pair(name, Case(intercept=to)), strict=True):
        run.advance(6, poll())
        other.restore(run.state())
        other.rebuild(poll())
        assert_planes_are_those_of_their_rows(other.state(), Case(intercept=to).make()[1])
        other.advance(300, poll())
        primal, dual = other.estimate()
        assert primal - dual <= 1e-6 * dual
        assert (other.point()[1] != 0.0) == (to == "free")


@pytest.mark.parametrize("name", METHODS)
def test_counts_out_of_range_are_refused(name: str) -> None:
    native, _ = pair(name, Case())
    state = native.state()
    for count in (-1, 2**62):
        with pytest.raises(ValueError, match="unused out of range"):
            native.restore({**state, "unused": np.array([count])})


@pytest.mark.parametrize("solver", METHODS)
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_warm_start_at_another_C_saves_planes(intercept: InterceptKind, solver: str) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 10))
    y = X[:, 0] + random.normal(size=len(X)) > 0
    options: dict[str, Any] = {"solver": solver, "intercept": intercept, "tol": 1e-4}
    state = hinge.solve(X, y, C=1.0, **options).state
    cold, warm = hinge.solve(X, y, C=1.2, **options), hinge.solve(X, y, C=1.2, state=state, **options)
    assert warm.n_iter <= 0.7 * cold.n_iter, f"{warm.n_iter} planes from C=1, {cold.n_iter} from nothing"
