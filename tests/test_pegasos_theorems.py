"""Pegasos keeps the bounds of its paper on random problems, and has the forms of its theorems and of the overview."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from loops import solve_quietly
from pairs import Case, assert_same_run, pair, poll

from hinge import Pegasos, Permutation, solve
from hinge.problem import Intercept, Problem, as_loss, as_rows
from hinge.reference.order import subsets
from hinge.reference.rng import Rng


def random_problem(seed: int) -> tuple[Any, Any, float]:
    """Rows, labels and C; some problems can be separated, others not at all."""
    random = np.random.default_rng(seed)
    m, d = int(random.integers(20, 80)), int(random.integers(1, 8))
    X = random.normal(size=(m, d)) * 10.0 ** random.uniform(-1, 1)
    y = np.where(X @ random.normal(size=d) + random.uniform(0, 3) * random.normal(size=m) > 0, 1, -1)
    y[:2] = (-1, 1)
    return X, y, 10.0 ** random.uniform(-2, 1)


def mean_objective(w: Any, X: Any, y: Any, lambda_: float) -> float:
    return float(0.5 * lambda_ * w @ w + np.mean(np.maximum(0.0, 1.0 - y * (X @ w))))


def bound(X: Any, lambda_: float, T: int) -> float:
    """c ln T / (lambda T) with c = (sqrt(lambda) + R)^2."""
    R = float(np.linalg.norm(X, axis=1).max())
    return (math.sqrt(lambda_) + R) ** 2 * math.log(T) / (lambda_ * T)


@pytest.mark.parametrize("seed", range(25))
def test_average_of_the_deterministic_method_keeps_the_bound(seed: int) -> None:
    """Corollary 1: A_t = S. The average is over w_2 .. w_{T+1}."""
    X, y, C = random_problem(seed)
    m, lambda_ = len(y), 1.0 / (C * len(y))
    best = solve(X, y, C=C, intercept="none", tol=1e-9).certificate.dual * lambda_
    for T in (3, 10, 100):
        solver = Pegasos(k=m, output="average", steps=T)
        solution = solve_quietly(X, y, C=C, solver=solver, intercept="none", tol=1e-12, max_iter=10 * T)
        assert solution.n_iter <= T + max(1, 4096 // m)
        excess = solution.certificate.primal * lambda_ - best
        assert excess <= bound(X, lambda_, T), f"T={T}"


@pytest.mark.parametrize("sampling", ["iid", "subset", "epoch"])
@pytest.mark.parametrize("seed", range(8))
def test_instantaneous_objectives_keep_the_bound_of_theorem_1(seed: int, sampling: Any) -> None:
    """sum_t f(w_t; A_t) <= sum_t f(w*; A_t) + c ln T / lambda, whatever the A_t are."""
    X, y, C = random_problem(seed)
    m = len(y)
    star = solve(X, y, C=C, intercept="none", tol=1e-9).coef
    solver = Pegasos(k=1 + seed % 5, sampling=sampling)
    problem = Problem.make(as_rows(X), y, np.full(m, C), loss=as_loss("hinge"), intercept=Intercept("none", 1.0))
    run = _twin_run(solver, problem)
    regret, T = 0.0, 0
    for _ in range(15):
        for begin in range(0, len(visit := run._draw()), solver.k):
            batch = visit[begin : begin + solver.k]
            T += 1
            w = run.iterate.weights()[:-1]
            at = X[batch], y[batch], problem.lambda_
            regret += mean_objective(w, *at) - mean_objective(star, *at)
            run._step(batch)
        if T >= 3:
            assert regret / T <= bound(X, problem.lambda_, T), f"T={T}"


def _twin_run(solver: Pegasos, problem: Problem) -> Any:
    from hinge.reference import core
    from hinge.reference.twin import in_numpy
    from hinge.solvers import Setup

    order = Permutation() if solver.sampling == "epoch" else None
    return solver.build(core, in_numpy(problem), Setup(order, (1,), poll(), 10))


def test_subset_has_no_row_twice_and_every_row_as_often() -> None:
    rng, seen = Rng([3]), np.zeros(7)
    for _ in range(1500):
        rows = subsets(7, 3, 2, rng)
        assert len(set(rows[:3])) == len(set(rows[3:])) == 3
        np.add.at(seen, rows, 1)
    assert np.all(np.abs(seen / 3000 - 3 / 7) < 0.05)


@pytest.mark.parametrize("sampling", ["iid", "subset", "epoch"])
@pytest.mark.parametrize("steps", [1, 13, 14, 15, 100])
def test_run_ends_after_so_many_steps_as_in_the_twin(steps: int, sampling: Any) -> None:
    native, slow = pair(Pegasos(k=5, sampling=sampling, steps=steps), Case())  # 14 steps an epoch
    assert_same_run(native, slow, [1, 2, 30])
    assert native.state()["t"] == steps
    assert native.finished() and slow.finished()
    assert native.advance(1, poll())[0] == 0, "it has read rows after its last step"


def test_steps_end_a_solve() -> None:
    X, y, C = random_problem(1)
    solution = solve_quietly(X, y, C=C, solver=Pegasos(steps=50), intercept="none", tol=1e-9)
    assert solution.status == "finished"
    converged = solve(X, y, C=C, solver=Pegasos(steps=50), intercept="none", tol=1e9)
    assert converged.status == "converged"


@pytest.mark.parametrize("intercept", ["none", "penalized"])
def test_start_is_the_users(intercept: Any) -> None:
    start = np.linspace(-0.5, 0.5, 11)
    native, slow = pair(Pegasos(start_at=start), Case(intercept=intercept))
    assert native.point()[0].tolist() == slow.point()[0].tolist() == [*start, 0.0]
    assert_same_run(native, slow, [1, 2])
    zero = pair(Pegasos(), Case(intercept=intercept))[0]
    far = pair(Pegasos(start_at=np.full(11, 2.0)), Case(intercept=intercept))[0]
    for run in (zero, far):
        run.advance(1, poll())
    assert zero.point()[0].tolist() != far.point()[0].tolist(), "the first violators should differ"


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("one", "start_at"),
        ([], "start_at must be"),
        ([[1.0]], "start_at must be"),
        ([math.nan, 1.0], "finite"),
        (["a"], "start_at must be"),
    ],
)
def test_bad_start_is_refused(start: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pegasos(start_at=start)


def test_start_must_fit_the_problem() -> None:
    X, y = np.array([[-1.0], [1.0]]), np.array([-1, 1])
    with pytest.raises(ValueError, match="2 numbers, but there are 1 features"):
        solve(X, y, solver=Pegasos(start_at=[1.0, 2.0]), intercept="none")
    with pytest.raises(ValueError, match=r"outside of the ball.*projection=False"):
        solve(X, y, solver=Pegasos(start_at=[1e9]), intercept="none")
    assert (
        solve_quietly(X, y, solver=Pegasos(start_at=[1e9], projection=False), intercept="none", max_iter=5).n_iter > 0
    )


def test_configuration_with_a_start_can_be_compared_and_cloned() -> None:
    solver = Pegasos(start_at=np.array([0.5, 1.0]))
    assert solver == Pegasos(start_at=[0.5, 1.0])
    assert solver.replace(k=2).start_at == (0.5, 1.0)
    assert hash(solver) == hash(Pegasos(start_at=(0.5, 1.0)))
