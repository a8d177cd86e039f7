"""benchopt: skglm."""

from __future__ import annotations

from benchmark_utils.adapters.skglm import Skglm
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "skglm"
    requirements = ["pip::skglm"]
    adapter = Skglm()
