"""Signals while a model is trained: handlers run at once, what they raise is raised when nothing can be lost.

Signals are raised inside callbacks and solvers here, at known places. How soon one is noticed is in `test_interrupts`.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from loops import X, make, solve_quietly, y
from registry import SOLVERS, with_losses

from hinge import LinearSVC, Point, Problem, Record, Run, Traits, _core, solve, verify
from hinge.certificate import LocalEvaluator
from hinge.problem import LOSSES, Intercept, as_rows
from hinge.solvers import Setup
from hinge.training import Options, train
from hinge.training.signals import Signals


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


def hinge_problem() -> Problem:
    return Problem.make(as_rows(X), 2.0 * y - 1.0, np.ones(len(y)), loss=LOSSES["hinge"], intercept=Intercept("none"))


class Interrupting:
    """`signum` arrives just before the native call number `at` of another solver."""

    def __init__(self, signum: signal.Signals = signal.SIGINT, at: int = 3, solver: Any = SOLVERS["sgd-s"]) -> None:
        self.signum, self.at, self.solver, self.traits = signum, at, solver, solver.traits
        self.calls = 0

    def start(self, problem: Problem, setup: Setup) -> Run:
        run = self.solver.start(problem, setup)
        advance = run.advance

        def interrupted(epochs: int) -> int:
            self.calls += 1
            if self.calls == self.at:
                signal.raise_signal(self.signum)
            return advance(epochs)

        run.advance = interrupted
        return run


# The block itself


def test_handlers_are_restored() -> None:
    mine = lambda *_: None  # noqa: E731
    with handler(signal.SIGALRM, mine):
        before = {number: signal.getsignal(number) for number in signal.valid_signals()}
        with Signals():
            assert signal.getsignal(signal.SIGALRM) is not mine
            assert signal.getsignal(signal.SIGINT) is not before[signal.SIGINT]
            assert signal.getsignal(signal.SIGTERM) == before[signal.SIGTERM] == signal.SIG_DFL, (
                "no handler, no business"
            )
        assert {number: signal.getsignal(number) for number in signal.valid_signals()} == before
        with pytest.raises(ZeroDivisionError), Signals():
            raise ZeroDivisionError
        assert {number: signal.getsignal(number) for number in signal.valid_signals()} == before


def test_handler_that_was_set_meanwhile_stays() -> None:
    mine = lambda *_: None  # noqa: E731
    with handler(signal.SIGALRM, raise_out_of_time):
        with Signals():
            signal.signal(signal.SIGALRM, mine)
        assert signal.getsignal(signal.SIGALRM) is mine


def test_handler_runs_at_once_and_its_exception_is_kept() -> None:
    seen = []

    def mine(number: int, frame: Any) -> None:
        seen.append(number)
        raise OutOfTime

    with handler(signal.SIGALRM, mine), Signals() as signals:
        signal.raise_signal(signal.SIGALRM)
        assert seen == [signal.SIGALRM]
        assert isinstance(signals.error, OutOfTime)
        assert signals.token.stop_requested
        signal.raise_signal(signal.SIGINT)
        assert isinstance(signals.error, OutOfTime), "the first one counts"


def test_handler_that_returns_stops_nothing() -> None:
    seen = []
    with handler(signal.SIGALRM, lambda *_: seen.append(1)), Signals() as signals:
        signal.raise_signal(signal.SIGALRM)
        assert seen == [1]
        assert signals.error is None
        assert not signals.token.stop_requested


def test_nested_blocks_all_stop() -> None:
    """A fit inside a callback of a fit: the inner one must not go on to its end, nor swallow what is meant for both."""
    with Signals() as outer:
        with Signals() as inner:
            signal.raise_signal(signal.SIGINT)
            assert isinstance(inner.error, KeyboardInterrupt)
            assert inner.token.stop_requested
        assert isinstance(outer.error, KeyboardInterrupt)
        assert outer.token.stop_requested
    with Signals() as outer:
        with Signals():
            pass
        assert outer.error is None
        signal.raise_signal(signal.SIGINT)
        assert isinstance(outer.error, KeyboardInterrupt)


def test_interrupt_of_a_fit_inside_a_callback_ends_both() -> None:
    inner = LinearSVC(solver=Interrupting(at=3), intercept="penalized", tol=1e-9)
    seen: list[BaseException] = []

    def callback(_: Record) -> None:
        try:
            inner.fit(X, y)
        except KeyboardInterrupt as interrupt:
            seen.append(interrupt)

    solution = solve(X, y, solver="sgd-s", intercept="none", tol=1e-9, callback=callback)
    assert len(seen) == 1
    assert inner.status_ == "interrupted"
    assert (solution.status, solution.n_iter) == ("interrupted", 1)


@pytest.mark.parametrize("call", ["getsignal", "signal"])
def test_ctrl_c_at_the_end_of_a_block_is_not_lost_and_leaves_no_handler_behind(call, monkeypatch) -> None:
    """Before the handler of Ctrl-C is restored (getsignal), and just after it (signal)."""
    with handler(signal.SIGALRM, lambda *_: None):
        before = {number: signal.getsignal(number) for number in signal.valid_signals()}
        own, calls = getattr(signal, call), []

        def interrupted(*arguments: Any) -> Any:
            result = own(*arguments)
            if not calls:
                calls.append(arguments)
                signal.raise_signal(signal.SIGINT)
            return result

        block = Signals()
        with monkeypatch.context() as patched:
            block.__enter__()
            patched.setattr(signal, call, interrupted)
            try:
                block.__exit__(None, None, None)
                kept = block.error
            except KeyboardInterrupt as raised:
                kept = raised
        assert calls and isinstance(kept, KeyboardInterrupt)
        assert {number: signal.getsignal(number) for number in signal.valid_signals()} == before
        with Signals() as signals:
            signal.raise_signal(signal.SIGALRM)
        assert signals.error is None, "no block is open any more"


def test_other_threads_leave_handlers_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with Signals() as signals:
            seen.append((signal.getsignal(signal.SIGINT), signals.token.stop_requested))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(before, False)]


# solve and fit


@pytest.mark.parametrize(("solver", "loss"), with_losses())
def test_interrupted_solve_returns_the_model_so_far(solver, loss) -> None:
    for at in (1, 4):
        interrupting = Interrupting(at=at, solver=SOLVERS[solver])
        options: dict[str, Any] = {"loss": loss, "intercept": "none", "C": 0.01, "tol": 1e-9}
        solution = solve(X, y, solver=interrupting, **options)
        assert solution.status == "interrupted"
        assert interrupting.calls == at, "the run went on"
        assert solution.state is not None
        if not (at == 1 and SOLVERS[solver].traits.rebuilds):
            assert solution.history, "what was trained was not evaluated"
        assert solution.certificate.primal >= verify(solution, X, y).primal * (1 - 1e-9)
        assert 0 <= solution.certificate.dual <= solution.certificate.primal


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("classes", [2, 3])
def test_interrupted_fit_stores_the_model_and_raises(classes, n_jobs) -> None:
    rows, labels = make(5000, classes=classes)
    model = LinearSVC(solver=Interrupting(), n_jobs=n_jobs, intercept="penalized", tol=1e-9, store_dual=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    assert model.status_ == "interrupted"
    assert model.coef_.shape == (1 if classes == 2 else classes, 10)
    assert np.isfinite(model.decision_function(rows)).all()
    verify(model, rows, labels)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("train", [solve, lambda X, y, **options: LinearSVC(**options).fit(X, y)], ids=["solve", "fit"])
def test_exception_of_another_handler_ends_the_run_and_propagates(train) -> None:
    solver = Interrupting(signal.SIGALRM)
    with handler(signal.SIGALRM, raise_out_of_time), pytest.raises(OutOfTime):
        train(X, y, solver=solver, intercept="penalized", tol=1e-9)
    assert solver.calls == 3


def test_exit_from_a_handler_is_obeyed_and_the_model_kept() -> None:
    def leave(*_: Any) -> None:
        raise SystemExit(3)

    model = LinearSVC(solver=Interrupting(signal.SIGTERM), intercept="penalized", tol=1e-9)
    with handler(signal.SIGTERM, leave), pytest.raises(SystemExit) as caught:
        model.fit(X, y)
    assert caught.value.code == 3
    assert model.coef_.any()


def test_interrupt_in_the_warning_after_training_keeps_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupting(*_: Any, **__: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(warnings, "warn", interrupting)
    solution = solve(X, y, tol=1e-12, max_iter=3)
    assert solution.status == "interrupted"
    assert solution.coef.any()
    model = LinearSVC(tol=1e-12, max_iter=3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted"
    assert np.array_equal(model.coef_[0], solution.coef), "the trained model was lost"


def test_interrupt_in_the_final_evaluation_keeps_the_trained_point() -> None:
    """After max_iter there is one evaluation left: it used to swallow the interrupt and return w = 0."""
    problem = hinge_problem()

    class Late(LocalEvaluator):
        def both(self, w: Any, multipliers: Any, poll: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            return None  # as when the poll was told to stop

    with Signals() as signals:
        outcome = train(problem, SOLVERS["sgd-s"], Options(max_iter=1, token=signals.token), Late(problem))
    assert isinstance(signals.error, KeyboardInterrupt)
    assert outcome.status == "interrupted"
    assert outcome.model.w.any(), "all zeros"
    exact = LocalEvaluator(problem).upper(outcome.model.w, _core.Poll(_core.StopToken()))
    assert exact is not None and outcome.certificate.primal >= exact.value


def test_interrupt_from_a_callback_is_an_interrupt() -> None:
    def callback(_: Record) -> None:
        raise KeyboardInterrupt

    assert solve(X, y, callback=callback).status == "interrupted"


def test_interrupt_from_a_solver_is_an_interrupt() -> None:
    class Mine(Run):
        def __init__(self, problem: Problem) -> None:
            self.m, self.calls = problem.m, 0

        def advance(self, epochs: int) -> int:
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt
            return epochs * self.m

        def point(self) -> Point:
            return Point(np.full(self.m, 1e-4))

    class Solver:
        traits = Traits()

        def start(self, problem: Problem, setup: Setup) -> Run:
            return Mine(problem)

    solution = solve(X, y, solver=Solver(), intercept="none")
    assert solution.status == "interrupted"
    assert solution.certificate.dual > 0
    model = LinearSVC(solver=Solver(), fit_intercept=False)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted"


def test_token_that_was_stopped_before_stops_at_once() -> None:
    token = _core.StopToken()
    token.stop()
    outcome = train(hinge_problem(), SOLVERS["dcd"], Options(token=token))
    assert (outcome.status, outcome.n_iter) == ("interrupted", 0)
    assert 0 <= outcome.certificate.dual <= outcome.certificate.primal


# Going on


@pytest.mark.parametrize("solver", SOLVERS)
def test_interrupted_run_goes_on_from_its_state(solver) -> None:
    options: dict[str, Any] = {"intercept": "none", "C": 0.01, "tol": 0.3}
    cut = solve(X, y, solver=Interrupting(at=2, solver=SOLVERS[solver]), **options | {"tol": 1e-9})
    found = solve_quietly(X, y, solver=SOLVERS[solver], state=cut.state, **options)
    assert found.status == "converged"
    fresh = solve_quietly(X, y, solver=SOLVERS[solver], **options)
    assert found.n_iter <= fresh.n_iter + 10, f"{found.n_iter} passes from the interrupted state, {fresh.n_iter} afresh"


@pytest.mark.parametrize("classes", [2, 3])
def test_warm_start_after_an_interrupt_goes_on_without_a_warning(classes) -> None:
    rows, labels = make(5000, classes=classes)
    solver = Interrupting(at=8, solver=SOLVERS["dcd"])
    model = LinearSVC(solver=solver, warm_start=True, tol=1e-3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(rows, labels)
    assert model.status_ == "converged"
    fresh = LinearSVC(solver="dcd", tol=1e-3).fit(rows, labels)
    assert model.n_iter_ <= fresh.n_iter_, "the work before the interrupt was thrown away"


def test_new_fit_after_an_interrupt_is_not_affected() -> None:
    model = LinearSVC(solver=Interrupting(), intercept="penalized", warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model.set_params(solver="dcd", intercept="free")
    with pytest.warns(UserWarning, match="starting afresh"):
        model.fit(X, y)
    assert model.status_ == "converged"
    assert np.array_equal(model.coef_, LinearSVC(solver="dcd").fit(X, y).coef_)
