"""hinge.path: a certified model for each C, each run starting from the one before."""

from __future__ import annotations

import signal
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import X, unconverged, y
from registry import SOLVERS, with_all
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import BestOf, Pegasos, path, solve, verify
from hinge.problem import Intercept, Problem, as_loss, as_rows
from hinge.solvers import Setup
from hinge.training import Options, train

CS = np.logspace(-3, -0.5, 6)
FEW = X[:600], y[:600]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
def test_path_is_the_single_fits_within_the_tolerance(loss, intercept) -> None:
    options: dict[str, Any] = {"loss": loss, "intercept": intercept, "tol": 1e-4}
    found = path(X, y, CS, **options)
    assert np.array_equal(found.Cs, CS)
    for k, C in enumerate(CS):
        alone = solve(X, y, C=C, **options)
        assert found.solutions[k].status == "converged"
        assert found.certificates[k].relative_gap <= 1e-4
        assert found.certificates[k].dual <= alone.certificate.primal, f"C={C}: the certificates contradict each other"
        assert alone.certificate.dual <= found.certificates[k].primal, f"C={C}: the certificates contradict each other"
        assert np.abs(found.coefs[k] - alone.coef).max() < 0.05 * np.abs(alone.coef).max(), f"C={C}: another model"


@pytest.mark.parametrize(("solver", "loss", "intercept"), with_all())
def test_every_solver_has_true_certificates_along_a_path(solver, loss, intercept) -> None:
    weight = np.random.default_rng(0).integers(0, 3, size=600) / 2
    options: dict[str, Any] = {"solver": SOLVERS[solver], "loss": loss, "intercept": intercept, "max_iter": 20}
    with unconverged():
        found = path(*FEW, [0.3, 0.003, 0.03], sample_weight=weight, **options)
    checked = verify(found, *FEW, weight)
    assert isinstance(checked, tuple)
    assert len(checked) == len(found) == 3
    for certificate, seen in zip(found.certificates, checked, strict=True):
        assert certificate.primal == pytest.approx(seen.primal, rel=1e-9)
        assert certificate.dual <= seen.dual * (1 + 1e-9)


def test_values_of_C_come_in_ascending_order_and_once() -> None:
    assert np.array_equal(path(*FEW, [1.0, 0.01, 0.1, 1.0]).Cs, [0.01, 0.1, 1.0])
    assert np.allclose(path(*FEW, 3, max_iter=5000, tol=0.1).Cs, [1e-4, 1.0, 1e4])


@pytest.mark.parametrize("Cs", [[], 0, -1, [1.0, 0.0], [1.0, np.inf], [np.nan], [[1.0]], "many", None, ["1"], True])
def test_senseless_values_of_C_are_refused(Cs) -> None:
    with pytest.raises(ValueError, match="Cs"):
        path(*FEW, Cs)


@pytest.mark.parametrize("solver", ["dcd", "ocas"])
def test_warm_start_saves_passes(solver) -> None:
    Cs = np.logspace(-2, 0, 12)
    options: dict[str, Any] = {"solver": solver, "intercept": "penalized"}
    warm = sum(solution.n_iter for solution in path(X, y, Cs, **options).solutions)
    cold = sum(solve(X, y, C=C, **options).n_iter for C in Cs)
    assert warm < 0.5 * cold, f"{warm} passes with the warm start, {cold} without"


def test_multipliers_at_the_old_bound_start_at_the_new_one() -> None:
    problem = Problem.make(
        as_rows(X), np.where(y == 1, 1.0, -1.0), np.full(len(y), 0.1), loss=as_loss("hinge"), intercept=Intercept()
    )
    first = train(problem, SOLVERS["dcd"], Options())
    dearer = problem.with_cost(np.full(len(y), 0.3))
    setup = Setup(None, (0,), hinge._core.Poll(hinge._core.StopToken()), 10)
    run = SOLVERS["dcd"].start(dearer, setup)
    before = SOLVERS["dcd"].start(problem, setup)
    assert first.state is not None
    state = {key: value for key, value in first.state.items() if not key.startswith("loop_")}
    before.restore(state, same_problem=True)
    run.restore(state, same_problem=False)
    old, new = before.point().multipliers, run.point().multipliers
    assert np.count_nonzero(old == 0.1) > 100, "the test wants multipliers at their bound"
    assert np.array_equal(new == 0.3, old == 0.1)
    np.testing.assert_allclose(new, 3 * old, rtol=1e-9)


def test_state_on_other_costs_is_a_better_start_than_none() -> None:
    state = solve(X, y, C=0.1, tol=1e-4).state
    assert solve(X, y, C=0.2, tol=1e-4, state=state).n_iter < solve(X, y, C=0.2, tol=1e-4).n_iter


@pytest.mark.parametrize("solver", [BestOf(Pegasos(), runs=2), "pegasos", "sgd-s", "svmsgd"])
def test_solver_whose_states_do_not_transfer_starts_cold(solver) -> None:
    options: dict[str, Any] = {"solver": solver, "tol": 0.1, "max_iter": 20, "intercept": "none"}
    with unconverged():
        found = path(*FEW, [0.01, 0.1], **options)
        alone = [solve(*FEW, C=C, **options) for C in (0.01, 0.1)]
    assert [solution.certificate for solution in alone] == list(found.certificates)


def test_same_seed_gives_the_same_bits_for_any_number_of_threads() -> None:
    first, second = path(X, y, CS), path(X, y, CS, n_jobs=2)
    assert np.array_equal(first.coefs, second.coefs)
    assert first.certificates == second.certificates


def test_path_shows_a_table() -> None:
    lines = repr(path(*FEW, [0.01, 0.1])).splitlines()
    assert len(lines) == 3
    assert "relative gap" in lines[0]
    assert lines[1].split()[0] == "0.01"
    assert lines[1].split()[-1] == "converged"


def test_time_limit_is_of_all_values_together() -> None:
    with pytest.warns(ConvergenceWarning):
        found = path(X, y, np.logspace(-3, 3, 2000), tol=1e-12, max_iter=10**6, time_limit=0.3)
    assert 1 <= len(found) < 2000
    assert found.solutions[-1].status == "time_limit"
    assert all(0 <= certificate.dual <= certificate.primal for certificate in found.certificates)


def test_callback_ends_the_path_without_a_warning() -> None:
    calls: list[int] = []

    def second(record: hinge.Record) -> bool:
        calls.append(record.epoch)
        return len(calls) == 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = path(X, y, CS, tol=1e-9, callback=second)
    assert len(calls) == 2
    assert found.solutions[-1].status == "callback"


def test_interrupt_returns_what_there_is() -> None:
    def interrupted(record: hinge.Record) -> None:
        if record.epoch == 2:
            signal.raise_signal(signal.SIGINT)

    found = path(X, y, CS, tol=1e-9, callback=interrupted)
    assert found.solutions[-1].status == "interrupted"
    assert found.coefs[-1].any()


def test_only_the_last_solution_keeps_its_state() -> None:
    solutions = path(*FEW, [0.01, 0.1]).solutions
    assert [solution.state is None for solution in solutions] == [True, False]


def test_three_classes_are_refused_with_the_estimator_to_use() -> None:
    with pytest.raises(ValueError, match="LinearSVCCV"):
        path(X, np.arange(len(y)) % 3, CS)


def test_sparse_rows_give_the_model_of_dense_ones() -> None:
    dense, sparse = path(*FEW, CS), path(sp.csr_matrix(FEW[0]), FEW[1], CS)
    np.testing.assert_allclose(dense.coefs, sparse.coefs, atol=1e-6)
