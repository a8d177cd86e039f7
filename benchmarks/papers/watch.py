"""Runs that are looked at: the iterate after every pass, with the clock stopped while we look."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge.solvers import Setup
from papers.task import Optimum, Task

Result = TypeVar("Result")

# Far below anything asked for: the run ends because we say so.
_NEVER = 1e-12
_TIME_LIMIT = 900.0  # CPU seconds of one run


class Watched:
    """A solver that shows its point after every pass, and counts the CPU seconds of its passes."""

    def __init__(self, solver: Any, see: Callable[[hinge.Point], None]) -> None:
        self._solver = solver
        self.see = see
        self.seconds = 0.0

    @property
    def traits(self) -> hinge.Traits:
        return self._solver.traits

    def start(self, problem: hinge.Problem, setup: Setup) -> WatchedRun:
        return WatchedRun(self._solver.start(problem, setup), self)


class WatchedRun(hinge.Run):
    """The run of a watched solver, one epoch at a time."""

    def __init__(self, run: hinge.Run, watch: Watched) -> None:
        self._run = run
        self._watch = watch

    def advance(self, epochs: int) -> int:
        touched = 0
        for _ in range(epochs):
            began = time.process_time()
            touched += self._run.advance(1)
            self._watch.seconds += time.process_time() - began
            self._watch.see(self.point())
        return touched

    def point(self) -> hinge.Point:
        return self._run.point()

    def estimate(self) -> tuple[float, float] | None:
        return self._run.estimate()

    def rejected(self) -> None:
        self._run.rejected()


@dataclass(frozen=True)
class Reach:
    """How a run got within a goal of the optimum; `passes` is None if it did not."""

    passes: int | None
    seconds: float
    excess: float
    certified: bool

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def reach(task: Task, solver: Any, best: Optimum, goal: float, seed: int, max_passes: int) -> Reach:
    """Train until P/P_opt - 1 <= goal holds for the iterate after a pass, as the SGD paper chooses t_max.

    The certificate of the run is recomputed from its model and multipliers, and compared with the bracket.
    """
    excesses: list[float] = []

    def see(point: hinge.Point) -> None:
        if not (excesses and excesses[-1] <= goal):
            excesses.append(best.excess(task.primal(task.weights(point))))

    watched = Watched(solver, see)
    solution = silently(
        lambda: task.solve(
            watched,
            tol=_NEVER,
            max_iter=max_passes,
            random_state=seed,
            callback=lambda _: excesses[-1] <= goal or watched.seconds > _TIME_LIMIT,
        )
    )
    reached = excesses[-1] <= goal
    return Reach(len(excesses) if reached else None, watched.seconds, excesses[-1], _certified(solution, task, best))


def stop(task: Task, solver: Any, best: Optimum, tol: float, seed: int, max_passes: int) -> dict[str, Any]:
    """Train until the gap is within `tol`: passes, and how far the model is above the optimum."""
    solution = silently(lambda: task.solve(solver, tol=tol, max_iter=max_passes, random_state=seed))
    return {
        "stop": solution.n_iter if solution.status == "converged" else None,
        "stop_excess": best.excess(solution.certificate.primal),
        "stop_certified": _certified(solution, task, best),
    }


def stop_at(task: Task, solver: Any, tol: float, max_passes: int) -> dict[str, Any]:
    """One run to a gap of `tol`: its certificate, recomputed."""
    solution = silently(lambda: task.solve(solver, tol=tol, max_iter=max_passes, random_state=0))
    again = hinge.verify(solution, task.X, task.y)
    ended = {"status": solution.status, "passes": solution.n_iter}
    return ended | {"primal": again.primal, "dual": again.dual, "gap": again.relative_gap}


def drawn(task: Task, count: int, seed: int) -> Task:
    """`count` rows drawn independently from those of the task, with its lambda.

    The loop counts in passes, the figures of the Pegasos papers in steps of k rows. One pass over k T rows drawn before,
    in any order, is the same as T steps that draw k rows each.
    """
    rows = np.random.default_rng(seed).integers(task.X.shape[0], size=count)
    return Task.with_lambda(task.name, task.X[rows], task.y[rows], task.lam)


def after_one_pass(task: Task, solver: Any, seed: int) -> np.ndarray:
    """The iterate after one pass, good or bad: `solve` itself returns the best model, w = 0 included."""
    seen: list[np.ndarray] = []
    watched = Watched(solver, lambda point: seen.append(task.weights(point)))
    silently(lambda: task.solve(watched, tol=_NEVER, max_iter=1, random_state=seed))
    return seen[-1]


def silently(solve: Callable[[], Result]) -> Result:
    """Without the warning that a run which we end ourselves has not converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve()


def _certified(solution: hinge.Solution, task: Task, best: Optimum) -> bool:
    again = hinge.verify(solution, task.X, task.y)
    return best.admits(again) and best.admits(solution.certificate)
