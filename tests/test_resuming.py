"""Runs go on where they stopped: saved states and warm starts."""

from __future__ import annotations

import io
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import X, assert_same_state, make, solve_quietly, unconverged, y
from problems import Case, cases, share
from registry import INTERCEPTS, SOLVERS, VARIANTS, with_all, with_losses

from hinge import Certificate, LinearSVC, Pegasos, Problem, Solution, solve, verify
from hinge.problem import LOSSES
from hinge.solvers import Setup, State

# Saved states


def roundtrip(state: State) -> State:
    """Through a file, without pickle."""
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        return dict(saved)


def assert_same_run(found: Solution, expected: Solution) -> None:
    assert found.status == expected.status
    assert found.certificate == expected.certificate
    assert np.array_equal(found.coef, expected.coef)
    assert found.intercept == expected.intercept
    assert np.array_equal(found.dual, expected.dual)
    assert_same_state(found.state, expected.state)


@pytest.mark.parametrize(("solver", "loss", "intercept"), with_all(VARIANTS))
def test_two_half_runs_are_one_run(solver, loss, intercept) -> None:
    options = {"solver": VARIANTS[solver], "loss": loss, "intercept": intercept, "tol": 1e-15, "C": 10.0}

    def run(m: int, max_iter: int, state: Any = None) -> Solution:
        return solve_quietly(X[:m], y[:m], max_iter=max_iter, state=state, **options)

    lengths = ((1500, 1, 2), (5000, 1, 2)) if solver == "newton" else ((1500, 4, 16), (5000, 5, 5))
    for m, first, second in lengths:
        half, whole = run(m, first), run(m, first + second)
        assert whole.status == "max_iter", "the test wants a run that is not finished"
        assert_same_run(run(m, second, half.state), whole)
        assert_same_run(run(m, second, roundtrip(half.state)), whole)


@settings(max_examples=share(0.1))
@given(cases(), st.lists(st.integers(1, 900), min_size=1, max_size=4), st.sampled_from([1e-1, 1e-3, 1e-9]))
def test_run_cut_anywhere_ends_with_the_same_bits(case: Case, cuts: list[int], tol: float) -> None:
    """Tiny problems: a call of the solver is many epochs long, and cuts fall into the middle of them."""
    total = sum(cuts) + 500
    whole = solve_quietly(case.data, case.y, **case.options(max_iter=total, tol=tol))
    piece, passes = None, 0
    for cut in (*cuts, 500):
        state = None if piece is None else piece.state
        piece = solve_quietly(case.data, case.y, **case.options(max_iter=cut, tol=tol, state=state))
        passes += piece.n_iter
    assert piece is not None
    assert passes == whole.n_iter
    assert_same_run(piece, whole)


def test_state_holds_arrays_and_plain_numbers_only() -> None:
    for solver in VARIANTS.values():
        state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9).state
        for key, value in state.items():
            assert isinstance(value, int | float | np.ndarray), f"{solver}: state[{key!r}] is a {type(value).__name__}"
            assert np.asarray(value).dtype.kind in "iuf", f"{solver}: state[{key!r}] is not numeric"


def test_progress_that_was_kept_gives_the_last_state_of_an_ended_run() -> None:
    kept: list[Any] = []
    solution = solve(X, y, solver="newton", callback=kept.append)  # the run gives its arrays to the solution
    assert_same_state(kept[-1].state(), solution.state)


def test_resuming_does_not_change_the_saved_state() -> None:
    for solver in VARIANTS.values():
        state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9).state
        copy = {key: np.copy(value) for key, value in state.items()}
        solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9, state=state)
        assert_same_state(state, copy)


def reachable(solver: str) -> float:
    """A tolerance that the solver reaches soon."""
    return 1e-3 if SOLVERS[solver].traits.rebuilds or SOLVERS[solver].traits.comparison == 1.0 else 0.3


@pytest.mark.parametrize(("solver", "loss"), with_losses())
def test_state_of_a_finished_run_is_finished(solver, loss) -> None:
    options = {"solver": SOLVERS[solver], "loss": loss, "intercept": "none", "tol": reachable(solver), "C": 0.01}
    first = solve(X, y, **options)
    again = solve(X, y, state=first.state, **options)
    assert (again.status, again.n_iter) == ("converged", 0), f"{again.n_iter} passes to finish a finished run"
    assert again.certificate == first.certificate
    assert np.array_equal(again.coef, first.coef)
    assert np.array_equal(again.dual, first.dual)
    assert again.history, "the certificate is on record"


NOISE = np.random.default_rng(1).normal(size=X.shape)
CHANGED: dict[str, tuple[Any, Any, float]] = {
    "labels swapped": (X, 1 - y, 1.0),
    "smaller C": (X, y, 0.01),
    "larger C": (X, y, 20.0),
    "other labels": (X, np.roll(y, 1), 1.0),
    "other rows": (NOISE, y, 1.0),
}


@cache
def optimum(what: str, loss: Any) -> Certificate:
    rows, labels, C = CHANGED[what]
    return solve_quietly(rows, labels, intercept="none", loss=loss, C=C).certificate


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_on_another_problem_is_still_certified(solver) -> None:
    loss = SOLVERS[solver].traits.losses[-1]
    options = {"solver": SOLVERS[solver], "intercept": "none", "loss": loss}
    state = solve_quietly(X, y, max_iter=5, tol=1e-9, **options).state
    for what, (rows, labels, C) in CHANGED.items():
        found, best = solve_quietly(rows, labels, C=C, max_iter=3, state=state, **options), optimum(what, loss)
        assert found.certificate.dual <= best.primal, f"{what}: dual above the optimum"
        assert found.certificate.primal >= best.dual, f"{what}: primal below the optimum"
        checked = verify(found, rows, labels)
        np.testing.assert_allclose(checked.primal, found.certificate.primal, rtol=1e-9)
        np.testing.assert_allclose(checked.dual, found.certificate.dual, rtol=1e-9, atol=1e-12 * np.sum(found.dual))


# Another problem is noticed


class Noticing:
    """Tells whether a state was taken for one of the same problem."""

    def __init__(self) -> None:
        self.solver, self.same = SOLVERS["dcd"], []
        self.traits = self.solver.traits

    def start(self, problem: Problem, setup: Setup) -> Any:
        run = self.solver.start(problem, setup)
        restore = run.restore

        def noticed(state: State, *, same_problem: bool) -> None:
            self.same.append(same_problem)
            restore(state, same_problem=same_problem)

        run.restore = noticed
        return run


WEIGHT = np.random.default_rng(5).uniform(0.5, 2.0, len(y))
SPARSE = sp.csr_array(X * (np.random.default_rng(6).random(X.shape) < 0.5))
OTHERS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "values": (X + 1e-9, y, {}),
    "one feature": (X * np.r_[1.001, np.ones(9)], y, {}),
    "order of rows": (X[::-1].copy(), y, {}),
    "labels": (X, np.roll(y, 1), {}),
    "one label": (X, np.r_[1 - y[0], y[1:]], {}),
    "C": (X, y, {"C": 1.5}),
    "weights": (X, y, {"sample_weight": np.where(np.arange(len(y)) == 7, 1.5, 1.0)}),
    "loss": (X, y, {"loss": "squared_hinge"}),
    "intercept": (X, y, {"intercept": "penalized"}),
    "scale of the intercept": (X, y, {"intercept": "penalized", "intercept_scaling": 2.0}),
}


def test_same_problem_is_recognised_in_any_memory() -> None:
    solver = Noticing()
    for rows in (X, SPARSE):
        state = solve_quietly(rows, y, solver="dcd", max_iter=3, tol=1e-9).state
        solve_quietly(rows.copy(), y.copy(), solver=solver, max_iter=3, tol=1e-9, state=state)
    assert solver.same == [True, True]


@pytest.mark.parametrize("what", OTHERS)
def test_other_problem_is_noticed_and_becomes_a_warm_start(what) -> None:
    rows, labels, options = OTHERS[what]
    solver = Noticing()
    state = solve_quietly(X, y, solver="dcd", max_iter=3, tol=1e-9).state
    found = solve(rows, labels, solver=solver, state=state, max_iter=3000, **options)
    assert solver.same == [False], f"other {what} went unnoticed"
    assert found.status == "converged", "a warm start missed a tolerance that a fresh run reaches"


@pytest.mark.parametrize("seed", range(5))
def test_states_of_other_rows_reach_the_tolerance_that_a_fresh_run_reaches(seed) -> None:
    for intercept in INTERCEPTS:
        rows, labels = make(300, d=4, seed=seed)
        state = solve_quietly(rows, labels, intercept=intercept, C=100.0).state
        others, _ = make(300, d=4, seed=seed + 100)
        options: dict[str, Any] = {"intercept": intercept, "tol": 1e-6, "max_iter": 20_000}
        assert solve(others, labels, **options).status == "converged"
        assert solve(others, labels, state=state, **options).status == "converged"


# Warm start


@pytest.mark.parametrize(("solver", "loss"), with_losses())
def test_warm_refit_of_a_solved_problem_takes_no_pass(solver, loss) -> None:
    params: dict[str, Any] = {"solver": SOLVERS[solver], "loss": loss, "tol": reachable(solver), "C": 0.01}
    model = LinearSVC(warm_start=True, fit_intercept=False, **params).fit(X, y)
    coef, certificate = model.coef_, model.certificate_
    assert model.n_iter_ > 0
    model.fit(X, y)
    assert (model.status_, model.n_iter_) == ("converged", 0)
    assert np.array_equal(model.coef_, coef)
    assert model.certificate_ == certificate


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("m", [30, 1000])
def test_warm_refit_of_a_solved_tiny_problem_takes_no_pass(m, intercept, loss) -> None:
    """Tiny problems are refined beyond the tolerance: as far as the first fit got, no second one need go."""
    rows, labels = make(m, seed=4)
    params: dict[str, Any] = {"loss": loss, "fit_intercept": intercept != "none", "max_iter": 20_000}
    model = LinearSVC(warm_start=True, intercept="free" if intercept == "none" else intercept, **params)
    certificate = model.fit(rows, labels).certificate_
    assert model.fit(rows, labels).n_iter_ == 0
    assert model.certificate_ == certificate


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_warm_start_saves_epochs_after_a_small_change_of_C(intercept, loss) -> None:
    params: dict[str, Any] = {"tol": 1e-5, "intercept": intercept, "loss": loss}
    model = LinearSVC(warm_start=True, C=1.0, **params).fit(X, y)
    warm = model.set_params(C=1.02).fit(X, y).n_iter_
    cold = LinearSVC(C=1.02, **params).fit(X, y).n_iter_
    assert warm <= 0.7 * cold, f"{warm} passes from C=1, {cold} from nothing"
    assert model.certificate_.relative_gap <= 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
def test_warm_start_on_permuted_rows_is_still_certified(solver) -> None:
    params: dict[str, Any] = {"solver": SOLVERS[solver], "tol": 0.2, "C": 0.01, "fit_intercept": False}
    model = LinearSVC(warm_start=True, store_dual=True, **params).fit(X, y)
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


def test_warm_start_with_other_solver_options_starts_afresh_and_says_so() -> None:
    model = LinearSVC(warm_start=True, solver=Pegasos(), tol=0.5, C=0.01).fit(X, y)
    model.set_params(solver=Pegasos(output="average"))
    with pytest.warns(UserWarning, match="starting afresh"):
        model.fit(X, y)
    assert model.status_ == "converged"
    fresh = LinearSVC(solver=Pegasos(output="average"), tol=0.5, C=0.01).fit(X, y)
    assert np.array_equal(model.coef_, fresh.coef_)


def test_warm_start_works_for_every_class() -> None:
    rows, labels = make(5000, classes=3)
    model = LinearSVC(warm_start=True, tol=1e-4).fit(rows, labels)
    coef = model.coef_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit(rows, labels).n_iter_ == 0
    assert np.array_equal(model.coef_, coef)


def test_without_warm_start_a_second_fit_is_the_first() -> None:
    model = LinearSVC().fit(X, y)
    coef, passes = model.coef_, model.n_iter_
    model.fit(X, y)
    assert np.array_equal(model.coef_, coef)
    assert model.n_iter_ == passes
