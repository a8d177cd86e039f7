"""benchopt: lightning, dual coordinate ascent."""

from __future__ import annotations

from benchmark_utils.adapters.lightning import LightningSDCA
from benchmark_utils.bench import LabSolver


class Solver(LabSolver):
    name = "lightning SDCA"
    requirements = ["pip::sklearn-contrib-lightning"]
    adapter = LightningSDCA()
