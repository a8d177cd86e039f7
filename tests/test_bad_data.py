"""Bad data get a clear Python error that says what, where and what to do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from refusals import BOTH, DTYPES, LAYOUTS, X, csr, fit, refused, y
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import hinge
from hinge import LinearSVC, solve

# Values


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_bad_value_is_refused_with_row_and_column(train, dtype, layout, value, word) -> None:
    bad = X.astype(dtype)
    bad[41, 3] = value
    with refused(word, "row 41, column 3"):
        train(LAYOUTS[layout](bad), y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_first_bad_value_in_row_order_is_named(layout) -> None:
    bad = X.copy()
    bad[7, 4], bad[7, 2], bad[50, 0] = np.inf, np.nan, np.nan
    with refused("NaN", "row 7, column 2"):
        solve(LAYOUTS[layout](bad), y)


def test_bad_value_in_a_row_of_zero_weight_is_refused_too() -> None:
    bad, weight = X.copy(), np.ones(60)
    bad[3, 1], weight[3] = np.nan, 0.0
    with refused("NaN", "row 3, column 1"):
        solve(bad, y, sample_weight=weight)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scale", [1e200, 1e160, 1e153])
def test_values_whose_squares_overflow_are_refused(layout, scale) -> None:
    with refused("overflow", "cale the features"):
        solve(LAYOUTS[layout](X * scale), y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_overflowing_row_is_named(layout) -> None:
    bad = X.copy()
    bad[12, 1] = 1e200
    with refused("row 12", "overflow"):
        solve(LAYOUTS[layout](bad), y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_largest_float32_values_are_fine(layout) -> None:
    big = np.where(X > 0, 3e38, -3e38).astype(np.float32)
    solution = solve(LAYOUTS[layout](big), y, C=1e-76)
    assert solution.status == "converged", "float32 values of 3e38 have finite squares in float64"


@pytest.mark.parametrize("train", BOTH)
def test_costs_that_overflow_are_refused(train) -> None:
    with refused("overflow"):
        train(X, y, C=1e300)


@pytest.mark.parametrize("train", [LinearSVC().fit, solve])
def test_weights_whose_sum_overflows_are_refused(train) -> None:
    with refused("overflow"):
        train(1e-200 * X, y, sample_weight=np.linspace(1e307, 1.7e308, y.size))


@pytest.mark.parametrize("C", [1e-310, 5e-324])
def test_smallest_costs_never_give_a_false_certificate(C) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        certificate = solve(X, y, C=C, max_iter=20).certificate
    bound = 2 * C * min((y == 1).sum(), (y == -1).sum())  # P at w = 0
    assert 0 <= certificate.dual <= bound * 1.001, certificate
    assert certificate.dual <= certificate.primal, certificate


# Labels, shapes, weights


@pytest.mark.parametrize("train", BOTH)
def test_one_class_only_is_refused(train) -> None:
    with refused("class"):
        train(X, np.ones(60))


def test_one_class_error_of_the_estimator_names_the_class() -> None:
    with refused("one class only", "'spam'"):
        LinearSVC().fit(X, ["spam"] * 60)


@pytest.mark.parametrize("train", [solve, LinearSVC().fit])
def test_class_with_weight_zero_does_not_count(train) -> None:
    weight = (y == 1).astype(float)
    with refused("zero weight do not count"):
        train(X, y, sample_weight=weight)


def test_three_classes_in_solve_point_to_the_estimator() -> None:
    with refused("two classes", "got 3", "LinearSVC"):
        solve(X, np.arange(60) % 3)


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_length_mismatch_is_refused(train, layout) -> None:
    with refused("inconsistent numbers of samples", "60", "59"):
        train(LAYOUTS[layout](X), y[:59])


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "what"), [((0, 5), "0 sample"), ((60, 0), "0 feature")])
def test_empty_input_is_refused(train, layout, shape, what) -> None:
    with refused(what):
        train(LAYOUTS[layout](np.zeros(shape)), y[: shape[0]])


@pytest.mark.parametrize("train", BOTH)
def test_one_dimensional_input_is_refused(train) -> None:
    with refused("2D array"):
        train(X[:, 0], y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_labels_that_are_not_finite_are_refused(bad) -> None:
    labels = y.astype(float)
    labels[0] = bad
    with refused("y"):
        solve(X, labels)


def test_continuous_targets_are_refused_by_the_estimator() -> None:
    with refused("continuous"):
        LinearSVC().fit(X, X[:, 0])


WEIGHTS = {
    "negative": (np.r_[np.ones(17), -1.0, np.ones(42)], "row 17"),
    "all zero": (np.zeros(60), "zero"),
    "nan": (np.r_[np.nan, np.ones(59)], "NaN"),
    "infinite": (np.r_[np.inf, np.ones(59)], "infinity"),
    "short": (np.ones(59), "59"),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_bad_weights_are_refused(kind) -> None:
    weight, part = WEIGHTS[kind]
    for train in (solve, LinearSVC().fit):
        with pytest.raises(ValueError, match=f"(?is)sample.?weight.*{part}"):
            train(X, y, sample_weight=weight)


@pytest.mark.parametrize(
    ("class_weight", "part"),
    [
        *(({1: factor}, "not negative") for factor in (-1.0, np.nan, np.inf, "3")),
        ({7: 1.0}, "7"),
        ({1: 0.0}, "one class only"),
        ("uniform", "balanced"),
    ],
)
def test_bad_class_weights_are_refused(class_weight, part) -> None:
    with refused(part):
        fit(X, y, class_weight=class_weight)


# Prediction


@pytest.mark.parametrize("layout", LAYOUTS)
def test_prediction_refuses_other_numbers_of_features(layout) -> None:
    model = fit(X, y)
    with refused("4 features", "expecting 5"):
        model.predict(LAYOUTS[layout](X[:, :4]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_prediction_refuses_bad_values_with_row_and_column(layout, dtype) -> None:
    model, bad = fit(X, y), X.astype(dtype)
    bad[33, 2] = np.nan
    for method in (model.predict, model.decision_function):
        with refused("NaN", "row 33, column 2"):
            method(LAYOUTS[layout](bad))


def test_prediction_refuses_corrupt_csr() -> None:
    model, bad = fit(X, y), csr()
    bad.indices[7] = 1_000_000
    with refused("out of range", "row 1"):
        model.predict(bad)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_prediction_before_fit_says_so(method) -> None:
    with pytest.raises(NotFittedError):
        getattr(LinearSVC(), method)(X)


def test_verify_before_fit_says_so() -> None:
    with pytest.raises(NotFittedError):
        hinge.verify(LinearSVC(), X, y)


# verify


@pytest.mark.parametrize("dtype", [*DTYPES, np.longdouble])
@pytest.mark.parametrize("layout", [*LAYOUTS, "csc"])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_verify_refuses_bad_values_with_row_and_column(dtype, layout, value, word) -> None:
    model = fit(X, y, store_dual=True)
    for row in range(0, 60, 7):  # where the multiplier is zero and where it is not, on either side of the margin
        bad = X.astype(dtype)
        bad[row, 3] = value
        with refused(word, f"row {row}, column 3"):
            hinge.verify(model, {**LAYOUTS, "csc": sp.csc_array}[layout](bad), y)


def test_verify_refuses_infinity_that_costs_nothing() -> None:
    """Far on the right side of the margin there is no loss and no multiplier: P is finite, and proves nothing."""
    model = fit(X, y, store_dual=True)
    row = int(np.flatnonzero(model.dual_coef_[0] == 0)[0])
    bad = X.copy()
    bad[row, 0] = np.inf * y[row] * np.sign(model.coef_[0, 0])
    with refused("infinity", f"row {row}, column 0"):
        hinge.verify(model, bad, y)


def test_verify_reads_no_further_than_indptr() -> None:
    model, longer = fit(X, y, store_dual=True), csr()
    longer.data, longer.indices = np.r_[longer.data, np.nan], np.r_[longer.indices, -1]
    assert hinge.verify(model, longer, y) == hinge.verify(model, csr(), y)


def test_verify_refuses_a_corrupt_matrix_that_was_converted() -> None:
    model, bad = fit(X, y, store_dual=True), sp.lil_array(X)
    bad.rows[4][2] = 10**7
    with refused("Corrupt CSR matrix", "out of range", "row 4"):
        hinge.verify(model, bad, y)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_verify_refuses_bad_weights(kind) -> None:
    weight, part = WEIGHTS[kind]
    model = fit(X, y, store_dual=True)
    model.dual_coef_[:] = 0  # else the multipliers give some of them away
    with pytest.raises(ValueError, match=f"(?is)sample.?weight.*{part}"):
        hinge.verify(model, X, y, sample_weight=weight)
