"""A table or figure of a paper."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papers.bench import Bench
from papers.store import Results

Cells = dict[str, Any]
MISSING = "not in this build"
UNMEASURED = "not measured"


@dataclass(frozen=True)
class Exhibit:
    """How to measure it, and how to show what was measured: as a table, and as a drawing if it is a figure."""

    name: str
    title: str
    measure: Callable[[Bench, Results], None]
    table: Callable[[Cells], str]
    draw: Callable[[Cells, Path], None] | None = None


_GENERATED = {"CCAT": "RCV1-like", "astro-ph": "RCV1-like", "topics": "topical text"}


def label(dataset: str, rows: int | None = None) -> str:
    """The data set as the tables call it; generated ones with their number of rows."""
    if dataset not in _GENERATED:
        return dataset
    return _GENERATED[dataset] if rows is None else f"{_GENERATED[dataset]}, {rows:,} rows"


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


def spread(values: list[int | None]) -> str:
    """min / median / max; a dash is a run that did not get there."""
    low, high = median(sorted(values, key=_never_last)[:1]), median(sorted(values, key=_never_last)[-1:])
    return f"{number(low)} / {number(median(values))} / {number(high)}"


def _never_last(value: int | None) -> float:
    return float("inf") if value is None else value
