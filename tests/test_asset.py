"""ASSET takes the steps of its paper, averages the iterates that it should, and stays inside its set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from loops import make, solve_quietly
from pairs import BLOCKS, Case, assert_same_run, pair, poll

from hinge import Asset, AssetStar, solve
from hinge.reference import core
from hinge.reference.order import draws
from hinge.reference.rng import Rng


@pytest.mark.parametrize("solver", [Asset(), AssetStar(), Asset(average_last=7, sampling="epoch")], ids=str)
@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1e60, 1e140])
def test_native_asset_at_the_ends_of_float64_equals_the_twin(solver: Any, scale: float) -> None:
    """Tiny rows: eta lambda = 1 at many steps, and each of them begins anew."""
    assert_same_run(*pair(solver, Case(scale=scale, m=40), order=BLOCKS), [1, 3])


def test_d_g_is_the_root_of_a_mean_over_the_sample() -> None:
    """Of |G|^2 at the start, where every row has a loss: s^2 (|x|^2 + 1); the paper's 1/M^2 would be a tenth of it."""
    case = Case(intercept="free", weights=True)
    _, slow = pair(Asset(sample_size=100), case)
    problem = case.make()[1]
    sample = draws(problem.m, 100, Rng([4]))
    squares = [problem.relative_weight(i) ** 2 * (problem.rows.squared_norm(i) + 1.0) for i in sample]
    slow.advance(1, poll())
    assert slow.state()["d_g"] == pytest.approx(math.sqrt(np.mean(squares)), rel=1e-14)


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_step_sizes_are_those_of_the_paper(intercept: Any) -> None:
    case = Case(intercept=intercept, C=2.0)
    _, slow = pair(Asset(B=3.0), case)
    problem = case.make()[1]
    slow.advance(1, poll())
    d_x = math.sqrt(1.0 / problem.lambda_ + (9.0 if intercept == "free" else 0.0))
    for j in (1, 2, 50, 10**6):
        assert slow.rate(problem, j) == pytest.approx(d_x / (slow.rate.d_g * math.sqrt(j)), rel=1e-14)
        assert core.StarRate()(problem, j) == pytest.approx(1.0 / (problem.lambda_ * j), rel=1e-14)


@pytest.mark.parametrize(
    "solver", [Asset(B=0.5), AssetStar(), Asset(average_last=13), AssetStar(average_last=1)], ids=str
)
def test_output_is_the_average_of_the_late_iterates(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the definition: sum of eta_j w_j over sum of eta_j, from N-bar on."""
    case = Case(intercept=solver.traits.intercepts[-1] if isinstance(solver, AssetStar) else "free")
    _, slow = pair(solver, case)
    step, seen = core.Asset._step, []

    def watched(run: Any, i: int) -> None:
        step(run, i)
        eta = run.rate(run.problem, run.iterate.t)
        seen.append((eta, run.iterate.scale * run.iterate.v, run.b))
        assert np.linalg.norm(seen[-1][1]) <= math.sqrt(run.problem.total_cost) * (1 + 1e-12)
        assert abs(run.b) <= run.rate.largest_b

    monkeypatch.setattr(type(slow), "_step", watched)
    for epoch in (1, 2, 3, 4):
        slow.advance(1, poll())
        steps = len(seen)
        assert steps == epoch * 70
        begin = (
            2 ** (math.floor(math.log2(steps)) - 1) - 1 if solver.average_last is None else steps - solver.average_last
        )
        assert solver.average_last is not None or 0.25 * steps - 1 <= begin <= 0.5 * steps
        eta, w, b = (np.array(part) for part in zip(*seen[begin:], strict=True))
        found, found_b, _ = slow.point()
        np.testing.assert_allclose(found, eta @ w / eta.sum(), rtol=1e-9, atol=1e-12)
        assert found_b == pytest.approx(eta @ b / eta.sum(), rel=1e-9, abs=1e-12)


def test_default_b_holds_the_best_intercept() -> None:
    rows, labels = make(200)
    best = solve(rows + 3.0, labels, tol=1e-6)
    found = solve_quietly(rows + 3.0, labels, solver="asset", max_iter=500, tol=1e-3)
    radius = 1.0 + math.sqrt(200) * np.linalg.norm(rows + 3.0, axis=1).max()
    assert abs(best.intercept) <= radius
    assert best.certificate.dual <= found.certificate.primal
    assert found.certificate.dual <= best.certificate.primal


@pytest.mark.parametrize("solver", ["asset", "asset-star"])
def test_asset_comes_close_to_the_optimum(solver: str) -> None:
    rows, labels = make(2000)
    options: dict[str, Any] = {"C": 0.01, "intercept": "none"}
    best = solve(rows, labels, tol=1e-6, **options).certificate
    found = solve_quietly(rows, labels, solver=solver, max_iter=50, tol=1e-6, **options).certificate
    assert found.primal <= 1.01 * best.dual
    assert found.relative_gap <= 0.15


def test_an_average_is_no_longer_than_an_epoch() -> None:
    rows, labels = make(50)
    whole, longer = (solve_quietly(rows, labels, solver=Asset(average_last=k), max_iter=3) for k in (50, 51))
    assert whole.coef.tobytes() == longer.coef.tobytes()
