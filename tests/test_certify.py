"""hinge.certify: a true and useful certificate of any linear model, and verify says what to do for others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import solve_quietly
from problems import Case, cases, exact_primal, share
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as Liblinear
from streams import CANCER, IRIS, IS_BENIGN, SPECIES

import hinge

NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]


@settings(max_examples=share(0.2))
@given(case=cases(solver="dcd", max_iter=300), seed=st.integers(0, 2**32 - 1))
def test_certificate_of_any_weights_is_true_in_exact_arithmetic(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    coef, b = rng.normal(size=case.data.shape[1]), float(rng.normal()) if case.intercept != "none" else 0.0
    options = {name: value for name, value in case.options().items() if name in ("C", "loss", "intercept_scaling")}
    certificate = hinge.certify((coef, b), case.data, case.y, case.weight, intercept=case.intercept, **options)
    primal = exact_primal(case, coef, b)
    assert primal <= Fraction(certificate.primal), "the objective is larger than certified"
    assert float(primal) >= certificate.primal * (1 - 1e-9) - 1e-9, "the objective is nowhere near the certified one"
    other = solve_quietly(case.data, case.y, **case.options())
    assert certificate.dual <= exact_primal(case, other.coef, other.intercept), "a model below the lower bound exists"


@pytest.mark.parametrize(
    ("model", "own"),
    [
        (Liblinear(random_state=0), {"loss": "squared_hinge", "intercept": "penalized"}),
        (Liblinear(loss="hinge", C=0.1, intercept_scaling=3.0, random_state=0), {"intercept_scaling": 3.0}),
        (Liblinear(fit_intercept=False, class_weight={0: 2.0}), {"loss": "squared_hinge", "class_weight": {0: 2.0}}),
        (SGDClassifier(alpha=0.01, random_state=0), {}),
        (SVC(kernel="linear", C=0.1), {}),
    ],
    ids=["squared", "hinge", "weights", "sgd", "svc"],
)
def test_problem_is_the_one_that_the_model_names(model: Any, own: dict[str, Any]) -> None:
    certificate = hinge.certify(model.fit(CANCER, IS_BENIGN), CANCER, IS_BENIGN)
    C = getattr(model, "C", None) or 1 / (model.alpha * len(CANCER))
    kind = "none" if not getattr(model, "fit_intercept", True) else "penalized" if "Linear" in str(model) else "free"
    optimum = hinge.solve(CANCER, IS_BENIGN, C=C, **{**own, "intercept": kind, "tol": 1e-9}).certificate
    assert certificate.dual <= optimum.primal
    assert optimum.dual <= certificate.primal
    distance = certificate.primal - optimum.primal
    assert distance >= 0.89 * certificate.gap - 1e-8 * certificate.primal


def test_own_models_are_certified_on_their_own_problem() -> None:
    X, y = CANCER, IS_BENIGN
    for model in (
        hinge.LinearSVC(C=0.1, class_weight="balanced").fit(X, y),
        hinge.LinearSVC(C=0.1, loss="squared_hinge", intercept="penalized").fit(X, y).sparsify(),
        hinge.solve(X, y, C=0.1, class_weight={0: 3}),
    ):
        own = getattr(model, "certificate_", None) or model.certificate
        again = hinge.certify(model, X, y)
        assert again.primal == pytest.approx(own.primal, rel=1e-9)
        assert again.relative_gap < 1e-6


def test_pipelines_searches_and_classes() -> None:
    pipeline = make_pipeline(StandardScaler(), PCA(3), hinge.LinearSVC()).fit(IRIS, NAMES)
    certificates = hinge.certify(pipeline, IRIS, NAMES)
    assert isinstance(certificates, hinge.Certificates)
    assert certificates.relative_gap < 1e-6
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.1, 1.0]}, cv=3).fit(IRIS, NAMES)
    assert hinge.certify(search, IRIS, NAMES)["setosa"].relative_gap < 1e-6
    theirs = Liblinear(loss="hinge", random_state=0, max_iter=10**6).fit(IRIS, NAMES)
    assert hinge.certify((theirs.coef_, theirs.intercept_), IRIS, NAMES, C=1.0, intercept="penalized") == hinge.certify(
        theirs, IRIS, NAMES
    )


def test_other_losses_need_a_problem_to_be_compared_on() -> None:
    model = LogisticRegression().fit(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match="needs C"):
        hinge.certify(model, CANCER, IS_BENIGN)
    assert hinge.certify(model, CANCER, IS_BENIGN, C=0.1).relative_gap > 1e-3
    log_loss = SGDClassifier(loss="log_loss", random_state=0).fit(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match=r"minimises loss='log_loss'.*C="):
        hinge.certify(log_loss, CANCER, IS_BENIGN, C=1.0)
    with pytest.raises(ValueError, match="needs C"):
        hinge.certify(Perceptron().fit(CANCER, IS_BENIGN), CANCER, IS_BENIGN)
    sparse = SGDClassifier(penalty="l1", random_state=0).fit(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match="needs C"):
        hinge.certify(sparse, CANCER, IS_BENIGN)


@pytest.mark.parametrize(
    ("message", "model", "options"),
    [
        ("the class LinearSVC: make", hinge.LinearSVC, {}),
        ("no attribute coef_", KNeighborsClassifier().fit(IRIS, SPECIES), {}),
        ("is not fitted, or it has no attribute coef_", Liblinear(), {}),
        ("needs a classifier", LinearRegression().fit(IRIS, SPECIES), {}),
        ("pairs of classes", SVC(kernel="linear").fit(IRIS, SPECIES), {}),
        (r"Weights of shape \(1, 4\)", (np.ones(4), 0.0), {"C": 1.0}),
        ("3 objects", (np.ones(4), 0.0, 1.0), {"C": 1.0}),
        ("NaN or infinity", (np.full((3, 4), np.nan), 0.0), {"C": 1.0}),
        ("3 weights", (np.ones((3, 3)), 0.0), {"C": 1.0}),
        ("has an intercept", (np.ones((3, 4)), 1.0), {"C": 1.0, "intercept": "none"}),
        ("loss must be one of", (np.ones((3, 4)), 1.0), {"C": 1.0, "loss": "Hinge"}),
        ("C must be positive", (np.ones((3, 4)), 1.0), {"C": -1.0}),
        ("label 2", (np.ones((1, 4)), 1.0), {"C": 1.0}),
    ],
)
def test_what_is_no_linear_model_is_refused_with_the_next_step(message: str, model: Any, options: Any) -> None:
    if message == "label 2":
        model = hinge.LinearSVC().fit(IRIS[SPECIES < 2], SPECIES[SPECIES < 2])
    with pytest.raises((TypeError, ValueError), match=message):
        hinge.certify(model, IRIS, SPECIES, **options)


@pytest.mark.parametrize(
    ("message", "model"),
    [
        (r"verify\(pipeline\[-1\]", make_pipeline(StandardScaler(), hinge.LinearSVC())),
        ("best_estimator_", GridSearchCV(hinge.LinearSVC(), {"C": [1.0]})),
        (r"use hinge.certify\(model, X, y, C=...\)", Liblinear()),
        ("the class LinearSVC", hinge.LinearSVC),
    ],
)
def test_verify_says_what_to_do_for_other_models(message: str, model: Any) -> None:
    with pytest.raises(TypeError, match=message):
        hinge.verify(model, CANCER, IS_BENIGN)


def test_verify_without_multipliers_names_both_ways() -> None:
    with pytest.raises(ValueError, match=r"store_dual=True.*hinge.certify"):
        hinge.verify(hinge.LinearSVC().fit(CANCER, IS_BENIGN), CANCER, IS_BENIGN)


def test_verify_names_the_classes() -> None:
    model = hinge.LinearSVC(store_dual=True).fit(IRIS, NAMES)
    found = hinge.verify(model, IRIS, NAMES)
    assert found["virginica"].primal == pytest.approx(model.certificate_["virginica"].primal)
    assert "virginica" in repr(found)
