"""Ctrl-C and other signals end a run soon, wherever it is, and the model so far is kept."""

from __future__ import annotations

import signal
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from loops import Signalled, X, ctrl_c_after, make, solve_quietly, unconverged, y
from registry import SOLVERS, with_losses
from streams import CANCER, IS_BENIGN, same
from test_signals import OutOfTime, handler, raise_out_of_time

from hinge import LinearSVC, OnlineSVC, solve, verify

pytestmark = pytest.mark.timing

# Seconds: a run that misses its signal fails soon, not in an hour.
SAFETY_NET = 6.0
# From the signal to the return, on a machine that does other things too.
SOON = 1.5


def test_interrupt_is_noticed_inside_a_long_epoch() -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((6_000_000, 6), dtype=np.float32) - np.float32(0.5)
    labels = (rows[:, 0] + 0.3 * rows[:, 1] > 0.1).astype(np.int8)
    solver = Signalled(signal.SIGINT, delay=0.2, length=1)
    solution = solve(rows, labels, solver=solver, intercept="none")
    worked = solver.worked
    assert solution.status == "interrupted"
    assert solution.n_iter == 0, "the interrupt was only noticed after the epoch"
    assert solution.coef.any(), "what was trained was thrown away"
    assert worked < SOON, f"solve worked for {worked:.1f} s after Ctrl-C"


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_solve_returns_a_certified_model_after_an_interrupt(intercept) -> None:
    solver = Signalled(signal.SIGINT)
    solution = solve(X, y, solver=solver, intercept=intercept, C=0.1)
    assert solver.waited < SOON, f"solve returned {solver.waited:.1f} s after Ctrl-C"
    assert solution.status == "interrupted"
    checked = verify(solution, X, y)
    assert solution.certificate.dual <= checked.dual * (1 + 1e-9), "the dual of the interrupted model is false"
    assert solution.certificate.primal >= checked.primal * (1 - 1e-9), "the primal of the interrupted model is false"
    best = solve(X, y, intercept=intercept, C=0.1).certificate
    assert solution.certificate.dual <= best.primal
    assert solution.certificate.primal >= best.dual
    assert solution.certificate.relative_gap < 0.5, "the work done until Ctrl-C was thrown away"
    assert solution.state is not None
    resumed = solve_quietly(X, y, solver=SOLVERS["pegasos"], intercept=intercept, C=0.1, state=solution.state, tol=0.5)
    assert (resumed.status, resumed.n_iter) == ("converged", 0), "a warm start from the interrupted run"


@pytest.mark.parametrize(("solver", "loss"), with_losses())
def test_every_solver_notices_an_interrupt_inside_an_epoch(solver, loss) -> None:
    signalled = Signalled(signal.SIGINT, delay=0.1, solver=SOLVERS[solver])
    solution = solve(X, y, solver=signalled, loss=loss, intercept="none", C=0.1, tol=1e-16)
    assert signalled.waited < SOON, f"solve returned {signalled.waited:.1f} s after Ctrl-C"
    assert (solution.status, solution.n_iter) == ("interrupted", 0)
    checked = verify(solution, X, y)
    assert 0.0 < solution.certificate.dual <= checked.dual * (1 + 1e-9)
    assert solution.certificate.primal >= checked.primal * (1 - 1e-9)


@pytest.mark.parametrize(("classes", "n_jobs"), [(2, None), (3, None), (3, 2), (4, 2), (3, -1)])
def test_fit_stores_the_model_and_raises_again(classes, n_jobs) -> None:
    rows, labels = make(5000, classes=classes)
    solver = Signalled(signal.SIGINT)
    model = LinearSVC(solver=solver, n_jobs=n_jobs, store_dual=True, time_limit=SAFETY_NET)
    with unconverged(), pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    assert solver.waited < SOON, f"fit returned {solver.waited:.1f} s after Ctrl-C"
    assert model.status_ == "interrupted"
    assert model.coef_.shape == (1 if classes == 2 else classes, 10)
    assert np.isfinite(model.decision_function(rows)).all()
    assert set(model.predict(rows)) <= set(range(classes))
    verify(model, rows, labels)


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.005, 0.01])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_early_interrupt_is_obeyed_and_leaves_no_thread(n_jobs, delay) -> None:
    """While threads are being started, too. Before training begins there is no model to keep."""
    rows, labels = make(5000, classes=4)
    model = LinearSVC(solver=Signalled(), n_jobs=n_jobs, time_limit=SAFETY_NET)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt), ctrl_c_after(delay):
        model.fit(rows, labels)
    assert threading.active_count() <= before + 1, "a worker is still running"  # the timer's own may be
    if hasattr(model, "coef_"):
        assert model.status_ == "interrupted"
        assert model.coef_.shape == (4, 10)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_interrupt_is_noticed_where_signals_do_not_end_system_calls(n_jobs) -> None:
    # Some libraries (polars) set SA_RESTART for SIGINT: a blocking wait in Python then sleeps through Ctrl-C.
    signal.siginterrupt(signal.SIGINT, False)
    try:
        test_fit_stores_the_model_and_raises_again(3, n_jobs)
    finally:
        signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.parametrize(("classes", "n_jobs"), [(2, None), (3, None), (3, 2)])
def test_exception_of_another_signal_handler_ends_the_run_and_propagates(classes, n_jobs) -> None:
    rows, labels = make(5000, classes=classes)
    solver = Signalled(signal.SIGALRM)
    model = LinearSVC(solver=solver, n_jobs=n_jobs, time_limit=SAFETY_NET)
    with handler(signal.SIGALRM, raise_out_of_time), unconverged(), pytest.raises(OutOfTime):
        model.fit(rows, labels)
    assert solver.waited < SOON, f"fit returned {solver.waited:.1f} s after the alarm"
    assert np.isfinite(model.decision_function(rows)).all(), "the model so far was not stored"


def test_signal_handler_that_returns_does_not_end_the_run() -> None:
    seen = []
    with handler(signal.SIGALRM, lambda *_: seen.append(1)):
        solution = solve_quietly(X, y, solver=Signalled(signal.SIGALRM, delay=0.2), time_limit=0.8)
    assert seen == [1]
    assert solution.status == "time_limit"


def test_warm_start_goes_on_after_an_interrupt_inside_an_epoch() -> None:
    solver = Signalled(signal.SIGINT, solver=SOLVERS["dcd"])
    model = LinearSVC(solver=solver, C=0.1, warm_start=True, tol=1e-3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    assert (model.status_, model.n_iter_) == ("converged", 0), "the work of the interrupted fit was thrown away"


# Streams, certify, search


def test_interrupted_partial_fit_has_learned_from_whole_rows() -> None:
    """Every class has seen the same rows: those before the interrupt, and no others."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(150_000, 50)), random.integers(0, 400, 150_000)
    classes = np.arange(400)
    params: dict[str, Any] = {"alpha": 1e-4, "batch_size": 3, "average": False}
    model = OnlineSVC(**params).partial_fit(X[:1000], y[:1000], classes)
    with pytest.raises(KeyboardInterrupt), ctrl_c_after(0.2):
        model.partial_fit(X[1000:], y[1000:])
    seen = model.n_samples_seen_
    assert 1000 < seen < len(X), "the test wants an interrupt on the way"
    expected = OnlineSVC(**params).partial_fit(X[:seen], y[:seen], classes)
    assert same(model, expected)
    more = X[seen : seen + 50], y[seen : seen + 50]
    assert same(model.partial_fit(*more), expected.partial_fit(*more))


def test_interrupted_fit_of_a_stream_keeps_what_it_has_learned() -> None:
    model = OnlineSVC(max_iter=10**6, shuffle=True)
    with pytest.raises(KeyboardInterrupt), ctrl_c_after(0.2):
        model.fit(CANCER, IS_BENIGN)
    assert model.n_samples_seen_ > len(CANCER)
    assert model.n_iter_ < 10**6
    assert model.score(CANCER, IS_BENIGN) > 0.9


def test_interrupt_ends_certify() -> None:
    X, y = make(200_000, d=30)
    with unconverged():  # huge rows against alpha
        model = OnlineSVC(alpha=1e-9, max_iter=3).fit(X, y)
    with pytest.raises(KeyboardInterrupt), ctrl_c_after(0.01):
        model.certify(X, y, max_iter=100_000)
