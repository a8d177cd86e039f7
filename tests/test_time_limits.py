"""Time limits hold, inside long epochs and for several problems together."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from loops import Signalled, X, make, solve_quietly, unconverged, y
from registry import SOLVERS, with_losses
from sklearn.exceptions import ConvergenceWarning

from hinge import BestOf, LinearSVC, Pegasos, solve

pytestmark = pytest.mark.timing

# Beyond the limit: a final evaluation, and a machine that does other things too.
LEEWAY = 0.7


def seconds_of(solver: Any, limit: float, **options: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    solution = solve_quietly(X, y, solver=solver, time_limit=limit, **options)
    return solution, time.perf_counter() - began


@pytest.mark.parametrize(("solver", "loss"), with_losses())
def test_time_limit_holds_inside_a_long_epoch(solver, loss) -> None:
    limit = 0.2
    options: dict[str, Any] = {"loss": loss, "tol": 1e-16, "intercept": "none", "max_iter": 1}
    solution, seconds = seconds_of(Signalled(solver=SOLVERS[solver]), limit, **options)
    assert solution.status == "time_limit"
    assert 0.9 * limit <= seconds < limit + LEEWAY, f"{seconds:.2f} s with a limit of {limit} s"
    assert 0.0 < solution.certificate.dual <= solution.certificate.primal


def test_without_time_for_anything_the_solution_has_arrays_of_zeros() -> None:
    solution, _ = seconds_of("auto", 1e-9)
    assert (solution.status, solution.n_iter, solution.certificate.dual) == ("time_limit", 0, 0.0)
    assert solution.dual.shape == y.shape
    assert not solution.dual.any()
    for array in (solution.dual, solution.coef):
        assert array.flags.c_contiguous
        assert array.flags.writeable
    again = solve(X, y, state=solution.state)
    assert np.array_equal(again.dual, solve(X, y).dual)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_time_limit_is_for_all_classes_together(n_jobs) -> None:
    rows, labels = make(5000, classes=4)
    began = time.perf_counter()
    with unconverged():
        model = LinearSVC(solver=Signalled(), time_limit=0.6, n_jobs=n_jobs).fit(rows, labels)
    seconds = time.perf_counter() - began
    assert model.status_ == "time_limit"
    assert seconds < 0.6 + LEEWAY, f"{seconds:.2f} s for four classes with a limit of 0.6 s"


def test_time_limit_is_for_all_runs_of_a_composite_together() -> None:
    # Runs that end before the limit, one after the other.
    solution, seconds = seconds_of(BestOf(Pegasos(), runs=40), 0.5, tol=1e-9, max_iter=40 * 300)
    assert solution.status == "time_limit"
    assert seconds < 0.5 + LEEWAY, f"{seconds:.1f} s with a limit of 0.5 s"


def test_run_out_of_time_warns_with_gap_and_advice() -> None:
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of .*above tol=.*Raise time_limit"):
        solve(X, y, solver=Signalled(), time_limit=0.2)
