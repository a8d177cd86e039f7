"""Rows for the tests of the training loop, and runs that end early."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from registry import SOLVERS
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import Point, Problem, Run, Traits, _core, solve
from hinge.solvers import Setup, State


def make(m: int, d: int = 10, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Noisy rows that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=m)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


X, y = make(5000)


@contextmanager
def unconverged() -> Iterator[None]:
    """For runs that are meant to end early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def solve_quietly(X: Any, y: Any, **options: Any) -> hinge.Solution:
    with unconverged():
        return solve(X, y, **options)


def start(solver: Any, problem: Problem, *key: int, **options: Any) -> Run:
    """A run without the loop around it."""
    setup = Setup(solver.traits.order, key, _core.Poll(_core.StopToken()), max_iter=1000, **options)
    return solver.start(problem, setup)


class Signalled:
    """A solver in native calls of many seconds; `signum` is sent to this process soon after the first one begins.

    Never after a call has ended: it would end the tests instead.
    """

    def __init__(
        self,
        signum: signal.Signals | None = None,
        delay: float = 0.3,
        length: int = 10**7,
        solver: Any = SOLVERS["pegasos"],
    ) -> None:
        self.signum, self.delay, self.length, self.solver = signum, delay, length, solver
        self.traits = Traits(solver.traits.losses, solver.traits.intercepts)
        self.sent = self.sent_cpu = float("nan")
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def start(self, problem: Problem, setup: Setup) -> Run:
        return _Long(self.solver.start(problem, setup), self)

    def arm(self) -> None:
        with self._lock:
            if self.signum is not None and self._timer is None:
                self._timer = threading.Timer(self.delay, self._send)
                self._timer.start()

    def disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _send(self) -> None:
        self.sent, self.sent_cpu = time.perf_counter(), time.process_time()
        os.kill(os.getpid(), self.signum)

    @property
    def waited(self) -> float:
        """Seconds since the signal."""
        return time.perf_counter() - self.sent

    @property
    def worked(self) -> float:
        """Seconds of this process since the signal: on a busy machine, less."""
        return time.process_time() - self.sent_cpu


class _Long(Run):
    """Epochs that are many epochs of another run."""

    def __init__(self, run: Run, owner: Signalled) -> None:
        self.run, self.owner = run, owner

    def advance(self, epochs: int) -> int:
        self.owner.arm()
        try:
            return self.run.advance(epochs * self.owner.length)
        finally:
            self.owner.disarm()

    def point(self) -> Point:
        return self.run.point()

    def save(self) -> State | None:
        return self.run.save()

    def restore(self, state: State, *, same_problem: bool) -> None:
        self.run.restore(state, same_problem=same_problem)


@contextmanager
def ctrl_c_after(delay: float) -> Iterator[None]:
    """SIGINT after `delay` seconds; never after the block has ended, where it would end the tests instead."""
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def assert_same_state(found: Any, expected: Any) -> None:
    assert found.keys() == expected.keys()
    for key in expected:
        assert np.array_equal(found[key], expected[key], equal_nan=True), f"state[{key!r}] differs"
