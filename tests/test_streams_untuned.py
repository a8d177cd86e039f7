"""OnlineSVC() needs no tuning: raw features, one pass, streams that change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import SGDClassifier
from streams import CANCER, IRIS, IS_BENIGN, SPECIES

from hinge import OnlineSVC
from hinge.reference.adaptive import FORGET


def shuffled(load: Any) -> tuple[Any, Any]:
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


@pytest.mark.parametrize(("load", "least"), [(load_digits, 0.92), (load_breast_cancer, 0.88)])
def test_one_pass_over_raw_features_is_enough(load: Any, least: float) -> None:
    X, y = shuffled(load)
    half = len(y) // 2
    classes = np.unique(y)
    found = OnlineSVC().partial_fit(X[:half], y[:half], classes=classes).score(X[half:], y[half:])
    theirs = SGDClassifier(random_state=0).partial_fit(X[:half], y[:half], classes=classes).score(X[half:], y[half:])
    assert found > least
    assert found > theirs


@pytest.mark.parametrize("params", [{}, {"average": False}, {"window": 20}], ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_units_of_the_features_do_not_count(params: dict[str, Any], layout: Any) -> None:
    """Powers of two, so that scores agree to the bit."""
    units = 2.0 ** np.random.default_rng(0).integers(-30, 30, CANCER.shape[1])
    one = OnlineSVC(**params).fit(layout(CANCER), IS_BENIGN)
    other = OnlineSVC(**params).fit(layout(CANCER * units), IS_BENIGN)
    assert np.array_equal(one.coef_, other.coef_ * units)
    assert np.array_equal(one.decision_function(CANCER), other.decision_function(CANCER * units))


def test_zeros_of_dense_rows_are_absent_as_in_sparse_ones() -> None:
    X = CANCER * (np.random.default_rng(0).random(CANCER.shape) < 0.3)
    dense, sparse = OnlineSVC().fit(X, IS_BENIGN), OnlineSVC().fit(sp.csr_array(X), IS_BENIGN)
    assert np.array_equal(dense.coef_, sparse.coef_)


def test_no_step_goes_further_than_to_a_margin_of_one() -> None:
    model = OnlineSVC(average=False)
    for x, label in zip(CANCER, IS_BENIGN, strict=True):
        model.partial_fit(x[None], [label], classes=[0, 1], sample_weight=[1e6])
        margin = (2 * label - 1) * model.decision_function(x[None])[0]
        assert margin >= 1 - 1e-9, "a row of large weight is classified with its full margin"


def test_average_is_the_one_that_is_documented() -> None:
    """In units of the final scales, iterate t has the weight of polynomial decay, or of a window."""
    X = np.vstack([np.full(4, 8.0), np.random.default_rng(0).normal(size=(60, 4))])  # the scales are those of row 0
    y = np.append(1, (X[1:, 0] > 0).astype(int))
    last = OnlineSVC(average=False)
    for params, window in (({}, np.inf), ({"window": 10}, 10.0)):
        averaged, expected = OnlineSVC(**params), np.zeros(4)
        last = OnlineSVC(average=False)
        for t in range(1, len(y) + 1):
            for model in (averaged, last):
                model.partial_fit(X[t - 1 : t], y[t - 1 : t], classes=[0, 1])
            share = max((FORGET + 1) / (t + FORGET), 1 / window)
            expected = (1 - share) * expected + share * last.coef_[0]
        np.testing.assert_allclose(averaged.coef_[0], expected, rtol=1e-10)


@pytest.mark.parametrize(("passes", "params"), [(1, {}), (1, {"window": 200}), (5, {"window": 200})])
def test_a_stream_that_changes_is_followed(passes: int, params: dict[str, Any]) -> None:
    X, y = shuffled(load_digits)
    model = OnlineSVC(**params)
    for _ in range(passes):
        model.partial_fit(X[:1000], y[:1000], classes=np.arange(10))
    changed = (y + 1) % 10
    model.partial_fit(X[:1000], changed[:1000])
    assert model.score(X[1000:], changed[1000:]) > 0.85


def test_long_windows_and_streams_keep_their_digits() -> None:
    """Short windows fold the lag again and again; a window of two is nearly the last iterate."""
    short = OnlineSVC(window=2, max_iter=50).fit(IRIS, SPECIES)
    last = OnlineSVC(average=False, max_iter=50).fit(IRIS, SPECIES)
    assert np.isfinite(short.coef_).all()
    assert np.allclose(short.coef_, last.coef_, atol=0.5 * np.abs(last.coef_).max())
