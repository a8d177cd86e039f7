"""loss="squared_hinge" is scikit-learn's problem, and keeps every promise that the hinge keeps.

The certificate in exact arithmetic, resuming, threads, interrupts and refusals are tested for both losses where they
are tested for one.
"""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import X, solve_quietly, y
from registry import INTERCEPTS, SOLVERS, supporting
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file
from sklearn.preprocessing import scale

from hinge import LinearSVC, solve, verify

CANCER, IS_BENIGN = load_breast_cancer(return_X_y=True)
CANCER = scale(CANCER)
DIGITS, DIGIT = load_digits(return_X_y=True)
DIGITS = DIGITS / 16.0
WEIGHT = np.random.default_rng(0).integers(0, 4, size=len(IS_BENIGN)) / 2


def objective(coef: Any, b: float, X: Any, sign: Any, cost: Any, *, scaling: float | None = None) -> float:
    """P by definition; with `scaling` the intercept is penalised."""
    slack = np.maximum(0.0, 1.0 - sign * (X @ coef + b))
    penalty = 0.0 if scaling is None else 0.5 * (b / scaling) ** 2
    return float(0.5 * coef @ coef + penalty + np.sum(cost * slack**2))


def scikit(X: Any, y: Any, weight: Any = None, **params: Any) -> Any:
    """Their model, by a Newton method: the objective is strictly convex, so there is one."""
    model = svm.LinearSVC(dual=False, tol=1e-10, max_iter=10_000, **params)
    return model.fit(X, y, sample_weight=weight)


# Scikit-learn's optimum


@pytest.mark.parametrize("scaling", [0.5, 1.0, 10.0])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_penalized_intercept_is_that_of_sklearn_on_breast_cancer(C, scaling) -> None:
    params: dict[str, Any] = {"C": C, "intercept_scaling": scaling}
    theirs = scikit(CANCER, IS_BENIGN, **params)
    ours = LinearSVC(loss="squared_hinge", intercept="penalized", tol=1e-10, max_iter=20_000, **params)
    ours.fit(CANCER, IS_BENIGN)
    value = objective(theirs.coef_[0], theirs.intercept_[0], CANCER, 2.0 * IS_BENIGN - 1, C, scaling=scaling)
    assert value == pytest.approx(ours.certificate_.primal, rel=1e-6), "another optimum than scikit-learn's"
    assert ours.certificate_.dual <= value * (1 + 1e-12), "scikit-learn is below our lower bound"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-6 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-6 * np.abs(theirs.coef_).max())


def test_defaults_of_sklearn_give_its_model_on_digits() -> None:
    theirs = scikit(DIGITS, DIGIT)
    ours = LinearSVC(loss="squared_hinge", intercept="penalized", tol=1e-10, max_iter=20_000).fit(DIGITS, DIGIT)
    assert ours.coef_.shape == (10, 64)
    for k, certificate in enumerate(ours.certificate_):
        sign = np.where(DIGIT == k, 1.0, -1.0)
        value = objective(theirs.coef_[k], theirs.intercept_[k], DIGITS, sign, 1.0, scaling=1.0)
        assert value == pytest.approx(certificate.primal, rel=1e-6), f"digit {k}: another optimum than scikit-learn's"
        assert certificate.dual <= value * (1 + 1e-12), f"digit {k}: scikit-learn is below our lower bound"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-5 * np.abs(theirs.coef_).max())
    assert np.array_equal(ours.predict(DIGITS), theirs.predict(DIGITS))


def test_weighted_problem_is_that_of_sklearn() -> None:
    theirs = scikit(CANCER, IS_BENIGN, WEIGHT, C=0.1, class_weight={0: 2.0, 1: 0.5})
    ours = LinearSVC(
        loss="squared_hinge", intercept="penalized", C=0.1, class_weight={0: 2.0, 1: 0.5}, tol=1e-10, max_iter=20_000
    ).fit(CANCER, IS_BENIGN, sample_weight=WEIGHT)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-6 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-6 * np.abs(theirs.coef_).max())


def test_no_intercept_is_that_of_sklearn() -> None:
    theirs = scikit(CANCER, IS_BENIGN, C=0.1, fit_intercept=False)
    ours = LinearSVC(loss="squared_hinge", fit_intercept=False, C=0.1, tol=1e-10).fit(CANCER, IS_BENIGN)
    assert ours.intercept_ == 0.0
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-6 * np.abs(theirs.coef_).max())


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_penalized_intercept_is_that_of_sklearn_on_adult(data_dir: Path, C: float) -> None:
    with lzma.open(data_dir / "a9a.xz", "rb") as file:
        X, y = load_svmlight_file(file, n_features=123)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # theirs reads no others
    theirs = scikit(X, y, C=C)
    ours = solve(X, y, loss="squared_hinge", intercept="penalized", C=C, tol=1e-6, max_iter=20_000)
    value = objective(theirs.coef_[0], theirs.intercept_[0], X, y, C, scaling=1.0)
    assert value == pytest.approx(ours.certificate.primal, rel=1e-6), "another optimum than scikit-learn's"
    assert ours.certificate.dual <= value * (1 + 1e-12), "scikit-learn is below our lower bound"


# A free intercept, which scikit-learn has not


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_free_intercept_is_the_limit_of_a_large_constant_feature(C) -> None:
    free = LinearSVC(loss="squared_hinge", C=C, tol=1e-10, max_iter=20_000).fit(CANCER, IS_BENIGN)
    theirs = scikit(CANCER, IS_BENIGN, C=C, intercept_scaling=1e3)
    value = objective(theirs.coef_[0], theirs.intercept_[0], CANCER, 2.0 * IS_BENIGN - 1, C)
    assert value == pytest.approx(free.certificate_.primal, rel=1e-4)
    assert free.certificate_.dual <= value * (1 + 1e-12)


def test_conditions_of_optimality_hold_at_the_solution() -> None:
    """a_i = 2 C_i max(0, s_i), w = sum a_i t_i x_i, and sum a_i t_i = 0: from the definition of the dual."""
    solution = solve(CANCER, IS_BENIGN, loss="squared_hinge", C=0.5, sample_weight=WEIGHT, max_iter=20_000)
    sign = np.where(IS_BENIGN == 1, 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - sign * (CANCER @ solution.coef + solution.intercept))
    size = np.abs(solution.dual).max()
    np.testing.assert_allclose(solution.dual, 2.0 * 0.5 * WEIGHT * slack, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(CANCER.T @ (solution.dual * sign), solution.coef, rtol=0, atol=1e-6 * size)
    assert abs(solution.dual @ sign) < 1e-9 * size
    assert solution.dual.max() > 0.5, "the test wants multipliers beyond the box of the hinge"


def test_separable_rows_have_a_solution_that_is_not_that_of_the_hinge() -> None:
    rows, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    hinge, squared = (solve(rows, labels, loss=loss, C=1.0) for loss in ("hinge", "squared_hinge"))
    assert hinge.coef[0] == pytest.approx(1.0)
    assert squared.coef[0] == pytest.approx(0.8), "minimise w^2/2 + 2 (1 - w)^2"
    assert squared.certificate.primal == pytest.approx(0.4, rel=1e-12)


# Every solver that says that it can


@pytest.mark.parametrize("solver", supporting(loss="squared_hinge"))
def test_every_solver_brackets_the_same_optimum(solver) -> None:
    for intercept in SOLVERS[solver].traits.intercepts:
        for rows in (X, sp.csr_array(X)):
            options: dict[str, Any] = {"loss": "squared_hinge", "C": 0.01, "intercept": intercept}
            best = solve(rows, y, **options).certificate
            found = solve_quietly(rows, y, solver=SOLVERS[solver], max_iter=100, **options)
            assert found.certificate.dual <= best.primal
            assert best.dual <= found.certificate.primal
            gap = found.certificate.relative_gap
            assert gap < 0.5, f"{intercept}: a gap of {gap:.2f} after 100 passes: it does not minimise this loss"
            checked = verify(found, rows, y)
            assert checked.primal == pytest.approx(found.certificate.primal, rel=1e-9)
            assert checked.dual == pytest.approx(found.certificate.dual, rel=1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_default_solver_reaches_small_gaps(intercept) -> None:
    solution = solve(X, y, loss="squared_hinge", intercept=intercept, C=0.1, tol=1e-8)
    assert solution.status == "converged"
    assert solution.certificate.relative_gap <= 1e-8


def test_weight_k_is_k_copies() -> None:
    times = np.random.default_rng(1).integers(1, 4, size=len(IS_BENIGN))
    for intercept in INTERCEPTS:
        options: dict[str, Any] = {"loss": "squared_hinge", "intercept": intercept, "tol": 1e-8, "max_iter": 20_000}
        one = solve(CANCER, IS_BENIGN, sample_weight=times, **options)
        other = solve(CANCER.repeat(times, axis=0), IS_BENIGN.repeat(times), **options)
        np.testing.assert_allclose(one.coef, other.coef, rtol=0, atol=1e-4 * np.abs(one.coef).max())
        assert max(one.certificate.dual, other.certificate.dual) <= min(
            one.certificate.primal, other.certificate.primal
        )
