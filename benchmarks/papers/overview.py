"""Figures 2 to 4 of Rupnik's overview of Pegasos: lambda = 1e-4, k = 8000, 700,000 training rows.

CCAT has two stand-ins: RCV1-like rows, and topical text, which is as easy to separate as CCAT is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import plots
from common.problem import Labelled, Problem
from common.store import Part, Results, markdown

from hinge.solvers import as_solver
from papers import printed
from papers.bench import DATASETS, Bench
from papers.exhibit import Cells, Claim, Exhibit, Measured, at, label, percent, points
from papers.pegasos import along_k, k_panel, pegasos, show_along_k
from papers.watch import after_steps, solve

_DATASETS = ("CCAT", "topics")
_LAMBDA = 1e-4
_K = 8000
_TRAIN = 700_000
_SEEDS = 5
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 560)
_KTS = (2**17, 2**19, 2**21)
_MOST_IN_NUMPY = 2**19
_NEARLY = 1.05


def _problems(bench: Bench, results: Results) -> Iterator[tuple[Problem, Labelled, Part]]:
    """The data sets asked for: training rows, test rows, and where the results go."""
    for dataset in _DATASETS:
        if dataset in bench.datasets:
            problem, test = bench.split(dataset, _LAMBDA, _TRAIN)
            part = results.part(dataset)
            part.put("rows", len(problem.y))
            part.put("optimum", problem.lam * bench.optimum(problem).lower)
            yield problem, test, part


def _along_steps(bench: Bench, results: Results, grid: tuple[int, ...], **options: Any) -> None:
    """Objective and test error after some steps, each with 8000 other rows, each a run of its own, for several seeds."""
    for problem, (X, y), part in _problems(bench, results):
        part.put("floor", float(np.mean(y * (X @ solve(problem, "dcd", tol=1e-3).coef) <= 0)))
        k = bench.steps(_K)
        part.put("k", k)
        solver = as_solver("pegasos").replace(sampling="subset", k=k, **options)
        runs: dict[str, Any] = {}
        for steps in grid:
            found: dict[str, Any] = runs.setdefault(str(steps), {"objective": {}, "error": {}})
            for seed in range(min(bench.seeds, _SEEDS)):
                w = after_steps(problem, solver.replace(steps=steps), seed)
                found["objective"][str(seed)] = problem.lam * problem.primal(w)
                found["error"][str(seed)] = float(np.mean(y * (X @ w) <= 0))
            part.put("runs", runs)
            print(f"  {problem.name}: {steps} steps", flush=True)


def measure_figure2(bench: Bench, results: Results) -> None:
    """Random starts in the ball."""
    _along_steps(bench, results, _STEPS, start_at="random")


def measure_figure3(bench: Bench, results: Results) -> None:
    """From zero; the error has long settled before the last number of steps."""
    _along_steps(bench, results, _STEPS[:-1])


def w_waits(rows: Problem, k: int, seed: int) -> np.ndarray:
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
    for problem, _, part in _problems(bench, results):
        for product in _KTS:
            rows = 2 ** int(np.log2(bench.steps(product)))
            ladder = [(4**i, rows // 4**i) for i in range(9) if 4**i <= rows]
            along_k(bench, problem, part, f"kT = {rows}", ladder, pegasos())
            along_k(bench, problem, part, f"kT = {rows}, t waits", ladder[:4], pegasos(advance_without_loss=False))
            if rows <= _MOST_IN_NUMPY:
                along_k(bench, problem, part, f"kT = {rows}, w waits", ladder[:4], w_waits)


def _each(show: Callable[[Cells], str]) -> Callable[[Cells], str]:
    """A table per data set."""

    def table(cells: Cells) -> str:
        parts = [(label(name, cells[name]["rows"]), show(cells[name])) for name in _DATASETS if name in cells]
        return "\n\n".join(f"{name}:\n\n{text}" for name, text in parts)

    return table


def _panels(exhibit: str, draw: Callable[[Cells, str], plots.Panel]) -> Callable[[Measured, Path], None]:
    """A panel per data set."""

    def drawing(measured: Measured, path: Path) -> None:
        cells = measured[exhibit]
        names = [name for name in _DATASETS if name in cells]
        plots.save([draw(cells[name], label(name, cells[name]["rows"])) for name in names], path)

    return drawing


def _claims(exhibit: str, find: Callable[[Cells, str], Iterator[Claim]]) -> Callable[[Measured], Iterator[Claim]]:
    """Claims on each data set."""

    def claims(measured: Measured) -> Iterator[Claim]:
        for dataset, part in measured.get(exhibit, {}).items():
            yield from find(part, f"{DATASETS[dataset]}, {part['rows']:,} rows")

    return claims


def excesses(part: Cells) -> dict[int, list[float]]:
    """steps -> objective above the optimum: median, least, most."""
    columns = zip(*points(part["runs"], "objective"), strict=True)
    return {x: [value / part["optimum"] - 1.0 for value in values] for x, *values in columns}


def show_figure2(part: Cells) -> str:
    """How far above the optimum."""
    rows = []
    for steps, (middle, low, high) in excesses(part).items():
        milestone = printed.OVERVIEW_MILESTONES.get(steps)
        paper = "-" if milestone is None else percent(milestone)
        rows.append((f"{steps}", paper, percent(middle), percent(low), percent(high)))
    return markdown(("steps", "paper: above the optimum", "ours: median of the starts", "best", "worst"), rows)


def draw_figure2(part: Cells, title: str) -> plots.Panel:
    """A curve per start; they lie so close that one name serves all."""
    runs = part["runs"]
    steps = sorted(int(x) for x in runs)
    starts = sorted(runs[str(steps[0])]["objective"])
    curves = []
    for start, look in plots.styles(starts).items():
        above = [runs[str(x)]["objective"][start] / part["optimum"] - 1.0 for x in steps]
        curves.append(plots.Curve("" if curves else f"{len(starts)} starts", steps, above, look))
    return plots.Panel(title, f"steps of {part['k']:,} rows", "objective / optimum - 1", curves)


def claims_figure2(part: Cells, case: str) -> Iterator[Claim]:
    """The milestones (one digit is printed), and that the start does not matter."""
    found = excesses(part)
    for steps, promise in printed.OVERVIEW_MILESTONES.items():
        if steps in found:
            middle, low, high = found[steps]
            ours = f"{middle:.3%} ({low:.3%} to {high:.3%})"
            text = f"within {promise:.1%} (to this digit) after {steps} steps of 8000 rows"
            yield Claim(text, case, f"{promise:.1%}", ours, round(middle, 3) <= promise)
    last = max(found)
    scatter = (1.0 + found[last][2]) / (1.0 + found[last][1])
    text = f"the start does not matter (after {last} steps)"
    yield Claim(text, case, "more or less", f"worst / best objective {scatter:.4f}", scatter <= 1.001)


def show_figure3(part: Cells) -> str:
    """Test errors."""
    at_50, floor = printed.OVERVIEW_ERRORS
    rows = []
    for x, middle, low, high in zip(*points(part["runs"], "error"), strict=True):
        rows.append((f"{x}", percent(at_50) if x == 50 else "-", percent(middle), percent(low), percent(high)))
    rows.append(("optimum", f"{percent(floor)} (SVM-light)", f"{percent(part['floor'])} (dcd)", "-", "-"))
    return markdown(("steps", "paper: test error", "ours: median", "best", "worst"), rows)


def draw_figure3(part: Cells, title: str) -> plots.Panel:
    """Test error against steps."""
    xs, middle, low, high = points(part["runs"], "error")
    curve = plots.Curve("Pegasos", xs, middle, plots.Style(plots.COLOURS[0]), low, high)
    level = (("optimum", part["floor"]),)
    return plots.Panel(title, f"steps of {part['k']:,} rows", "test error", [curve], level, log_y=False)


def claims_figure3(part: Cells, case: str) -> Iterator[Claim]:
    """The error after 50 steps."""
    reached, floor = printed.OVERVIEW_ERRORS
    error = at(part["runs"], "error").get(50)
    if error is not None:
        text = f"test error within a factor {reached / floor:.3f} of the optimum's after 50 steps"
        ours = f"{percent(error)} and {percent(part['floor'])}"
        holds = error <= reached / floor * part["floor"]
        yield Claim(text, case, f"{percent(reached)} and {percent(floor)}", ours, holds)


def claims_figure4(part: Cells, case: str) -> Iterator[Claim]:
    """Slow-down at small k, as printed and as described; larger kT below smaller."""
    products = sorted(int(name.partition(" = ")[2]) for name in part if name.startswith("kT") and "," not in name)

    def above(name: str) -> dict[int, float]:
        return {k: value / part["optimum"] - 1.0 for k, value in at(part[name], "objective").items()}

    for less, more in itertools.pairwise(products):
        a, b = above(f"kT = {less}"), above(f"kT = {more}")
        better = sum(b[k] < a[k] for k in a if k in b)
        text = "a larger kT gives a lower curve"
        yield Claim(
            text, f"{case}, kT = {less:,} and {more:,}", "always", f"at {better} of {len(a)} k", better == len(a)
        )
    for product in products:
        name, where = f"kT = {product}", f"{case}, kT = {product:,}"
        yield _slower(part, name, where, "k = 1 is slower than some larger k at the same kT")
        if f"{name}, w waits" in part:
            text = "the same, if steps without loss leave w alone, as the overview says"
            yield _slower(part, f"{name}, w waits", f"{where}, w waits", text)
            w, t = above(f"{name}, w waits"), above(f"{name}, t waits")
            text = "not advancing t then improves convergence at k = 1"
            yield Claim(text, where, "yes", f"{percent(t[1])} instead of {percent(w[1])}", t[1] < w[1])
            text = "and k = 1 remains slower than k = 16"
            yield Claim(text, where, "yes", f"{percent(t[1])} and {percent(t[16])}", t[1] > _NEARLY * t[16])


def _slower(part: Cells, name: str, where: str, text: str) -> Claim:
    """Of nine values some are smaller by chance: slower means by more than 5 %, beyond the scatter of the seeds."""
    ks, middle, low, high = points(part[name], "objective")
    best = min(range(len(ks)), key=lambda i: middle[i])
    first, least = (value / part["optimum"] - 1.0 for value in (middle[0], middle[best]))
    ours = f"k = 1: {percent(first)}, k = {ks[best]:,}: {percent(least)}"
    return Claim(text, where, "yes", ours, first > _NEARLY * least and low[0] > high[best])


EXHIBITS = (
    Exhibit(
        "overview-figure2",
        "Overview, Figure 2: several random starts",
        measure_figure2,
        _each(show_figure2),
        _panels("overview-figure2", draw_figure2),
        _claims("overview-figure2", claims_figure2),
    ),
    Exhibit(
        "overview-figure3",
        "Overview, Figure 3: test error",
        measure_figure3,
        _each(show_figure3),
        _panels("overview-figure3", draw_figure3),
        _claims("overview-figure3", claims_figure3),
    ),
    Exhibit(
        "overview-figure4",
        "Overview, Figure 4: k and T at fixed kT",
        measure_figure4,
        _each(show_along_k),
        _panels("overview-figure4", lambda part, title: k_panel(part, "kT", f"{title}, kT fixed")),
        _claims("overview-figure4", claims_figure4),
    ),
)
