"""auto: which solver begins, when newton takes over, and that everything converges without a choice by the user."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import assert_same_state, make, solve_quietly, start
from pairs import Case
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.preprocessing import scale

from hinge import Auto, Blocks, LinearSVC, Permutation, Problem, Solution, solve
from hinge.problem import LOSSES, as_rows
from hinge.solvers import auto
from hinge.solvers.newton import NewtonRun

INTERCEPTS = ("none", "penalized", "free")


def crawling(m: int = 900) -> tuple[Any, Any]:
    """Few rows, so dcd begins; scales and correlation on which it crawls."""
    X, y = make_classification(m, 30, n_informative=5, n_redundant=20, flip_y=0.1, random_state=0)
    return np.ascontiguousarray(X * 10.0 ** np.linspace(-2, 2, 30)), y


def solvers_of(found: Solution) -> list[str]:
    return [record.solver for record in found.history]


def test_newton_begins_where_features_are_few() -> None:
    X, y = make(3000, d=5)
    assert set(solvers_of(solve(X, y))) == {"newton"}


def test_dcd_does_all_where_it_is_fast() -> None:
    X, y = make_classification(2000, 1500, n_informative=20, random_state=1)
    assert set(solvers_of(solve(scale(X), y, C=1e-4))) == {"dcd"}


def tall(m: int = 6000, d: int = 600) -> tuple[Any, Any]:
    """Dense rows, ten for each feature, of so many features that newton is not cheap."""
    random = np.random.default_rng(3)
    X = random.normal(size=(m, d)).astype(np.float32)
    return X, (X[:, :20].sum(axis=1) + random.normal(size=m) > 0).astype(int)


def test_dcd_does_what_a_few_passes_can_do() -> None:
    X, y = make(3000, d=5)
    C = 0.5 / float(np.square(X).sum(axis=1).mean())
    for intercept in ("none", "penalized", "free"):
        assert set(solvers_of(solve(X, y, C=C, intercept=intercept))) == {"dcd"}, intercept
        assert set(solvers_of(solve(sp.csr_matrix(X), y, C=3 * C, intercept=intercept, tol=1e-4))) == {"dcd"}, "sparse"
    rows, target = as_rows(sp.csr_matrix(X)), np.where(y == 1, 1.0, -1.0)
    problems = [Problem(rows, target, np.full(3000, factor * C)) for factor in (0.9, 1.1)]
    assert [start(Auto(), problem, tol=1e-6).label for problem in problems] == ["dcd", "newton"], "sparse, any tol"
    for harder in ({"tol": 1e-4}, {"C": 2 * C}, {"loss": "squared_hinge"}):
        options = {"C": C, "intercept": "none"} | harder
        assert set(solvers_of(solve(X, y, **options))) == {"newton"}, harder


def test_newton_begins_on_a_sample_where_dcd_would_crawl() -> None:
    X, y = tall(d=150)
    unit = 1.0 / float(np.square(X).sum(axis=1).mean())
    assert set(solvers_of(solve(X, y, C=unit))) == {"dcd"}
    assert set(solvers_of(solve(X, y, C=unit, tol=1e-5))) == {"newton"}

    def first(m: int, curvature: float, tol: float = 1e-3) -> str:
        problem = Case(m=m, d=150).make()[0]
        unit = 1.0 / float(problem.rows.squared_norms.mean())
        return start(Auto(), Case(m=m, d=150, C=curvature * unit).make()[0], tol=tol).label

    assert [first(6000, curvature) for curvature in (25, 35)] == ["dcd", "newton"]
    assert [first(6000, 35, tol) for tol in (0.01, 0.1)] == ["newton", "dcd"]
    assert first(5900, 35) == "dcd", "too few rows for a sample"


def test_a_sample_is_a_better_start_than_a_large_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = tall(d=150)
    X *= np.logspace(-2, 2, X.shape[1], dtype=np.float32)
    monkeypatch.setattr(auto, "_HARD", np.inf)
    starts = []
    monkeypatch.setattr(NewtonRun, "begin_at", lambda self, point, near: starts.append(near))
    found = solve(X, y, C=10.0)
    assert solvers_of(found)[-1] == "newton" and found.status == "converged"
    assert not starts, "it begins anew"
    monkeypatch.setattr(auto, "_FAR", np.inf)
    solve(X, y, C=10.0)
    assert starts == [False]


def test_newton_takes_over_where_dcd_crawls() -> None:
    X, y = crawling()
    found = solve(X, y, C=100.0, tol=1e-8)
    names = solvers_of(found)
    assert found.status == "converged" and names[-1] == "newton"
    assert names == sorted(names), "dcd first, then newton, never back"


def test_dcd_prepares_the_start_where_newton_has_no_matrix() -> None:
    """Conjugate gradients: newton waits for 200 passes of dcd, and for as long as it is nearly there."""
    random = np.random.default_rng(1)
    X = sp.random_array((8000, 2200), density=0.01, rng=random, format="csr")
    y = (X @ random.normal(size=2200) + 0.3 * random.normal(size=8000) > 0).astype(int)
    nearly = solve(X, y, C=1e4, tol=0.07)
    assert nearly.state is not None and float(nearly.state["auto_read"]) > 200.0
    assert nearly.status == "converged" and set(solvers_of(nearly)) == {"dcd"}
    found = solve(X, y, C=1e4, tol=1e-6)
    assert found.status == "converged" and solvers_of(found)[-1] == "newton"
    begun = min(record.epoch for record in found.history if record.solver == "newton")
    assert begun > 150, "epochs of auto, which read more rows than there are"


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_run_cut_before_or_after_the_hand_over_has_the_bits_of_one_run(intercept: Any, loss: Any) -> None:
    X, y = crawling()
    options: dict[str, Any] = {"solver": "auto", "loss": loss, "intercept": intercept, "tol": 1e-15, "C": 100.0}
    total = 60
    whole = solve_quietly(X, y, max_iter=total, **options)
    at_work = set()
    for cut in (1, 2, 4, 5, 6, 9, 12, 20, 40):
        half = solve_quietly(X, y, max_iter=cut, **options)
        assert half.state is not None
        at_work.add(int(half.state["auto_at"]))
        rest = solve_quietly(X, y, max_iter=total - cut, state=half.state, **options)
        assert rest.status == whole.status, f"cut at {cut}"
        assert rest.certificate == whole.certificate, f"cut at {cut}"
        assert rest.coef.tobytes() == whole.coef.tobytes() and rest.dual.tobytes() == whole.dual.tobytes()
        assert_same_state(rest.state, whole.state)
    assert at_work == {0, 1}, "no cut before the hand-over, or none after"


@pytest.mark.parametrize("data", [crawling(), make(6000, d=4)], ids=["hand-over", "newton at once"])
def test_same_call_takes_the_same_path(data: Any) -> None:
    X, y = data
    first, second, threads = (solve(X, y, C=10.0, tol=1e-7, n_jobs=n_jobs) for n_jobs in (1, 1, 2))
    for other in (second, threads):
        assert other.coef.tobytes() == first.coef.tobytes() and other.certificate == first.certificate
        assert [(r.epoch, r.solver, r.primal) for r in other.history] == [
            (r.epoch, r.solver, r.primal) for r in first.history
        ]


@pytest.mark.parametrize("order", ["permutation", "blocks", Permutation(), Blocks(rows=4)])
def test_order_is_accepted(order: Any) -> None:
    for X, y in (crawling(), make(3000, d=5)):
        assert solve(X, y, order=order, C=10.0).status == "converged"


def test_state_is_a_start_on_another_problem() -> None:
    X, y = crawling()
    for max_iter in (2, 1000):
        state = solve_quietly(X, y, C=100.0, max_iter=max_iter).state
        for rows, labels, C in ((X, y, 1.0), (X, 1 - y, 100.0), (np.ascontiguousarray(X[:, ::-1]), y, 100.0)):
            assert solve(rows, labels, C=C, state=state).status == "converged"


def test_damaged_state_is_refused() -> None:
    problem = Case(m=50, d=4).make()[0]
    state = start(Auto(), problem).save()
    assert state is not None
    damages: dict[str, Any] = {"auto_at": 2, "auto_read": np.nan, "auto_gaps": np.ones(9), "auto_passes": "many"}
    for key, value in damages.items():
        with pytest.raises(ValueError, match="saved state does not fit"):
            start(Auto(), problem).restore({**state, key: value}, same_problem=True)
        with pytest.raises(ValueError, match="saved state does not fit"):
            start(Auto(), problem).restore({name: x for name, x in state.items() if name != key}, same_problem=True)


def test_auto_has_no_options() -> None:
    assert Auto().get_params() == {}


# Everything converges by default


def _california_like() -> tuple[Any, Any]:
    """Eight columns with the scales of incomes, ages, counts, coordinates."""
    random = np.random.default_rng(6)
    latent = random.normal(size=(2000, 8)) @ random.normal(size=(8, 8))
    X = np.exp(0.2 * latent) * [3.9, 29.0, 5.4, 1.1, 1425.0, 3.0, 36.0, -120.0]
    return X, (latent @ random.normal(size=8) + random.normal(size=2000) > 0).astype(int)


@cache
def data(name: str) -> tuple[Any, Any]:
    name, _, form = name.partition(", ")
    X, y = {
        "breast cancer": lambda: load_breast_cancer(return_X_y=True),
        "wine": lambda: load_wine(return_X_y=True),
        "digits": lambda: load_digits(return_X_y=True),
        "California-like": _california_like,
        "make_classification": lambda: make_classification(2000, 20, random_state=0),
    }[name]()
    if name == "digits":
        y = (y > 4).astype(int)
    return (scale(X) if form == "standardised" else X), y


NAMES = ("breast cancer", "wine", "digits", "California-like", "make_classification")


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", [f"{name}, {form}" for name in NAMES for form in ("raw", "standardised")])
def test_everything_converges_by_default(name: str, C: float, tol: float) -> None:
    X, y = data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVC(C=C, tol=tol).fit(X, y)
    assert model.status_ == "converged"
    assert np.all(np.asarray([c.relative_gap for c in np.atleast_1d(model.certificate_)]) <= tol)
