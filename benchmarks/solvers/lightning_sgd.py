"""benchopt: lightning, stochastic subgradients."""

from __future__ import annotations

from benchmark_utils.adapters.lightning import LightningSGD
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "lightning SGD"
    requirements = ["pip::sklearn-contrib-lightning"]
    adapter = LightningSGD()
