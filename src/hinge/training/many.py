"""Several problems at once: one-vs-rest, folds, paths."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

from hinge import _core
from hinge.problem import Problem
from hinge.solvers import Composite, Solver, State
from hinge.training.loop import train
from hinge.training.result import Options, Outcome

# Seconds within which a thread that was started begins, also on a machine that is busy with other things.
_START = 1.0

T = TypeVar("T")


def train_all(
    problems: Sequence[Problem],
    solver: Solver | Composite,
    options: Options,
    *,
    n_jobs: int = 1,
    states: Sequence[State | None] | None = None,
    labels: Sequence[Any] | None = None,
) -> list[Outcome]:
    """Train one model on each problem, in threads: :func:`hinge.training.loop.train` for each.

    The results do not depend on `n_jobs`: problem k draws its random numbers from ``(*options.key, k)``, and
    evaluations have the same bits for any number of threads.

    Parameters
    ----------
    problems : sequence of Problem
        They may share rows: nothing is copied.
    solver : solver configuration
    options : Options
        For all. A request of ``options.token`` to stop ends all runs, and its time limit is that of all together.
    n_jobs : int, default=1
        Threads. Those that are more than the problems help with the evaluations.
    states : sequence of states or None
        To go on from, for each problem.
    labels : sequence
        The class that each problem is about, for callbacks and for what is printed: "class 7/20 (cat)".

    Returns
    -------
    list of Outcome, in the order of `problems`

    Raises
    ------
    Exception
        The first that a run has raised. The other runs are told to stop, and have ended.
    """
    token = options.token or _core.StopToken()
    n_threads = max(1, min(n_jobs, len(problems)))
    titles = [""] * len(problems) if labels is None else _titles(labels)
    tasks = [
        replace(
            options,
            key=(*options.key, k),
            token=token,
            state=None if states is None else states[k],
            title=titles[k],
            label=None if labels is None else labels[k],
            n_threads=max(1, n_jobs // n_threads),
        )
        for k in range(len(problems))
    ]
    return in_threads(
        [partial(train, problem, solver, task) for problem, task in zip(problems, tasks, strict=True)], n_threads, token
    )


def _titles(labels: Sequence[Any]) -> list[str]:
    """What a report calls the problems, all of the same width: "class 7/20 (cat)"."""
    titles = [f"class {k}/{len(labels)} ({label})" for k, label in enumerate(labels, 1)]
    width = max(map(len, titles))
    return [title.ljust(width) for title in titles]


def in_threads(jobs: Sequence[Callable[[], T]], n_threads: int, token: _core.StopToken) -> list[T]:
    """What each job returns, in their order. The first exception of a job stops the token, and is raised in the end."""
    if n_threads == 1 or len(jobs) <= 1:
        return [job() for job in jobs]
    return _Pool(jobs, token).results(min(n_threads, len(jobs)))


class _Pool(Generic[T]):
    """Threads that take one job after the other."""

    def __init__(self, jobs: Sequence[Callable[[], T]], token: _core.StopToken) -> None:
        self._jobs, self._token = jobs, token
        self._waiting = list(range(len(jobs)))
        self._results: dict[int, T] = {}
        self._errors: list[BaseException] = []

    def results(self, n_threads: int) -> list[T]:
        threads: list[threading.Thread] = []
        try:
            for _ in range(n_threads):
                threads.append(threading.Thread(target=self._work, daemon=True))
                threads[-1].start()
            self._wait(threads)
        except BaseException as error:  # no thread is left behind
            self._end(threads)
            # Ctrl-C twice within Thread.start: its lock complains, and hides what it was interrupted by.
            if isinstance(error, RuntimeError) and isinstance(error.__context__, KeyboardInterrupt):
                raise error.__context__ from None
            raise
        if self._errors:
            raise self._errors[0]
        return [self._results[k] for k in range(len(self._jobs))]

    def _end(self, threads: list[threading.Thread]) -> None:
        """Tell the threads to stop and wait for them, however often Ctrl-C is pressed meanwhile."""
        while True:
            try:
                self._token.stop()
                return self._wait(self._begun(threads))
            except KeyboardInterrupt:
                continue

    @staticmethod
    def _begun(threads: list[threading.Thread]) -> list[threading.Thread]:
        """Those that run. The last one may be about to: its start was cut short."""
        patience = time.monotonic() + _START
        while threads and threads[-1].ident is None and time.monotonic() < patience:
            time.sleep(0.001)
        return [thread for thread in threads if thread.ident is not None]

    @staticmethod
    def _wait(threads: list[threading.Thread]) -> None:
        for thread in threads:
            # Short waits: where signals do not end system calls, a long one would not notice Ctrl-C.
            while thread.is_alive():
                thread.join(timeout=0.05)

    def _work(self) -> None:
        while self._waiting and not self._errors:
            try:
                k = self._waiting.pop(0)
            except IndexError:  # another thread was faster
                return
            try:
                self._results[k] = self._jobs[k]()
            except BaseException as error:
                self._errors.append(error)
                self._token.stop()
