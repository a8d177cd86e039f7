"""benchopt: liblinear."""

from __future__ import annotations

from benchmark_utils.adapters.liblinear import Liblinear
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "liblinear"
    requirements = ["pip::liblinear-official"]
    adapter = Liblinear()
