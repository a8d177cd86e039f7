"""intercept="auto": every solver works with no other argument, and the result says how b was treated."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from registry import SOLVERS
from sklearn.exceptions import ConvergenceWarning

from hinge import BestOf, LinearSVC, Pegasos, SGDs, Traits, solve, verify
from hinge.solvers import as_solver, solver_names

random = np.random.default_rng(0)
X = random.normal(size=(80, 3)) + 1.0
y = np.where(X[:, 0] + 0.3 * random.normal(size=80) > 1.2, "yes", "no")


def quietly(train: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return train()


def expected(solver: Any) -> str:
    return "free" if "free" in as_solver(solver).traits.intercepts else "penalized"


@pytest.mark.parametrize("name", solver_names())
def test_every_solver_works_with_no_other_argument(name: str) -> None:
    solution, model = quietly(lambda: (solve(X, y, solver=name), LinearSVC(solver=name).fit(X, y)))
    assert (solution.treatment.kind, model.treatment_.kind) == (expected(name), expected(name))
    assert f"{expected(name)} intercept" in repr(solution), "the repr does not say how b was treated"
    for found in (solution.certificate, model.certificate_):
        assert 0.0 < found.dual <= found.primal
    assert model.score(X, y) > 0.8
    assert model.intercept_[0] != 0.0


@pytest.mark.parametrize("name", solver_names())
def test_auto_is_the_treatment_that_it_names(name: str) -> None:
    """To the bit, and the certificate is of that problem."""
    options: dict[str, Any] = {"solver": name, "max_iter": 20, "store_dual": True}
    auto, named = (
        quietly(lambda kind=kind: LinearSVC(intercept=kind, **options).fit(X, y)) for kind in ("auto", expected(name))
    )
    assert auto.certificate_ == named.certificate_
    assert np.array_equal(auto.coef_, named.coef_) and auto.intercept_ == named.intercept_
    checked = verify(auto, X, y)
    assert checked.primal == pytest.approx(auto.certificate_.primal, rel=1e-9)
    assert checked.dual == pytest.approx(auto.certificate_.dual, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("inner", [Pegasos(), SGDs()])
def test_auto_of_several_runs_is_that_of_their_solver(inner: Any) -> None:
    solution = quietly(lambda: solve(X, y, solver=BestOf(inner, 2), max_iter=4))
    assert solution.treatment.kind == expected(inner)


def test_auto_is_free_where_the_traits_list_it_and_penalized_elsewhere() -> None:
    assert Traits(intercepts=("none", "free", "penalized")).treatment("auto") == "free"
    assert Traits(intercepts=("none", "penalized")).treatment("auto") == "penalized"
    for kind in ("none", "free", "penalized"):
        assert Traits().treatment(kind) == kind, "an intercept that was named is not changed"
    assert all(solver.traits.treatment("auto") in solver.traits.intercepts for solver in SOLVERS.values())


def test_no_intercept_means_none() -> None:
    model = LinearSVC(fit_intercept=False).fit(X, y)
    assert model.treatment_.kind == "none" and model.intercept_[0] == 0.0
