"""Tables 2 to 8 of Panagiotakopoulos & Tsampouka: passes and seconds to 1 % of the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from papers import printed
from papers.bench import Bench
from papers.exhibit import MISSING, UNMEASURED, Cells, Exhibit, label, median, number, percent, ratio, spread
from papers.store import Results, markdown
from papers.task import solver_named
from papers.watch import reach, stop

GOAL = 0.01
#: Data sets at hand -> rows of the paper's tables.
DATASETS = {"Adult": "Adult", "Web": "Web", "Covertype": "Covertype", "CCAT": "CCAT", "topics": "CCAT"}
_USUAL_PASSES = 50  # where the paper prints none
_MAX_PASSES = 2000


@dataclass(frozen=True)
class Race:
    """One table: some solvers at one C, beside those that the seconds are divided by."""

    C: float
    table: printed.Table
    solvers: tuple[str, ...]
    references: tuple[str, ...]
    reference_table: printed.Table
    dtype: type = np.float64

    def measure(self, bench: Bench, results: Results) -> None:
        """All solvers on one data set after the other, so that the ratios are of one run."""
        for dataset in self.wanted_datasets(bench):
            task = bench.task(dataset, self.C, self.dtype)
            best = bench.optimum(task)
            for solver in dict.fromkeys(self.references + self.solvers):
                if solver in bench.solvers and solver_named(solver) is not None:
                    figures = self.printed(dataset, solver)
                    passes = figures.passes or _USUAL_PASSES
                    limit = max(_MAX_PASSES, 4 * passes)
                    runs = []
                    for seed in bench.seeds_for(task, passes):
                        run = reach(task, solver_named(solver), best, GOAL, seed, limit).plain()
                        if figures.epsilon is not None and solver in ("sgd-s", "sgd-m"):
                            run |= stop(task, solver_named(solver), best, figures.epsilon, seed, limit)
                        runs.append(run)
                    results.put(f"{dataset}|{solver}", {"rows": task.X.shape[0], "runs": runs})
                    passes_seen = spread([run["passes"] for run in runs])
                    print(f"  {dataset} {solver}: {passes_seen} passes, {len(runs)} seeds", flush=True)

    def wanted_datasets(self, bench: Bench) -> list[str]:
        return [name for name in DATASETS if name in bench.datasets]

    def printed(self, dataset: str, solver: str) -> printed.Figures:
        table = self.table if solver in self.solvers else self.reference_table
        return table[DATASETS[dataset]][solver]

    def rows(self, cells: Cells) -> list[tuple[str, ...]]:
        """A line per data set and solver."""
        lines = []
        for dataset in DATASETS:
            for solver in self.solvers:
                cell = cells.get(f"{dataset}|{solver}")
                name = label(dataset, None if cell is None else cell["rows"])
                lines.append((name, solver, *self.figures(dataset, solver, cell, cells)))
        return lines

    def figures(self, dataset: str, solver: str, cell: Any, cells: Cells) -> tuple[str, ...]:
        paper = self.printed(dataset, solver)
        if cell is None:
            why = UNMEASURED if solver_named(solver) is not None else MISSING
            return (number(paper.epsilon), number(paper.passes), why, *["-"] * (2 + 2 * len(self.references)))
        runs = cell["runs"]
        at_epsilon = "-"
        if "stop" in runs[0]:
            excess = median([run["stop_excess"] for run in runs])
            at_epsilon = f"{spread([run['stop'] for run in runs])} ({percent(excess or 0.0)})"
        ratios = []
        for reference in self.references:
            theirs = ratio(paper.seconds, self.printed(dataset, reference).seconds)
            base = cells.get(f"{dataset}|{reference}")
            ours = ratio(seconds(cell), seconds(base) if base else None)
            ratios += [number(theirs), number(ours)]
        return (
            number(paper.epsilon),
            number(paper.passes),
            spread([run["passes"] for run in runs]),
            at_epsilon,
            *ratios,
            str(len(runs)),
        )

    def show(self, cells: Cells) -> str:
        header = ["data set", "solver", "paper: epsilon", "paper: passes", "ours: passes to 1 %, min / median / max"]
        header += ["ours: passes to a gap of epsilon (P/P_opt - 1 there)"]
        for reference in self.references:
            header += [f"paper: s / s of {reference}", f"ours: s / s of {reference}"]
        return markdown(*_without_empty_columns((*header, "seeds"), self.rows(cells)))


def _without_empty_columns(
    header: tuple[str, ...], rows: list[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Columns that have dashes only say nothing."""
    kept = [i for i in range(len(header)) if any(row[i] != "-" for row in rows)]
    return tuple(header[i] for i in kept), [tuple(row[i] for i in kept) for row in rows]


def seconds(cell: Cells) -> float | None:
    """Median CPU seconds of training to the goal; None if that is not the rule."""
    return median([run["seconds"] if run["passes"] is not None else None for run in cell["runs"]])


_SGD = ("pegasos", "sgd-r", "sgd-s", "sgd-m")
_LINEAR = ("cutting-plane", "ocas", "dcd", "mpu")
_SINGLE = ("svmsgd", "sgd-qn", "sgd-m", "mpu")

RACES = {
    "sgd-table2": Race(1.0, printed.SGD_2, _SGD, ("pegasos",), printed.SGD_2),
    "sgd-table3": Race(1.0, printed.SGD_3, _LINEAR, ("pegasos", "sgd-m"), printed.SGD_2),
    "sgd-table4": Race(10.0, printed.SGD_4, _SGD, ("pegasos",), printed.SGD_4),
    "sgd-table5": Race(10.0, printed.SGD_5, _LINEAR, ("pegasos", "sgd-m"), printed.SGD_4),
    "sgd-table6": Race(0.05, printed.SGD_6, _SGD, ("pegasos",), printed.SGD_6),
    "sgd-table7": Race(0.05, printed.SGD_7, _LINEAR, ("pegasos", "sgd-m"), printed.SGD_6),
    "sgd-table8": Race(1.0, printed.SGD_8, _SINGLE, ("sgd-m",), printed.SGD_8, np.float32),
}


def _title(name: str, race: Race) -> str:
    kind = {_SGD: "SGD algorithms", _LINEAR: "linear SVMs", _SINGLE: "single precision"}[race.solvers]
    return f"SGD revisited, Table {name[-1]}: {kind} to 1 % of the optimum, C = {race.C:g}"


EXHIBITS = tuple(Exhibit(name, _title(name, race), race.measure, race.show) for name, race in RACES.items())
