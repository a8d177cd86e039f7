"""Step sizes are those of the papers, and follow from the run where they must."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from loops import SOLVERS, X, make, solve_quietly, y

from hinge import SGDQN, BestOf, LinearSVC, Norma, SvmSGD, Zhang, _core, solve
from hinge.problem import Intercept, Problem, Selection, as_rows


def test_p_of_norma_is_that_of_the_paper() -> None:
    for T in (1, 2, 100, 10**6, 10**12):
        assert Norma(horizon=T).p == pytest.approx(0.5 * (2.0 + 0.5 * T**-0.5) ** 0.5, rel=1e-15)
        assert 0.0 < Norma(horizon=T).p < 1.0
    with pytest.raises(ValueError, match="horizon"):
        _ = Norma().p


class Watched(Norma):
    """Remembers the horizons that its runs began with."""

    horizons: ClassVar[list[int | None]] = []

    def start(self, problem: Problem, **options: Any) -> Any:
        self.horizons.append(self.horizon)
        return super().start(problem, **options)


def horizons(train: Any) -> list[int | None]:
    Watched.horizons.clear()
    train()
    return list(Watched.horizons)


def test_horizon_of_norma_is_the_number_of_steps_of_the_run() -> None:
    options: dict[str, Any] = {"intercept": "none", "max_iter": 4, "tol": 1e-9}
    assert horizons(lambda: solve_quietly(X, y, solver=Watched(), **options)) == [4 * 5000]
    assert horizons(lambda: solve_quietly(X, y, solver=Watched(horizon=77), **options)) == [77]
    weight = np.ones(5000)
    weight[:100] = 0.0
    found = horizons(lambda: solve_quietly(X, y, solver=Watched(), sample_weight=weight, **options))
    assert found == [4 * 4900], "rows of zero weight take no step"
    assert horizons(lambda: solve_quietly(X, y, solver=BestOf(Watched(), runs=2), **options)) == [2 * 5000] * 2


def test_horizon_of_norma_reaches_every_class() -> None:
    rows, labels = make(300, classes=3)
    model = LinearSVC(solver=Watched(), fit_intercept=False, tol=1e3, max_iter=50)
    assert horizons(lambda: model.fit(rows, labels)) == [50 * 300] * 3
    assert model.solver == Watched(), "a fit changes its own copy of the configuration"


def started(solver: Any, epochs: int, C: float = 0.01) -> tuple[Problem, Any]:
    selection = Selection.make(as_rows(X), np.full(5000, C), Intercept("none"))
    problem = Problem(selection, np.where(y == 1, 1, -1).astype(np.int8))
    run = solver.start(problem, order=None, stream=(1,), poll=_core.Poll(_core.StopFlag()))
    run.advance(epochs)
    return problem, run


@pytest.mark.parametrize(
    "solver",
    [Norma(horizon=10), Norma(horizon=10, sampling="epoch"), Zhang(), SvmSGD(), SGDQN(), SGDQN(precision="single")],
)
def test_every_row_is_a_step(solver: Any) -> None:
    problem, run = started(solver, 3)
    assert run.state()["t"] == 3 * problem.m


def test_scale_of_the_iterate_is_the_product_of_what_the_steps_keep() -> None:
    lambda_ = 1.0 / 50.0
    _, norma = started(Norma(horizon=10), 1)
    p = Norma(horizon=10).p
    log_kept = math.fsum(math.log1p(-p / math.sqrt(t)) for t in range(1, 5001))
    assert math.log(norma.state()["scale"]) == pytest.approx(log_kept, rel=1e-9)
    _, zhang = started(Zhang(eta=0.02), 2)
    assert math.log(zhang.state()["scale"]) == pytest.approx(10_000 * math.log1p(-0.02 * lambda_), rel=1e-9)
    _, bottou = started(SvmSGD(), 2)
    t0 = 1.0 / (lambda_ * bottou.state()["eta0"])
    # The product of 1 - 1/(t + t_0) telescopes.
    assert bottou.state()["scale"] == pytest.approx((t0 - 1.0) / (9_999 + t0), rel=1e-9)


def test_svmsgd_never_turns_w_around() -> None:
    for C in (1e-9, 1e-3, 1.0, 1e3):
        problem, run = started(SvmSGD(), 1, C)
        assert 0.0 < run.state()["eta0"] * problem.lambda_ <= 0.5


def test_svmsgd_started_on_another_problem_never_turns_w_around() -> None:
    """A step size chosen with a large C is too large for a small one."""
    state = solve_quietly(X, y, solver="svmsgd", intercept="none", max_iter=1, C=1e3).state
    assert state is not None
    assert state["eta0"] > 0.5 * 1e-7 * 5000
    again = solve_quietly(X, y, solver="svmsgd", intercept="none", max_iter=1, C=1e-7, state=state).state
    assert again is not None
    assert again["eta0"] == pytest.approx(0.5 * 1e-7 * 5000)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_curvature_of_frequent_features_is_larger(precision: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 6)) * (rng.random((4000, 6)) < [1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
    labels = rows[:, 0] + 0.5 * rng.normal(size=4000) > 0
    state = solve_quietly(
        rows, labels, solver=SGDQN(precision=precision), intercept="none", max_iter=20, C=0.01, tol=1e-9
    ).state
    assert state is not None
    r = state["r"]
    assert np.all((r >= 1.0) & (r <= 100.0))
    assert r[:3].min() > r[3:6].max()
    assert r[6] == 1.0, "the constant feature is absent"


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_finds_the_minimum_where_all_gradients_agree(name: str) -> None:
    """y_i x_i = 1 for all rows, and no margin reaches 1: w = sum_i C_i, or the steps minimise something else."""
    rows = np.tile([[-1.0], [1.0]], (500, 1))
    solution = solve_quietly(rows, rows[:, 0], solver=SOLVERS[name], C=1e-4, intercept="none", tol=1e-14, max_iter=2000)
    assert solution.coef[0] == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize(
    ("solver", "tol"),
    [
        (Norma(output="average"), 0.1),
        (Zhang(eta=0.001, output="average"), 0.1),
        (SvmSGD(), 0.01),
        (SvmSGD(precision="single"), 0.01),
        (SGDQN(), 0.05),
        (SGDQN(precision="single"), 0.05),
    ],
    ids=str,
)
def test_every_descent_converges(solver: Any, tol: float) -> None:
    best = solve(X, y, intercept="none", C=0.01, tol=1e-6).certificate
    found = solve(X, y, solver=solver, intercept="none", C=0.01, tol=tol, max_iter=500)
    assert found.status == "converged"
    assert best.dual <= found.certificate.primal <= best.primal * (1.0 + tol)
    assert found.certificate.dual <= best.primal
