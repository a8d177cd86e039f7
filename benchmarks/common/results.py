"""Results of a run: one row per fit, and what is read off them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

#: benchopt's columns that are kept, and their names here.
_COLUMNS = {
    "p_dataset_source": "dataset",
    "p_obj_C": "C",
    "p_solver_program": "program",
    "idx_rep": "repetition",
    "stop_val": "budget",
    "objective_seconds": "seconds",
    "objective_wall": "wall",
    "objective_value": "value",
    "objective_suboptimality": "suboptimality",
    "objective_gap": "gap",
    "objective_epochs": "epochs",
    "objective_test_error": "test_error",
    "objective_failure": "failure",
    "objective_lower": "lower",
    "objective_upper": "upper",
    "objective_rows": "rows",
    "objective_features": "features",
    "objective_stored": "stored",
}
_MEDIANS = ["seconds", "suboptimality", "gap", "epochs", "test_error"]


@dataclass(frozen=True)
class Reached:
    """When a program has reached an accuracy: seconds and epochs of the cheapest budget that does it (medians)."""

    seconds: float
    epochs: float


def from_benchopt(path: Path) -> pd.DataFrame:
    """The fits in a file of benchopt, without its evaluation of w = 0."""
    frame = pd.read_parquet(path)
    frame = frame[list(_COLUMNS)].rename(columns=_COLUMNS)
    return frame[frame["budget"] != 0].reset_index(drop=True)


def curve(fits: pd.DataFrame) -> pd.DataFrame:
    """Medians per budget of one program on one problem; only budgets with which no repetition failed."""
    sound = fits.groupby("budget")["failure"].transform(lambda failures: failures.isna().all())
    return fits[sound].groupby("budget")[_MEDIANS].median().sort_values("seconds").reset_index()


def reached(points: pd.DataFrame, accuracy: float, by: str = "suboptimality") -> Reached | None:
    """The cheapest point of a curve with `by` (suboptimality, or the gap that proves it) within `accuracy`."""
    within = points[points[by] <= accuracy]
    if within.empty:
        return None
    best = within.loc[within["seconds"].idxmin()]
    return Reached(float(best["seconds"]), float(best["epochs"]))


def frontier(points: pd.DataFrame, against: str) -> tuple[list[float], list[float]]:
    """The best suboptimality within so many seconds or epochs: a curve that only falls."""
    x, y, best = [], [], math.inf
    for point in points.dropna(subset=[against]).sort_values(against).itertuples():
        if point.suboptimality < best:
            best = point.suboptimality
            x.append(float(getattr(point, against)))
            y.append(float(best))
    return x, y


def failures(fits: pd.DataFrame) -> list[str]:
    """What went wrong, with the budget at which it did."""
    failed = fits.dropna(subset=["failure"]).drop_duplicates(["budget", "failure"])
    return [f"{row.failure} (budget {row.budget:g})" for row in failed.itertuples()]
