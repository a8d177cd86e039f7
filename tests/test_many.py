"""train_all: several problems at once have the models that each has alone, whatever the number of threads."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loops import make
from registry import SOLVERS, with_losses

from hinge import BestOf, Pegasos, Point, Problem, Run, Traits, _core
from hinge.certificate import Upper
from hinge.problem import Intercept, as_loss, as_rows
from hinge.solvers import Setup
from hinge.training import Options, Outcome, train, train_all
from hinge.training.report import Lines

M, N_CLASSES = 9000, 5  # evaluation has two parts of rows
X, labels = make(M, classes=N_CLASSES)


def problems(loss: str = "hinge", intercept: Any = "penalized") -> list[Problem]:
    """One class against the rest, on the same rows."""
    targets = [np.where(labels == k, 1.0, -1.0) for k in range(N_CLASSES)]
    cost = np.random.default_rng(1).uniform(0.001, 0.02, M)
    first = Problem.make(as_rows(X), targets[0], cost, loss=as_loss(loss), intercept=Intercept(intercept))
    return [first, *(first.with_target(target) for target in targets[1:])]


def assert_same(found: list[Outcome], expected: list[Outcome]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.certificate == other.certificate
        assert np.array_equal(one.model.w, other.model.w)
        assert one.model.b == other.model.b
        assert np.array_equal(one.bound.multipliers, other.bound.multipliers)
        assert (one.status, one.n_iter) == (other.status, other.n_iter)
        assert [record.epoch for record in one.history] == [record.epoch for record in other.history]


@pytest.mark.parametrize(("solver", "loss"), with_losses())
def test_number_of_threads_does_not_change_a_bit(solver, loss) -> None:
    options = Options(max_iter=6, tol=1e-6, key=(7,))
    alone = train_all(problems(loss), SOLVERS[solver], options)
    for n_jobs in (2, 4, 11):  # more than there are problems: the rest helps with evaluations
        assert_same(train_all(problems(loss), SOLVERS[solver], options, n_jobs=n_jobs), alone)


def test_each_problem_is_trained_as_it_is_alone() -> None:
    options = Options(max_iter=50, key=(3,))
    together = train_all(problems(), SOLVERS["dcd"], options, n_jobs=2)
    alone = [train(problem, SOLVERS["dcd"], Options(max_iter=50, key=(3, k))) for k, problem in enumerate(problems())]
    assert_same(together, alone)


def test_composites_are_trained_too() -> None:
    solver, options = BestOf(Pegasos(), runs=2), Options(max_iter=6, tol=1e-6)
    assert_same(train_all(problems(), solver, options, n_jobs=2), train_all(problems(), solver, options))


def test_rows_are_shared() -> None:
    first, *others = problems()
    assert all(other.rows is first.rows for other in others)
    assert all(np.shares_memory(other.cost, first.cost) for other in others)


def test_no_problem_is_no_work_and_one_problem_gets_all_threads() -> None:
    assert train_all([], SOLVERS["dcd"], Options(), n_jobs=4) == []
    seen: list[int] = []

    class Composite(BestOf):
        def train(self, problem: Problem, options: Any, train: Callable[..., Any]) -> Any:
            seen.append(options.n_threads)
            return super().train(problem, options, train)

    for n_problems, n_jobs in ((1, 4), (2, 5), (5, 2)):
        train_all(problems()[:n_problems], Composite(Pegasos(), runs=1), Options(max_iter=1), n_jobs=n_jobs)
    assert seen == [4, 2, 2, 1, 1, 1, 1, 1]


def test_titles_and_states_belong_to_their_problems(capsys: pytest.CaptureFixture[str]) -> None:
    options = Options(max_iter=4, tol=1e-9, report=Lines())
    labels = [f"label {k}" for k in range(N_CLASSES)]
    half = train_all(problems(), SOLVERS["dcd"], options, n_jobs=2, labels=labels)
    out = capsys.readouterr().out
    assert all(label in out for label in labels)
    quiet = Options(max_iter=4, tol=1e-9)
    rest = train_all(problems(), SOLVERS["dcd"], quiet, n_jobs=2, states=[outcome.state for outcome in half])
    whole = train_all(problems(), SOLVERS["dcd"], Options(max_iter=8, tol=1e-9))
    for one, other in zip(rest, whole, strict=True):
        assert one.certificate == other.certificate
        assert np.array_equal(one.model.w, other.model.w)


# Failures and requests to stop


class Waiting(Run):
    """Works until it is told to stop."""

    def __init__(self, problem: Problem, setup: Setup) -> None:
        self.run, self.poll = SOLVERS["pegasos"].start(problem, setup), setup.poll

    def advance(self, epochs: int) -> int:
        rows = self.run.advance(10**7)
        assert self.poll.stopped
        return rows

    def point(self) -> Point:
        return self.run.point()


class Failing:
    """Problem number `fails` raises; the others go on until they are told to stop."""

    traits = Traits(intercepts=("none", "penalized", "free"))

    def __init__(self, fails: int, error: BaseException) -> None:
        self.fails, self.error, self.started = fails, error, 0

    def start(self, problem: Problem, setup: Setup) -> Run:
        self.started += 1
        if setup.key[-1] == self.fails:
            raise self.error
        return Waiting(problem, setup)


@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), MemoryError("mine"), SystemExit("mine")])
def test_failing_problem_stops_the_others_and_is_raised(error) -> None:
    before = threading.active_count()
    solver = Failing(1, error)
    token = _core.StopToken()
    token.set_deadline(60.0)  # the others would work for hours
    with pytest.raises(type(error), match="mine"):
        train_all(problems(), solver, Options(token=token), n_jobs=2)
    assert not token.past_deadline, "the others were waited for"
    assert solver.started <= 3, "a problem was begun after another one had failed"
    assert threading.active_count() == before, "a thread is still running"


def test_failing_problem_ends_the_work_of_one_thread_at_once() -> None:
    solver = Failing(0, ZeroDivisionError("mine"))
    with pytest.raises(ZeroDivisionError):
        train_all(problems(), solver, Options())
    assert solver.started == 1


def test_interrupt_of_the_waiting_thread_stops_all_and_leaves_no_thread() -> None:
    """Without the block that `fit` puts around it: Ctrl-C is raised where the threads are waited for."""

    class Interrupting(Failing):
        def start(self, problem: Problem, setup: Setup) -> Run:
            signal.raise_signal(signal.SIGINT)
            return Waiting(problem, setup)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        train_all(problems(), Interrupting(0, ZeroDivisionError()), Options(), n_jobs=2)
    assert threading.active_count() == before


def test_ctrl_c_while_a_thread_begins_is_no_error_of_its_lock(monkeypatch) -> None:
    """What threading.Condition does when a second Ctrl-C finds it without its lock."""

    def start(self: threading.Thread) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("release unlocked lock")

    monkeypatch.setattr("hinge.training.many._START", 0.01)
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        train_all(problems(), SOLVERS["dcd"], Options(), n_jobs=2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_token_stops_all_and_every_problem_has_an_outcome(n_jobs) -> None:
    token = _core.StopToken()
    token.stop()
    outcomes = train_all(problems(), SOLVERS["dcd"], Options(token=token), n_jobs=n_jobs)
    assert [outcome.status for outcome in outcomes] == ["interrupted"] * N_CLASSES
    assert all(isinstance(outcome.model, Upper) for outcome in outcomes)
    assert all(0 <= outcome.certificate.dual <= outcome.certificate.primal for outcome in outcomes)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_unsupported_problem_is_refused(n_jobs) -> None:
    with pytest.raises(ValueError, match="does not support intercept='free'"):
        train_all(problems(intercept="free"), SOLVERS["sgd-s"], Options(), n_jobs=n_jobs)
