"""Several problems at once: one-vs-rest, folds, paths."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace

from hinge import _core
from hinge.problem import Problem
from hinge.solvers import Composite, Solver, State
from hinge.training.loop import train
from hinge.training.result import Options, Outcome

# Seconds within which a thread that was started begins.
_START = 0.2


def train_all(
    problems: Sequence[Problem],
    solver: Solver | Composite,
    options: Options,
    *,
    n_jobs: int = 1,
    states: Sequence[State | None] | None = None,
    titles: Sequence[str] | None = None,
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
    titles : sequence of str
        What to call each problem in the training table.

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
    tasks = [
        replace(
            options,
            key=(*options.key, k),
            token=token,
            state=None if states is None else states[k],
            title="" if titles is None else titles[k],
            n_threads=max(1, n_jobs // n_threads),
        )
        for k in range(len(problems))
    ]
    if n_threads == 1:
        return [train(problem, solver, task) for problem, task in zip(problems, tasks, strict=True)]
    return _Pool(problems, solver, tasks, token).outcomes(n_threads)


class _Pool:
    """Threads that take one problem after the other."""

    def __init__(
        self, problems: Sequence[Problem], solver: Solver | Composite, tasks: list[Options], token: _core.StopToken
    ) -> None:
        self._problems, self._solver, self._tasks, self._token = problems, solver, tasks, token
        self._waiting = list(range(len(tasks)))
        self._outcomes: dict[int, Outcome] = {}
        self._errors: list[BaseException] = []

    def outcomes(self, n_threads: int) -> list[Outcome]:
        threads: list[threading.Thread] = []
        try:
            for _ in range(n_threads):
                threads.append(threading.Thread(target=self._work, daemon=True))
                threads[-1].start()
            self._wait(threads)
        except BaseException:  # no thread is left behind
            self._token.stop()
            self._wait(self._begun(threads))
            raise
        if self._errors:
            raise self._errors[0]
        return [self._outcomes[k] for k in range(len(self._tasks))]

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
                self._outcomes[k] = train(self._problems[k], self._solver, self._tasks[k])
            except BaseException as error:
                self._errors.append(error)
                self._token.stop()
