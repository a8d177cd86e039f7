"""What a measurement is made with: the data sets, how many seeds, where results go."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import data
import numpy as np
import scipy.sparse as sp

from papers.store import Results
from papers.task import Optimum, Task, optimum
from papers.topics import topical_text

Labelled = tuple[sp.csr_matrix, np.ndarray]

#: Data sets by the names of the papers. CCAT and astro-ph are generated, with the statistics of RCV1; "topics" is a second
#: stand-in for CCAT, in which the classes have words of their own.
DATASETS = ("Adult", "Web", "Covertype", "CCAT", "topics", "astro-ph", "MNIST", "ijcnn1")
#: Rows of the papers' text collections.
CCAT_ROWS = 804_414
ASTRO_TRAIN, ASTRO_TEST = 29_882, 32_487
_QUICK_ROWS = 20_000
# Stored values that the runs of one cell may read: that decides on the seeds of costly cells.
_VALUES = 1e10


@functools.lru_cache(maxsize=1)
def full_data(name: str) -> Labelled:
    """A data set of the papers, at its size."""
    if name == "CCAT":
        return data.text(CCAT_ROWS)
    if name == "topics":
        return topical_text(CCAT_ROWS)
    if name == "astro-ph":
        return data.text(ASTRO_TRAIN + ASTRO_TEST)
    return data.load(name)


@functools.lru_cache(maxsize=1)
def quick_data(name: str) -> Labelled:
    """The same, the text collections smaller."""
    if name == "topics":
        return topical_text(_QUICK_ROWS)
    return data.text(_QUICK_ROWS) if name in ("CCAT", "astro-ph") else data.load(name)


@dataclass(frozen=True)
class Bench:
    """How to measure.

    `budget` is the fraction of the papers' numbers of steps that the figures go to.
    """

    load: Callable[[str], Labelled]
    results: Path
    figures: Path
    seeds: int
    datasets: tuple[str, ...]
    solvers: tuple[str, ...]
    budget: float = 1.0

    def task(self, name: str, C: float, dtype: type = np.float64) -> Task:
        X, y = self.load(name)
        return Task(name, X.astype(dtype, copy=False), y, C)

    def split(self, name: str, lam: float, train: int) -> tuple[Task, Labelled]:
        """A task on the first `train` rows (at most seven eighths), and the rest; float32, to save memory."""
        X, y = self.load(name)
        X = X.astype(np.float32)
        cut = min(train, X.shape[0] * 7 // 8)
        return Task.with_lambda(name, X[:cut], y[:cut], lam), (X[cut:], y[cut:])

    def optimum(self, task: Task) -> Optimum:
        return optimum(task, Results(self.results / "optima.json"))

    def seeds_for(self, task: Task, passes: int) -> range:
        """All seeds, or fewer where `passes` over the rows cost much."""
        affordable = int(_VALUES / (task.X.nnz * passes))
        return range(max(1, min(self.seeds, affordable)))

    def steps(self, count: float) -> int:
        """A number of steps within the budget."""
        return max(1, round(count * self.budget))
