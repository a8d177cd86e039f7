"""A run that does not converge gets advice that helps, and no other."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import X, y
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import OneHotEncoder, StandardScaler, normalize, scale

from hinge import KernelSVC, Newton, Point, Problem, Run, Traits, solve
from hinge.problem import Intercept, as_loss, as_rows
from hinge.solvers import SOLVERS, Setup
from hinge.training.advice import sure_solver


def advice(X: Any, y: Any, **options: Any) -> str:
    with pytest.warns(ConvergenceWarning) as caught:
        solve(X, y, **{"tol": 1e-12, "max_iter": 3, "solver": "dcd", **options})
    assert len(caught) == 1
    return str(caught[0].message)


# Passes


class Stuck(Run):
    """Makes `passes` good passes, then none."""

    def __init__(self, problem: Problem, setup: Setup, passes: int) -> None:
        self.run, self.passes = SOLVERS["dcd"].start(problem, setup), passes

    def advance(self, epochs: int) -> int:
        done, self.passes = min(epochs, self.passes), max(0, self.passes - epochs)
        return self.run.advance(done) if done else epochs * 10_000  # rows read for nothing

    def point(self) -> Point:
        return self.run.point()


class StuckSolver:
    traits = Traits(losses=("hinge", "squared_hinge"), intercepts=("none", "penalized", "free"))

    def __init__(self, passes: int) -> None:
        self.passes = passes

    def start(self, problem: Problem, setup: Setup) -> Run:
        return Stuck(problem, setup, self.passes)


def test_more_passes_are_advised_where_they_help() -> None:
    assert "Raise max_iter" in advice(X, y)
    assert "Raise max_iter" in advice(X, y, solver=StuckSolver(10**6), max_iter=10)


def test_more_passes_are_not_advised_where_the_gap_has_stopped_to_shrink() -> None:
    message = advice(X, y, solver=StuckSolver(5), max_iter=60, C=10.0)
    assert "Raise max_iter" not in message
    assert "more passes will not help" in message.lower()


def test_stalled_run_is_not_told_to_go_on() -> None:
    message = advice(X[:1500], y[:1500], tol=1e-17, max_iter=10**5, C=1e-3)
    assert "stalled" in message
    assert "raise tol" in message
    assert "max_iter or" not in message


# Another solver


@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_solver_that_is_named_supports_the_problem_and_solves_it(loss, intercept) -> None:
    message = advice(X, y, loss=loss, intercept=intercept)
    named = [name for name in SOLVERS if f"use solver={name!r}" in message]
    target = np.where(y == 1, 1.0, -1.0)
    problem = Problem.make(as_rows(X), target, np.ones(len(y)), loss=as_loss(loss), intercept=Intercept(intercept))
    assert named == [name for name in [sure_solver(problem, SOLVERS["dcd"])] if name is not None]
    for name in named:
        assert solve(X, y, loss=loss, intercept=intercept, solver=name, tol=1e-5).status == "converged"


def test_solver_in_use_is_not_advised() -> None:
    assert "use solver='newton'" in advice(X, y, solver="dcd")
    assert "use solver" not in advice(X, y, solver=Newton(sampling=False), max_iter=1)
    assert "use solver" not in advice(X, y, solver="auto", max_iter=1), "auto goes over to it by itself"


def test_exact_kernel_machines_are_not_sent_to_a_solver_of_features() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        KernelSVC(approximation="none", max_iter=1, tol=1e-12).fit(X[:300], y[:300])
    assert "use solver" not in str(caught[0].message)


# Scales


def california_like(n_rows: int = 3000) -> tuple[Any, Any]:
    """Income, age, rooms, people, degrees: eight columns in their own units."""
    draw = np.random.default_rng(0)
    scales = np.array([4.0, 30.0, 5.0, 1.0, 1400.0, 3.0, 35.0, 120.0])
    raw = scales * (1.0 + 0.3 * draw.normal(size=(n_rows, 8)))
    return raw, (raw[:, 0] / 4.0 + 0.3 * draw.normal(size=n_rows) > 1.0).astype(int)


def text_like(n_rows: int = 2000, n_words: int = 4000) -> tuple[Any, Any]:
    """Words as rare as in text, tf-idf weights, rows of unit norm."""
    draw = np.random.default_rng(0)
    chances = 1.0 / np.arange(2, n_words + 2)
    words = [np.flatnonzero(draw.random(n_words) < 5 * chances) for _ in range(n_rows)]
    indptr = np.cumsum([0, *map(len, words)])
    indices = np.concatenate(words)
    weight = -np.log(chances)[indices] * draw.integers(1, 4, size=len(indices))
    return normalize(sp.csr_matrix((weight, indices, indptr), shape=(n_rows, n_words))), draw.integers(0, 2, n_rows)


def categories(n_rows: int = 3000) -> tuple[Any, Any]:
    """One-hot codes, some of them of one row in a thousand."""
    draw = np.random.default_rng(0)
    codes = np.column_stack([draw.geometric(p, size=n_rows) for p in (0.5, 0.05, 0.01)])
    return OneHotEncoder().fit_transform(codes), draw.integers(0, 2, n_rows)


def digits() -> tuple[Any, Any]:
    pixels, digit = load_digits(return_X_y=True)
    return pixels, (digit > 4).astype(int)


@pytest.mark.parametrize("data", [digits, california_like])
def test_raw_features_get_advice_on_scaling(data) -> None:
    message = advice(*data())
    assert "The features" in message
    assert "StandardScaler" in message


@pytest.mark.parametrize("data", [digits, california_like, categories])
def test_standardised_features_get_none(data) -> None:
    raw, labels = data()
    scaled = StandardScaler(with_mean=False).fit_transform(raw) if sp.issparse(raw) else scale(raw)
    assert "The features" not in advice(scaled, labels)


@pytest.mark.parametrize("data", [text_like, categories])
def test_text_and_categories_get_none(data) -> None:
    assert "The features" not in advice(*data(), C=100.0)


# Callbacks


def test_run_that_the_callback_has_ended_gets_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(X, y, tol=1e-9, callback=lambda record: record.epoch == 2)
    assert solution.status == "callback"
