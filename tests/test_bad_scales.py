"""Badly scaled features get one warning, with the remedy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from refusals import fit
from registry import VARIANTS, with_losses
from sklearn.exceptions import ConvergenceWarning

from hinge import Certificate, LinearSVC, solve, verify


def covertype_like(n_rows: int = 3000) -> tuple[Any, Any]:
    """Metres, degrees and indicators side by side, as in raw Covertype."""
    draw = np.random.default_rng(1)
    metres = draw.normal(2900, 280, size=(n_rows, 3))
    degrees = draw.uniform(0, 360, size=(n_rows, 3))
    flags = (draw.random((n_rows, 30)) < 0.05).astype(float)
    score = (metres[:, 0] - 2900) / 280 + (degrees[:, 0] - 180) / 100 + flags[:, 0] + draw.normal(size=n_rows)
    return np.hstack([metres, degrees, flags]), (score > 0).astype(int)


@pytest.mark.parametrize(("train", "classes"), [(solve, 2), (fit, 2), (fit, 3)])
def test_badly_scaled_features_get_exactly_one_warning_with_the_remedy(train, classes) -> None:
    raw, labels = covertype_like()
    if classes == 3:
        labels = labels + (raw[:, 1] > 3000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train(raw, labels, C=10.0, max_iter=3, tol=1e-6)
    assert [warning.category for warning in caught] == [ConvergenceWarning], [str(w.message) for w in caught]
    message = str(caught[0].message)
    assert all(part in message for part in ("relative duality gap", "max_iter", "differ in scale", "Scaler")), message


@pytest.mark.parametrize(("solver", "loss"), with_losses(VARIANTS))
def test_badly_scaled_features_leave_every_solver_a_true_certificate(solver, loss) -> None:
    raw, labels = covertype_like()
    options = {"solver": VARIANTS[solver], "loss": loss, "C": 10.0, "tol": 1e-6, "intercept": "none"}
    with pytest.warns(ConvergenceWarning, match="differ in scale"):
        solution = solve(raw, labels, max_iter=3, **options)
    checked = verify(solution, raw, labels)
    assert isinstance(checked, Certificate)
    assert 0.0 <= solution.certificate.dual <= checked.dual * (1 + 1e-9) <= checked.primal * (1 + 1e-9)
    assert solution.certificate.primal == pytest.approx(checked.primal, rel=1e-9)


def test_well_scaled_features_get_no_advice_on_scaling() -> None:
    raw, labels = covertype_like()
    scaled = (raw - raw.mean(0)) / raw.std(0)
    with pytest.warns(ConvergenceWarning, match="relative duality gap") as caught:
        solve(scaled, labels, C=10.0, max_iter=1, tol=1e-9)
    assert "scale" not in str(caught[0].message)


def test_warning_points_at_the_line_of_the_caller() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solve(*covertype_like(), max_iter=1, tol=1e-9)
        LinearSVC(max_iter=1, tol=1e-9).fit(*covertype_like())
    assert [warning.filename for warning in caught] == [__file__] * 2, "stacklevel: the warning names another file"
