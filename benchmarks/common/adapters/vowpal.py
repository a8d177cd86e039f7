"""Vowpal Wabbit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common.adapters.packages import Package
from common.adapters.programs import Folder
from common.harness import Fit
from common.problem import Problem


@dataclass(frozen=True)
class Cache:
    """The rows in Vowpal Wabbit's binary form."""

    folder: Folder
    arguments: str
    n_features: int


class Vowpal(Package):
    """Online learning over its binary cache, whose reading is part of every pass.

    It solves another problem: w shrinks on rows with loss only. Test errors can be compared, objectives cannot.
    """

    module, package = "vowpalwabbit", "vowpalwabbit"
    knob = "epochs"

    def prepare(self, problem: Problem) -> Cache:
        folder = Folder()
        text, cache = folder.path / "rows.vw", folder.path / "rows.cache"
        m, d = problem.X.shape
        bits = max(10, int(np.ceil(np.log2(d + 1))))
        arguments = (
            f"--data {text} --cache_file {cache} --loss_function hinge --l2 {1.0 / (problem.C * m)!r} --noconstant "
            f"--holdout_off --quiet --bit_precision {bits}"
        )
        _write(problem, text)
        _run(f"{arguments} --passes 1 --kill_cache").finish()  # writes the cache
        return Cache(folder, arguments, d)

    def train(self, cache: Cache, budget: float, seed: int, limit: float) -> tuple[Any, float]:
        return _run(f"{cache.arguments} --passes {int(budget)} --random_seed {seed}"), budget

    def read(self, cache: Cache, trained: tuple[Any, float]) -> Fit:
        workspace, epochs = trained
        return Fit(np.array([workspace.get_weight(j) for j in range(cache.n_features)]), epochs=epochs)


def _run(arguments: str) -> Any:
    """A workspace that has read all its data."""
    from vowpalwabbit import Workspace

    return Workspace(arguments)


def _write(problem: Problem, path: Path) -> None:
    X = problem.X
    with path.open("w") as file:
        for i, label in enumerate(problem.y):
            row = slice(X.indptr[i], X.indptr[i + 1])
            pairs = " ".join(f"{j}:{v:.17g}" for j, v in zip(X.indices[row], X.data[row], strict=True))
            file.write(f"{int(label)} | {pairs}\n")
