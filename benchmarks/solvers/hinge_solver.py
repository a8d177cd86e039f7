"""benchopt: the solvers of hinge, by name."""

from __future__ import annotations

from benchmark_utils.adapters.ours import NAMES, Ours
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "hinge"
    parameters = {"solver": list(NAMES)}
    parameter_template = "{solver}"

    def __init__(self, solver: str = "auto") -> None:
        super().__init__()
        self.adapter = Ours(solver)
