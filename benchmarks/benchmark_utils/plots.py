"""The plots: relative suboptimality against seconds and epochs, one panel per problem, curves named at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from benchmark_utils.labels import spread
from benchmark_utils.results import curve, dataset_title, frontier

# Okabe & Ito without their yellow; a second round of them is dashed with hollow points, a third dotted.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)))
_FLOOR, _CEILING = 1e-5, 1.0
_TARGETS = (1e-2, 1e-3)


@dataclass(frozen=True)
class Style:
    """How a program is drawn, the same in every panel."""

    colour: str
    dashes: object
    filled: bool


@dataclass(frozen=True)
class Line:
    """A curve of a panel."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Style


def styles(programs: Sequence[str]) -> dict[str, Style]:
    """Colours in turn, then dashes."""
    n = len(_COLOURS)
    return {name: Style(_COLOURS[i % n], _DASHES[i // n % len(_DASHES)], i < n) for i, name in enumerate(programs)}


def draw(fits: pd.DataFrame, programs: Sequence[str], against: str, path: Path, columns: int = 2) -> None:
    """Write a PNG with a panel per problem: suboptimality of `programs` against "seconds" or "epochs"."""
    problems = list(fits.groupby(["dataset", "C"], sort=False))
    look = styles(programs)
    columns = min(columns, len(problems))
    rows = -(-len(problems) // columns)
    settings = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(5.6 * columns, 3.9 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, ((dataset, C), problem) in zip(panels, problems, strict=False):
            lines = []
            for name in programs:
                x, y = frontier(curve(problem[problem["program"] == name]), against)
                if y and y[-1] < _CEILING:
                    lines.append(Line(name, x, [max(value, _FLOOR) for value in y], look[name]))
            _panel(axes, f"{dataset_title(dataset)}, C = {C:g}", against, lines)
        for axes in panels[len(problems) :]:
            axes.set_axis_off()
        figure.savefig(path, dpi=110, metadata={"Software": None})


def _panel(axes: Axes, title: str, against: str, lines: Sequence[Line]) -> None:
    axes.set(xscale="log", yscale="log", xlabel=_AXIS[against], ylabel="relative suboptimality")
    axes.set_title(title, loc="left", fontsize=10)
    for line in lines:
        colour = line.style.colour
        look = {"color": colour, "linestyle": line.style.dashes, "linewidth": 1.4}
        points = {"marker": "o", "markersize": 3, "markerfacecolor": colour if line.style.filled else "white"}
        axes.plot(line.x, line.y, **look, **points)
    for target in _TARGETS:
        axes.axhline(target, color="0.8", linewidth=0.8, zorder=0)
    axes.set_ylim(top=min(2.0 * _CEILING, axes.get_ylim()[1]))
    axes.xaxis.set_minor_formatter(NullFormatter())
    _name_ends(axes, lines)


_AXIS = {"seconds": "seconds of CPU time of a complete fit", "epochs": "passes over the rows"}
_LABEL_HEIGHT = 0.047  # of the axes
_LABEL_COLUMN = 1.05  # in fractions of the axes' width
_LEADER = {"linewidth": 0.7, "alpha": 0.4, "clip_on": False}


def _name_ends(axes: Axes, lines: Sequence[Line]) -> None:
    """Names in a column at the right, in the order of the curves' ends, each joined to its end by a thin line."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [(line, to_axes.transform((line.x[-1], line.y[-1]))) for line in lines]
    ends.sort(key=lambda pair: (pair[1][1], -pair[1][0]))
    heights = spread([float(np.clip(end[1], 0.0, 1.0)) for _, end in ends], _LABEL_HEIGHT)
    for (line, end), height in zip(ends, heights, strict=True):
        leader = [end[0], _LABEL_COLUMN - 0.01], [end[1], height]
        axes.plot(*leader, color=line.style.colour, transform=axes.transAxes, **_LEADER)
        axes.text(
            _LABEL_COLUMN,
            height,
            line.label,
            color=line.style.colour,
            transform=axes.transAxes,
            va="center",
            fontsize=8,
        )
