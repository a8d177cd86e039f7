"""newton finds the optimum, whatever the data, the costs and the way in which it solves for a step."""

from __future__ import annotations

import dataclasses
import itertools
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import assert_same_state, make, solve_quietly, start
from pairs import Case, cases, describe, pair, poll

from hinge import DCD, Certificate, Newton, Solution, reference, solve, verify
from hinge.certificate import LocalEvaluator
from hinge.problem import LOSSES

INTERCEPTS = ("none", "penalized", "free")


def assert_optimal(found: Solution, X: Any, y: Any, tol: float, sample_weight: Any = None) -> None:
    """Converged, by a certificate that an independent check confirms."""
    assert found.status == "converged", f"{found.status} at a gap of {found.certificate.relative_gap:.1e}"
    assert found.certificate.relative_gap <= tol
    checked = verify(found, X, y, sample_weight)
    assert isinstance(checked, Certificate)
    rounding = 1e-8 * checked.primal
    assert checked.primal <= found.certificate.primal + rounding and checked.dual >= found.certificate.dual - rounding


def assert_same_bits(found: Solution, expected: Solution) -> None:
    assert found.status == expected.status
    assert found.certificate == expected.certificate
    assert found.coef.tobytes() == expected.coef.tobytes() and found.intercept == expected.intercept
    assert found.dual.tobytes() == expected.dual.tobytes()
    assert_same_state(found.state, expected.state)


# Agreement with another solver


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_optimum_is_that_of_dcd(loss: Any, intercept: Any, weighted: bool, dtype: Any, layout: str) -> None:
    X, y = make(1500, d=7, seed=3)
    X[np.random.default_rng(4).random(X.shape) < 0.3] = 0.0
    data = X.astype(dtype) if layout == "dense" else sp.csr_array(X.astype(dtype))
    weight = np.random.default_rng(5).choice([0.0, 0.5, 3.0], y.size) if weighted else None
    options: dict[str, Any] = {"loss": loss, "intercept": intercept, "sample_weight": weight, "C": 0.3}
    found = solve(data, y, solver="newton", tol=1e-8, **options)
    assert_optimal(found, data, y, 1e-8, weight)
    expected = solve(data, y, solver="dcd", tol=1e-5, max_iter=10_000, **options).certificate
    assert found.certificate.primal <= expected.primal * (1.0 + 1e-8)
    assert found.certificate.dual >= expected.dual * (1.0 - 1e-8)


def test_labels_and_units_of_the_rows_change_nothing_but_signs_and_units() -> None:
    X, y = make(1200, d=4)
    plain = solve(X, y, solver="newton", tol=1e-9, C=1.0)
    swapped = solve(X, np.where(y == 1, "a", "b"), solver="newton", tol=1e-9, C=1.0)
    np.testing.assert_allclose(swapped.coef, -plain.coef, rtol=1e-4, atol=1e-6)
    scaled = solve(1e4 * X, y, solver="newton", tol=1e-9, C=1e-8)
    np.testing.assert_allclose(1e4 * scaled.coef, plain.coef, rtol=1e-4, atol=1e-6)


# Hard and degenerate cases


def _hard() -> dict[str, tuple[Any, Any]]:
    random = np.random.default_rng(0)
    X, y = make(400, d=6)
    few, classes = make(40, d=3)
    rare = np.zeros(5000, dtype=int)
    rare[[17, 4001]] = 1
    zeros = X.copy()
    zeros[::3] = 0.0
    return {
        "constant columns": (np.hstack([X, np.full((400, 2), 7.0)]), y),
        "duplicate columns": (np.hstack([X, X, 1e3 * X]), y),
        "duplicate rows": (np.repeat(X[:50], 20, axis=0), np.repeat(y[:50], 20)),
        "more features than rows": (random.normal(size=(60, 300)), y[:60]),
        "one row per class": (np.array([[1.0, 2.0], [-3.0, 0.5]]), np.array([0, 1])),
        "the same row in both classes": (np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([0, 1])),
        "one feature": (X[:, :1], y),
        "no features that count": (np.zeros((30, 2)), np.arange(30) % 2),
        "zero rows": (zeros, y),
        "columns of very different scales": (X * 10.0 ** np.linspace(-6, 6, 6), y),
        "a rare class": (random.normal(size=(5000, 5)), rare),
        "separable": (few + 10.0 * classes[:, np.newaxis], classes),
        "large offset": (few + 1e4, classes),
    }


HARD = _hard()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("name", HARD)
def test_hard_case_converges(name: str, intercept: Any, loss: Any) -> None:
    X, y = HARD[name]
    for C in (0.01, 1.0, 100.0):
        found = solve_quietly(X, y, solver="newton", intercept=intercept, loss=loss, C=C, tol=1e-6)
        assert_optimal(found, X, y, 1e-6)


@pytest.mark.parametrize("offset", [1e2, 1e3, 1e4])
def test_offset_of_all_columns_costs_no_more_passes(offset: float) -> None:
    """What is left of the curvature for a free b is about 1 / offset^2: a ridge on b once swamped it."""
    X, y = make(2000, d=10)
    for C in (0.01, 1.0, 1e4):
        found = solve(X + offset, y, solver="newton", C=C, tol=1e-6)
        assert_optimal(found, X + offset, y, 1e-6)
        assert found.n_iter <= 100, f"{found.n_iter} passes at C={C}"


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", 10.0 ** np.arange(-10, 11, 2))
def test_any_cost_converges(C: float, loss: Any) -> None:
    X, y = make(1200, d=5)
    for intercept in INTERCEPTS:
        found = solve_quietly(X, y, solver="newton", loss=loss, C=C, tol=1e-6, intercept=intercept)
        assert_optimal(found, X, y, 1e-6)


def test_step_without_any_row_in_its_zone_moves_the_intercept() -> None:
    """All rows far on the wrong side of a start from elsewhere: J is empty, and b has next to no curvature."""
    X, y = make(1200, d=3)
    before = solve(X, y, solver="newton", C=1.0)
    moved = solve(X + 50.0, y, solver="newton", C=1.0, state=before.state)
    assert_optimal(moved, X + 50.0, y, 1e-3)


@pytest.mark.parametrize("sampling", [False, True])
def test_start_on_a_sample_leads_to_the_same_optimum(sampling: bool) -> None:
    X, y = make(40_000, d=3)
    for loss in LOSSES:
        for intercept in INTERCEPTS:
            found = solve(X, y, solver=Newton(sampling=sampling), tol=1e-7, loss=loss, intercept=intercept, C=0.1)
            assert_optimal(found, X, y, 1e-7)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("offset", [0.0, 1e4, -1e6])
def test_sample_in_single_precision_is_a_start_whatever_the_offset(layout: Any, offset: float) -> None:
    """At 1e6 single precision keeps four bits of a feature that matters."""
    X, y = make(8000, d=3)
    X[:, 1] += offset
    X = layout(X)
    found = solve(X, y, solver="newton", tol=1e-6, C=0.1)
    assert_optimal(found, X, y, 1e-6)


def test_rows_beyond_single_precision_are_not_sampled() -> None:
    X, y = make(8000, d=3)
    X *= 1e45
    found = solve(X, y, solver="newton", tol=1e-6, C=1e-90)
    assert_optimal(found, X, y, 1e-6)
    assert found.n_iter < 50


def test_run_resumed_on_a_sample_has_the_same_bits() -> None:
    X, y = make(8000, d=3)
    begun = solve_quietly(X, y, solver="newton", tol=1e-9, max_iter=1)
    assert begun.state is not None and begun.state["stride"] > 1, "not on a sample: the test shows nothing"
    resumed = solve(X, y, solver="newton", tol=1e-9, state=begun.state)
    whole = solve(X, y, solver="newton", tol=1e-9)
    assert resumed.n_iter == whole.n_iter - 1
    assert_same_bits(resumed, whole)


def test_sample_of_one_class_is_not_begun_with() -> None:
    X, _ = make(40_000, d=3)
    y = np.zeros(40_000, dtype=int)
    y[:40] = 1
    y[32], y[4::8] = 0, 0  # neither the 64th rows nor the 8th
    found = solve(X, y, solver="newton", tol=1e-6)
    assert_optimal(found, X, y, 1e-6)


# Three ways to solve for a step: which one is chosen follows from counts

WAYS: dict[str, tuple[int, int, float]] = {  # rows, features, density
    "gram matrix, dense": (3000, 10, 1.0),
    "gram matrix, sparse": (6000, 200, 0.01),
    "rows": (120, 3000, 1.0),
    "conjugate gradients": (2500, 8000, 0.004),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_solve_for_a_step_converges(way: str, intercept: Any, loss: Any) -> None:
    m, d, density = WAYS[way]
    random = np.random.default_rng(1)
    X: Any = sp.random_array((m, d), density=density, rng=random, format="csr") if density < 1 else make(m, d=d)[0]
    y = (X @ random.normal(size=d) + 0.3 * random.normal(size=m) > 0).astype(int)
    for C in (0.1, 10.0):
        found = solve(X, y, solver="newton", loss=loss, intercept=intercept, C=C, tol=1e-6)
        assert_optimal(found, X, y, 1e-6)


# The same bits


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("m", [700, 6000])
def test_run_that_is_cut_anywhere_has_the_bits_of_one_run(m: int, intercept: Any, loss: Any) -> None:
    X, y = make(m, d=5)
    X = X * [1.0, 100.0, 1e-2, 1.0, 1.0]
    options: dict[str, Any] = {"solver": "newton", "loss": loss, "intercept": intercept, "tol": 1e-12, "C": 10.0}
    total = 12
    whole = solve_quietly(X, y, max_iter=total, **options)
    for cut in (1, 2, 3, 5, 8, 11):
        half = solve_quietly(X, y, max_iter=cut, **options)
        rest = solve_quietly(X, y, max_iter=total - cut, state=half.state, **options)
        assert_same_bits(rest, whole)
    pieces = solve_quietly(X, y, max_iter=1, **options)
    for _ in range(total - 1):
        pieces = solve_quietly(X, y, max_iter=1, state=pieces.state, **options)
    assert_same_bits(pieces, whole)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("m", "d", "density"), [(20_000, 60, 1.0), (20_000, 400, 0.02), (300, 900, 1.0)])
def test_threads_change_no_bit(m: int, d: int, density: float, loss: Any) -> None:
    """Many parts: tiles, pairs of sparse values, and factors of more than 256 columns."""
    random = np.random.default_rng(2)
    X: Any = sp.random_array((m, d), density=density, rng=random, format="csr") if density < 1 else make(m, d=d)[0]
    y = (X @ random.normal(size=d) + random.normal(size=m) > 0).astype(int)
    options: dict[str, Any] = {"solver": "newton", "loss": loss, "tol": 1e-6, "C": 1.0}
    one, two = (solve(X, y, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert_same_bits(two, one)


def test_random_state_and_repetition_change_no_bit() -> None:
    X, y = make(1500)
    first, second = (solve(X, y, solver="newton", tol=1e-6, random_state=seed) for seed in (0, 7))
    assert first.certificate == second.certificate and first.coef.tobytes() == second.coef.tobytes()


# Warm starts


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_state_of_another_problem_is_a_start(intercept: Any, loss: Any) -> None:
    X, y = make(2500, d=5)
    options: dict[str, Any] = {"solver": "newton", "loss": loss, "intercept": intercept, "tol": 1e-7}
    state = solve(X, y, C=1.0, **options).state
    changes = {"C up": (X, y, 100.0), "C down": (X, y, 0.01), "labels": (X, 1 - y, 1.0), "rows": (X[:, ::-1], y, 1.0)}
    for what, (rows, labels, C) in changes.items():
        rows = np.ascontiguousarray(rows)
        found = solve_quietly(rows, labels, C=C, state=state, **options)
        assert found.status == "converged", what
        assert_optimal(found, rows, labels, 1e-7)


def test_path_of_costs_is_followed_by_warm_starts() -> None:
    X, y = make(3000, d=8)
    state = None
    for C in 10.0 ** np.arange(-4, 5):
        found = solve(X, y, solver="newton", C=C, tol=1e-6, state=state)
        assert_optimal(found, X, y, 1e-6)
        state = found.state


# Stopping and memory


@pytest.mark.timing
@pytest.mark.parametrize("loss", LOSSES)
def test_time_limit_is_noticed_inside_the_linear_algebra_of_a_step(loss: Any) -> None:
    """2000 features, dense: the first matrix H takes many seconds."""
    X = np.random.default_rng(3).normal(size=(12_000, 2000)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    limit = 0.5
    began = time.perf_counter()
    solver = Newton(sampling=False)
    found = solve_quietly(X, y, solver=solver, loss=loss, C=10.0, tol=1e-9, time_limit=limit)
    seconds = time.perf_counter() - began
    assert found.status == "time_limit"
    assert seconds < limit + 1.5, f"{seconds:.2f} s with a limit of {limit} s"


def test_matrices_take_no_more_memory_than_promised() -> None:
    """A matrix of 20,001 features would take 3.2 GB, far beyond an eighth of the values."""
    resource = pytest.importorskip("resource")
    m, d = 3000, 20_000
    X = sp.random_array((m, d), density=0.001, rng=np.random.default_rng(1), format="csr")
    y = np.arange(m) % 2
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = solve(X, y, solver="newton", C=10.0, tol=1e-5)
    assert found.status == "converged"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 250, f"{grown:.0f} MB"


# The twin


def test_steps_of_native_code_and_twin_are_the_same_but_for_rounding() -> None:
    """Few features: native code takes the matrix H, as the twin does, so epochs end at the same steps."""
    compared = 0
    for case, C in itertools.product(cases(*INTERCEPTS, losses=tuple(LOSSES)), (0.1, 100.0)):
        native, slow = pair(Newton(), dataclasses.replace(case, d=3, scale=1.0, m=300, C=C))
        gap = np.inf
        while gap > 1e-9:
            found, expected = native.state(), slow.state()
            assert found.keys() == expected.keys()
            for name, value in expected.items():
                if name.startswith("gram"):  # what native code keeps of it depends on which way it solves for the step
                    continue
                message = f"{describe(case)}: {name} at a gap of {gap:.1e}"
                scale = slow.dual if name.endswith("gap") else 1.0
                close = np.allclose(found[name], value, rtol=1e-6, atol=1e-9 * scale)
                assert close, f"{message}: native {found[name]!r}, twin {value!r}"
            assert native.advance(1, poll()) == slow.advance(1, poll()), f"{describe(case)}: rows read at {gap:.1e}"
            primal, dual = slow.estimate()
            gap = (primal - dual) / dual
            compared += 1
    assert compared > 20, "too few epochs: the test shows nothing"


def test_twin_reaches_the_same_optimum_from_samples() -> None:
    """4200 rows: every eighth first."""
    X, y = make(4200, d=2)
    for loss, intercept in (("hinge", "free"), ("squared_hinge", "penalized")):
        options: dict[str, Any] = {"loss": loss, "intercept": intercept, "tol": 1e-6, "C": 0.1}
        fast, slow = (solve(X, y, solver=how, **options) for how in (Newton(), reference.Newton()))
        assert slow.status == "converged"
        np.testing.assert_allclose(slow.coef, fast.coef, rtol=1e-3, atol=1e-5)
        found, expected = slow.certificate, fast.certificate
        assert max(found.dual, expected.dual) <= min(found.primal, expected.primal)


def rare(m: int = 4200) -> tuple[Any, Any]:
    """Three features, and three more that only some rows have, and whose weights are large."""
    random = np.random.default_rng(4)
    X = np.hstack([random.normal(size=(m, 3)), random.random((m, 3)) < [0.1, 0.05, 0.02]])
    y = (X @ [1.0, -1.0, 0.5, 2.0, 3.0, -3.0] + random.normal(size=m) > 0).astype(int)
    return X * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1], y


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_metric_learned_on_a_sample_is_that_of_the_twin(intercept: Any) -> None:
    X, y = rare()
    options: dict[str, Any] = {"intercept": intercept, "C": 10.0, "tol": 1e-4}
    fast, slow = (solve(X, y, solver=how, **options) for how in (Newton(), reference.Newton()))
    assert fast.state is not None and slow.state is not None
    assert np.ptp(fast.state["scales"][:-1]) > 0.0, "no feature is rare: the test shows nothing"
    np.testing.assert_allclose(fast.state["scales"], slow.state["scales"], rtol=1e-4)
    np.testing.assert_allclose(fast.state["lengths"], slow.state["lengths"], rtol=1e-4)
    np.testing.assert_allclose(slow.coef, fast.coef, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_run_changes_hands_between_native_code_and_twin(intercept: Any) -> None:
    case = Case(intercept=intercept, m=200, d=4)
    native, slow = pair(Newton(), case)
    native.advance(2, poll())
    slow.restore(native.state())
    slow.advance(30, poll())
    primal, dual = slow.estimate()
    assert primal - dual <= 1e-8 * dual
    native.restore(slow.state())
    native.advance(1, poll())
    assert native.estimate()[1] == pytest.approx(dual, rel=1e-8)


@pytest.mark.parametrize("solver", [Newton(), reference.Newton()], ids=["native", "twin"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_newton_takes_over_from_another_solver(solver: Any, intercept: Any) -> None:
    problem, _ = Case(intercept=intercept, m=300, d=5, C=0.1).make()
    first, second = start(DCD(polish=False), problem), start(solver, problem)
    first.advance(3)
    before = first.point()
    second.begin_at(before, True)
    second.advance(1)
    primal, dual = second.estimate()
    evaluator = LocalEvaluator(problem)
    assert dual >= evaluator.lower(before.multipliers, poll()).value * (1.0 - 1e-9), "the start was lost"
    second.advance(12)
    primal, dual = second.estimate()
    assert primal - dual <= 1e-6 * dual
