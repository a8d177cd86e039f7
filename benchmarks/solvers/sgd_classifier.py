"""benchopt: scikit-learn's SGDClassifier, averaged."""

from __future__ import annotations

from benchmark_utils.adapters.scikit import ScikitSGD
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "SGDClassifier"
    requirements = ["scikit-learn"]
    adapter = ScikitSGD()
