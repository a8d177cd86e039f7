"""The Markdown tables."""

from __future__ import annotations

import math

import pandas as pd

from common.adapters import OTHER_PROBLEM
from common.results import Reached, curve, failures, reached

_COARSE, _FINE = 1e-2, 1e-3
_HEADER = (
    "| program | s to 1 % | ratio | s to 0.1 % | ratio | proven 1 % | proven 0.1 % | epochs to 0.1 % | best accuracy "
    "| test error |\n|---|---|---|---|---|---|---|---|---|---|"
)


def report(fits: pd.DataFrame, skipped: dict[str, str], heading: str) -> str:
    """The whole page: `heading`, a table per problem, and the programs and data sets that were left out."""
    parts = [heading]
    for (dataset, C), problem in fits.groupby(["dataset", "C"], sort=False):
        parts.append(_section(f"{dataset}, C = {C:g}", problem))
    if skipped:
        parts.append("## Not run\n\n" + "\n".join(f"- {name}: {reason}" for name, reason in skipped.items()))
    return "\n\n".join(parts) + "\n"


def _section(title: str, fits: pd.DataFrame) -> str:
    known = fits.iloc[0]
    intro = (
        f"{known.rows:,} x {known.features:,}, {known.stored:,} stored values. Optimum in [{known.lower:.8g}, "
        f"{known.upper:.8g}], width {known.upper / known.lower - 1.0:.1e}."
    )
    curves = {program: curve(rows) for program, rows in fits.groupby("program", sort=False)}
    fastest = {target: _fastest(curves, target) for target in (_COARSE, _FINE)}
    lines = [_row(program, curves[program], fastest) for program in _ranked(curves)]
    notes = [
        f"- {program}: {'; '.join(found)}"
        for program, rows in fits.groupby("program", sort=False)
        if (found := failures(rows))
    ]
    failed = ["\nFits that failed or were ended by the time limit:\n", *notes] if notes else []
    return "\n".join([f"## {title}\n", intro + "\n", _HEADER, *lines, *failed])


def _fastest(curves: dict[str, pd.DataFrame], target: float) -> float:
    times = [_time(points, target) for program, points in curves.items() if program not in OTHER_PROBLEM]
    return min(times, default=math.inf)


def _ranked(curves: dict[str, pd.DataFrame]) -> list[str]:
    """By time to 0.1 %, then to 1 %, then by the accuracy reached; other problems last."""

    def rank(program: str) -> tuple[bool, float, float, float]:
        points = curves[program]
        best = points["suboptimality"].min() if len(points) else math.inf
        return program in OTHER_PROBLEM, _time(points, _FINE), _time(points, _COARSE), best

    return sorted(curves, key=rank)


def _time(points: pd.DataFrame, target: float) -> float:
    found = reached(points, target)
    return found.seconds if found else math.inf


def _row(program: str, points: pd.DataFrame, fastest: dict[float, float]) -> str:
    if points.empty:
        return f"| {program} | failed | - | failed | - | - | - | - | - | - |"
    if program in OTHER_PROBLEM:
        return f"| {program} | another problem | - | - | - | - | - | - | - | {points.iloc[-1].test_error:.2%} |"
    best = points.loc[points["suboptimality"].idxmin()]
    cells = []
    for target in (_COARSE, _FINE):
        found = reached(points, target)
        cells += [_seconds(found), f"{found.seconds / fastest[target]:.1f}" if found else "-"]
    cells += [_seconds(reached(points, target, by="gap")) for target in (_COARSE, _FINE)]
    fine = reached(points, _FINE)
    cells.append(f"{fine.epochs:.0f}" if fine and not math.isnan(fine.epochs) else "-")
    cells += [f"{best.suboptimality:.1e}", "-" if math.isnan(best.test_error) else f"{best.test_error:.2%}"]
    return f"| {program} | " + " | ".join(cells) + " |"


def _seconds(found: Reached | None) -> str:
    return f"{found.seconds:.3g}" if found else "-"
