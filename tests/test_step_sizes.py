"""Step sizes are those of the papers, and follow from the run where they must."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from loops import X, make, solve_quietly, y
from pairs import setup
from registry import SOLVERS

from hinge import SGDQN, BestOf, LinearSVC, Norma, Problem, SvmSGD, Zhang, solve
from hinge.problem import Intercept, as_loss, as_rows
from hinge.solvers import Setup


def test_p_of_norma_is_that_of_the_paper() -> None:
    for T in (1, 2, 100, 10**6, 10**12):
        assert Norma.p(T) == pytest.approx(0.5 * (2.0 + 0.5 * T**-0.5) ** 0.5, rel=1e-15)
        assert 0.0 < Norma.p(T) < 1.0


class Watched(Norma):
    """Remembers how many steps its runs chose p for."""

    horizons: ClassVar[list[int]] = []

    @staticmethod
    def p(steps: int) -> float:
        Watched.horizons.append(steps)
        return Norma.p(steps)


def horizons(train: Any) -> list[int]:
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
    cost, target = np.full(5000, C), np.where(y == 1, 1.0, -1.0)
    problem = Problem.make(as_rows(X), target, cost, loss=as_loss("hinge"), intercept=Intercept("none"))
    how = setup(solver)
    run = solver.start(problem, Setup(how.order, (1,), how.poll, max_iter=epochs))
    run.advance(epochs)
    return problem, run


@pytest.mark.parametrize(
    "solver",
    [Norma(horizon=10), Norma(horizon=10, sampling="epoch"), Zhang(), SvmSGD(), SGDQN(), SGDQN(precision="single")],
    ids=str,
)
def test_every_row_is_a_step(solver: Any) -> None:
    problem, run = started(solver, 3)
    assert run.save()["t"] == 3 * problem.m


def test_scale_of_the_iterate_is_the_product_of_what_the_steps_keep() -> None:
    lambda_ = 1.0 / 50.0
    _, norma = started(Norma(horizon=10), 1)
    log_kept = math.fsum(math.log1p(-Norma.p(10) / math.sqrt(t)) for t in range(1, 5001))
    assert math.log(norma.save()["scale"]) == pytest.approx(log_kept, rel=1e-9)
    _, zhang = started(Zhang(eta=0.02), 2)
    assert math.log(zhang.save()["scale"]) == pytest.approx(10_000 * math.log1p(-0.02 * lambda_), rel=1e-9)
    _, bottou = started(SvmSGD(), 2)
    t0 = 1.0 / (lambda_ * bottou.save()["eta0"])
    # The product of 1 - 1/(t + t_0) telescopes.
    assert bottou.save()["scale"] == pytest.approx((t0 - 1.0) / (9_999 + t0), rel=1e-9)


def test_svmsgd_never_turns_w_around() -> None:
    for C in (1e-9, 1e-3, 1.0, 1e3):
        problem, run = started(SvmSGD(), 1, C)
        assert 0.0 < run.save()["eta0"] * problem.lambda_ <= 0.5


def test_svmsgd_started_on_another_problem_never_turns_w_around() -> None:
    """A step size chosen with a large C is too large for a small one."""
    state = solve_quietly(X, y, solver="svmsgd", intercept="none", max_iter=1, C=1e3).state
    assert state is not None
    assert state["eta0"] > 0.5 * 1e-7 * 5000
    again = solve_quietly(X, y, solver="svmsgd", intercept="none", max_iter=1, C=1e-7, state=state).state
    assert again is not None
    assert again["eta0"] == pytest.approx(0.5 * 1e-7 * 5000)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("variant", ["published", "erratum", "sgd2", "mixed"])
def test_steps_of_frequent_features_are_smaller(variant: Any, precision: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 6)) * (rng.random((4000, 6)) < [1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
    labels = rows[:, 0] + 0.5 * rng.normal(size=4000) > 0
    solver = SGDQN(variant=variant, precision=precision)
    state = solve_quietly(rows, labels, solver=solver, intercept="none", max_iter=20, C=0.01, tol=1e-9).state
    assert state is not None
    gains = state["d"] if variant == "published" else 1.0 / state["d"]
    assert gains[:3].mean() < gains[3:6].mean()
    assert gains[6] == gains.max(), "the constant feature is absent"


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_finds_the_minimum_where_all_gradients_agree(name: str) -> None:
    """y_i x_i = 1 for all rows, and no margin reaches 1: w = sum_i C_i, or the steps minimise something else."""
    rows = np.tile([[-1.0], [1.0]], (500, 1))
    solution = solve_quietly(rows, rows[:, 0], solver=SOLVERS[name], C=1e-4, intercept="none", tol=1e-14, max_iter=2000)
    assert solution.coef[0] == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "loss"), [(name, "squared_hinge") for name in SOLVERS if "squared_hinge" in SOLVERS[name].traits.losses]
)
def test_every_solver_finds_the_minimum_of_its_other_loss(name: str, loss: Any) -> None:
    """As above: the derivative w - 2 sum_i C_i (1 - w) is zero at w = 2 sum_i C_i / (1 + 2 sum_i C_i)."""
    rows = np.tile([[-1.0], [1.0]], (500, 1))
    options: dict[str, Any] = {"C": 1e-4, "intercept": "none", "tol": 1e-14, "max_iter": 2000, "loss": loss}
    solution = solve_quietly(rows, rows[:, 0], solver=SOLVERS[name], **options)
    assert solution.coef[0] == pytest.approx(0.2 / 1.2, rel=1e-3)


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
