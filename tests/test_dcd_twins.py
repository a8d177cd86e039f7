"""Dual coordinate descent takes the same steps as its twin, and its Newton steps end at the same optimum."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from pairs import (
    BLOCKS,
    Case,
    assert_same,
    assert_same_run,
    assert_same_while_rows_leave,
    cases,
    describe,
    pair,
    poll,
)
from sklearn.exceptions import ConvergenceWarning

from hinge import DCD, Problem, _core, reference, solve
from hinge.problem import Intercept, InterceptKind, as_loss, as_rows
from hinge.reference import core, face, objective
from hinge.reference import problem as twin
from hinge.reference.loss import LOSSES
from hinge.reference.rows import Rows


def dcd_pair(
    case: Case, shrinking: bool, polish: bool, order: tuple[int, int] = (0, 1), block: int = 0, n_threads: int = 1
) -> tuple[Any, Any]:
    """Rows may leave a problem of any size."""
    problem, slow_problem = case.make()
    free = case.intercept == "free"
    kappa = 0.03 * float(problem.rows.squared_norms.mean()) + problem.lambda_ if free else 0.0
    options = (shrinking, polish, 0.0, kappa, block)
    native = _core.Dcd(problem.native, *options, _core.Order(*order), _core.Rng([5]), n_threads)
    return native, core.Dcd(slow_problem, *options, core.Order(*order), core.Rng([5]))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
def test_native_dcd_equals_the_twin_to_stagnation(intercept: InterceptKind, C: float, loss: str) -> None:
    """Rows leave and come back, by themselves and when the caller's check on all rows says so."""
    layout: Any = "csr" if C == 1.0 else "dense"
    case = Case(layout, intercept=intercept, weights=True, C=C, m=90, loss=loss)
    n_active = assert_same_while_rows_leave(*dcd_pair(case, True, False, (BLOCKS.rows, BLOCKS.group)), 60)
    assert min(n_active) < max(n_active) or loss == "squared_hinge", "nothing was shrunk: the test shows nothing"


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
@pytest.mark.parametrize(("block", "n_threads"), [(3, 1), (4, 2), (8, 2), (13, 3)])
def test_lanes_equal_the_twin_for_any_number_of_threads(
    intercept: InterceptKind, loss: str, block: int, n_threads: int
) -> None:
    """Rounds of two blocks, with a last one that is not full; later epochs, over fewer rows, in one lane."""
    case = Case("csr", intercept=intercept, weights=True, C=0.02, m=16 * block + 5, d=40, loss=loss)
    native, slow = dcd_pair(case, True, False, (BLOCKS.rows, BLOCKS.group), block, n_threads)
    assert_same_run(native, slow, [1, 1, 1, 5])


@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
def test_two_lanes_reach_the_optimum_where_rows_are_nearly_parallel(intercept: InterceptKind) -> None:
    """Both lanes make nearly the same steps: that they count twice is what keeps them from overshooting."""
    rng = np.random.default_rng(3)
    X = 1.0 + 0.05 * rng.normal(size=(3000, 6))
    score = X @ rng.normal(size=6) + 0.05 * rng.normal(size=3000)
    y = np.where(score > np.median(score), 1, -1)
    found = solve(X, y, C=1.0, solver=DCD(lanes=2), intercept=intercept, tol=1e-4, max_iter=20_000)
    expected = solve(X, y, C=1.0, solver="newton", intercept=intercept, tol=1e-6)
    assert found.status == "converged"
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-4)
    in_one = solve(X, y, C=1.0, solver=DCD(lanes=1), intercept=intercept, tol=1e-4, max_iter=20_000)
    assert found.coef.tobytes() != in_one.coef.tobytes(), "there was one lane: the test shows nothing"


@pytest.mark.parametrize("loss", LOSSES)
def test_steps_go_beyond_the_maximum_after_eight_passes(loss: str) -> None:
    """One row, so that the way of its step is plain; not at a bound, and not with the rule of the paper."""
    rows = Rows.dense(np.array([[0.5]]), 0.0)
    for eps, passes, times in ((0.0, 8.0, 1.0), (0.0, 8.5, 1.6), (0.1, 8.5, 1.0)):
        case = Problem.make(
            as_rows(np.array([[0.5]])), np.ones(1), np.full(1, 10.0), loss=as_loss(loss), intercept=Intercept("none")
        )
        problem = twin.Problem(rows, case.target, case.cost, LOSSES[loss], False)
        q = 0.25 + LOSSES[loss].diagonal(10.0)
        options = (False, False, eps, 0.0, 0)
        native = _core.Dcd(case.native, *options, _core.Order(0, 1), _core.Rng([5]), 1)
        slow = core.Dcd(problem, *options, core.Order(0, 1), core.Rng([5]))
        for run in (native, slow):
            run.restore({**run.state(), "passes": passes})
            run.advance(1, poll())
            assert float(run.state()["a"][0]) == pytest.approx(times / q), "it began at a = 0, where g = -1"


def test_long_runs_have_one_lane() -> None:
    case = Case("csr", C=0.02, m=70, d=40)
    two, one = (dcd_pair(case, True, False, block=block)[0] for block in (4, 0))
    for passes, same in ((0.0, False), (9.0, True)):
        for run in (two, one):
            run.restore({**one.state(), "passes": passes})
            run.advance(1, poll())
        assert (two.state()["w"].tobytes() == one.state()["w"].tobytes()) is same


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_long_runs_resume_to_the_same_bits(intercept: InterceptKind) -> None:
    """How many passes there have been is part of the state."""
    native, slow = dcd_pair(Case("csr", intercept=intercept, C=10.0, m=90, d=40), True, False)
    for run in (native, slow):
        run.advance(30, poll())
        assert float(run.state()["passes"]) > 8.0, "no long run: the test shows nothing"
        other = dcd_pair(Case("csr", intercept=intercept, C=10.0, m=90, d=40), True, False)[run is slow]
        other.restore(run.state())
        for each in (run, other):
            each.advance(5, poll())
        assert run.state()["a"].tobytes() == other.state()["a"].tobytes()


def test_large_sparse_data_give_the_same_bits_on_two_threads_and_after_a_cut() -> None:
    """Two lanes by default."""
    rng = np.random.default_rng(0)
    m, d, per_row = 220_000, 3000, 80
    columns = np.sort((np.arange(m)[:, None] * 7 + rng.permutation(d)[:per_row]) % d, axis=1)
    X = sp.csr_matrix((rng.normal(size=m * per_row), columns.ravel(), np.arange(0, m * per_row + 1, per_row)), (m, d))
    y = np.where(X @ rng.normal(size=d) + 5.0 * rng.normal(size=m) > 0, 1, -1)
    rows = _core.Rows.csr(X.data, X.indices, X.indptr.astype(np.int64), d)
    assert _core.lanes_pay(rows)
    one, two = (solve(X, y, C=1e-3, solver="dcd", n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.status == "converged"
    with pytest.warns(ConvergenceWarning):
        half = solve(X, y, C=1e-3, solver="dcd", n_jobs=2, max_iter=2)
    rest = solve(X, y, C=1e-3, solver="dcd", n_jobs=1, state=half.state)
    for other in (two, rest):
        assert other.coef.tobytes() == one.coef.tobytes() and other.dual.tobytes() == one.dual.tobytes()
        assert other.certificate == one.certificate


@pytest.mark.parametrize("kind", [core.Dcd, core.Mpu])
def test_intercept_jumps_to_where_a_row_wants_to_move_as_in_the_twin(kind: Any, monkeypatch: Any) -> None:
    """Tiny rows, and all multipliers at a bound: b alone decides, and steps of kappa times the residue would crawl."""
    jumps = []
    follow = kind.follow

    def watched(run: Any, jump: Any) -> None:
        jumps.append(jump is not None and run.residue != 0.0 and any(0.0 < way < np.inf for way in jump.way.values()))
        follow(run, jump)

    monkeypatch.setattr(kind, "follow", watched)
    for seed in range(4):
        case = Case(scale=1e-3, intercept="free", C=1e-4, m=130, d=3, seed=seed)
        assert_same_run(*(dcd_pair(case, False, False) if kind is core.Dcd else pair("mpu", case)), [15])
    assert any(jumps), "b never jumped: the test shows nothing"


def test_multipliers_beyond_their_box_are_clipped_when_rebuilt() -> None:
    """The twin used to leave them where they were."""
    native, slow = dcd_pair(Case(C=0.5), False, False)
    state = native.state()
    state["a"] = np.full(70, 2.0)
    for run in (native, slow):
        run.restore(state)
        run.rebuild(poll())
        assert np.all(run.state()["a"] == 0.5)
    assert_same(native, slow, "after rebuilding")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_newton_steps_keep_what_follows_from_the_multipliers(intercept: InterceptKind, C: float, loss: str) -> None:
    """After every epoch with polish, of native code and of the twin: a in its box, and w, the residue and D are those
    of a. Without a free intercept D never falls; at the end the free multipliers have no slope left."""
    case = Case(intercept=intercept, C=C, m=150, d=25, seed=4, loss=loss)
    problem, slow_problem = case.make()
    rows = slow_problem.rows.augmented()
    for run in dcd_pair(case, True, True):
        before = 0.0
        for epoch in range(1, 31):
            run.advance(1, poll())
            state = run.state()
            a, w = state["a"], state["w"]
            assert np.all(a >= 0) and np.all(a <= np.minimum(problem.box, 1e150)), f"epoch {epoch}: outside the box"
            np.testing.assert_allclose(w, (a * problem.target) @ rows, rtol=1e-9, atol=1e-9 * np.abs(w).max())
            assert state["residue"] == pytest.approx(float(a @ problem.target), abs=1e-9 * float(a.sum()))
            assert state["dual"] == pytest.approx(objective.dual(slow_problem, a), rel=1e-9)
            assert intercept == "free" or state["dual"] >= before * (1.0 - 1e-12), f"epoch {epoch}: the dual fell"
            before = state["dual"]
        diagonal = 0.0 if loss == "hinge" else 0.5 / problem.cost
        slopes = problem.target * (rows @ w + state["b"]) - 1.0 + diagonal * a
        free = (a > 0) & (a < problem.box)
        assert np.abs(slopes[free]).max() <= 1e-9, "a free multiplier could still move"
        assert np.all(slopes[a == 0] >= -1e-9) and np.all(slopes[a == problem.box] <= 1e-9)
        assert intercept != "free" or abs(state["residue"]) <= 1e-9 * a.sum()


def test_newton_steps_of_native_code_and_twin_reach_the_same_optimum() -> None:
    """Epoch by epoch to rounding, as long as no rounding decides which row leaves the face."""
    for case in cases("none", "penalized", "free", losses=tuple(LOSSES)):
        native, slow = dcd_pair(dataclasses.replace(case, scale=1.0), False, True)
        for epoch in range(1, 16):
            native.advance(1, poll())
            slow.advance(1, poll())
            found, expected = native.estimate()[1], slow.estimate()[1]
            assert found == pytest.approx(expected, rel=1e-9), f"{describe(case)} after {epoch} epochs"
        np.testing.assert_allclose(native.point()[0], slow.point()[0], rtol=1e-6, atol=1e-8)


def test_newton_steps_on_dependent_rows_reach_the_same_optimum() -> None:
    """Every row thrice, one feature much larger: the factor exists through the ridge only."""
    random = np.random.default_rng(2)
    values = np.repeat(random.normal(size=(20, 3)) * [1.0, 1e-3, 30.0], 3, axis=0)
    target = np.repeat(np.where(random.random(20) < 0.5, 1.0, -1.0), 3)
    kinds: tuple[InterceptKind, ...] = ("none", "free")
    for kind in kinds:
        for solver in (DCD(), reference.DCD()):
            found = solve(values, target, C=0.5, solver=solver, intercept=kind)
            assert found.certificate.relative_gap <= 1e-10, "steps along single coordinates are stuck at 1e-2"


def test_climb_ends_at_the_top_of_the_face() -> None:
    """All slopes of the free multipliers are zero there, or the box has ended it."""
    for case in cases("none", "penalized", losses=tuple(LOSSES)):
        _, slow = dcd_pair(dataclasses.replace(case, scale=1.0, C=0.5), False, False)
        slow.advance(3, poll())
        before = slow.dual
        face.climb(slow, 400)
        state, problem = slow.state(), slow.problem
        a, target = state["a"], np.array(problem.target)
        diagonal = np.array([problem.loss.diagonal(c) for c in problem.cost])
        slopes = target * (problem.rows.augmented() @ state["w"]) - 1.0 + diagonal * a
        free = np.array([slow.is_free(i) for i in range(problem.m)])
        assert slow.dual > before
        assert np.abs(slopes[free]).max(initial=0.0) <= 1e-8
