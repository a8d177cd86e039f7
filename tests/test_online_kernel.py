"""OnlineKernelSVC: however a stream is cut, the model has the same bits; its steps are those of ASSET."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons

from hinge import OnlineKernelSVC

DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = DIGITS / 16
STAR = {"steps": "asset-star", "fit_intercept": False}


def in_pieces(model: OnlineKernelSVC, X, y, cuts) -> OnlineKernelSVC:
    for rows in np.split(np.arange(len(y)), cuts):
        model.partial_fit(X[rows], y[rows], classes=np.unique(LABELS))
    return model


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fit_intercept": False},
        {"B": 0.5},
        STAR,
        {**STAR, "average": False},
        {"frequencies": "orthogonal"},
        {"kernel": "laplacian"},
    ],
)
def test_cuts_layouts_and_threads_change_no_bit(options) -> None:
    X, y = DIGITS[:1200].astype(np.float32), LABELS[:1200]
    model = OnlineKernelSVC(alpha=1e-3, gamma=0.05, n_components=300, **options)
    whole = in_pieces(clone(model), X, y, [])
    single = in_pieces(clone(model), X, y, np.arange(1, 50))
    mixed = clone(model).set_params(n_jobs=3)
    mixed.partial_fit(sp.csr_matrix(X[:7]), y[:7], classes=np.unique(LABELS))
    mixed.partial_fit(X[7:1100].astype(np.float64), y[7:1100]).partial_fit(X[1100:], y[1100:])
    for other in (single, mixed, clone(model).fit(X, y)):
        assert np.array_equal(whole.coef_, other.coef_)
        assert np.array_equal(whole.intercept_, other.intercept_)
    assert np.array_equal(
        whole.decision_function(X), np.vstack([whole.decision_function(X[i : i + 1]) for i in range(1200)])
    )


def test_steps_are_those_of_the_paper() -> None:
    """Algorithm 1 on the features, in plain NumPy; N-bar is the power of 2 before the last one."""
    X, t = DIGITS[:200], np.where(LABELS[:200] > 4, 1.0, -1.0)
    alpha, B = 1e-2, 3.0
    model = OnlineKernelSVC(alpha=alpha, gamma=0.05, n_components=64, B=B).fit(X, t)
    V = np.empty((200, 64), dtype=np.float32)
    model._stream.features.write(X, V, 1)
    V = V.astype(np.float64)
    w, b, iterates = np.zeros(64), 0.0, []
    for j, (v, target) in enumerate(zip(V, t, strict=True), 1):
        eta = min(np.sqrt(1 / alpha + B**2) / (np.sqrt(2.0) * np.sqrt(j)), 1 / alpha)
        wrong = target * (w @ v + b) < 1
        w = (1 - eta * alpha) * w + eta * wrong * target * v
        b = float(np.clip(b + eta * wrong * target, -B, B))
        w *= min(1.0, 1 / (np.sqrt(alpha) * np.linalg.norm(w)))
        iterates.append((eta, w, b))
    eta, ws, bs = (np.array(one) for one in zip(*iterates[63:], strict=True))
    np.testing.assert_allclose(model.coef_[0], eta @ ws / eta.sum(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_[0], eta @ bs / eta.sum(), rtol=1e-9)


@pytest.mark.parametrize("options", [{}, STAR])
def test_a_curved_boundary_is_learned_in_one_pass(options) -> None:
    X, y = make_moons(6000, noise=0.15, random_state=0)
    model = OnlineKernelSVC(alpha=1e-4, gamma=3.0, n_components=500, **options).fit(X[:5000], y[:5000])
    assert model.score(X[5000:], y[5000:]) > 0.97
    assert model.t_ == model.n_samples_seen_ == 5000


def test_certify_brackets_the_optimum_of_the_features() -> None:
    X, y = make_moons(500, noise=0.15, random_state=0)
    model = OnlineKernelSVC(alpha=1e-2, gamma=3.0, n_components=100).fit(X, y)
    certificate = model.certify(X, y)
    assert 0 < certificate.dual <= certificate.primal < 2 * certificate.dual


def test_a_pickled_stream_goes_on_as_the_first_would_have() -> None:
    X, y = DIGITS, LABELS
    model = OnlineKernelSVC(alpha=1e-3, gamma=0.05, n_components=100).partial_fit(
        X[:900], y[:900], classes=np.unique(y)
    )
    copied = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.partial_fit(X[900:], y[900:]).coef_, copied.partial_fit(X[900:], y[900:]).coef_)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gamma": "scale"}, "needs? all rows|would need all rows"),
        ({"gamma": 0.0}, "gamma must be positive"),
        ({"steps": "asset-star"}, "no intercept"),
        ({"steps": "pegasos"}, "steps must be one of"),
        ({"average": False}, "asset-star"),
        ({"kernel": "linear"}, "kernel must be one of"),
        ({"kernel": "laplacian", "frequencies": "structured"}, "for kernel='rbf' only"),
        ({"frequencies": "even"}, "frequencies must be one of"),
        ({"class_weight": "balanced"}, "class_weight"),
    ],
)
def test_what_it_does_not_support_is_refused(options, words) -> None:
    with pytest.raises(ValueError, match=words):
        OnlineKernelSVC(**options).fit(DIGITS, LABELS)


def test_refused_rows_change_nothing() -> None:
    model = OnlineKernelSVC(gamma=0.05, n_components=50).partial_fit(
        DIGITS[:100], LABELS[:100], classes=np.unique(LABELS)
    )
    before = model.coef_
    bad = DIGITS[:3].copy()
    bad[1, 5] = np.nan
    with pytest.raises(ValueError, match="row 1, column 5"):
        model.partial_fit(bad, LABELS[:3])
    with pytest.raises(ValueError, match=r"gamma was 0\.05"):
        model.set_params(gamma=0.1).partial_fit(DIGITS[:3], LABELS[:3])
    assert np.array_equal(model.coef_, before)
