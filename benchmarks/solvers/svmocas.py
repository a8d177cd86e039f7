"""benchopt: OCAS by its authors (Debian: libocas-tools)."""

from __future__ import annotations

from benchmark_utils.adapters.programs import Svmocas
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "svmocas"
    requirements = []
    adapter = Svmocas()
