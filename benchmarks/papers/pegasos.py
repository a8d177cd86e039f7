"""Table 1 and Figures 2 and 3 of Shalev-Shwartz, Singer & Srebro, "Pegasos", ICML 2007."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from common import plots
from common.problem import Problem
from common.store import Part, Results, markdown

from hinge.solvers import as_solver
from papers import printed
from papers.bench import ASTRO_TRAIN, DATASETS, Bench
from papers.exhibit import (
    DETERMINISTIC,
    Cells,
    Claim,
    Exhibit,
    Measured,
    at,
    judged,
    label,
    number,
    percent,
    points,
    ratio,
    seconds,
    spread,
)
from papers.watch import after_one_pass, program, reach

_WITHIN = 0.001  # of the optimal lambda P
_SOLVERS = ("pegasos", "cutting-plane", "ocas", "dcd")
#: The programs of the paper, if they are there -> its columns.
_PROGRAMS = {"SVM-perf": "cutting-plane", "SVM-light": "svm-light"}
#: Data sets at hand -> rows of the paper's table.
_ROWS = {"CCAT": "CCAT", "topics": "CCAT", "Covertype": "Covertype", "astro-ph": "astro-ph"}
_SEEDS = 5


def measure_table1(bench: Bench, results: Results) -> None:
    """Seconds to an objective within 0.001 of the optimum."""
    for dataset, row in _ROWS.items():
        if dataset not in bench.datasets:
            continue
        lam = printed.PEGASOS_LAMBDA[row]
        problem = Problem.with_lambda(*bench.load(dataset), lam, DATASETS[dataset])
        best = bench.optimum(problem)
        goal = _WITHIN / (lam * best.lower)
        for solver in filter(bench.wants, _SOLVERS):
            seeds = bench.seeds_for(problem, 50)[: 1 if solver in DETERMINISTIC else _SEEDS]
            runs = [reach(problem, as_solver(solver), best, goal, seed, max_passes=5000) for seed in seeds]
            results.put(f"{dataset}|{solver}", {"rows": len(problem.y), "objective": lam * best.lower, "runs": runs})
            print(f"  {dataset} {solver}: {spread(run['passes'] for run in runs)} passes", flush=True)
        for name in filter(bench.wants, _PROGRAMS):
            if found := program(name, problem, best, goal):
                cell = {"rows": len(problem.y), "objective": lam * best.lower, "runs": found}
                results.put(f"{dataset}|{name}", cell)


def show_table1(cells: Cells) -> str:
    """Seconds in units of Pegasos' seconds."""
    rows = []
    for dataset, row in _ROWS.items():
        paper = printed.PEGASOS_1[row]
        for solver in (*_SOLVERS, *_PROGRAMS):
            if cell := cells.get(f"{dataset}|{solver}"):
                theirs = number(ratio(paper.get(_PROGRAMS.get(solver, solver)), paper["pegasos"]))
                ours = number(ratio(seconds(cell), seconds(cells.get(f"{dataset}|pegasos"))))
                passes = "-" if solver in _PROGRAMS else spread(run["passes"] for run in cell["runs"])
                name = label(dataset, cell["rows"])
                rows.append((name, number(cell["objective"]), solver, theirs, ours, passes, str(len(cell["runs"]))))
    header = ("data set", "optimal objective", "solver", "paper: s / s of pegasos", "ours: s / s of pegasos")
    return markdown((*header, "ours: passes, min / median / max", "seeds"), rows)


def claims_table1(measured: Measured) -> Iterator[Claim]:
    """Pegasos before SVM-perf; its time depends on lambda, not on the number of rows."""
    cells = judged(measured.get("pegasos-table1", {}))
    took = {name: seconds(cell) for name, cell in cells.items()}
    for dataset, row in _ROWS.items():
        ours = ratio(took.get(f"{dataset}|cutting-plane"), took.get(f"{dataset}|pegasos"))
        if ours is not None:
            theirs = ratio(printed.PEGASOS_1[row]["cutting-plane"], printed.PEGASOS_1[row]["pegasos"])
            shown = ("not legible in our copy" if theirs is None else _slower(theirs), _slower(ours))
            case = label(dataset, cells[f"{dataset}|pegasos"]["rows"])
            yield Claim("SVM-perf (cutting-plane) is slower than pegasos", case, *shown, ours > 1.0)
    for dataset in ("CCAT", "topics"):
        ours = ratio(took.get("Covertype|pegasos"), took.get(f"{dataset}|pegasos"))
        if ours is not None:
            text = "pegasos takes longer on Covertype, of smaller lambda, than on CCAT, of more rows"
            yield Claim(text, label(dataset), "3 times", f"{number(ours)} times", ours > 1.0)


def _slower(times: float) -> str:
    return f"{number(times)} times the seconds of pegasos"


def _rivals() -> dict[str, Any]:
    """Curve -> solver."""
    pegasos, norma = (as_solver(name).replace(sampling="epoch") for name in ("pegasos", "norma"))
    zhang = as_solver("zhang").replace(sampling="epoch")
    rivals = {
        "Pegasos": pegasos,
        "Pegasos, no projection": pegasos.replace(projection=False),
        "Norma": norma.replace(projection=False),
        "Norma, projection": norma.replace(projection=True),
    }
    return rivals | {f"eta = {eta:g}": zhang.replace(eta=eta) for eta in (0.001, 0.01, 0.1, 1.0, 10.0)}


def measure_figure2(bench: Bench, results: Results) -> None:
    """Objective and test loss after T steps of one row, for T up to a million; every T is a run of its own."""
    problem, (X, y) = bench.split("astro-ph", printed.PEGASOS_LAMBDA["astro-ph"], ASTRO_TRAIN)
    results.put("optimum", problem.lam * bench.optimum(problem).lower)
    results.put("rows", len(problem.y))
    grid = sorted({max(64, bench.steps(10**exponent)) for exponent in np.arange(2.0, 6.1, 0.5)})
    for steps in grid:
        for seed in range(min(bench.seeds, _SEEDS)):
            rows = problem.drawn(steps, seed)
            for name, solver in _rivals().items():
                w = after_one_pass(rows, solver, seed)
                cell = results.cells.get(name, {})
                found = cell.setdefault(str(steps), {"objective": {}, "loss": {}})
                found["objective"][str(seed)] = problem.lam * problem.primal(w)
                found["loss"][str(seed)] = float(np.maximum(0.0, 1.0 - y * (X @ w)).mean())
                results.put(name, cell)
        print(f"  {steps} steps", flush=True)


def show_figure2(cells: Cells) -> str:
    """Objectives at some T."""
    shown = sorted(int(x) for x in cells.get("Pegasos", {}))[::2]
    rows = []
    for name in (name for name in _rivals() if name in cells):
        found = at(cells[name], "objective")
        rows.append((name, *(number(found.get(x)) for x in shown), number(points(cells[name], "loss")[1][-1])))
    if "optimum" in cells:
        rows.append(("optimum", *[number(cells["optimum"])] * len(shown), "-"))
    return markdown(("objective after", *(f"T = {x:,}" for x in shown), "test loss at the last T"), rows)


def draw_figure2(measured: Measured, path: Path) -> None:
    """Left: Norma; right: fixed learning rates."""
    cells = measured["pegasos-figure2"]
    schedules = [name for name in _rivals() if name in cells and not name.startswith("eta")]
    fixed = ["Pegasos", *(name for name in _rivals() if name in cells and name.startswith("eta"))]
    level = (("optimum", cells["optimum"]),)
    panels = []
    for title, names in (("Pegasos and Norma", schedules), ("Pegasos and fixed learning rates eta", fixed)):
        looks = plots.styles(names)
        curves = [_curve(name, points(cells[name], "objective"), looks[name]) for name in names]
        if names is schedules:
            tested = [name for name in names if "projection" not in name]
            losses = [(f"{name}, test loss", points(cells[name], "loss"), plots.dashed(looks[name])) for name in tested]
            curves += [_curve(*loss) for loss in losses]
        panels.append(plots.Panel(title, "steps T", "objective", curves, level))
    plots.save(panels, path)


def _curve(name: str, found: Any, style: plots.Style) -> plots.Curve:
    xs, middle, low, high = found
    return plots.Curve(name, xs, middle, style, low, high)


def claims_figure2(measured: Measured) -> Iterator[Claim]:
    """Norma, projection, and learning rates that have to be known."""
    cells = measured.get("pegasos-figure2", {})
    if "Pegasos" not in cells:
        return
    found = {name: at(cells[name], "objective") for name in _rivals() if name in cells}
    first, last = min(found["Pegasos"]), max(found["Pegasos"])

    def above(name: str, steps: int = last) -> float:
        return found[name][steps] / cells["optimum"] - 1.0

    for name in ("Norma", "Norma, projection"):
        ours = f"{percent(above(name))} and {percent(above('Pegasos'))} above the optimum"
        text = f"{name} has not converged (1 %) where Pegasos has"
        yield Claim(
            text, f"RCV1-like, T = {last:,}", "not after 1e6 steps", ours, above("Pegasos") <= 0.01 < above(name)
        )
    for text, better, worse, steps in (
        ("the projection helps Pegasos when T is small", "Pegasos", "Pegasos, no projection", first),
        ("a projection helps Norma", "Norma, projection", "Norma", last),
    ):
        ours = f"{percent(above(better, steps))} and {percent(above(worse, steps))} above the optimum"
        yield Claim(text, f"RCV1-like, T = {steps:,}", "yes", ours, above(better, steps) < above(worse, steps))
    rates = {name: above(name) for name in found if name.startswith("eta")}
    close = [name for name in rates if rates[name] <= 2.0 * above("Pegasos")]
    text = "a fixed eta does as well as Pegasos only if it is well chosen"
    ours = f"{', '.join(close) or 'none'} of {len(rates)} within twice the excess of Pegasos"
    yield Claim(text, f"RCV1-like, T = {last:,}", "yes", ours, 0 < len(close) < len(rates))


#: What may wait for a row with loss.
VARIANTS = ("t waits", "w waits")

# Powers of two, so that k divides kT.
_TS = (128, 1024, 8192)
_KTS = (2**14, 2**17, 2**20)


def measure_figure3(bench: Bench, results: Results) -> None:
    """The objective against k, at fixed T and at fixed kT."""
    problem, _ = bench.split("astro-ph", printed.PEGASOS_LAMBDA["astro-ph"], ASTRO_TRAIN)
    results.put("optimum", problem.lam * bench.optimum(problem).lower)
    most = bench.steps(2**21)
    for steps in _TS:
        ladder = [(4**i, steps) for i in range(10) if 4**i * steps <= most]
        along_k(bench, problem, results, f"T = {steps}", ladder, pegasos())
    for product in (product for product in _KTS if product <= most):
        ladder = [(4**i, product // 4**i) for i in range(8) if 4**i <= product]
        along_k(bench, problem, results, f"kT = {product}", ladder, pegasos())


#: (rows in the order in which they are drawn, rows a step, seed) -> weights
Run: TypeAlias = Callable[[Problem, int, int], np.ndarray]


def pegasos(**options: Any) -> Run:
    """One pass of Pegasos with these options."""
    solver = as_solver("pegasos").replace(sampling="epoch", **options)
    return lambda rows, k, seed: after_one_pass(rows, solver.replace(k=k), seed)


def along_k(
    bench: Bench, problem: Problem, results: Results | Part, name: str, ladder: list[tuple[int, int]], run: Run
) -> None:
    """The objective for each (k, T) of the ladder; pairs with the same product use the same rows."""
    cell: dict[str, Any] = {}
    for seed in range(min(bench.seeds, _SEEDS)):
        rows = None
        for k, steps in ladder:
            if rows is None or len(rows.y) != k * steps:
                rows = problem.drawn(k * steps, seed)
            objective = problem.lam * problem.primal(run(rows, k, seed))
            cell.setdefault(str(k), {"objective": {}})["objective"][str(seed)] = objective
            results.put(name, cell)
    print(f"  {name}", flush=True)


def _curves(cells: Cells) -> list[str]:
    """The names of the curves along k, by quantity and size."""

    def place(name: str) -> tuple[str, int, str]:
        quantity, _, rest = name.partition(" = ")
        return quantity, int(rest.partition(",")[0]), name

    return sorted((name for name in cells if " = " in name), key=place)


def show_along_k(cells: Cells) -> str:
    """Excess over the optimum for each k."""
    names = _curves(cells)
    ks = sorted({int(k) for name in names for k in cells[name]})
    rows = []
    for name in names:
        found = at(cells[name], "objective")
        rows.append((name, *(percent(found[k] / cells["optimum"] - 1.0) if k in found else "-" for k in ks)))
    return markdown(("objective above the optimum", *(f"k = {k:,}" for k in ks)), rows)


def draw_figure3(measured: Measured, path: Path) -> None:
    """Left: T fixed; right: kT fixed."""
    cells = measured["pegasos-figure3"]
    plots.save([k_panel(cells, "T", "T fixed"), k_panel(cells, "kT", "kT fixed")], path)


def k_panel(cells: Cells, quantity: str, title: str) -> plots.Panel:
    """A panel of the curves whose names begin with `quantity` =, and of their variants."""
    names = [name for name in _curves(cells) if name.partition(" = ")[0] == quantity]
    looks = plots.styles([name for name in names if "," not in name])
    curves = []
    for name in names:
        plain = name.partition(",")[0]
        ks, *values = points(cells[name], "objective")
        middle, low, high = ([value / cells["optimum"] - 1.0 for value in each] for each in values)
        if name == plain:
            curves.append(plots.Curve(name, ks, middle, looks[name], low, high))
        else:
            look = plots.dashed(looks[plain])
            dots = plots.Style(look.colour, (0, (1, 1.5)), False, look.width)
            curves.append(plots.Curve(name, ks, middle, look if name.endswith(VARIANTS[0]) else dots))
    return plots.Panel(title, "rows per step k", "objective / optimum - 1", curves)


_MANY_STEPS = 1024
_NEARLY = 1.05


def claims_figure3(measured: Measured) -> Iterator[Claim]:
    """T fixed: larger k helps; kT fixed: nearly the same objective until k gets large."""
    cells = measured.get("pegasos-figure3", {})
    for name in _curves(cells):
        quantity, _, size = name.partition(" = ")
        found = at(cells[name], "objective")
        ks = sorted(found)
        if quantity == "T":
            falls = all(found[b] < found[a] for a, b in itertools.pairwise(ks))
            ours = f"{percent(found[ks[0]] / cells['optimum'] - 1)} to {percent(found[ks[-1]] / cells['optimum'] - 1)}"
            yield Claim("T fixed: the objective falls as k grows", f"RCV1-like, {name}", "yes", ours, falls)
            continue
        small = [value for k, value in found.items() if int(size) // k >= _MANY_STEPS]
        flat = max(small) / min(small)
        slower = (found[ks[-1]] - cells["optimum"]) / (max(small) - cells["optimum"])
        yield Claim(
            f"kT fixed: within 5 % while there are {_MANY_STEPS} steps or more, further from the optimum at the largest k",
            f"RCV1-like, {name}",
            "flat, then worse",
            f"largest / least objective {flat:.3f}; at k = {ks[-1]:,} {slower:.1f} times as far from the optimum",
            flat <= _NEARLY < slower,
        )


EXHIBITS = (
    Exhibit(
        "pegasos-table1",
        "Pegasos, Table 1: seconds to an objective within 0.001 of the optimum",
        measure_table1,
        show_table1,
        claims=claims_table1,
    ),
    Exhibit(
        "pegasos-figure2",
        "Pegasos, Figure 2: Pegasos against Norma and against fixed learning rates",
        measure_figure2,
        show_figure2,
        draw_figure2,
        claims_figure2,
    ),
    Exhibit(
        "pegasos-figure3",
        "Pegasos, Figure 3: the effect of k",
        measure_figure3,
        show_along_k,
        draw_figure3,
        claims_figure3,
    ),
)
