"""OnlineSVC.certify: a true bracket of the optimum of the problem that the steps minimise, and one that is of use."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import make, solve_quietly, unconverged
from problems import Case, cases, exact_primal, share
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import normalize
from streams import CANCER, IRIS, IS_BENIGN, SPECIES

from hinge import Certificate, LinearSVC, OnlineSVC, solve

WEIGHT = np.random.default_rng(0).choice([0.0, 1.0, 5.0], len(IS_BENIGN))
INTERCEPTS: dict[str, dict[str, Any]] = {
    "none": {"fit_intercept": False},
    "free": {},
    "penalized": {"intercept": "penalized", "intercept_scaling": 2.0},
}


def objective(model: OnlineSVC, X: Any, y: Any, cost: Any) -> float:
    """P of a binary model, by definition."""
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    coef, b = model.coef_[0], model.intercept_[0]
    value = 0.5 * coef @ coef + cost @ np.maximum(0.0, 1.0 - signs * (X @ coef + b))
    return value + (0.5 * (b / model.intercept_scaling) ** 2 if model.intercept == "penalized" else 0.0)


@settings(max_examples=share(0.1))
@given(
    case=cases(solver="dcd", loss="hinge", max_iter=300),
    alpha=st.sampled_from([1e-3, 0.1, 10.0]),
    average=st.booleans(),
)
def test_certificate_is_true_in_exact_arithmetic(case: Case, alpha: float, average: bool) -> None:
    model = OnlineSVC(
        alpha=alpha,
        average=average,
        fit_intercept=case.intercept != "none",
        intercept="penalized" if case.intercept == "penalized" else "free",
        intercept_scaling=case.intercept_scaling,
    )
    with unconverged():  # huge rows against alpha
        model.fit(case.data, case.y, sample_weight=case.weight)
    certificate = model.certify(case.data, case.y, sample_weight=case.weight, C=case.C)
    primal = exact_primal(case, model.coef_[0], float(model.intercept_[0]))
    assert primal <= Fraction(certificate.primal), "the objective is larger than certified"
    assert float(primal) >= certificate.primal * (1 - 1e-9) - 1e-9, "the objective is nowhere near the certified one"
    other = solve_quietly(case.data, case.y, **case.options())
    assert certificate.dual <= exact_primal(case, other.coef, other.intercept), "a model below the lower bound exists"
    assert certificate.dual <= primal


@pytest.mark.parametrize("params", INTERCEPTS.values(), ids=INTERCEPTS.keys())
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_problem_is_the_one_that_the_steps_minimise(params: dict[str, Any], weight: Any, layout: Any) -> None:
    model = OnlineSVC(alpha=0.1, max_iter=400, shuffle=True, average=False, **params)
    model.fit(layout(CANCER), IS_BENIGN, sample_weight=weight)
    certificate = model.certify(layout(CANCER), IS_BENIGN, sample_weight=weight)
    s = np.ones(len(CANCER)) if weight is None else weight
    cost = s / (0.1 * np.count_nonzero(s))
    assert certificate.primal == pytest.approx(objective(model, CANCER, IS_BENIGN, cost), rel=1e-10)
    assert certificate.relative_gap < 0.01, "so many steps must come near the optimum of their own problem"
    assert isinstance(certificate, Certificate)


@pytest.mark.parametrize("params", INTERCEPTS.values(), ids=INTERCEPTS.keys())
def test_gap_tells_the_true_distance_from_the_optimum(params: dict[str, Any]) -> None:
    X, y = make(5000)
    for alpha, passes in ((0.1, 1), (1e-3, 1), (1e-3, 10)):
        model = OnlineSVC(alpha=alpha, max_iter=passes, shuffle=True, **params).fit(X, y)
        certificate = model.certify(X, y)
        optimum = solve(
            X,
            y,
            C=1 / (alpha * 5000),
            intercept="none" if not model.fit_intercept else model.intercept,
            intercept_scaling=model.intercept_scaling,
            tol=1e-7,
        ).certificate
        distance = certificate.primal - optimum.primal
        assert distance > 1e-4 * certificate.primal, "the test wants a model that is off the optimum"
        assert certificate.dual <= optimum.primal
        assert distance >= 0.89 * certificate.gap, f"gap {certificate.gap}, but only {distance} from the optimum"


def test_class_weights_and_costs_are_counted() -> None:
    by_class = {0: 3.0, 1: 0.5}
    model = OnlineSVC(alpha=0.1, class_weight=by_class).fit(CANCER, IS_BENIGN)
    weight = np.where(IS_BENIGN == 0, 3.0, 0.5)
    plain = OnlineSVC(alpha=0.1).fit(CANCER, IS_BENIGN, sample_weight=weight)
    assert model.certify(CANCER, IS_BENIGN) == plain.certify(CANCER, IS_BENIGN, sample_weight=weight)
    found = model.certify(CANCER, IS_BENIGN, C=2.0)
    assert found.primal == pytest.approx(objective(model, CANCER, IS_BENIGN, 2.0 * weight), rel=1e-10)
    exact = LinearSVC(C=2.0, class_weight=by_class).fit(CANCER, IS_BENIGN).certificate_
    assert found.dual <= exact.primal
    assert exact.dual <= found.primal


def test_model_at_the_optimum_has_no_gap() -> None:
    """Every row is a violator for ever, so that w is the mean of y x over alpha from the first step on: the optimum."""
    X, y = np.tile([[1.0], [-1.0]], (50, 1)), np.tile([1, 0], 50)
    model = OnlineSVC(alpha=2.0, fit_intercept=False, average=False).fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(0.5, rel=1e-14)
    assert model.certify(X, y).relative_gap < 1e-13


def test_one_certificate_per_class() -> None:
    model = OnlineSVC(alpha=0.01, max_iter=50, shuffle=True).fit(IRIS, SPECIES)
    certificates = model.certify(IRIS, SPECIES)
    assert isinstance(certificates, tuple)
    assert len(certificates) == 3
    for k, certificate in enumerate(certificates):
        alone = LinearSVC(C=1 / (0.01 * 150)).fit(IRIS, SPECIES == k).certificate_
        assert certificate.dual <= alone.primal
        assert alone.dual <= certificate.primal
        signs = SPECIES == k
        decision = IRIS @ model.coef_[k] + model.intercept_[k]
        loss = np.maximum(0.0, 1.0 - np.where(signs, 1, -1) * decision).sum() / (0.01 * 150)
        assert certificate.primal == pytest.approx(0.5 * model.coef_[k] @ model.coef_[k] + loss, rel=1e-10)


def test_rows_need_not_be_those_of_the_stream_nor_of_all_classes() -> None:
    model = OnlineSVC(alpha=0.01).fit(IRIS, SPECIES)
    some = SPECIES < 2
    certificates = model.certify(IRIS[some], SPECIES[some])
    assert len(certificates) == 3
    assert all(0 <= certificate.dual <= certificate.primal for certificate in certificates)
    assert certificates[2].primal >= 0.5 * model.coef_[2] @ model.coef_[2]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_unit_norm_is_certified_on_unit_rows(layout: Any) -> None:
    X = layout(CANCER * np.linspace(0.1, 10.0, len(CANCER))[:, None])
    before = X.copy()
    model = OnlineSVC(alpha=0.01, unit_norm=True).fit(X, IS_BENIGN)
    certificate = model.certify(X, IS_BENIGN)
    assert (X != before).sum() == 0, "the rows of the user were changed"
    unit = normalize(CANCER)
    cost = np.full(len(CANCER), 1 / (0.01 * len(CANCER)))
    assert certificate.primal == pytest.approx(objective(model, unit, IS_BENIGN, cost), rel=1e-6)
    assert certificate.dual <= LinearSVC(C=cost[0]).fit(unit, IS_BENIGN).certificate_.primal * (1 + 1e-6)


def test_fewer_passes_make_the_bound_weaker_never_wrong() -> None:
    X, y = make(5000)
    model = OnlineSVC(alpha=1e-4).fit(X, y)
    few, many = (model.certify(X, y, max_iter=passes) for passes in (1, 100))
    assert few.primal == many.primal
    assert few.dual <= many.dual


def test_certify_leaves_the_model_alone() -> None:
    model = OnlineSVC(alpha=1e-3).fit(CANCER, IS_BENIGN)
    before, coef = dict(model.__dict__), model.coef_.copy()
    model.certify(CANCER[:100], IS_BENIGN[:100])
    assert model.__dict__ == before
    assert np.array_equal(model.coef_, coef)


@pytest.mark.parametrize(
    ("message", "X", "y", "options"),
    [
        (r"label 2 \(row 0\)", CANCER[:2], [2, 1], {}),
        ("expecting 30 features", CANCER[:, 1:], IS_BENIGN, {}),
        (r"NaN \(row 0, column 0\)", np.full((2, 30), math.nan), [0, 1], {}),
        ("weight", CANCER, IS_BENIGN, {"sample_weight": np.zeros(len(CANCER))}),
        ("C must be positive", CANCER, IS_BENIGN, {"C": 0.0}),
        ("max_iter must be", CANCER, IS_BENIGN, {"max_iter": 0}),
    ],
)
def test_bad_rows_and_options_are_refused(message: str, X: Any, y: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=message):
        OnlineSVC(alpha=1e-3).fit(CANCER, IS_BENIGN).certify(X, y, **options)


def test_a_model_is_needed() -> None:
    with pytest.raises(NotFittedError):
        OnlineSVC().certify(CANCER, IS_BENIGN)
