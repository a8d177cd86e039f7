"""One fit of one program: in a process of its own, on one thread, with a hard time limit.

Whatever goes wrong in there (an exception, a crash, no end, NaN, arrays of the wrong shape) becomes the `failure` of an
:class:`Attempt`; nothing is raised.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from common.problem import Floats, Problem

_STEP = 3  # tolerances per power of ten
_PATIENCE = 0.2  # seconds for a child that has sent its result to end


@dataclass(frozen=True)
class Fit:
    """What a program found.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
    a : ndarray of shape (n_samples,) or None
        Multipliers, if the program has them.
    epochs : float or None
        Passes over the rows, if the program tells.
    seconds : float or None
        Training time by the program's own clock; None lets the harness measure.
    exhausted : bool
        The program gave up before it reached what was asked for: a larger budget is pointless.
    """

    w: Floats
    a: Floats | None = None
    epochs: float | None = None
    seconds: float | None = None
    exhausted: bool = False


class Adapter(ABC):
    """A program that trains linear SVMs. Its numerics; benchopt is not needed."""

    #: What a budget is: a tolerance of the program's own kind, or a number of passes.
    knob: Literal["tol", "epochs"] = "tol"
    #: The loosest budget.
    first: float = 1.0

    def missing(self) -> str | None:
        """None if the program can be used, else why not and what to do."""
        return None

    def prepare(self, problem: Problem) -> Any:
        """Convert the problem to the program's own form. Not timed."""
        return problem

    def allowance(self, prepared: Any) -> float:
        """Seconds of `train` that are no training, such as reading files: the time limit is raised by them."""
        return 0.0

    @abstractmethod
    def train(self, prepared: Any, budget: float, seed: int, limit: float) -> Any:
        """Train from nothing, within about `limit` seconds if the program can be told. This is timed."""

    @abstractmethod
    def read(self, prepared: Any, trained: Any) -> Fit:
        """Take the result out. Not timed."""


@dataclass(frozen=True)
class Attempt:
    """A fit or the reason why there is none. `seconds` is CPU time, or the program's own; `wall` is the clock's."""

    fit: Fit | None
    failure: str | None = None
    seconds: float = math.nan
    wall: float = math.nan


def next_budget(adapter: Adapter, budget: float | None) -> float:
    """The budget after `budget`: a third of a power of ten tighter, or twice as many passes."""
    if budget is None:
        return adapter.first
    if adapter.knob == "epochs":
        return 2.0 * budget
    return float(10.0 ** (-(round(-_STEP * math.log10(budget)) + 1) / _STEP))


def attempt(adapter: Adapter, prepared: Any, problem: Problem, budget: float, seed: int, limit: float) -> Attempt:
    """Fit in a child process that is killed after `limit` seconds (and the allowance), with all that it started.

    The child is forked: it sees the prepared data without a copy. It trains on a few rows first, so that lazy imports
    and the like are over; then the clock runs, around `train` only.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(sender, adapter, prepared, problem, budget, seed, limit), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside idle BLAS threads
        child.start()
    sender.close()
    try:
        ended = receiver.poll(limit + adapter.allowance(prepared))
        result = receiver.recv() if ended else Attempt(None, f"no result within {limit:g} s")
    except EOFError:
        child.join()
        result = Attempt(None, f"crashed: {_ending(child.exitcode)}")
    finally:
        receiver.close()
        _end(child)
    return checked(result, problem)


def checked(result: Attempt, problem: Problem) -> Attempt:
    """`result`, or a failure if its arrays cannot be what they claim to be."""
    if result.fit is None:
        return result
    m, d = problem.X.shape
    w, a = result.fit.w, result.fit.a
    fault = _fault("weights", w, d)
    if a is not None:
        fault = fault or _fault("multipliers", a, m)
        if not fault and not np.all((a >= 0.0) & (a <= problem.C)):
            fault = f"returned multipliers outside [0, {problem.C:g}]"
    if fault:
        return replace(result, fit=None, failure=fault)
    return result


def _fault(what: str, values: Any, size: int) -> str | None:
    values = np.asarray(values)
    if values.shape != (size,):
        return f"returned {what} of shape {values.shape} instead of ({size},)"
    if values.dtype != np.float64 or not np.all(np.isfinite(values)):
        return f"returned {what} that are not finite numbers of float64"
    return None


def _work(
    sender: Connection, adapter: Adapter, prepared: Any, problem: Problem, budget: float, seed: int, limit: float
) -> None:
    """The child's part."""
    os.setsid()  # a group of its own, so that programs started here can be ended too
    warnings.simplefilter("ignore")  # of convergence: what was reached is measured
    try:
        with threadpool_limits(1):
            with contextlib.suppress(Exception):  # what matters is the fit
                adapter.train(adapter.prepare(problem.few()), adapter.first, seed, limit)
            wall, cpu = time.perf_counter(), time.process_time()
            trained = adapter.train(prepared, budget, seed, limit)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        fit = adapter.read(prepared, trained)
        result = Attempt(fit, seconds=cpu if fit.seconds is None else fit.seconds, wall=wall)
    except Exception as error:
        result = Attempt(None, f"{type(error).__name__}: {error}".splitlines()[0][:200])
    sender.send(result)
    sender.close()


def _end(child: multiprocessing.process.BaseProcess) -> None:
    """Kill the child and its group, unless it is ending by itself."""
    child.join(timeout=_PATIENCE)
    if child.is_alive() and child.pid is not None:
        with contextlib.suppress(ProcessLookupError):  # it has not made its group yet
            os.killpg(child.pid, signal.SIGKILL)
        child.kill()
        child.join()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"
