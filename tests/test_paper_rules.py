"""The rules of the papers where ours differ: stopping, evaluating, order, precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from loops import X, make, solve_quietly, y
from pairs import Case, assert_same_run, pair, poll

from hinge import DCD, MPU, BestOf, LinearSVC, Once, Pegasos, Run, SGDm, SGDr, SGDs, SvmSGD, Traits, _core, solve
from hinge.problem import as_order
from hinge.reference import core
from hinge.solvers import BUDGET
from hinge.training.schedule import Schedule

# DCD as published


def test_published_dcd_ends_by_its_own_rule() -> None:
    solver = DCD(polish=False, eps=0.1)
    solution = solve_quietly(X, y, solver=solver, order="permutation", intercept="none", tol=1e-9)
    assert solution.status == "finished"
    closer = solve_quietly(X, y, solver=solver.replace(eps=1e-4), order="permutation", intercept="none", tol=1e-9)
    assert closer.certificate.gap < solution.certificate.gap
    assert solve(X, y, solver=solver.replace(eps=1e-3), intercept="none", tol=0.1).status == "converged"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_published_dcd_equals_the_twin_to_its_end(C: float, loss: str) -> None:
    native, slow = pair(DCD(polish=False, eps=1e-3), Case(C=C, loss=loss, weights=True), order=Once())
    sizes = set()
    for _ in range(500):
        assert_same_run(native, slow, [1])
        sizes.add(len(slow.at_work.active))
        assert native.finished() == slow.finished()
        if native.finished():
            break
    assert native.finished(), "not within eps after 500 epochs"
    assert len(sizes) > 1 or C == 0.01, "no row was left out"
    gradients = projected_gradients(slow)
    assert max(gradients) - min(gradients) <= 0.1, "far from what the rule says"


def projected_gradients(run: Any) -> list[float]:
    """At the present point, of all rows."""
    found = []
    for i in range(run.problem.m):
        a, box = run.a[i], run.problem.box(i)
        g = run.problem.target[i] * run.problem.rows.dot(i, run.w) - 1.0
        g += run.problem.loss.diagonal(run.problem.cost[i]) * a
        found.append(min(g, 0.0) if a == 0.0 else max(g, 0.0) if a == box else g)
    return found


def test_rejected_evaluation_leaves_the_rows_of_published_dcd_alone() -> None:
    native, _ = pair(DCD(polish=False, eps=1e-9), Case(m=90, C=10.0))
    for _ in range(40):
        native.advance(1, poll())
        active = native.state()["active"]
        if len(active) < 90:
            break
    native.rebuild(poll())
    assert len(active) < 90
    assert native.state()["active"].tolist() == active.tolist()


def test_published_dcd_has_no_free_intercept() -> None:
    with pytest.raises(ValueError, match="does not support intercept='free'"):
        solve(X, y, solver=DCD(eps=0.1), intercept="free")
    with pytest.raises(ValueError, match="eps"):
        DCD(eps=0.0)


# MPU with a fixed step


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("delta", [0.5, 0.05])
def test_fixed_step_ends_within_delta(delta: float, precision: Any) -> None:
    solver = MPU(delta=delta, refine=False, precision=precision)
    solution = solve_quietly(X, y, C=0.1, solver=solver, intercept="none", tol=1e-9)
    assert solution.status == "finished"
    assert solution.certificate.relative_gap <= delta * (1.0 + 1e-5)
    assert solve(X, y, C=0.1, solver=solver, intercept="none", tol=delta).status == "converged"


def test_fixed_step_needs_a_delta() -> None:
    with pytest.raises(ValueError, match="give that as delta"):
        MPU(refine=False)


def test_warning_of_a_finished_run_names_the_solver() -> None:
    with pytest.warns(UserWarning, match=r"finished.*own rule.*MPU\(delta=0.5, refine=False"):
        LinearSVC(C=0.1, solver=MPU(delta=0.5, refine=False), fit_intercept=False, tol=1e-9).fit(X, y)


def test_any_solver_may_end_its_run() -> None:
    class Ends(Run):
        def __init__(self, m: int) -> None:
            self.epochs, self.m = 0, m

        def advance(self, epochs: int) -> int:
            self.epochs += epochs
            return epochs * self.m

        def point(self) -> Any:
            from hinge import Point

            return Point(np.zeros(self.m))

        def finished(self) -> bool:
            return self.epochs >= 3

    class Solver:
        traits = Traits()

        def start(self, problem: Any, setup: Any) -> Run:
            return Ends(problem.m)

    solution = solve_quietly(X, y, solver=Solver(), intercept="none", tol=1e-9)
    assert solution.status == "finished"
    assert solution.n_iter < 100


# When to evaluate


def test_paper_evaluates_whenever_the_estimate_passes() -> None:
    ours, paper = Schedule(100, 0.01, 1.2), Schedule(100, 0.01, 1.2, budget=math.inf)
    passes = (1.01, 1.0)
    assert ours.due(100, passes) and paper.due(100, passes)
    for schedule in (ours, paper):
        schedule.evaluated(200)
    assert not ours.due(200, passes), "200 rows evaluated of 200 trained are above the budget"
    assert paper.due(200, passes)
    assert not paper.due(200, (1.02, 1.0)), "the estimate does not pass"


@pytest.mark.parametrize("kind", [SGDs, SGDm])
def test_without_a_budget_runs_are_no_longer(kind: Any) -> None:
    rows, labels = make(3000, seed=5)
    options: dict[str, Any] = {"C": 0.01, "intercept": "none", "tol": 0.02, "max_iter": 2000}
    ours = solve(rows, labels, solver=kind(f=2.0), **options)
    paper = solve(rows, labels, solver=kind(f=2.0, budget=math.inf), **options)
    assert ours.status == paper.status == "converged"
    assert paper.n_iter <= ours.n_iter
    assert (paper.n_iter, len(paper.history)) != (ours.n_iter, len(ours.history)), "the test shows nothing"
    assert kind().traits.budget == BUDGET
    with pytest.raises(ValueError, match="budget"):
        kind(budget=-1.0)


# One permutation for all epochs


@pytest.mark.parametrize(
    "solver", [SGDs(), MPU(), DCD(polish=False), SvmSGD(), Pegasos(sampling="epoch", k=3)], ids=str
)
def test_kept_order_is_that_of_the_twin(solver: Any) -> None:
    native, slow = pair(solver, Case(m=90), order=Once())
    assert sorted(slow.order.kept) == list(range(90))
    assert_same_run(native, slow, [1, 2, 9])


def test_kept_order_follows_from_the_seed_and_rows_keep_their_places() -> None:
    orders = [Once().build(kind, 50, (7,)) for kind in (_core, core)]
    first, second = (order.of_all(50, kind.Rng([1])) for order, kind in zip(orders, (_core, core), strict=True))
    assert list(first) == list(second)
    assert list(orders[0].of_all(50, _core.Rng([2]))) == list(first), "another epoch, another order"
    assert list(Once().build(core, 50, (8,)).kept) != list(first), "another seed, the same order"
    assert orders[1].arrange([4, 9, 30], core.Rng([1])) == [i for i in orders[1].kept if i in (4, 9, 30)]
    with pytest.raises(ValueError, match="another number of rows"):
        orders[0].of_all(51, _core.Rng([1]))
    assert as_order("once") == Once()


def test_same_seed_same_bits_with_a_kept_order() -> None:
    runs = [solve_quietly(X, y, solver="svmsgd", order="once", random_state=s, max_iter=5, tol=1e-9) for s in (1, 1, 2)]
    assert runs[0].coef.tobytes() == runs[1].coef.tobytes() != runs[2].coef.tobytes()


# Single precision


@pytest.mark.parametrize("solver", [SGDr(), SGDs(), SGDm(), MPU()], ids=str)
def test_single_precision_weights(solver: Any) -> None:
    single, double = (pair(solver.replace(precision=p), Case(C=0.1))[0] for p in ("single", "double"))
    for run in (single, double):
        run.advance(30, poll())
    name = "w" if isinstance(solver, MPU) else "a"
    assert single.state()[name].dtype == np.float32
    assert double.state()[name].dtype == np.float64
    # The weights differ, by single precision.
    assert 0.0 < np.abs(single.state()[name] - double.state()[name]).max()
    np.testing.assert_allclose(single.point()[0], double.point()[0], rtol=0.2, atol=0.05)
    with pytest.raises(ValueError, match="precision"):
        solver.replace(precision="half")


@pytest.mark.parametrize("solver", [SGDm(precision="single"), MPU(precision="single")], ids=str)
def test_certificate_of_a_single_precision_run_is_exact(solver: Any) -> None:
    from hinge import verify

    solution = solve(X, y, C=0.01, solver=solver, intercept="none", tol=0.02, max_iter=3000)
    checked = verify(solution, X, y)
    assert checked.primal == pytest.approx(solution.certificate.primal, rel=1e-9)
    assert checked.dual == pytest.approx(solution.certificate.dual, rel=1e-9)


# BestOf, judged by errors


def test_best_of_may_be_judged_by_errors() -> None:
    rows, labels = make(500, seed=11)
    signs = 2.0 * labels - 1.0
    options: dict[str, Any] = {"intercept": "none", "C": 0.01, "tol": 1e-9, "max_iter": 8}

    def errors(solution: Any) -> float:
        return float(np.mean(signs * (rows @ solution.coef) <= 0.0))

    by_error = solve_quietly(X, y, solver=BestOf(runs=8, validation=(rows, signs), by="error"), **options)
    alone = [errors(solve_quietly(X, y, solver=BestOf(runs=8), **options))]
    by_loss = solve_quietly(X, y, solver=BestOf(runs=8, validation=(rows, signs)), **options)
    assert errors(by_error) <= min(*alone, errors(by_loss))
    assert BestOf().solver.output == "random"
    assert BestOf.with_confidence(Pegasos(), 0.1, (rows, signs), by="error").by == "error"
    with pytest.raises(ValueError, match="give validation"):
        BestOf(by="error")
