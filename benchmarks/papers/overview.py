"""Figures 2 to 4 of Rupnik's overview of Pegasos: lambda = 1e-4, k = 8000, 700,000 training rows.

CCAT has two stand-ins: RCV1-like rows, and topical text, which is as easy to separate as CCAT is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from papers import printed
from papers.bench import Bench, Labelled
from papers.exhibit import Cells, Exhibit, label, percent
from papers.pegasos import along_k, k_panel, pegasos, points, show_along_k
from papers.plots import COLOURS, Curve, Panel, save
from papers.store import Part, Results, markdown
from papers.task import Task, solver_named
from papers.watch import after_one_pass, drawn

_DATASETS = ("CCAT", "topics")
_LAMBDA = 1e-4
_K = 8000
_TRAIN = 700_000
_SEEDS = 5
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 560)
_KTS = (2**17, 2**19, 2**21)
_MOST_IN_NUMPY = 2**19


def _tasks(bench: Bench, results: Results) -> Iterator[tuple[Task, Labelled, Part]]:
    """The data sets asked for: training task, test rows, and where the results go."""
    for dataset in _DATASETS:
        if dataset in bench.datasets:
            task, test = bench.split(dataset, _LAMBDA, _TRAIN)
            part = Part(results, dataset)
            part.put("rows", task.X.shape[0])
            part.put("optimum", task.lam * bench.optimum(task).value)
            yield task, test, part


def _along_steps(bench: Bench, results: Results, grid: tuple[int, ...], **options: Any) -> None:
    """Objective and test error after some steps of 8000 rows, each a run of its own, for several seeds."""
    for task, (X, y), part in _tasks(bench, results):
        part.put("floor", float(np.mean(y * (X @ task.solve("dcd", tol=1e-3).coef) <= 0)))
        k = bench.steps(_K)
        part.put("k", k)
        solver = solver_named("pegasos").replace(sampling="epoch", k=k, **options)
        runs: Cells = {}
        for steps in grid:
            at: Cells = runs.setdefault(str(steps), {"objective": {}, "error": {}})
            for seed in range(min(bench.seeds, _SEEDS)):
                w = after_one_pass(drawn(task, k * steps, seed), solver, seed)
                at["objective"][str(seed)] = task.lam * task.primal(w)
                at["error"][str(seed)] = float(np.mean(y * (X @ w) <= 0))
            part.put("runs", runs)
            print(f"  {task.name}: {steps} steps", flush=True)


def measure_figure2(bench: Bench, results: Results) -> None:
    """Random starts in the ball."""
    _along_steps(bench, results, _STEPS, start_at="random")


def measure_figure3(bench: Bench, results: Results) -> None:
    """From zero; the error has long settled before the last number of steps."""
    _along_steps(bench, results, _STEPS[:-1])


def w_waits(rows: Task, k: int, seed: int) -> np.ndarray:
    """Pegasos whose steps without loss leave w alone, its shrinking included, while t goes on.

    No solver of hinge: the overview's words ("the value of w would not change in that iteration") can be read as this.
    """
    X, y, lam = rows.X, rows.y, rows.lam
    w = np.zeros(X.shape[1])
    for t, begin in enumerate(range(0, X.shape[0], k), start=1):
        first, last = X.indptr[begin], X.indptr[begin + k]
        columns, values = X.indices[first:last], X.data[first:last]
        row = np.repeat(np.arange(k), np.diff(X.indptr[begin : begin + k + 1]))
        margins = y[begin : begin + k] * np.bincount(row, values * w[columns], k)
        loss = np.where(margins < 1.0, y[begin : begin + k], 0.0)
        if loss.any():
            w *= 1.0 - 1.0 / t
            np.add.at(w, columns, loss[row] * values / (lam * t * k))
            w *= min(1.0, 1.0 / np.sqrt(lam * np.square(w).sum()))
    return w


def measure_figure4(bench: Bench, results: Results) -> None:
    """The objective against k at three fixed products kT; for small k also with what may wait for rows with loss."""
    for task, _, part in _tasks(bench, results):
        for product in _KTS:
            rows = 2 ** int(np.log2(bench.steps(product)))
            ladder = [(4**i, rows // 4**i) for i in range(9) if 4**i <= rows]
            along_k(bench, task, part, f"kT = {rows}", ladder, pegasos())
            along_k(bench, task, part, f"kT = {rows}, t waits", ladder[:4], pegasos(advance_without_loss=False))
            if rows <= _MOST_IN_NUMPY:
                along_k(bench, task, part, f"kT = {rows}, w waits", ladder[:4], w_waits)


def _each(show: Callable[[Cells], str]) -> Callable[[Cells], str]:
    """A table per data set."""

    def table(cells: Cells) -> str:
        parts = [(label(name, cells[name]["rows"]), show(cells[name])) for name in _DATASETS if name in cells]
        return "\n\n".join(f"{name}:\n\n{text}" for name, text in parts) or "not measured"

    return table


def _panels(draw: Callable[[Cells, str], Panel]) -> Callable[[Cells, Path], None]:
    """A panel per data set."""

    def drawing(cells: Cells, path: Path) -> None:
        names = [name for name in _DATASETS if name in cells]
        save([draw(cells[name], label(name, cells[name]["rows"])) for name in names], path)

    return drawing


def excesses(part: Cells) -> dict[int, tuple[float, float, float]]:
    """steps -> objective above the optimum: median, least, most."""
    columns = zip(*points(part["runs"], "objective"), strict=True)
    return {x: tuple(value / part["optimum"] - 1.0 for value in values) for x, *values in columns}


def show_figure2(part: Cells) -> str:
    """How far above the optimum."""
    rows = []
    for steps, (middle, low, high) in excesses(part).items():
        milestone = printed.OVERVIEW_MILESTONES.get(steps)
        paper = "-" if milestone is None else percent(milestone)
        rows.append((f"{steps}", paper, percent(middle), percent(low), percent(high)))
    return markdown(("steps", "paper: above the optimum", "ours: median of the starts", "best", "worst"), rows)


def draw_figure2(part: Cells, title: str) -> Panel:
    """A curve per start; they lie so close that one name serves all."""
    runs = part["runs"]
    steps = sorted(int(x) for x in runs)
    starts = sorted(runs[str(steps[0])]["objective"])
    curves = []
    for start, colour in zip(starts, COLOURS, strict=False):
        above = [runs[str(x)]["objective"][start] / part["optimum"] - 1.0 for x in steps]
        curves.append(Curve("" if curves else f"{len(starts)} starts", steps, above, (), (), colour))
    return Panel(title, f"steps of {part['k']:,} rows", "objective / optimum - 1", curves)


def show_figure3(part: Cells) -> str:
    """Test errors."""
    at_50, floor = printed.OVERVIEW_ERRORS
    rows = []
    for x, middle, low, high in zip(*points(part["runs"], "error"), strict=True):
        rows.append((f"{x}", percent(at_50) if x == 50 else "-", percent(middle), percent(low), percent(high)))
    rows.append(("optimum", f"{percent(floor)} (SVM-light)", f"{percent(part['floor'])} (dcd)", "-", "-"))
    return markdown(("steps", "paper: test error", "ours: median", "best", "worst"), rows)


def draw_figure3(part: Cells, title: str) -> Panel:
    """Test error against steps."""
    xs, middle, low, high = points(part["runs"], "error")
    curve = Curve("Pegasos", xs, middle, low, high, COLOURS[0])
    return Panel(
        title, f"steps of {part['k']:,} rows", "test error", [curve], (("optimum", part["floor"]),), log_y=False
    )


EXHIBITS = (
    Exhibit(
        "overview-figure2",
        "Overview, Figure 2: several random starts",
        measure_figure2,
        _each(show_figure2),
        _panels(draw_figure2),
    ),
    Exhibit(
        "overview-figure3",
        "Overview, Figure 3: test error",
        measure_figure3,
        _each(show_figure3),
        _panels(draw_figure3),
    ),
    Exhibit(
        "overview-figure4",
        "Overview, Figure 4: k and T at fixed kT",
        measure_figure4,
        _each(show_along_k),
        _panels(lambda part, title: k_panel(part, "kT", f"{title}, kT fixed")),
    ),
)
