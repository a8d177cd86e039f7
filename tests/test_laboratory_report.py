"""The laboratory's tables and plots say what was measured."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from common.plots import spread
from common.report import report
from common.results import curve, frontier, reached


@pytest.fixture
def fits() -> pd.DataFrame:
    """Two sound programs, one that fails at once, one that fails late."""
    common = {"dataset": "toy", "C": 1.0, "repetition": 0, "wall": 1.0, "value": 1.0, "lower": 100.0}
    common |= {"upper": 100.1, "rows": 10, "features": 3, "stored": 20, "test_error": 0.25}
    rows = [
        ("hinge dcd", 1.0, 0.1, 5e-2, 0.2, 2, None),
        ("hinge dcd", 0.1, 0.2, 8e-3, 2e-2, 4, None),
        ("hinge dcd", 0.01, 0.4, 5e-4, 9e-3, 8, None),
        ("LinearSVC", 1.0, 0.3, 9e-3, math.nan, 5, None),
        ("LinearSVC", 0.1, 0.2, 2e-2, math.nan, 3, None),
        ("LinearSVC", 0.01, math.nan, math.nan, math.nan, math.nan, "no result within 3 s"),
        ("Snap ML", 1.0, math.nan, math.nan, math.nan, math.nan, "returned weights that are not finite"),
        ("Vowpal Wabbit", 1.0, 0.01, 1e-9, math.nan, 1, None),
    ]
    columns = ["program", "budget", "seconds", "suboptimality", "gap", "epochs", "failure"]
    return pd.DataFrame(rows, columns=columns).assign(**common)


class TestReport:
    def test_times_are_of_the_cheapest_budget_that_reaches_the_accuracy(self, fits: pd.DataFrame) -> None:
        points = curve(fits[fits["program"] == "hinge dcd"])
        coarse, fine = reached(points, 1e-2), reached(points, 1e-3)
        assert coarse is not None and (coarse.seconds, coarse.epochs) == (0.2, 4)
        assert fine is not None and fine.seconds == 0.4
        proven = reached(points, 1e-2, by="gap")
        assert proven is not None and proven.seconds == 0.4
        assert reached(points, 1e-3, by="gap") is None

    def test_page_has_ratios_failures_and_reasons(self, fits: pd.DataFrame) -> None:
        page = report(fits, {"skglm": "cannot import skglm"}, "# Head")
        assert "| hinge dcd | 0.2 | 1.0 | 0.4 | 1.0 | 0.4 | - | 8 | 5.0e-04 | 25.00% |" in page
        assert "| LinearSVC | 0.3 | 1.5 | - | - | - | - | - | 9.0e-03 | 25.00% |" in page
        assert "| Snap ML | failed |" in page
        assert "| Vowpal Wabbit | another problem |" in page
        assert "- LinearSVC: no result within 3 s (budget 0.01)" in page
        assert "- Snap ML: returned weights that are not finite (budget 1)" in page
        assert "- skglm: cannot import skglm" in page
        assert "## toy, C = 1" in page

    def test_budget_counts_only_if_every_repetition_succeeded(self, fits: pd.DataFrame) -> None:
        second = fits[fits["program"] == "hinge dcd"].assign(repetition=1)
        second.loc[second["budget"] == 0.01, "failure"] = "crashed"
        points = curve(pd.concat([fits[fits["program"] == "hinge dcd"], second]))
        assert points["budget"].tolist() == [1.0, 0.1]

    def test_drawn_curve_only_falls(self, fits: pd.DataFrame) -> None:
        x, y = frontier(curve(fits[fits["program"] == "LinearSVC"]), "seconds")
        assert (x, y) == ([0.2, 0.3], [2e-2, 9e-3])

    def test_labels_keep_their_distance(self) -> None:
        rng = np.random.default_rng(3)
        for n in (1, 5, 16):
            heights = sorted(rng.random(n) ** 3)
            placed = spread(heights, 0.06)
            assert np.all(np.diff(placed) > 0.06 - 1e-12)
            assert placed[0] >= 0.0 and placed[-1] <= 1.0
        assert spread([0.1, 0.9], 0.06) == [0.1, 0.9]


class TestForecast:
    """Before a run the laboratory says how long it will take."""

    @pytest.fixture
    def lab(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            monkeypatch.setenv(name, "1")  # which the import does for good
        import lab

        monkeypatch.setattr(lab, "RESULTS", tmp_path)
        return lab

    def test_without_a_stored_run_the_limits_tell(self, lab: Any) -> None:
        said = lab._forecast(lab.SIZES["short"], ["a program"] * 20, lab.MINUTES["short"])
        assert said == "20 programs on 5 data sets: about 9 minutes, 7 of them for the fits."

    def test_the_last_run_tells_in_proportion_to_the_programs(self, lab: Any, tmp_path: Path) -> None:
        stored = {"minutes": dict.fromkeys(lab.SIZES["short"], 2.0), "programs": 10}
        (tmp_path / "lab.json").write_text(json.dumps(stored))
        said = lab._forecast(lab.SIZES["short"], ["a program"] * 5, lab.MINUTES["short"])
        assert said == "5 programs on 5 data sets: about 5 minutes, judging by the last run."

    def test_short_run_is_promised_in_ten_minutes(self, lab: Any) -> None:
        assert lab.MINUTES["short"] + lab._BESIDE <= 10.0
