"""benchopt: SVM-light, if svm_learn is on the PATH."""

from __future__ import annotations

from benchmark_utils.adapters.programs import SvmLight
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "SVM-light"
    requirements = []
    adapter = SvmLight()
