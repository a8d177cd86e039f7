"""Tables 1 to 8 of Panagiotakopoulos & Tsampouka: passes and seconds to 1 % of the optimum."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from common import plots
from common.problem import Bracket, Problem
from common.store import Results, markdown

import hinge
from papers import printed, sgd_claims
from papers.bench import Bench
from papers.exhibit import (
    DETERMINISTIC,
    Cells,
    Exhibit,
    Measured,
    label,
    median,
    number,
    percent,
    ratio,
    seconds,
    spread,
)
from papers.watch import NEVER, program, reach, stop, stop_at

GOAL = 0.01
#: Data sets at hand -> rows of the paper's tables.
DATASETS = {"Adult": "Adult", "Web": "Web", "Covertype": "Covertype", "CCAT": "CCAT", "topics": "CCAT"}
_USUAL_PASSES = 50  # where the paper prints none
# A run ends without result after so many passes, or so many times those that the paper prints.
_MAX_PASSES = 2000
_PATIENCE = 15
_USUAL_EPS = 0.1  # liblinear's default


@dataclass(frozen=True)
class Entrant:
    """A line of a table: its name, the column of the paper it stands beside, and how it is run.

    `order` is that of the rows (None: the solver's own). `epsilon` names the option that takes what the paper prints as
    epsilon. DCD ends by a rule of its own then, which is set aside for the passes to 1 %; the others end by their gap.
    One that is not `shown` is run for its seconds only, which others are divided by. One that is not `judged` is a line of
    ours: nothing that the paper says is tested by it.
    """

    name: str
    column: str
    options: dict[str, Any] = field(default_factory=dict)
    order: str | None = None
    epsilon: str | None = None
    shown: bool = True
    judged: bool = True

    @property
    def ends(self) -> bool:
        """Whether to run it until the paper's epsilon ends it."""
        return self.shown and (self.epsilon is not None or self.column in ("sgd-s", "sgd-m"))

    def solver(self, paper: printed.Figures, **changes: Any) -> Any:
        own = {} if self.epsilon is None else {self.epsilon: paper.epsilon}
        return hinge.solvers.as_solver(self.column).replace(**self.options | own | changes)


def _plain(*names: str, **options: Any) -> tuple[Entrant, ...]:
    return tuple(Entrant(name, name, options) for name in names)


@dataclass(frozen=True)
class Race:
    """One table: some solvers at one C, beside those that the seconds are divided by, and the programs that the paper ran."""

    C: float
    table: printed.Table
    entrants: tuple[Entrant, ...]
    references: tuple[str, ...]
    reference_table: printed.Table
    programs: dict[str, str] = field(default_factory=dict)
    dtype: type = np.float64

    def measure(self, bench: Bench, results: Results) -> None:
        """All solvers on one data set after the other, so that the ratios are of one run."""
        for dataset in (name for name in DATASETS if name in bench.datasets):
            problem = bench.problem(dataset, self.C, self.dtype)
            best = bench.optimum(problem)
            entered = {entrant.name for entrant in self.entrants}
            beside = [Entrant(name, name, shown=False) for name in self.references if name not in entered]
            for entrant in (*beside, *self.entrants):
                if bench.wants(entrant.name):
                    runs = self.runs(bench, problem, best, dataset, entrant)
                    results.put(f"{dataset}|{entrant.name}", {"rows": len(problem.y), "runs": runs})
                    passes = spread(run["passes"] for run in runs)
                    print(f"  {dataset} {entrant.name}: {passes} passes, {len(runs)} seeds", flush=True)
            for name in filter(bench.wants, self.programs):
                if found := program(name, problem, best, GOAL):
                    results.put(f"{dataset}|{name}", {"rows": len(problem.y), "runs": found})

    def runs(self, bench: Bench, problem: Problem, best: Bracket, dataset: str, entrant: Entrant) -> list[Cells]:
        figures = self.printed(dataset, entrant.column)
        limit = _PATIENCE * figures.passes if figures.passes else _MAX_PASSES
        seeds = bench.seeds_for(problem, figures.passes or _USUAL_PASSES)
        runs = []
        for seed in seeds[:1] if entrant.column in DETERMINISTIC else seeds:
            own_rule = entrant.epsilon == "eps"
            solver = entrant.solver(figures, **({"eps": _USUAL_EPS} if own_rule else {}))
            run = reach(problem, solver, best, GOAL, seed, limit, order=entrant.order)
            if entrant.ends and figures.epsilon is not None:
                tol = NEVER if own_rule else figures.epsilon
                run |= stop(problem, entrant.solver(figures), best, tol, seed, limit, order=entrant.order)
            runs.append(run)
        return runs

    def printed(self, dataset: str, solver: str) -> printed.Figures:
        table = self.table if solver in self.table[DATASETS[dataset]] else self.reference_table
        return table[DATASETS[dataset]][solver]

    def lines(self) -> dict[str, str]:
        """Lines of the table -> columns of the paper."""
        return {entrant.name: entrant.column for entrant in self.entrants} | self.programs

    def show(self, cells: Cells) -> str:
        """A line per data set and solver that were measured."""
        header = ["data set", "solver", "paper: epsilon", "paper: passes", "ours: passes to 1 %, min / median / max"]
        header += ["ours: passes until epsilon ends it (P/P_opt - 1 there)"]
        for reference in self.references:
            header += [f"paper: s / s of {reference}", f"ours: s / s of {reference}"]
        rows = [
            (label(dataset, cells[f"{dataset}|{line}"]["rows"]), line, *self.figures(dataset, line, column, cells))
            for dataset in DATASETS
            for line, column in self.lines().items()
            if f"{dataset}|{line}" in cells
        ]
        header.append("seeds")
        kept = [i for i in range(len(header)) if any(row[i] != "-" for row in rows)]  # a column of dashes says nothing
        return markdown([header[i] for i in kept], [[row[i] for i in kept] for row in rows])

    def figures(self, dataset: str, line: str, column: str, cells: Cells) -> tuple[str, ...]:
        paper, cell = self.printed(dataset, column), cells[f"{dataset}|{line}"]
        runs = cell["runs"]
        at_epsilon = "-"
        if "stop" in runs[0]:
            excess = median(run["stop_excess"] for run in runs)
            at_epsilon = f"{spread(run['stop'] for run in runs)} ({percent(excess or 0.0)})"
        ratios = []
        for reference in self.references:
            theirs = ratio(paper.seconds, self.printed(dataset, reference).seconds)
            ours = ratio(seconds(cell), seconds(cells.get(f"{dataset}|{reference}")))
            ratios += [number(theirs), number(ours)]
        passes = "-" if line in self.programs else spread(run["passes"] for run in runs)
        return (number(paper.epsilon), number(paper.passes), passes, at_epsilon, *ratios, str(len(runs)))


_PAPERS_RULE = {"budget": math.inf}  # an exact evaluation whenever the estimate passes
_SGD = _plain("pegasos", "sgd-r", "sgd-s", "sgd-m")
_FEW_PASSES = (
    *_SGD,
    Entrant("sgd-s, paper's rule", "sgd-s", _PAPERS_RULE),
    Entrant("sgd-m, paper's rule", "sgd-m", _PAPERS_RULE),
)
_LINEAR = (
    *_plain("cutting-plane", "ocas", "dcd", "mpu"),
    Entrant("dcd, as published", "dcd", {"polish": False}, "permutation", "eps"),
    Entrant("mpu, as published", "mpu", {"refine": False}, "permutation", "delta"),
)
#: The programs that the paper timed, where they can be had; liblinear -s 3 is DCD.
_PROGRAMS = {"SVM-perf": "cutting-plane", "svmocas": "ocas", "liblinear": "dcd"}
#: What the authors' programs of SGD-QN do.
_QN_VARIANTS = ("published", "erratum", "sgd2")
_SINGLE = (
    *_plain("svmsgd", "sgd-qn", "sgd-m", "mpu", precision="single"),
    Entrant("svmsgd, as published", "svmsgd", {"precision": "single", "calibration": "first"}, "once"),
    *(Entrant(f"sgd-qn, {name}", "sgd-qn", {"precision": "single", "variant": name}, "once") for name in _QN_VARIANTS),
    *(
        Entrant(f"sgd-qn, {name}, new order", "sgd-qn", {"precision": "single", "variant": name}, judged=False)
        for name in _QN_VARIANTS
    ),
    Entrant("mpu, as published", "mpu", {"precision": "single", "refine": False}, "permutation", "delta"),
)

RACES = {
    "sgd-table2": Race(1.0, printed.SGD_2, _SGD, ("pegasos",), printed.SGD_2),
    "sgd-table3": Race(1.0, printed.SGD_3, _LINEAR, ("sgd-m",), printed.SGD_2, _PROGRAMS),
    "sgd-table4": Race(10.0, printed.SGD_4, _SGD, ("pegasos",), printed.SGD_4),
    "sgd-table5": Race(10.0, printed.SGD_5, _LINEAR, ("sgd-m",), printed.SGD_4, _PROGRAMS),
    "sgd-table6": Race(0.05, printed.SGD_6, _FEW_PASSES, ("pegasos",), printed.SGD_6),
    "sgd-table7": Race(0.05, printed.SGD_7, _LINEAR, ("pegasos", "sgd-m"), printed.SGD_6, _PROGRAMS),
    "sgd-table8": Race(1.0, printed.SGD_8, _SINGLE, ("sgd-m",), printed.SGD_8, dtype=np.float32),
}
#: C -> the tables of the SGD algorithms and of the linear SVMs
AT = {0.05: ("sgd-table6", "sgd-table7"), 1.0: ("sgd-table2", "sgd-table3"), 10.0: ("sgd-table4", "sgd-table5")}


#: (results, C, data set, solver) -> our value and its range, and the paper's value; None where there is none
Found: TypeAlias = Callable[[Measured, float, str, str], tuple[tuple[float, float, float] | None, float | None]]


def _passes(measured: Measured, C: float, dataset: str, name: str) -> tuple[Any, float | None]:
    """Passes to 1 %: median, least and most over the seeds that got there."""
    table = AT[C][0]
    runs = measured.get(table, {}).get(f"{dataset}|{name}", {"runs": []})["runs"]
    passes = [run["passes"] for run in runs if run["passes"] is not None]
    ours = (median(passes), min(passes), max(passes)) if passes else None
    return ours, RACES[table].printed(dataset, name).passes


def _costs(measured: Measured, C: float, dataset: str, name: str) -> tuple[Any, float | None]:
    """Seconds to 1 %, divided by those of sgd-m."""
    table = AT[C][1]
    found = sgd_claims.cost(measured, table, dataset, name)
    paper = ratio(*(RACES[table].printed(dataset, solver).seconds for solver in (name, "sgd-m")))
    return ((found,) * 3 if found is not None and math.isfinite(found) else None), paper


def _against_C(names: Sequence[str], quantity: str, find: Found) -> Callable[[Measured, Path], None]:
    """A panel per data set: ours with the range over the seeds, and the paper's dashed."""
    looks = plots.styles(names)

    def draw(measured: Measured, path: Path) -> None:
        panels = []
        for dataset in DATASETS:
            curves = []
            for name, look in looks.items():
                found = {C: find(measured, C, dataset, name) for C in AT}
                ours = [(C, *values) for C, (values, _) in found.items() if values is not None]
                theirs = [(C, value) for C, (_, value) in found.items() if value is not None]
                if ours:
                    x, y, low, high = zip(*ours, strict=True)
                    curves.append(plots.Curve(name, x, y, look, low, high))
                if theirs:
                    curves.append(plots.Curve("", *zip(*theirs, strict=True), plots.dashed(look)))
            panels.append(plots.Panel(f"{label(dataset)} (dashed: the paper's)", "C", quantity, curves))
        plots.save([panel for panel in panels if any(curve.name for curve in panel.curves)], path)

    return draw


def draw_printed(measured: Measured, path: Path) -> None:
    """Our passes against the paper's, with the range over the seeds; no point where the median run never got there."""
    panels = []
    for title, tables in (("Tables 2, 4 and 6", [AT[C][0] for C in AT]), ("Table 8", ["sgd-table8"])):
        found: dict[str, list[tuple[float, ...]]] = {}
        for table in tables:
            for dataset, entrant in itertools.product(DATASETS, RACES[table].entrants):
                paper = RACES[table].printed(dataset, entrant.column).passes
                runs = measured.get(table, {}).get(f"{dataset}|{entrant.name}", {"runs": []})["runs"]
                passes = [run["passes"] for run in runs if run["passes"] is not None]
                middle = median(run["passes"] for run in runs)
                if entrant.judged and paper is not None and middle is not None and "budget" not in entrant.options:
                    found.setdefault(entrant.name, []).append((paper, middle, min(passes), max(passes)))
        if not found:
            continue
        curves = []
        for name, look in plots.styles(list(found)).items():
            x, y, low, high = zip(*sorted(found[name]), strict=True)
            curves.append(plots.Curve(name, x, y, plots.Style(look.colour, plots.POINTS, look.filled), low, high))
        ends = [function(points[0] for each in found.values() for points in each) for function in (min, max)]
        for name, factor in (("as printed", 1.0), (f"{sgd_claims.SLACK:g} times", sgd_claims.SLACK)):
            curves.append(plots.Curve(name, ends, [factor * end for end in ends], plots.Style("0.5", "-", False, 0.8)))
        panels.append(plots.Panel(title, "passes to 1 % in the paper", "ours", curves))
    plots.save(panels, path)


# Table 1: stored values that a run may read; the run of the paper on Covertype would read 5e12: ten hours.
_VALUES = 1e11
_GAP = 1e-5


def measure_table1(bench: Bench, results: Results) -> None:
    """As far towards the gap as is affordable."""
    for dataset, (passes, _, _) in printed.SGD_1.items():
        if dataset not in bench.datasets:
            continue
        problem = bench.problem(dataset, 0.1)
        best = bench.optimum(problem)
        cell = {"rows": len(problem.y), "optimum": [best.lower, best.upper]}
        if passes * problem.X.nnz <= _VALUES:
            # The paper raises the comparison coefficient until the number of passes no longer falls.
            cell |= stop_at(problem, hinge.SGDs(f=2.0), _GAP, max_passes=math.ceil(2 * passes * bench.budget))
        results.put(dataset, cell)
        print(f"  {dataset}: {cell}", flush=True)


def show_table1(cells: Cells) -> str:
    """Passes, primal and dual beside the paper's."""
    rows = []
    for dataset, (passes, primal, dual) in printed.SGD_1.items():
        if cell := cells.get(dataset):
            low, high = cell["optimum"]
            ours: tuple[str, ...] = ("-",) * 4
            if "passes" in cell:
                ours = f"{cell['passes']}", f"{cell['primal']:.7g}", f"{cell['dual']:.7g}", number(cell["gap"])
            theirs = f"{passes}", f"{primal:.7g}", f"{dual:.7g}"
            rows.append((label(dataset, cell["rows"]), *theirs, *ours, f"[{low:.8g}, {high:.8g}]"))
    header = ("data set", "paper: T", "paper: P", "paper: D", "ours: T", "ours: P", "ours: D", "relative gap")
    return markdown((*header, "optimum"), rows)


def _title(name: str, race: Race) -> str:
    kind = "linear SVMs" if race.programs else "single precision" if race.dtype is np.float32 else "SGD algorithms"
    return f"SGD revisited, Table {name[-1]}: {kind} to 1 % of the optimum, C = {race.C:g}"


_DRAWN = {
    "sgd-table2": _against_C([entrant.name for entrant in _SGD], "passes to 1 %", _passes),
    "sgd-table3": _against_C([*sgd_claims.LINEAR], "seconds / seconds of sgd-m", _costs),
    "sgd-table8": draw_printed,
}
EXHIBITS = (
    Exhibit(
        "sgd-table1",
        "SGD revisited, Table 1: sgd-s to a relative gap of 1e-5, C = 0.1",
        measure_table1,
        show_table1,
        claims=sgd_claims.table1,
    ),
    *(
        Exhibit(name, _title(name, race), race.measure, race.show, _DRAWN.get(name), sgd_claims.of(name, race))
        for name, race in RACES.items()
    ),
)
