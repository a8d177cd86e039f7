"""Problems and solvers for the tests of the training loop, and runs that end early."""

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
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import (
    DCD,
    MPU,
    OCAS,
    SGDQN,
    CuttingPlane,
    Norma,
    Online,
    Pegasos,
    Problem,
    SGDm,
    SGDr,
    SGDs,
    SvmSGD,
    Zhang,
    solve,
)

SOLVERS = {
    "cutting-plane": CuttingPlane(),
    "dcd": DCD(),
    "mpu": MPU(),
    "norma": Norma(horizon=100_000),  # given: it would follow from max_iter
    "ocas": OCAS(),
    "online": Online(),
    "pegasos": Pegasos(),
    "sgd-m": SGDm(),
    "sgd-qn": SGDQN(),
    "sgd-r": SGDr(),
    "sgd-s": SGDs(),
    "svmsgd": SvmSGD(),
    "zhang": Zhang(),
}
VARIANTS = {
    **SOLVERS,
    "dcd without shrinking": DCD(shrinking=False),
    "dcd without polish": DCD(polish=False),
    "mpu with delta": MPU(delta=0.1),
    "ocas that forgets": OCAS(keep_unused=2, mu=0.5),
    "online in batches": Online(batch=16),
    "online average": Online(batch=7, output="average", projection=False),
    "pegasos k": Pegasos(k=7, sampling="epoch"),
    "pegasos average": Pegasos(output="average", start_at="random"),
    "pegasos random": Pegasos(output="random", projection=False),
    "pegasos lazy": Pegasos(advance_without_loss=False),
    "norma average": Norma(output="average", projection=True, horizon=100_000),
    "zhang epoch": Zhang(output="average", sampling="epoch", eta=0.1),
    "svmsgd single": SvmSGD(precision="single"),
    "svmsgd average": SvmSGD(output="average", sample_size=100),
    "sgd-qn single": SGDQN(precision="single"),
}


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


class Signalled:
    """A solver in native calls of many seconds; `signum` is sent to this process soon after the first one begins."""

    def __init__(
        self,
        signum: signal.Signals | None = None,
        delay: float = 0.3,
        length: int = 10_000,
        solver: Any = SOLVERS["pegasos"],
    ) -> None:
        self.signum, self.delay, self.length = signum, delay, length
        self.solver, self.intercepts, self.default_order = solver, solver.intercepts, None
        self.sent = float("nan")
        self._lock = threading.Lock()
        self._armed = False

    def start(self, problem: Problem, *, order: Any, stream: Any, poll: Any) -> Any:
        with self._lock:
            if self.signum is not None and not self._armed:
                self._armed = True
                threading.Timer(self.delay, self._send).start()
        run, length = self.solver.start(problem, order=None, stream=stream, poll=poll), self.length

        class Run:
            point = run.point

            def advance(self, epochs: int) -> int:
                return run.advance(epochs * length)

        return Run()

    def _send(self) -> None:
        self.sent = time.perf_counter()
        os.kill(os.getpid(), self.signum)

    @property
    def waited(self) -> float:
        return time.perf_counter() - self.sent


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
