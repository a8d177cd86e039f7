"""Ctrl-C and other signals end a run soon, and the model so far is kept."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from loops import VARIANTS, Signalled, X, make, solve_quietly, unconverged, y

from hinge import LinearSVC, Progress, solve, verify

# Seconds: a run that misses its signal fails soon, not in an hour.
SAFETY_NET = 6.0


class OutOfTime(Exception):
    pass


@contextmanager
def handler(signum: signal.Signals, function: Callable[..., Any]) -> Iterator[None]:
    before = signal.signal(signum, function)
    try:
        yield
    finally:
        signal.signal(signum, before)


def raise_out_of_time(*_: Any) -> None:
    raise OutOfTime


def test_interrupt_is_noticed_inside_a_long_epoch() -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((6_000_000, 6), dtype=np.float32) - np.float32(0.5)
    labels = (rows[:, 0] + 0.3 * rows[:, 1] > 0.1).astype(np.int8)
    solver = Signalled(signal.SIGINT, delay=0.2, length=1)
    solution = solve(rows, labels, solver=solver, intercept="none")
    waited = solver.waited
    assert solution.status == "interrupted"
    assert solution.n_iter == 0, "the interrupt was only noticed after the epoch"
    assert waited < 1.5, f"solve returned {waited:.1f} s after Ctrl-C"


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_solve_returns_a_certified_model_after_an_interrupt(intercept) -> None:
    solver = Signalled(signal.SIGINT)
    solution = solve(X, y, solver=solver, intercept=intercept, C=0.1)
    assert solver.waited < 1.5, f"solve returned {solver.waited:.1f} s after Ctrl-C"
    assert solution.status == "interrupted"
    assert solution.state is None
    checked = verify(solution, X, y)
    assert solution.certificate.dual <= checked.dual * (1 + 1e-9), "the dual of the interrupted model is false"
    assert solution.certificate.primal >= checked.primal * (1 - 1e-9), "the primal of the interrupted model is false"
    best = solve(X, y, intercept=intercept, C=0.1).certificate
    assert solution.certificate.dual <= best.primal
    assert solution.certificate.primal >= best.dual
    assert solution.certificate.relative_gap < 0.5, "the work done until Ctrl-C was thrown away"


@pytest.mark.parametrize("name", ["norma", "zhang", "svmsgd", "svmsgd single", "sgd-qn", "sgd-qn single"])
def test_every_descent_notices_an_interrupt_inside_an_epoch(name) -> None:
    solver = Signalled(signal.SIGINT, delay=0.1, solver=VARIANTS[name])
    solution = solve(X, y, solver=solver, intercept="none", C=0.1)
    assert solver.waited < 1.0, f"solve returned {solver.waited:.1f} s after Ctrl-C"
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
    assert solver.waited < 1.5, f"fit returned {solver.waited:.1f} s after Ctrl-C"
    assert model.status_ == "interrupted"
    assert model.coef_.shape == (1 if classes == 2 else classes, 10)
    assert np.isfinite(model.decision_function(rows)).all()
    assert set(model.predict(rows)) <= set(range(classes))
    verify(model, rows, labels)


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
    assert solver.waited < 1.5, f"fit returned {solver.waited:.1f} s after the alarm"
    assert np.isfinite(model.decision_function(rows)).all(), "the model so far was not stored"


def test_solve_raises_what_a_signal_handler_raised() -> None:
    solver = Signalled(signal.SIGALRM)
    with handler(signal.SIGALRM, raise_out_of_time), unconverged(), pytest.raises(OutOfTime):
        solve(X, y, solver=solver, time_limit=SAFETY_NET)
    assert solver.waited < 1.5


def test_signal_handler_that_returns_does_not_end_the_run() -> None:
    seen = []
    with handler(signal.SIGALRM, lambda *_: seen.append(1)):
        solution = solve_quietly(X, y, solver=Signalled(signal.SIGALRM, delay=0.2), time_limit=0.8)
    assert seen == [1]
    assert solution.status == "time_limit"


def test_a_new_fit_after_an_interrupt_is_not_affected() -> None:
    model = LinearSVC(solver=Signalled(signal.SIGINT), warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model.set_params(solver="dcd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # starts afresh, and says so
        model.fit(X, y)
    assert model.status_ == "converged"
    assert np.array_equal(model.coef_, LinearSVC().fit(X, y).coef_)


def test_interrupt_from_a_callback_is_an_interrupt() -> None:
    def callback(_: Progress) -> None:
        raise KeyboardInterrupt

    assert solve(X, y, callback=callback).status == "interrupted"
