"""Every example runs, prints its table, and draws its picture where the command says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# What each prints, besides coming to an end; and the arguments that make it short.
SAYS = {
    "certify_foreign": "above the optimum",
    "choosing_c": "best in cross-validation",
    "demo": "scikit-learn's LinearSVC, stopped after some iterations",
    "own_solver": "Momentum",
    "stream": "OnlineSVC(window=300)",
    "tabular": "the heaviest weights",
    "text": "all within",
}
DRAWS = ("choosing_c", "demo", "stream")
SHORT = {"demo": ["2000"]}


def test_every_example_is_listed() -> None:
    assert {path.stem for path in EXAMPLES} == set(SAYS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    if example.stem == "tabular":
        pytest.importorskip("pandas")
    picture = tmp_path / "picture.png"
    arguments = [str(picture), *SHORT.get(example.stem, [])] if example.stem in DRAWS else []
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example), *arguments],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert SAYS[example.stem] in done.stdout, done.stdout
    assert picture.exists() == (example.stem in DRAWS)
    assert example.stem not in DRAWS or f"The picture is {picture}" in done.stdout
