"""The search for Zhang's step size: the lowest primal wins, the grid grows at its ends, no warning comes through."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import make, solve_quietly
from refusals import refused

import hinge
from hinge import EtaSearch, Zhang, search_eta, solve

X, y = make(400)


def interior(found: EtaSearch) -> bool:
    etas = [eta for eta, _ in found.table]
    return etas[0] < found.best.eta < etas[-1]


def test_best_is_the_step_size_with_the_lowest_primal() -> None:
    found = search_eta(X, y, C=0.1)
    assert [eta for eta, _ in found.table] == sorted(eta for eta, _ in found.table)
    assert found.best.eta == min(found.table, key=lambda row: row[1])[0]
    assert interior(found)


def test_primals_are_those_of_runs_of_solve() -> None:
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    options: dict[str, Any] = {"C": 0.1, "intercept": "penalized", "sample_weight": weight, "random_state": 3}
    found = search_eta(X, y, epochs=4, solver=Zhang(output="average"), **options)
    for eta, primal in found.table:
        solution = solve_quietly(X, y, solver=Zhang(output="average", eta=eta), max_iter=4, tol=1e-9, **options)
        assert solution.certificate.primal == primal, f"eta={eta}"


def test_other_options_of_the_configuration_are_kept() -> None:
    given = Zhang(sampling="epoch", projection=True, output="average", eta=7.0)
    best = search_eta(X, y, solver=given, order="blocks").best
    assert best == given.replace(eta=best.eta)
    assert given.eta == 7.0


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_grid_grows_until_the_best_is_inside_or_the_largest(C: float, scale: float) -> None:
    found = search_eta(X * scale, y, C=C, epochs=3)
    assert interior(found) or 10.0 * found.best.eta > 0.5 * C * len(y)


@pytest.mark.parametrize("start", [[1e-7], [1e-7, 2e-7], [35.0], [10.0, 20.0]])
def test_grid_grows_from_either_end_by_its_ratio(start: list[float]) -> None:
    found = search_eta(X, y, C=0.1, etas=start)
    assert interior(found)
    assert {eta for eta, _ in found.table} >= set(start)
    ratio = start[1] / start[0] if len(start) > 1 else 10.0
    assert all(b / a == pytest.approx(ratio) for (a, _), (b, _) in pairwise(found.table))


def test_search_ends_where_no_step_is_better_than_none() -> None:
    rows = np.zeros((20, 3))
    found = search_eta(rows, np.arange(20) % 2, C=1.0)
    assert len({primal for _, primal in found.table}) == 1
    assert len(found.table) < 50


def test_found_step_size_beats_bad_ones_in_a_longer_run() -> None:
    best = search_eta(X, y, C=0.1).best
    primal = {
        eta: solve_quietly(X, y, C=0.1, solver=Zhang(eta=eta), intercept="none", max_iter=10).certificate.primal
        for eta in (best.eta, 1e3 * best.eta, 1e-3 * best.eta)
    }
    assert min(primal, key=lambda eta: primal[eta]) == best.eta


def test_sparse_and_single_precision_rows_are_searched() -> None:
    dense = search_eta(X.astype(np.float32), y, C=0.1)
    sparse = search_eta(sp.csr_array(X.astype(np.float32)), y, C=0.1)
    assert dense.best == sparse.best


def test_same_seed_gives_the_same_table() -> None:
    one, again, other = (search_eta(X, y, random_state=seed, etas=[0.1, 0.01]) for seed in (1, 1, 2))
    assert one == again != other
    drawn = search_eta(X, y, random_state=np.random.RandomState(5), etas=[0.1, 0.01])
    assert isinstance(drawn.best, Zhang), "all runs share one seed, drawn once"


def test_no_warning_reaches_the_user_and_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search_eta(X, y)
        assert not caught, [str(warning.message) for warning in caught]
        solve(X, y, max_iter=1, tol=1e-12)
    assert len(caught) == 1, "warnings of the user's own runs come back"
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"epochs": 0}, ["epochs", "at least 1"]),
        ({"epochs": 2.5}, ["epochs"]),
        ({"C": -1.0}, ["C", "positive"]),
        ({"etas": []}, ["etas is empty"]),
        ({"etas": [0.1, -0.1]}, ["etas", "between 0", "-0.1"]),
        ({"etas": [0.1, np.nan]}, ["etas", "nan"]),
        ({"etas": [0.1, 401.0]}, ["etas", "sum of C_i = 400", "401"]),
        ({"solver": "zhang"}, ["Zhang", "'zhang'"]),
        ({"intercept": "free"}, ["does not support intercept='free'", "penalized"]),
        ({"sample_weight": -np.ones(400)}, ["sample_weight"]),
        ({"order": "blocks"}, ["takes no order"]),
    ],
)
def test_bad_options_of_the_search_are_refused(options: dict[str, Any], parts: list[str]) -> None:
    with refused(*parts):
        search_eta(X, y, **options)


def test_search_is_part_of_the_package() -> None:
    assert hinge.search_eta is hinge.training.search_eta
    assert hinge.EtaSearch is EtaSearch
