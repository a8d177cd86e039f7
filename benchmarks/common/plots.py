"""Drawing: panels of curves, each named at the right in its colour, so that no name covers another or a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

# Okabe & Ito, without the yellow that is hard to read on white; a second round is dashed with hollow points, a third dotted.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)))
#: The dashes of points that no line joins; their ranges are bars.
POINTS = "none"
_LINE = 0.052  # height of a name, as a fraction of the axes
_COLUMN = 1.05  # where the names are, in widths of the axes
_LEADER = {"linewidth": 0.7, "alpha": 0.4, "clip_on": False}


@dataclass(frozen=True)
class Style:
    """How a curve looks."""

    colour: str
    dashes: Any = "-"
    filled: bool = True
    width: float = 1.5


@dataclass(frozen=True)
class Curve:
    """A line: its name (may be empty), points, look, and the range over the seeds (may be empty)."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: Style
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """Curves on axes with logarithmic x; a level is a named horizontal line."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    levels: Sequence[tuple[str, float]] = ()
    log_y: bool = True
    top: float | None = None
    marks: Sequence[float] = ()


def styles(names: Sequence[str]) -> dict[str, Style]:
    """Colours in turn, then dashes: the same look for a name in every panel."""
    n = len(COLOURS)
    return {name: Style(COLOURS[i % n], _DASHES[i // n % len(_DASHES)], i < n) for i, name in enumerate(names)}


def dashed(style: Style) -> Style:
    """The companion of a curve in the same colour."""
    return Style(style.colour, (0, (4, 2)), False, 1.1)


def save(panels: Sequence[Panel], path: Path, columns: int = 2) -> None:
    """Panels in rows, written as PNG."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    settings = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(6.2 * columns, 4.1 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            _draw(axes, panel)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        figure.savefig(path, dpi=100, metadata={"Software": None})


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set(xscale="log", yscale="log" if panel.log_y else "linear", xlabel=panel.x, ylabel=panel.y)
    axes.set_title(panel.title, loc="left", fontsize=10)
    axes.grid(alpha=0.25, linewidth=0.5)
    for curve in panel.curves:
        look = curve.style
        if look.dashes == POINTS and len(curve.low):
            axes.vlines(curve.x, curve.low, curve.high, color=look.colour, alpha=0.4, linewidth=1.0)
        elif len(curve.low):
            axes.fill_between(curve.x, curve.low, curve.high, color=look.colour, alpha=0.15, linewidth=0)
        points = {"marker": "o", "markersize": 3, "markerfacecolor": look.colour if look.filled else "white"}
        axes.plot(curve.x, curve.y, color=look.colour, linestyle=look.dashes, linewidth=look.width, **points)
    for value in (*panel.marks, *(value for _, value in panel.levels)):
        axes.axhline(value, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    if panel.top is not None:
        axes.set_ylim(top=min(panel.top, axes.get_ylim()[1]))
    for axis in (axes.xaxis, axes.yaxis) if panel.log_y else (axes.xaxis,):
        axis.set_major_formatter(FuncFormatter(_plain))
        axis.set_minor_formatter(FuncFormatter(_few) if axis is axes.yaxis else NullFormatter())
    _name_ends(axes, panel)


def _plain(value: float, _: int) -> str:
    """1000 as 1,000; from 100,000 on, whose neighbours would touch, and below 0.0001 as 1e5 and 1e-6."""
    if value >= 1e5 or value < 1e-4:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:,g}"


def _few(value: float, _: int) -> str:
    """Between the powers of ten only 2 and 5 have a number."""
    return _plain(value, 0) if f"{value:e}"[0] in "25" else ""


def _name_ends(axes: Axes, panel: Panel) -> None:
    """Names in a column at the right, in the order of the curves' ends, each joined to its end by a thin line."""
    axes.autoscale_view()
    axes.autoscale(False)  # the ends must stay where they are
    to_axes = axes.transData + axes.transAxes.inverted()
    right = axes.get_xlim()[1]
    ends = [(c.name, to_axes.transform((c.x[-1], c.y[-1])), c.style.colour) for c in panel.curves if c.name]
    ends += [(name, to_axes.transform((right, value)), "0.35") for name, value in panel.levels]
    ends.sort(key=lambda end: (end[1][1], -end[1][0]))
    heights = spread([float(np.clip(end[1][1], 0.0, 1.0)) for end in ends], _LINE)
    for (name, (x, y), colour), height in zip(ends, heights, strict=True):
        axes.plot([x, _COLUMN - 0.01], [y, height], color=colour, transform=axes.transAxes, **_LEADER)
        axes.text(_COLUMN, height, name, color=colour, transform=axes.transAxes, va="center", fontsize=8)


def spread(heights: Sequence[float], least: float) -> list[float]:
    """Ascending heights moved apart to `least`, as little as possible, kept within [0, 1] where they fit."""
    groups: list[list[float]] = []  # neighbours that touch
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and _bottom(groups[-1], least) - _top(groups[-2], least) < least:
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_bottom(group, least) + i * least for group in groups for i in range(len(group))]


def _bottom(group: Sequence[float], least: float) -> float:
    """Lowest name of a group that is centred on the mean of its heights."""
    extent = (len(group) - 1) * least
    return float(np.clip(np.mean(group) - extent / 2.0, 0.0, max(0.0, 1.0 - extent)))


def _top(group: Sequence[float], least: float) -> float:
    return _bottom(group, least) + (len(group) - 1) * least
