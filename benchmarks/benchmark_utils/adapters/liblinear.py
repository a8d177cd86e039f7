"""liblinear through its own Python interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark_utils.adapters.modules import missing_module
from benchmark_utils.harness import Adapter, Fit
from benchmark_utils.problem import Problem


class Liblinear(Adapter):
    """``-s 3``: dual coordinate descent for the hinge loss. It takes no seed, and tells no number of passes."""

    first = 10.0

    def missing(self) -> str | None:
        return missing_module("liblinear.liblinearutil", "liblinear-official")

    def prepare(self, problem: Problem) -> tuple[Any, float, int]:
        from liblinear.liblinearutil import problem as convert

        return convert(problem.y, problem.X), problem.C, problem.X.shape[1]

    def train(self, prepared: tuple[Any, float, int], budget: float, seed: int, limit: float) -> Any:
        from liblinear.liblinearutil import parameter, train

        rows, C, _ = prepared
        return train(rows, parameter(f"-s 3 -c {C!r} -e {budget!r} -q"))

    def read(self, prepared: tuple[Any, float, int], model: Any) -> Fit:
        w = np.zeros(prepared[2])  # the model ends at the last feature that occurs
        w[: model.nr_feature] = model.w[: model.nr_feature]
        return Fit(w if model.get_labels()[0] == 1 else -w)
