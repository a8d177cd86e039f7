"""The solvers of hinge, by name."""

from __future__ import annotations

from typing import Any

import hinge
from common.harness import Adapter, Fit
from common.problem import Problem
from hinge.solvers import solver_names

#: Solvers whose dual points are far behind their weights: a tolerance on the gap would say more about those.
_BY_EPOCHS = ("asset", "asset-star", "norma", "online", "pegasos", "sgd-qn", "sgd-r", "svmsgd", "zhang")
#: Solvers that the laboratory runs, the default first.
NAMES = ("auto", *(name for name in solver_names() if name != "auto"))


class Ours(Adapter):
    """A solver of hinge with its default options.

    Most run to a duality gap of `tol`. Those without a good dual point run for a number of epochs; both kinds return
    multipliers, from which the gap is computed anew.
    """

    def __init__(self, solver: str) -> None:
        self.solver = solver
        self.knob = "epochs" if solver in _BY_EPOCHS else "tol"

    def missing(self) -> str | None:
        if self.solver in solver_names():
            return None
        return f"hinge {hinge.__version__} has no solver {self.solver!r}"

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> hinge.Solution:
        stop: dict[str, Any] = {"tol": budget, "max_iter": 10**6}
        if self.knob == "epochs":
            stop = {"tol": 1e-12, "max_iter": int(budget)}
        return hinge.solve(
            problem.X,
            problem.y,
            C=problem.C,
            solver=self.solver,
            intercept=problem.intercept,
            random_state=seed,
            time_limit=0.9 * limit,
            **stop,
        )

    def read(self, problem: Problem, solution: hinge.Solution) -> Fit:
        expected = "max_iter" if self.knob == "epochs" else "converged"
        return Fit(solution.coef, solution.dual, epochs=solution.n_iter, exhausted=solution.status != expected)
