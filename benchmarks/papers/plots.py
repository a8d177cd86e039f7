"""Drawing: curves with their names at their ends, in colours that everybody can tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

# Okabe & Ito, without the yellow that is hard to read on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_LINE = 0.055  # height of a label as a fraction of the axis


@dataclass(frozen=True)
class Curve:
    """A line: its label (may be empty), points, and the range over the seeds (may be empty)."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: str
    dashed: bool = False
    label_at_start: bool = False


@dataclass(frozen=True)
class Panel:
    """Curves on axes with logarithmic x; a level is a labelled horizontal line."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    levels: tuple[tuple[str, float], ...] = ()
    log_y: bool = True


def _plain(value: float, _: int) -> str:
    """1000 as 1,000, a million as 1e6."""
    return f"{value:.0e}".replace("e+0", "e") if value >= 1e6 else f"{value:,g}"


def _few(value: float, _: int) -> str:
    """Between the powers of ten only 2 and 5 have a number."""
    return _plain(value, 0) if f"{value:e}"[0] in "25" else ""


def save(panels: Sequence[Panel], path: Path) -> None:
    """Panels side by side, written as PNG."""
    with matplotlib.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(6.4 * len(panels), 4.4), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            _draw(axes, panel)
        figure.savefig(path, dpi=110, metadata={"Software": None})


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    for curve in panel.curves:
        if len(curve.low):
            axes.fill_between(curve.x, curve.low, curve.high, color=curve.colour, alpha=0.15, linewidth=0)
        style = "--" if curve.dashed else "-"
        axes.plot(curve.x, curve.y, style, color=curve.colour, marker="o", markersize=3, linewidth=1.6)
    for _, value in panel.levels:
        axes.axhline(value, color="#666666", linewidth=1, linestyle=":")
    for axis in (axes.xaxis, axes.yaxis) if panel.log_y else (axes.xaxis,):
        axis.set_major_formatter(_plain)
        axis.set_minor_formatter(_few if axis is axes.yaxis else NullFormatter())
    axes.set_title(panel.title, loc="left", fontsize=10)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.grid(alpha=0.25, linewidth=0.5)
    for curve in panel.curves:
        if curve.label_at_start:
            axes.annotate(
                curve.label,
                (curve.x[0], curve.y[0]),
                (5, 3),
                textcoords="offset points",
                color=curve.colour,
                fontsize=9,
            )
    ends = [(c.label, c.y[-1], c.colour, c.x[-1]) for c in panel.curves if c.label and not c.label_at_start]
    right = max((end[3] for end in ends), default=1.0)
    # A curve that ends early is named at its end, the others and the levels in a column at the right.
    for label, value, colour, x in ends:
        if x < 0.9 * right:
            axes.annotate(label, (x, value), xytext=(4, 4), textcoords="offset points", color=colour, fontsize=9)
    column = [(label, value, colour) for label, value, colour, x in ends if x >= 0.9 * right]
    _label_column(axes, column + [(label, value, "#444444") for label, value in panel.levels])


def _label_column(axes: Axes, labels: list[tuple[str, float, str]]) -> None:
    """Labels right of the axes at the height of their values, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    log = axes.get_yscale() == "log"

    def height(value: float) -> float:
        if log:
            return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
        return (value - low) / (high - low)

    labels = sorted(labels, key=lambda item: item[1])
    for (label, _, colour), place in zip(labels, _apart([height(value) for _, value, _ in labels]), strict=True):
        axes.text(1.01, place, label, transform=axes.transAxes, color=colour, va="center", fontsize=9)


def _apart(heights: list[float]) -> list[float]:
    """Ascending heights moved apart: labels that would overlap form a block around the mean of their heights."""
    blocks: list[list[float]] = []
    for height in heights:
        blocks.append([height])
        while len(blocks) > 1 and _centre(blocks[-1]) - _centre(blocks[-2]) < _LINE * len(blocks[-2] + blocks[-1]) / 2:
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return [_centre(block) + _LINE * (place - (len(block) - 1) / 2) for block in blocks for place in range(len(block))]


def _centre(block: list[float]) -> float:
    return sum(block) / len(block)
