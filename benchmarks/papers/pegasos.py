"""Table 1 and Figures 2 and 3 of Shalev-Shwartz, Singer & Srebro, "Pegasos", ICML 2007."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from papers import printed
from papers.bench import ASTRO_TRAIN, Bench
from papers.exhibit import MISSING, UNMEASURED, Cells, Exhibit, label, number, ratio, spread
from papers.plots import COLOURS, Curve, Panel, save
from papers.sgd_tables import seconds
from papers.store import Part, Results, markdown
from papers.task import Task, solver_named
from papers.watch import after_one_pass, drawn, reach

_WITHIN = 0.001  # of the optimal lambda P
_SOLVERS = ("pegasos", "cutting-plane", "ocas", "dcd")
#: Data sets at hand -> rows of the paper's table.
_ROWS = {"CCAT": "CCAT", "topics": "CCAT", "Covertype": "Covertype", "astro-ph": "astro-ph"}
_SEEDS = 3


def measure_table1(bench: Bench, results: Results) -> None:
    """Seconds to an objective within 0.001 of the optimum."""
    for dataset, row in _ROWS.items():
        if dataset not in bench.datasets:
            continue
        lam = printed.PEGASOS_LAMBDA[row]
        X, y = bench.load(dataset)
        task = Task.with_lambda(dataset, X, y, lam)
        best = bench.optimum(task)
        goal = _WITHIN / (lam * best.value)
        for solver in _SOLVERS:
            if solver in bench.solvers and solver_named(solver) is not None:
                runs = [
                    reach(task, solver_named(solver), best, goal, seed, max_passes=5000).plain()
                    for seed in bench.seeds_for(task, 50)[:_SEEDS]
                ]
                results.put(
                    f"{dataset}|{solver}", {"rows": task.X.shape[0], "objective": lam * best.value, "runs": runs}
                )
                print(f"  {dataset} {solver}: {spread([run['passes'] for run in runs])} passes", flush=True)


def show_table1(cells: Cells) -> str:
    """Seconds in units of Pegasos' seconds."""
    rows = []
    for dataset, row in _ROWS.items():
        paper = printed.PEGASOS_1[row]
        base = cells.get(f"{dataset}|pegasos")
        for solver in _SOLVERS:
            cell = cells.get(f"{dataset}|{solver}")
            theirs = number(ratio(paper.get(solver), paper["pegasos"]))
            if cell is None:
                why = UNMEASURED if solver_named(solver) is not None else MISSING
                rows.append((label(dataset), "-", solver, theirs, why, "-", "-"))
                continue
            ours = number(ratio(seconds(cell), seconds(base) if base else None))
            passes = spread([run["passes"] for run in cell["runs"]])
            name = label(dataset, cell["rows"])
            rows.append((name, number(cell["objective"]), solver, theirs, ours, passes, str(len(cell["runs"]))))
    header = ("data set", "optimal objective", "solver", "paper: s / s of pegasos", "ours: s / s of pegasos")
    return markdown((*header, "ours: passes, min / median / max", "seeds"), rows)


def _configured(name: str, **options: Any) -> Any | None:
    solver = solver_named(name)
    return None if solver is None else solver.replace(**options)


def _rivals() -> dict[str, Any]:
    """Curve -> solver; None if this build does not have it."""
    rivals = {
        "Pegasos": _configured("pegasos", sampling="epoch"),
        "Pegasos, no projection": _configured("pegasos", sampling="epoch", projection=False),
        "Norma": _configured("norma", sampling="epoch", projection=False),
        "Norma, projection": _configured("norma", sampling="epoch", projection=True),
    }
    return rivals | {
        f"eta = {eta:g}": _configured("zhang", sampling="epoch", eta=eta) for eta in (0.001, 0.01, 0.1, 1.0, 10.0)
    }


def measure_figure2(bench: Bench, results: Results) -> None:
    """Objective and test loss after T steps of one row, for T up to a million; every T is a run of its own."""
    task, (X, y) = bench.split("astro-ph", printed.PEGASOS_LAMBDA["astro-ph"], ASTRO_TRAIN)
    results.put("optimum", task.lam * bench.optimum(task).value)
    results.put("rows", task.X.shape[0])
    grid = sorted({max(64, bench.steps(10**exponent)) for exponent in np.arange(2.0, 6.1, 0.5)})
    for steps in grid:
        for seed in range(min(bench.seeds, _SEEDS)):
            rows = drawn(task, steps, seed)
            for name, solver in _rivals().items():
                if solver is not None:
                    w = after_one_pass(rows, solver, seed)
                    cell = results.cells.get(name, {})
                    points = cell.setdefault(str(steps), {"objective": {}, "loss": {}})
                    points["objective"][str(seed)] = task.lam * task.primal(w)
                    points["loss"][str(seed)] = float(np.maximum(0.0, 1.0 - y * (X @ w)).mean())
                    results.put(name, cell)
        print(f"  {steps} steps", flush=True)


def points(cell: Cells, what: str) -> tuple[list[int], list[float], list[float], list[float]]:
    """x, and median, minimum and maximum over the seeds."""
    xs = sorted(int(x) for x in cell)
    values = [list(cell[str(x)][what].values()) for x in xs]
    return xs, [statistics.median(v) for v in values], [min(v) for v in values], [max(v) for v in values]


def show_figure2(cells: Cells) -> str:
    """Objectives at some T."""
    shown = sorted(int(x) for x in cells.get("Pegasos", {}))[::2]
    rows = []
    for name, solver in _rivals().items():
        cell = cells.get(name)
        if cell is None:
            rows.append((name, *["-"] * len(shown), UNMEASURED if solver is not None else MISSING))
            continue
        at = dict(zip(*points(cell, "objective")[:2], strict=True))
        losses = points(cell, "loss")
        rows.append((name, *(number(at.get(x)) for x in shown), number(losses[1][-1])))
    if "optimum" in cells:
        rows.append(("optimum", *[number(cells["optimum"])] * len(shown), "-"))
    return markdown(("objective after", *(f"T = {x:,}" for x in shown), "test loss at the last T"), rows)


def draw_figure2(cells: Cells, path: Path) -> None:
    """Left: Norma; right: fixed learning rates."""
    names = [name for name in _rivals() if name in cells]
    schedules = [name for name in names if not name.startswith("eta")]
    fixed = ["Pegasos", *(name for name in names if name.startswith("eta"))]
    level = (("optimum", cells["optimum"]),)
    left = [Curve(n, *points(cells[n], "objective"), c) for n, c in zip(schedules, COLOURS, strict=False)]
    tests = [(n, c) for n, c in zip(schedules, COLOURS, strict=False) if "projection" not in n]
    left += [Curve(f"{n}, test loss", *points(cells[n], "loss"), c, dashed=True) for n, c in tests]
    right = [Curve(n, *points(cells[n], "objective"), c) for n, c in zip(fixed, COLOURS, strict=False)]
    panels = [Panel("Pegasos and Norma", "steps T", "objective", left, level)]
    panels.append(Panel("Pegasos and fixed learning rates eta", "steps T", "objective", right, level))
    save(panels, path)


#: What may wait for a row with loss.
VARIANTS = ("t waits", "w waits")

# Powers of two, so that k divides kT.
_TS = (128, 1024, 8192)
_KTS = (2**14, 2**17, 2**20)


def measure_figure3(bench: Bench, results: Results) -> None:
    """The objective against k, at fixed T and at fixed kT."""
    task, _ = bench.split("astro-ph", printed.PEGASOS_LAMBDA["astro-ph"], ASTRO_TRAIN)
    results.put("optimum", task.lam * bench.optimum(task).value)
    most = bench.steps(2**21)
    for steps in _TS:
        along_k(
            bench, task, results, f"T = {steps}", [(4**i, steps) for i in range(10) if 4**i * steps <= most], pegasos()
        )
    for product in _KTS:
        if product <= most:
            ladder = [(4**i, product // 4**i) for i in range(8) if 4**i <= product]
            along_k(bench, task, results, f"kT = {product}", ladder, pegasos())


#: (rows in the order in which they are drawn, rows a step, seed) -> weights
Run: TypeAlias = Callable[[Task, int, int], np.ndarray]


def pegasos(**options: Any) -> Run:
    """One pass of Pegasos with these options."""
    return lambda rows, k, seed: after_one_pass(rows, _configured("pegasos", sampling="epoch", k=k, **options), seed)


def along_k(
    bench: Bench, task: Task, results: Results | Part, name: str, ladder: list[tuple[int, int]], run: Run
) -> None:
    """The objective for each (k, T) of the ladder; pairs with the same product use the same rows."""
    cell: Cells = {}
    for seed in range(min(bench.seeds, _SEEDS)):
        rows = None
        for k, steps in ladder:
            if rows is None or rows.X.shape[0] != k * steps:
                rows = drawn(task, k * steps, seed)
            w = run(rows, k, seed)
            cell.setdefault(str(k), {"objective": {}})["objective"][str(seed)] = task.lam * task.primal(w)
            results.put(name, cell)
    print(f"  {name}", flush=True)


def show_along_k(cells: Cells) -> str:
    """Excess over the optimum for each k."""
    names = [name for name in cells if name not in ("optimum", "rows")]
    ks = sorted({int(k) for name in names for k in cells[name]})
    rows = []
    for name in sorted(names, key=lambda name: (name.split(" = ")[0], int(name.split(" = ")[1].split(",")[0]), name)):
        at = dict(zip(*points(cells[name], "objective")[:2], strict=True))
        rows.append((name, *(f"{at[k] / cells['optimum'] - 1:.2%}" if k in at else "-" for k in ks)))
    return markdown(("objective above the optimum", *(f"k = {k:,}" for k in ks)), rows)


def draw_figure3(cells: Cells, path: Path) -> None:
    """Left: T fixed; right: kT fixed."""
    save([k_panel(cells, "T", "T fixed"), k_panel(cells, "kT", "kT fixed")], path)


def k_panel(cells: Cells, quantity: str, title: str) -> Panel:
    """A panel of the curves whose names begin with `quantity` =."""
    names = [name for name in cells if name.split(" = ")[0] == quantity and "," not in name]
    curves = []
    for name, colour in zip(sorted(names, key=lambda name: int(name.split(" = ")[1])), COLOURS, strict=False):
        curves.append(Curve(name, *_above_optimum(cells, name), colour))
        found = [variant for variant in VARIANTS if f"{name}, {variant}" in cells]
        for variant in found:  # they lie so close that one label serves all
            xs, middle, _, _ = _above_optimum(cells, f"{name}, {variant}")
            shown = " / ".join(found) if variant == found[0] else ""
            curves.append(Curve(shown, xs, middle, (), (), colour, dashed=True, label_at_start=True))
    return Panel(title, "rows per step k", "objective / optimum - 1", curves)


def _above_optimum(cells: Cells, name: str) -> list[list[float]]:
    """k, and median, minimum and maximum of objective / optimum - 1."""
    ks, *values = points(cells[name], "objective")
    return [ks, *([value / cells["optimum"] - 1.0 for value in each] for each in values)]


EXHIBITS = (
    Exhibit(
        "pegasos-table1",
        "Pegasos, Table 1: seconds to an objective within 0.001 of the optimum",
        measure_table1,
        show_table1,
    ),
    Exhibit(
        "pegasos-figure2",
        "Pegasos, Figure 2: Pegasos against Norma and against fixed learning rates",
        measure_figure2,
        show_figure2,
        draw_figure2,
    ),
    Exhibit("pegasos-figure3", "Pegasos, Figure 3: the effect of k", measure_figure3, show_along_k, draw_figure3),
)
