"""Runs that are looked at: the iterate after every pass, with the clock stopped while we look."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from common.adapters import COMPETITORS
from common.measure import arrivals
from common.problem import Bracket, Problem
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge.solvers import Setup

Result = TypeVar("Result")

# Far below anything asked for: the run ends because we say so.
NEVER = 1e-12
_TIME_LIMIT = 900.0  # CPU seconds of one run
_PROGRAM_SECONDS = 60.0  # of a fit of somebody else's program


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
            if self._run.finished():
                break
        return touched

    def point(self) -> hinge.Point:
        return self._run.point()

    def estimate(self) -> tuple[float, float] | None:
        return self._run.estimate()

    def rejected(self) -> None:
        self._run.rejected()

    def finished(self) -> bool:
        return self._run.finished()


def solve(problem: Problem, solver: Any, **options: Any) -> hinge.Solution:
    """Train without intercept, and without a warning that a run which we end ourselves has not converged."""
    return silently(lambda: hinge.solve(problem.X, problem.y, C=problem.C, intercept="none", solver=solver, **options))


def weights(problem: Problem, point: hinge.Point) -> np.ndarray:
    """The weights that a solver offers: given, or w(a) of its multipliers."""
    if point.w is not None:
        return np.array(point.w[: problem.X.shape[1]], dtype=np.float64)
    return np.asarray(problem.X.T @ (np.clip(point.multipliers, 0.0, problem.C) * problem.y), dtype=np.float64)


def reach(
    problem: Problem, solver: Any, best: Bracket, goal: float, seed: int, max_passes: int, **options: Any
) -> dict[str, Any]:
    """Train until P/P_opt - 1 <= goal holds for the iterate after a pass, as the SGD paper chooses t_max.

    `passes` is None if it did not get there. The certificate of the run is recomputed from its model and multipliers, and
    compared with the bracket.
    """
    excesses: list[float] = []

    def see(point: hinge.Point) -> None:
        if not (excesses and excesses[-1] <= goal):
            excesses.append(best.suboptimality(problem.primal(weights(problem, point))))

    watched = Watched(solver, see)
    solution = solve(
        problem,
        watched,
        tol=NEVER,
        max_iter=max_passes,
        random_state=seed,
        **options,
        callback=lambda _: excesses[-1] <= goal or watched.seconds > _TIME_LIMIT,
    )
    return {
        "passes": len(excesses) if excesses[-1] <= goal else None,
        "seconds": watched.seconds,
        "excess": excesses[-1],
        "certified": _certified(solution, problem, best),
    }


def stop(
    problem: Problem, solver: Any, best: Bracket, tol: float, seed: int, max_passes: int, **options: Any
) -> dict[str, Any]:
    """Train until the gap is within `tol`, or a rule of the solver's own ends it: passes, and how far above the optimum."""
    solution = solve(problem, solver, tol=tol, max_iter=max_passes, random_state=seed, **options)
    return {
        "stop": solution.n_iter if solution.status in ("converged", "finished") else None,
        "stop_excess": best.suboptimality(solution.certificate.primal),
        "stop_certified": _certified(solution, problem, best),
    }


def stop_at(problem: Problem, solver: Any, tol: float, max_passes: int) -> dict[str, Any]:
    """One run to a gap of `tol`: its certificate, recomputed."""
    solution = solve(problem, solver, tol=tol, max_iter=max_passes, random_state=0)
    again = hinge.verify(solution, problem.X, problem.y)
    ended = {"status": solution.status, "passes": solution.n_iter}
    return ended | {"primal": again.primal, "dual": again.dual, "gap": again.relative_gap}


def after_one_pass(problem: Problem, solver: Any, seed: int) -> np.ndarray:
    """The iterate after one pass, good or bad: `solve` itself returns the best model, w = 0 included.

    The loop counts in passes, the figures of the Pegasos papers in steps of k rows. One pass over k T rows drawn before,
    in any order, is the same as T steps that draw k rows each.
    """
    seen: list[np.ndarray] = []
    watched = Watched(solver, lambda point: seen.append(weights(problem, point)))
    solve(problem, watched, tol=NEVER, max_iter=1, random_state=seed)
    return seen[-1]


def after_steps(problem: Problem, solver: Any, seed: int) -> np.ndarray:
    """The iterate of Pegasos after its own number of steps."""
    seen: list[np.ndarray] = []
    watched = Watched(solver, lambda point: seen.append(weights(problem, point)))
    passes = -(-solver.steps * solver.k // len(problem.y)) + 1
    solve(problem, watched, tol=NEVER, max_iter=passes, random_state=seed)
    return seen[-1]


def program(name: str, problem: Problem, best: Bracket, goal: float) -> list[dict[str, Any]] | None:
    """A fit of somebody else's program, its tolerance just tight enough for the goal; None if it is not there."""
    adapter = COMPETITORS[name]
    if adapter.missing() is not None:
        return None
    arrived = arrivals(adapter, problem, best, (goal,), _PROGRAM_SECONDS, patience=_PROGRAM_SECONDS).get(goal)
    took = None if arrived is None else arrived.seconds
    print(f"  {problem.name} {name}: {took} s", flush=True)
    return [{"passes": None, "seconds": took, "reached": took is not None}]


def silently(call: Callable[[], Result]) -> Result:
    """Without the warning that a run has not converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return call()


def _certified(solution: hinge.Solution, problem: Problem, best: Bracket) -> bool:
    again = hinge.verify(solution, problem.X, problem.y)
    return all(best.admits(each.dual, each.primal) for each in (again, solution.certificate))
