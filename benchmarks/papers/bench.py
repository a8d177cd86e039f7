"""What a measurement is made with: the data sets, how many seeds, where results go."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import data, optimum
from common.problem import Bracket, Labelled, Problem

#: Data sets by the names of the papers. CCAT and astro-ph are generated, with the statistics of RCV1; "topics" is a second
#: stand-in for CCAT, in which the classes have words of their own.
DATASETS = {
    "Adult": "Adult",
    "Web": "Web",
    "Covertype": "Covertype x 0.001",
    "CCAT": "RCV1-like",
    "topics": "topical text",
    "astro-ph": "RCV1-like",
    "MNIST": "MNIST 0-4 against 5-9",
    "ijcnn1": "IJCNN1",
}
#: Rows of the papers' text collections.
ASTRO_TRAIN = 29_882
_TEXT_ROWS = {"CCAT": 804_414, "topics": 804_414, "astro-ph": ASTRO_TRAIN + 32_487}
_QUICK_ROWS = 20_000
# Stored values that the runs of one cell may read: that decides on the seeds of costly cells.
_VALUES = 1e10
#: Passes of a solver that draws rows at random are judged only if there are so many runs.
ENOUGH_SEEDS = 5


def full_data(name: str) -> Labelled:
    """At the papers' size."""
    return _load(f"{DATASETS[name]} {_TEXT_ROWS[name]:,}" if name in _TEXT_ROWS else _source(name))


def quick_data(name: str) -> Labelled:
    """The same, the text collections smaller."""
    return _load(f"{DATASETS[name]} {_QUICK_ROWS}" if name in _TEXT_ROWS else _source(name))


def _source(name: str) -> str:
    plain = name.removesuffix(" test")
    return DATASETS[plain] + name[len(plain) :]


_load = functools.lru_cache(maxsize=1)(data.load)


@dataclass(frozen=True)
class Bench:
    """How to measure.

    `budget` is the fraction of the papers' numbers of steps that the figures go to.
    """

    load: Callable[[str], Labelled]
    results: Path
    figures: Path
    optima: Path
    seeds: int
    datasets: tuple[str, ...]
    solvers: tuple[str, ...] | None = None
    budget: float = 1.0

    def wants(self, solver: str) -> bool:
        return self.solvers is None or solver in self.solvers

    def problem(self, name: str, C: float, dtype: type = np.float64) -> Problem:
        X, y = self.load(name)
        return Problem(X.astype(dtype, copy=False), y, C, DATASETS[name])

    def split(self, name: str, lam: float, train: int) -> tuple[Problem, Labelled]:
        """A problem on the first `train` rows (at most seven eighths), and the rest; float32, to save memory."""
        X, y = self.load(name)
        X = X.astype(np.float32)
        cut = min(train, X.shape[0] * 7 // 8)
        return Problem.with_lambda(X[:cut], y[:cut], lam, DATASETS[name]), (X[cut:], y[cut:])

    def optimum(self, problem: Problem) -> Bracket:
        return optimum.bracket(problem, table=self.optima)

    def seeds_for(self, problem: Problem, passes: int) -> range:
        """All seeds that were asked for, or fewer where `passes` over the rows cost much, but enough to judge by."""
        affordable = int(_VALUES / (problem.X.nnz * passes))
        return range(min(self.seeds, max(ENOUGH_SEEDS, affordable)))

    def steps(self, count: float) -> int:
        """A number of steps within the budget."""
        return max(1, round(count * self.budget))
