"""Runs go on where they stopped: saved states and warm starts."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest
from loops import SOLVERS, VARIANTS, X, assert_same_state, make, solve_quietly, unconverged, y

from hinge import LinearSVC, Pegasos, solve, verify

# Saved states


def roundtrip(state: dict[str, Any]) -> dict[str, Any]:
    """Through a file, without pickle."""
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        return dict(saved)


@pytest.mark.parametrize("m", [1500, 5000])
@pytest.mark.parametrize(
    ("solver", "intercept"), [(name, kind) for name, solver in VARIANTS.items() for kind in solver.intercepts]
)
def test_two_half_runs_are_one_run(solver, intercept, m) -> None:
    configuration = VARIANTS[solver]

    def run(max_iter: int, state: Any = None) -> Any:
        options = {"solver": configuration, "intercept": intercept, "tol": 1e-9, "C": 10.0}
        solution = solve_quietly(X[:m], y[:m], max_iter=max_iter, state=state, **options)
        assert solution.status == "max_iter", "the test wants a run that is not finished"
        return solution.state

    for first, second in ((5, 5), (4, 16)):
        half = run(first)
        whole = run(first + second)
        assert_same_state(run(second, half), whole)
        assert_same_state(run(second, roundtrip(half)), whole)


def test_state_holds_arrays_and_plain_numbers_only() -> None:
    for solver in VARIANTS.values():
        state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9).state
        for key, value in state.items():
            assert isinstance(value, int | float | np.ndarray), f"{solver}: state[{key!r}] is a {type(value).__name__}"
            assert np.asarray(value).dtype.kind in "iuf", f"{solver}: state[{key!r}] is not numeric"


def test_resuming_does_not_change_the_saved_state() -> None:
    for solver in VARIANTS.values():
        state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9).state
        copy = {key: np.copy(value) for key, value in state.items()}
        solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9, state=state)
        assert_same_state(state, copy)


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_of_a_finished_run_is_finished(solver) -> None:
    tol = {"cutting-plane": 1e-3, "dcd": 1e-3, "mpu": 1e-3, "ocas": 1e-3}.get(solver, 0.2)
    options = {"solver": solver, "intercept": "none", "tol": tol, "C": 0.01}
    first = solve(X, y, **options)
    again = solve(X, y, state=first.state, **options)
    assert again.status == "converged"
    assert again.n_iter <= first.n_iter // 4, f"{again.n_iter} passes to finish a finished run of {first.n_iter}"


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_on_another_problem_is_still_certified(solver) -> None:
    state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=5, tol=1e-9).state
    for labels, C in ((1 - y, 1.0), (y, 0.01), (y, 100.0), (np.roll(y, 1), 1.0)):
        best = solve_quietly(X, labels, intercept="none", C=C, tol=1e-3).certificate
        found = solve_quietly(X, labels, solver=solver, intercept="none", C=C, max_iter=3, state=state)
        assert found.certificate.dual <= best.primal, f"{solver}: dual above the optimum after another problem's state"
        assert found.certificate.primal >= best.dual
        checked = verify(found, X, labels)
        np.testing.assert_allclose(checked.primal, found.certificate.primal, rtol=1e-9)
        np.testing.assert_allclose(checked.dual, found.certificate.dual, rtol=1e-9)


# Warm start


@pytest.mark.parametrize(
    ("solver", "tol"),
    [
        ("cutting-plane", 1e-3),
        ("dcd", 1e-4),
        ("mpu", 1e-4),
        ("ocas", 1e-4),
        ("pegasos", 0.1),
        ("sgd-s", 0.05),
        ("sgd-m", 0.05),
        ("sgd-r", 0.1),
        ("sgd-qn", 0.1),
        ("svmsgd", 0.05),
        ("zhang", 0.1),
    ],
)
def test_warm_start_saves_epochs(solver, tol) -> None:
    params = {"solver": solver, "tol": tol, "C": 0.1, "fit_intercept": False}
    model = LinearSVC(warm_start=True, **params).fit(X, y)
    cold = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ <= max(1, cold // 4), f"{model.n_iter_} passes again after {cold}"
    assert model.status_ == "converged"


@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_warm_start_saves_epochs_after_a_small_change_of_C(intercept) -> None:
    model = LinearSVC(warm_start=True, C=1.0, tol=1e-5, intercept=intercept).fit(X, y)
    warm = model.set_params(C=1.02).fit(X, y).n_iter_
    cold = LinearSVC(C=1.02, tol=1e-5, intercept=intercept).fit(X, y).n_iter_
    assert warm <= 0.7 * cold, f"{warm} passes from C=1, {cold} from nothing"
    assert model.certificate_.relative_gap <= 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
def test_warm_start_on_permuted_rows_is_still_certified(solver) -> None:
    model = LinearSVC(solver=solver, warm_start=True, tol=0.2, C=0.01, fit_intercept=False, store_dual=True).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    with unconverged():
        model.fit(X[order], y[order])
    checked, found = verify(model, X[order], y[order]), model.certificate_
    np.testing.assert_allclose([found.primal, found.dual], [checked.primal, checked.dual], rtol=1e-9)


def test_warm_start_on_another_shape_starts_afresh_and_says_so() -> None:
    model = LinearSVC(warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="starting afresh"):
        model.fit(X[:4000, :7], y[:4000])
    assert np.array_equal(model.coef_, LinearSVC().fit(X[:4000, :7], y[:4000]).coef_)


def test_warm_start_with_other_solver_options_starts_afresh_or_goes_on() -> None:
    model = LinearSVC(warm_start=True, solver=Pegasos(), tol=0.5, C=0.01).fit(X, y)
    model.set_params(solver=Pegasos(output="average"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, y)
    assert model.status_ == "converged"


def test_warm_start_works_for_every_class() -> None:
    rows, labels = make(5000, classes=3)
    model = LinearSVC(warm_start=True, tol=1e-4).fit(rows, labels)
    cold = model.n_iter_
    assert model.fit(rows, labels).n_iter_ <= max(1, cold // 4)


def test_without_warm_start_a_second_fit_is_the_first() -> None:
    model = LinearSVC().fit(X, y)
    coef, passes = model.coef_, model.n_iter_
    model.fit(X, y)
    assert np.array_equal(model.coef_, coef)
    assert model.n_iter_ == passes
