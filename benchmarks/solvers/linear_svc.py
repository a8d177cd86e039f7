"""benchopt: scikit-learn's LinearSVC."""

from __future__ import annotations

from benchmark_utils.adapters.scikit import ScikitLinearSVC
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "LinearSVC"
    requirements = ["scikit-learn"]
    adapter = ScikitLinearSVC()
