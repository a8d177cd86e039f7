"""A table or figure of a paper, a claim about it, and how numbers are written."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.store import Results

from papers.bench import DATASETS, ENOUGH_SEEDS, Bench

Cells = Mapping[str, Any]
#: exhibit -> its cells
Measured = Mapping[str, Cells]


@dataclass(frozen=True)
class Claim:
    """What a paper says (or, if `own`, what we say of our certificates), of which case, the figures of both, and whether it holds."""

    text: str
    case: str
    paper: str
    ours: str
    holds: bool
    own: bool = False

    @property
    def verdict(self) -> str:
        return "PASS" if self.holds else "FAIL"


def _nothing(_: Measured) -> Iterator[Claim]:
    return iter(())


@dataclass(frozen=True)
class Exhibit:
    """How to measure it, and how to show what was measured: as a table, as a drawing, and as claims."""

    name: str
    title: str
    measure: Callable[[Bench, Results], None]
    table: Callable[[Cells], str]
    draw: Callable[[Measured, Path], None] | None = None
    claims: Callable[[Measured], Iterator[Claim]] = _nothing


_GENERATED = ("CCAT", "astro-ph", "topics")


def label(dataset: str, rows: int | None = None) -> str:
    """The data set as the tables call it; generated ones with their number of rows."""
    if dataset not in _GENERATED:
        return dataset
    return DATASETS[dataset] if rows is None else f"{DATASETS[dataset]}, {rows:,} rows"


def number(value: float | None) -> str:
    """Three digits, or a dash."""
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def ratio(a: float | None, b: float | None) -> float | None:
    """a / b if both are there."""
    return None if a is None or not b else a / b


def median(values: Iterable[float | None]) -> float | None:
    """The median, with None (never) as infinite; None if that is the median."""
    ordered = sorted(float("inf") if value is None else value for value in values)
    middle = statistics.median(ordered) if ordered else float("inf")
    return None if middle == float("inf") else middle


def spread(values: Iterable[float | None]) -> str:
    """min / median / max, or the value that all have; a dash is a run that did not get there."""
    ordered = sorted(values, key=lambda value: float("inf") if value is None else value)
    if ordered[0] == ordered[-1]:
        return number(ordered[0])
    return " / ".join(number(value) for value in (ordered[0], median(ordered), ordered[-1]))


def seconds(cell: Cells | None) -> float | None:
    """Median CPU seconds of training to the goal; None if that is not the rule."""
    if cell is None:
        return None
    return median(run["seconds"] if run.get("reached", run["passes"] is not None) else None for run in cell["runs"])


#: Solvers that draw nothing: one run says all.
DETERMINISTIC = ("cutting-plane", "ocas")


def judged(cells: Cells) -> dict[str, Any]:
    """Those of the cells "data set|line" that claims may rest on: enough seeds, if the solver draws rows at random."""
    return {
        name: cell
        for name, cell in cells.items()
        if name.partition("|")[2] in DETERMINISTIC or len(cell["runs"]) >= ENOUGH_SEEDS
    }


def points(cell: Cells, what: str) -> tuple[list[int], list[float], list[float], list[float]]:
    """x, and median, minimum and maximum over the seeds."""
    xs = sorted(int(x) for x in cell)
    values = [list(cell[str(x)][what].values()) for x in xs]
    return xs, [statistics.median(v) for v in values], [min(v) for v in values], [max(v) for v in values]


def at(cell: Cells, what: str) -> dict[int, float]:
    """x -> median over the seeds."""
    return dict(zip(*points(cell, what)[:2], strict=True))
