"""BestOf: independent runs share the passes, and the best one is kept, with the best lower bound of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from loops import X, make, solve_quietly, y
from registry import SOLVERS, with_all

from hinge import BestOf, LinearSVC, Pegasos, Record, SGDr, Solution, SvmSGD, solve, verify
from hinge.problem import LOSSES

#: One that draws its rows at random, for each loss.
INNER: dict[str, Any] = {"hinge": Pegasos(), "squared_hinge": SvmSGD(sample_size=50)}
# Few passes of one row a step: runs differ.
OPTIONS: dict[str, Any] = {"intercept": "none", "C": 0.01, "tol": 1e-9}


def mean_loss(solution: Solution, rows: Any, signs: Any, loss: str) -> float:
    decision = rows @ solution.coef + solution.intercept
    return float(np.mean(LOSSES[loss].value(1.0 - signs * decision)))


@pytest.mark.parametrize("loss", INNER)
def test_best_of_is_no_worse_than_any_prefix_of_its_runs(loss) -> None:
    certificates = []
    for runs in (1, 2, 4):  # the same runs, and more of them
        solution = solve_quietly(X, y, solver=BestOf(INNER[loss], runs), max_iter=2 * runs, loss=loss, **OPTIONS)
        assert solution.n_iter == 2 * runs
        certificates.append(solution.certificate)
        checked = verify(solution, X, y)
        assert checked.primal == pytest.approx(solution.certificate.primal, rel=1e-9)
        assert checked.dual == pytest.approx(solution.certificate.dual, rel=1e-9)
    one, two, four = certificates
    assert four.primal <= two.primal <= one.primal
    assert four.dual >= two.dual >= one.dual
    assert four.gap < one.gap, "every run was the same"


@pytest.mark.parametrize("loss", INNER)
def test_validation_rows_decide_if_given(loss) -> None:
    rows, labels = make(3000, seed=11)
    rows[:, 0] *= -1.0  # what is good here is bad there
    signs = 2.0 * labels - 1.0
    options = {**OPTIONS, "loss": loss, "max_iter": 8}
    by_objective = solve_quietly(X, y, solver=BestOf(INNER[loss], 8), **options)
    by_validation = solve_quietly(X, y, solver=BestOf(INNER[loss], 8, validation=(rows, signs)), **options)
    assert mean_loss(by_validation, rows, signs, loss) < mean_loss(by_objective, rows, signs, loss)
    assert by_validation.certificate.primal > by_objective.certificate.primal
    assert by_validation.certificate.dual == by_objective.certificate.dual, "the best lower bound holds for all"


def test_runs_end_when_one_has_converged() -> None:
    solution = solve(X, y, solver=BestOf(Pegasos(), 3), max_iter=3000, **{**OPTIONS, "tol": 0.5})
    assert solution.status == "converged"
    assert solution.n_iter < 1000, "the other runs were not needed"


def test_histories_follow_each_other() -> None:
    solution = solve_quietly(X, y, solver=BestOf(Pegasos(), 3), max_iter=60, **OPTIONS)
    epochs = [record.epoch for record in solution.history]
    assert epochs == sorted(epochs)
    assert epochs[-1] == solution.n_iter == 60
    seconds = [record.seconds for record in solution.history]
    assert seconds == sorted(seconds)
    assert solution.state is None, "it starts every run afresh"


def test_callback_and_interrupt_end_all_runs() -> None:
    seen: list[Record] = []

    def stop(record: Record) -> bool:
        seen.append(record)
        return len(seen) == 3

    solution = solve_quietly(X, y, solver=BestOf(Pegasos(), 3), max_iter=60, callback=stop, **OPTIONS)
    assert (solution.status, len(seen)) == ("callback", 3)

    def interrupt(_: Record) -> None:
        raise KeyboardInterrupt

    assert solve(X, y, solver=BestOf(Pegasos(), 3), callback=interrupt, **OPTIONS).status == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(solver=Interrupted(Pegasos(), 3)).fit(X, y)


class Interrupted(BestOf):
    """The interrupt of a run is that of all."""

    def train(self, problem: Any, options: Any, train: Any) -> Any:
        def interrupt(_: Record) -> None:
            raise KeyboardInterrupt

        return super().train(problem, type(options)(**{**vars(options), "callback": interrupt}), train)


@pytest.mark.parametrize(("delta", "runs"), [(0.5, 1), (0.05, 3), (0.01, 5), (0.99, 1)])
def test_confidence_asks_for_that_many_runs(delta, runs) -> None:
    solver = BestOf.with_confidence(SGDr(), delta)
    assert (solver.solver, solver.runs) == (SGDr(), runs)


@pytest.mark.parametrize(("solver", "loss", "intercept"), [item for item in with_all() if item[0] != "norma"])
def test_what_the_inner_solver_supports_is_supported(solver, loss, intercept) -> None:
    options = {**OPTIONS, "loss": loss, "intercept": intercept}
    found = solve_quietly(X, y, solver=BestOf(SOLVERS[solver], 2), max_iter=4, **options).certificate
    best = solve(X, y, loss=loss, intercept=intercept, C=0.01).certificate
    assert 0 < found.dual <= best.primal
    assert found.primal >= best.dual


def test_what_the_inner_solver_refuses_is_refused() -> None:
    with pytest.raises(ValueError, match="SGDr does not support intercept='free'"):
        solve(X, y, solver=BestOf(SGDr(), 2), intercept="free")
    with pytest.raises(ValueError, match="Pegasos does not support loss='squared_hinge'"):
        solve(X, y, solver=BestOf(Pegasos(), 2), loss="squared_hinge")


@pytest.mark.parametrize("solver", ["pegasos", Pegasos])
def test_inner_solver_must_be_a_configuration(solver) -> None:
    with pytest.raises(ValueError, match="BestOf needs a solver configuration"):
        BestOf(solver)
