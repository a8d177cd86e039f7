"""benchopt: all programs by name. Every point of a curve is a complete fit from nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import StoppingCriterion

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.adapters import PROGRAMS
from common.harness import Adapter, Attempt, Fit, attempt, next_budget
from common.problem import Problem


class UntilAccurate(StoppingCriterion):
    """Ends a curve when the objective says so: accurate enough, failed, or out of time.

    No quantity is monitored: benchopt would drop the whole curve of a program whose last fit failed.
    """

    def __init__(self, strategy: str | None = None, key_to_monitor: str | None = None, minimize: bool = True) -> None:
        super().__init__(strategy=strategy, key_to_monitor=key_to_monitor, minimize=minimize)

    def check_convergence(self, objective_list: list[dict[str, Any]]) -> tuple[bool, float]:
        return bool(objective_list[-1]["objective_done"]), 0.0


class Solver(BaseSolver):
    """A budget is what the adapter says, a tolerance or a number of epochs: benchopt's "iteration" only passes it on."""

    name = "program"
    parameters = {"program": list(PROGRAMS)}
    parameter_template = "{program}"
    sampling_strategy = "iteration"
    stopping_criterion = UntilAccurate()

    @property
    def adapter(self) -> Adapter:
        return PROGRAMS[self.program]

    def skip(self, **objective: Any) -> tuple[bool, str | None]:
        why = self.adapter.missing()
        return why is not None, why

    def set_objective(self, problem: Problem, time_limit: float) -> None:
        self.problem, self.time_limit = problem, time_limit
        self.seed = self.get_seed(use_repetition=True) % 2**31
        self.unusable: str | None = None
        try:
            self.prepared = _latest.prepare(self.adapter, problem)
        except Exception as error:
            self.unusable = f"preparation failed: {type(error).__name__}: {error}"

    def get_next(self, stop_val: float) -> float:
        return next_budget(self.adapter, stop_val or None)

    def run(self, stop_val: float) -> None:
        if self.unusable is not None:
            self.attempt = Attempt(None, self.unusable)
        elif not stop_val:  # benchopt evaluates every solver once before its first step: w = 0
            self.attempt = Attempt(Fit(np.zeros(self.problem.X.shape[1])), seconds=0.0, wall=0.0)
        else:
            self.attempt = attempt(self.adapter, self.prepared, self.problem, stop_val, self.seed, self.time_limit)

    def get_result(self) -> dict[str, Any]:
        return {"attempt": self.attempt}


class _Latest:
    """The last prepared problem only: benchopt keeps every solver, which must not keep every copy of the data."""

    def __init__(self) -> None:
        self.adapter: Adapter | None = None
        self.problem: Problem | None = None
        self.prepared: Any = None

    def prepare(self, adapter: Adapter, problem: Problem) -> Any:
        known = self.problem
        # benchopt makes the objective anew for every repetition, on the same arrays.
        if known is None or self.adapter is not adapter or known.X is not problem.X or known.C != problem.C:
            self.adapter = self.problem = self.prepared = None  # freed before the next one is made
            self.prepared = adapter.prepare(problem)
            self.adapter, self.problem = adapter, problem
        return self.prepared


_latest = _Latest()
