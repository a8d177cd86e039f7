"""benchopt: Vowpal Wabbit, which solves another problem: for its test error."""

from __future__ import annotations

from benchmark_utils.adapters.vowpal import Vowpal
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "Vowpal Wabbit"
    requirements = ["pip::vowpalwabbit"]
    adapter = Vowpal()
