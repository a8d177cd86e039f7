"""benchopt: Snap ML."""

from __future__ import annotations

from benchmark_utils.adapters.snap import Snap
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "Snap ML"
    requirements = ["pip::snapml"]
    adapter = Snap()
