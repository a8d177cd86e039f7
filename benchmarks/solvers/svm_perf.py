"""benchopt: SVM-perf, if svm_perf_learn is on the PATH."""

from __future__ import annotations

from benchmark_utils.adapters.programs import SvmPerf
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "SVM-perf"
    requirements = []
    adapter = SvmPerf()
