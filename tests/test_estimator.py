"""LinearSVC keeps scikit-learn's contract, and its certificate can be checked from its public attributes."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from registry import VARIANTS, with_losses
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from hinge import DCD, SGDQN, Blocks, Certificate, LinearSVC, Pegasos, verify
from hinge.solvers import as_solver

CANCER, IS_BENIGN = load_breast_cancer(return_X_y=True)
CANCER = scale(CANCER)
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = scale(IRIS)
WEIGHT = np.random.default_rng(0).integers(0, 4, size=len(IS_BENIGN)) / 2


@parametrize_with_checks(
    [
        LinearSVC(),
        LinearSVC(intercept="penalized"),
        LinearSVC(class_weight="balanced", solver=DCD(shrinking=False), order="permutation"),
        LinearSVC(n_jobs=2, store_dual=True),
        LinearSVC(loss="squared_hinge", intercept="penalized"),
    ]
)
def test_sklearn_contract(estimator, check) -> None:
    check(estimator)


# Composition


def test_works_in_a_pipeline() -> None:
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=8), LinearSVC()).fit(X, y)
    assert pipeline.score(X, y) > 0.95
    assert len(pipeline[-1].certificate_) == 3


def test_works_in_a_pipeline_of_data_frames() -> None:
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(CANCER, columns=[f"feature {j}" for j in range(CANCER.shape[1])])
    pipeline = make_pipeline(StandardScaler(), LinearSVC()).set_output(transform="pandas").fit(X, IS_BENIGN)
    assert list(pipeline[-1].feature_names_in_) == list(X.columns)
    plain = make_pipeline(StandardScaler(), LinearSVC()).fit(X, IS_BENIGN)
    assert np.array_equal(pipeline.predict(X), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        pipeline[-1].predict(X.rename(columns={"feature 0": "other"}))


def test_works_in_a_pipeline_of_polars_frames() -> None:
    pl = pytest.importorskip("polars")
    X = pl.DataFrame(CANCER, schema=[f"x{j}" for j in range(CANCER.shape[1])])
    pipeline = make_pipeline(StandardScaler(), LinearSVC()).set_output(transform="polars").fit(X, IS_BENIGN)
    assert list(pipeline[-1].feature_names_in_) == X.columns
    assert pipeline.score(X, IS_BENIGN) > 0.95


def test_works_after_a_sparse_encoder() -> None:
    X = np.digitize(CANCER[:, :6], [-0.5, 0.5])
    pipeline = make_pipeline(OneHotEncoder(), LinearSVC()).fit(X, IS_BENIGN)
    assert pipeline.score(X, IS_BENIGN) > 0.9


@pytest.mark.parametrize("solver", ["pegasos", Pegasos(sampling="epoch")])
@pytest.mark.parametrize("numbers", [[1, 10], np.array([1, 10])])
def test_options_of_the_solver_can_be_searched(solver, numbers) -> None:
    search = GridSearchCV(LinearSVC(solver=solver, C=0.01, tol=0.5), {"solver__k": numbers}, cv=3)
    search.fit(CANCER, IS_BENIGN)
    fitted = search.best_estimator_.solver
    assert isinstance(fitted, Pegasos)
    assert fitted.k == search.best_params_["solver__k"]
    assert solver in ("pegasos", Pegasos(sampling="epoch")), "the search changed the configuration it was given"


def test_solver_and_its_options_can_be_searched_together() -> None:
    grid = [{"solver": ["dcd"], "C": [0.01, 1]}, {"solver": [Pegasos()], "solver__k": [5], "tol": [0.5], "C": [0.01]}]
    search = GridSearchCV(LinearSVC(), grid, cv=3).fit(CANCER, IS_BENIGN)
    assert search.best_score_ > 0.9


def test_set_params_sets_solver_and_option_at_once() -> None:
    assert LinearSVC().set_params(solver="pegasos", solver__k=7).solver == Pegasos(k=7)
    assert LinearSVC(solver=Pegasos(k=7)).get_params()["solver__k"] == 7


@pytest.mark.parametrize("solver", ["auto", *VARIANTS.values()])
def test_clone_and_repr_keep_every_parameter(solver) -> None:
    model = LinearSVC(loss="squared_hinge", solver=solver, order=Blocks(rows=8), class_weight={0: 2.0}, C=2.0)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert repr(copy) == repr(model)


@pytest.mark.parametrize("warm_start", [False, True])
def test_pickled_model_predicts_the_same_and_goes_on(warm_start) -> None:
    model = LinearSVC(warm_start=warm_start, store_dual=True, tol=1e-4).fit(CANCER, IS_BENIGN)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.decision_function(CANCER), model.decision_function(CANCER))
    assert copy.certificate_ == model.certificate_
    assert copy.history_ == model.history_
    assert verify(copy, CANCER, IS_BENIGN) == verify(model, CANCER, IS_BENIGN)
    assert np.array_equal(copy.fit(CANCER, IS_BENIGN).coef_, model.fit(CANCER, IS_BENIGN).coef_)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_works_in_calibration(method) -> None:
    calibrated = CalibratedClassifierCV(LinearSVC(), method=method, cv=3).fit(CANCER, IS_BENIGN)
    assert calibrated.score(CANCER, IS_BENIGN) > 0.95


def test_works_in_meta_estimators() -> None:
    assert OneVsOneClassifier(LinearSVC()).fit(IRIS, SPECIES).score(IRIS, SPECIES) > 0.9
    assert SelectFromModel(LinearSVC()).fit(CANCER, IS_BENIGN).transform(CANCER).shape[1] < CANCER.shape[1]


def test_sample_weight_is_routed_through_cross_validation() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = LinearSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found = cross_validate(model, CANCER, IS_BENIGN, cv=3, params={"sample_weight": WEIGHT}, return_estimator=True)
    plain = cross_validate(LinearSVC(), CANCER, IS_BENIGN, cv=3, return_estimator=True)
    assert not np.array_equal(found["estimator"][0].coef_, plain["estimator"][0].coef_), "the weights did not arrive"


def test_fit_returns_self_and_leaves_parameters_alone() -> None:
    model = LinearSVC(solver="dcd", order="blocks", intercept="penalized")
    before = model.get_params()
    assert model.fit(CANCER, IS_BENIGN) is model
    assert model.get_params() == before


# Results


def test_results_of_a_binary_fit_have_the_documented_shapes() -> None:
    model = LinearSVC(store_dual=True).fit(CANCER.astype(np.float32), IS_BENIGN)
    assert model.coef_.dtype == np.float64
    assert model.coef_.shape == (1, 30)
    assert model.intercept_.shape == (1,)
    assert model.dual_coef_.shape == (1, 569)
    assert (model.dual_coef_ >= 0).all()
    assert isinstance(model.certificate_, Certificate)
    assert type(model.n_iter_) is int
    assert model.status_ == "converged"
    assert model.history_[-1].primal == model.certificate_.primal
    assert model.decision_function(CANCER).shape == (569,)
    assert np.array_equal(model.predict(CANCER), model.classes_[(model.decision_function(CANCER) > 0).astype(int)])


def test_results_of_a_multi_class_fit_are_in_the_order_of_the_classes() -> None:
    names = np.array(["c", "a", "b"])[SPECIES]
    model = LinearSVC(store_dual=True).fit(IRIS, names)
    assert list(model.classes_) == ["a", "b", "c"]
    assert model.coef_.shape == (3, 4)
    assert model.dual_coef_.shape == (3, 150)
    assert len(model.certificate_) == len(model.history_) == 3
    for k, name in enumerate(model.classes_):
        alone = LinearSVC(store_dual=True).fit(IRIS, names == name)
        found, expected = model.certificate_[k], alone.certificate_
        assert found.dual <= expected.primal, f"certificate {k} is not of class {name!r}"
        assert expected.dual <= found.primal, f"certificate {k} is not of class {name!r}"
    assert np.array_equal(model.predict(IRIS), model.classes_[model.decision_function(IRIS).argmax(axis=1)])


@pytest.mark.parametrize(
    "solver", ["dcd", Pegasos(k=3), Pegasos(output="random"), "norma", "svmsgd", SGDQN(precision="single")]
)
def test_number_of_threads_does_not_change_a_bit(solver) -> None:
    X, y = load_wine(return_X_y=True)
    X = np.tile(scale(X), (20, 1)) + 0.1 * np.random.default_rng(0).normal(size=(20 * len(X), 13))
    params: dict[str, Any] = {"solver": solver, "C": 0.001, "max_iter": 20, "store_dual": True}
    params["intercept"] = "free" if "free" in as_solver(solver).traits.intercepts else "penalized"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [LinearSVC(n_jobs=n_jobs, **params).fit(X, np.tile(y, 20)) for n_jobs in (None, 1, 2, 3, -1)]
    assert np.abs(models[0].dual_coef_).max(axis=1).all(), "the test wants models that have learned something"
    for model in models[1:]:
        assert np.array_equal(model.coef_, models[0].coef_), f"n_jobs={model.n_jobs}: other coefficients"
        assert np.array_equal(model.intercept_, models[0].intercept_)
        assert np.array_equal(model.dual_coef_, models[0].dual_coef_)
        assert model.certificate_ == models[0].certificate_
        assert model.n_iter_ == models[0].n_iter_


def test_classes_draw_random_numbers_of_their_own() -> None:
    # Two classes that are each other's mirror image are the same problem: only the random keys differ.
    rng = np.random.default_rng(0)
    half = rng.normal(size=(1500, 5)) + np.eye(5)[0]
    X, y = np.vstack([half, -half, np.zeros((10, 5))]), np.repeat([0, 1, 2], [1500, 1500, 10])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        params: dict[str, Any] = {"solver": "pegasos", "max_iter": 20, "tol": 1e-9, "C": 1e-3, "fit_intercept": False}
        model = LinearSVC(store_dual=True, **params).fit(X, y)
        other = LinearSVC(store_dual=True, random_state=1, **params).fit(X, y)
    assert model.coef_[:2].any(), "the test wants models that have learned something"
    assert not np.array_equal(model.dual_coef_[0], model.dual_coef_[1]), "two classes drew the same rows"
    assert not np.array_equal(model.coef_, other.coef_), "the seed changes nothing"


def test_worst_status_and_most_passes_are_reported() -> None:
    X, y = np.vstack([IRIS] * 10), np.tile(SPECIES, 10)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LinearSVC(solver="dcd", max_iter=8, tol=1e-4).fit(X, y)
    gaps = [certificate.relative_gap for certificate in model.certificate_]
    assert min(gaps) <= model.tol, "the test wants one class that converges"
    assert max(gaps) > model.tol, "the test wants one class that does not converge"
    assert (model.status_, model.n_iter_) == ("max_iter", 8)
    assert [warning.category for warning in caught] == [ConvergenceWarning], "one warning for all classes"


# Weights


@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_class_weight_is_a_sample_weight(intercept) -> None:
    by_class = {0: 3.0, 1: 0.5}
    found = LinearSVC(class_weight=by_class, intercept=intercept).fit(CANCER, IS_BENIGN)
    weight = np.array([by_class[label] for label in IS_BENIGN])
    expected = LinearSVC(intercept=intercept).fit(CANCER, IS_BENIGN, sample_weight=weight)
    assert np.array_equal(found.coef_, expected.coef_)
    assert found.certificate_ == expected.certificate_


def test_balanced_counts_sample_weights() -> None:
    totals = np.array([WEIGHT[label == IS_BENIGN].sum() for label in (0, 1)])
    factors = WEIGHT.sum() / (2 * totals)
    found = LinearSVC(class_weight="balanced").fit(CANCER, IS_BENIGN, sample_weight=WEIGHT)
    expected = LinearSVC().fit(CANCER, IS_BENIGN, sample_weight=WEIGHT * factors[IS_BENIGN])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10, atol=1e-13)


def test_each_row_keeps_the_weight_of_its_own_class_in_one_vs_rest() -> None:
    by_class = {0: 3.0, 1: 0.5, 2: 1.5}
    found = LinearSVC(class_weight=by_class).fit(IRIS, SPECIES)
    expected = LinearSVC().fit(IRIS, SPECIES, sample_weight=np.array([by_class[label] for label in SPECIES]))
    assert np.array_equal(found.coef_, expected.coef_), "rows of the rest do not have their own class's weight"


def test_class_weight_may_leave_classes_out() -> None:
    found = LinearSVC(class_weight={2: 4.0}).fit(IRIS, SPECIES)
    expected = LinearSVC().fit(IRIS, SPECIES, sample_weight=np.where(SPECIES == 2, 4.0, 1.0))
    assert np.array_equal(found.coef_, expected.coef_)


def test_zero_weight_is_absence_to_the_bit() -> None:
    found = LinearSVC(store_dual=True).fit(CANCER, IS_BENIGN, sample_weight=WEIGHT)
    kept = WEIGHT > 0
    expected = LinearSVC(store_dual=True).fit(CANCER[kept], IS_BENIGN[kept], sample_weight=WEIGHT[kept])
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.dual_coef_[:, kept], expected.dual_coef_)
    assert not found.dual_coef_[:, ~kept].any()


def test_class_of_zero_weight_does_not_exist() -> None:
    model = LinearSVC(class_weight="balanced").fit(IRIS, SPECIES, sample_weight=(SPECIES != 1).astype(float))
    assert list(model.classes_) == [0, 2]


def test_integer_weights_are_copies() -> None:
    times = np.random.default_rng(1).integers(1, 4, size=len(IS_BENIGN))
    one = LinearSVC(tol=1e-6).fit(CANCER, IS_BENIGN, sample_weight=times)
    other = LinearSVC(tol=1e-6).fit(np.repeat(CANCER, times, axis=0), np.repeat(IS_BENIGN, times))
    assert one.certificate_.dual <= other.certificate_.primal
    assert other.certificate_.dual <= one.certificate_.primal


# Agreement with other solvers of the same problems


def objective(coef: Any, b: float, X: Any, sign: Any, C: float) -> float:
    return 0.5 * coef @ coef + C * np.maximum(0, 1 - sign * (X @ coef + b)).sum()


SIGN = 2.0 * IS_BENIGN - 1


@pytest.mark.parametrize("scaling", [0.5, 1.0, 10.0])
def test_penalized_intercept_is_that_of_sklearn_linear_svc(scaling) -> None:
    C = 0.05
    params: dict[str, Any] = {"C": C, "intercept_scaling": scaling, "tol": 1e-8}
    theirs = svm.LinearSVC(loss="hinge", dual=True, max_iter=200_000, random_state=0, **params).fit(CANCER, IS_BENIGN)
    ours = LinearSVC(intercept="penalized", **params).fit(CANCER, IS_BENIGN)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-5)
    value = objective(theirs.coef_[0], theirs.intercept_[0], CANCER, SIGN, C)
    value += 0.5 * (theirs.intercept_[0] / scaling) ** 2
    assert ours.certificate_.dual <= value * (1 + 1e-9), "sklearn found a better model than our dual bound allows"
    assert value == pytest.approx(ours.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_free_intercept_is_that_of_the_classic_svm(C) -> None:
    theirs = svm.SVC(kernel="linear", C=C, tol=1e-8).fit(CANCER, IS_BENIGN)
    ours = LinearSVC(C=C, tol=1e-8).fit(CANCER, IS_BENIGN)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    value = objective(theirs.coef_[0], theirs.intercept_[0], CANCER, SIGN, C)
    assert ours.certificate_.dual <= value * (1 + 1e-9), "libsvm found a better model than our dual bound allows"
    assert value == pytest.approx(ours.certificate_.primal, rel=1e-5)


def test_no_intercept_is_that_of_sklearn_linear_svc() -> None:
    theirs = svm.LinearSVC(loss="hinge", dual=True, fit_intercept=False, C=0.05, tol=1e-8, max_iter=200_000)
    theirs.fit(CANCER, IS_BENIGN)
    ours = LinearSVC(fit_intercept=False, C=0.05, tol=1e-8).fit(CANCER, IS_BENIGN)
    assert ours.intercept_ == 0.0
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)


def test_weighted_problem_is_that_of_the_classic_svm() -> None:
    theirs = svm.SVC(kernel="linear", C=0.1, tol=1e-8, class_weight="balanced")
    theirs.fit(CANCER, IS_BENIGN, sample_weight=WEIGHT + 0.5)
    weight = WEIGHT + 0.5
    factor = len(IS_BENIGN) / (2 * np.bincount(IS_BENIGN))  # libsvm's wrapper balances by numbers of rows
    ours = LinearSVC(C=0.1, tol=1e-8).fit(CANCER, IS_BENIGN, sample_weight=weight * factor[IS_BENIGN])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4)


# verify

FITS: dict[str, dict[str, Any]] = {
    "free": {},
    "none": {"fit_intercept": False},
    "penalized": {"intercept": "penalized", "intercept_scaling": 3.0},
    "balanced": {"class_weight": "balanced"},
    "squared hinge": {"loss": "squared_hinge"},
    "squared hinge, penalized": {"loss": "squared_hinge", "intercept": "penalized", "intercept_scaling": 0.3},
}
LAYOUTS = {"dense": np.asarray, "float32": np.float32, "csr": sp.csr_array, "csr_matrix": sp.csr_matrix}


def assert_verified(X: Any, weight: Any, **params: Any) -> None:
    model = LinearSVC(store_dual=True, **params).fit(X, IS_BENIGN, sample_weight=weight)
    checked, own = verify(model, X, IS_BENIGN, sample_weight=weight), model.certificate_
    assert own.dual > 0, "the test wants a dual that proves something"
    assert checked.primal == pytest.approx(own.primal, rel=1e-10)
    assert checked.dual == pytest.approx(own.dual, rel=1e-10)
    # NumPy's values are within a few roundings of the exact ones, which the certificate has on its safe side.
    assert checked.primal <= own.primal * (1 + 1e-14), "the certified primal is below the true one"
    assert checked.dual >= own.dual * (1 - 1e-13), "the certified dual is above the true one"


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", FITS)
def test_verify_agrees_with_the_certificate(kind, layout, weight) -> None:
    assert_verified(LAYOUTS[layout](CANCER), weight, **FITS[kind])


@pytest.mark.parametrize(("solver", "loss"), with_losses(VARIANTS))
def test_verify_agrees_with_the_certificate_of_every_solver(solver, loss) -> None:
    params: dict[str, Any] = {"solver": VARIANTS[solver], "loss": loss, "intercept": "penalized", "C": 0.01}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert_verified(CANCER, WEIGHT, max_iter=50, **params)


def test_verify_agrees_for_every_class() -> None:
    for params in FITS.values():
        model = LinearSVC(store_dual=True, **params).fit(IRIS, SPECIES)
        checked = verify(model, IRIS, SPECIES)
        assert len(checked) == 3
        for mine, theirs in zip(checked, model.certificate_, strict=True):
            assert mine.primal == pytest.approx(theirs.primal, rel=1e-10)
            assert mine.dual == pytest.approx(theirs.dual, rel=1e-10)


def test_verify_without_multipliers_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="store_dual=True"):
        verify(LinearSVC().fit(CANCER, IS_BENIGN), CANCER, IS_BENIGN)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf])
def test_verify_refuses_multipliers_outside_the_box(value) -> None:
    model = LinearSVC(store_dual=True).fit(CANCER, IS_BENIGN)
    model.dual_coef_[0, 17] = value
    with pytest.raises(ValueError, match="17"):
        verify(model, CANCER, IS_BENIGN)
    unbounded = LinearSVC(loss="squared_hinge", store_dual=True).fit(CANCER, IS_BENIGN)
    best = unbounded.certificate_.primal
    unbounded.dual_coef_[0, 17] = value
    if 0 <= value < np.inf:
        assert verify(unbounded, CANCER, IS_BENIGN).dual <= best, "this loss has no upper bound, and no false duals"
    else:
        with pytest.raises(ValueError, match="17"):
            verify(unbounded, CANCER, IS_BENIGN)


def test_verify_checks_the_problem_that_was_solved_whatever_is_set_later() -> None:
    model = LinearSVC(store_dual=True, C=0.1, loss="squared_hinge").fit(CANCER, IS_BENIGN)
    before = verify(model, CANCER, IS_BENIGN)
    model.set_params(C=5.0, loss="hinge", intercept="penalized", class_weight="balanced")
    assert verify(model, CANCER, IS_BENIGN) == before


def test_verify_sees_changed_coefficients_intercept_and_multipliers() -> None:
    model = LinearSVC(store_dual=True).fit(CANCER, IS_BENIGN)
    honest = verify(model, CANCER, IS_BENIGN)
    model.coef_[0, 3] += 0.5
    assert verify(model, CANCER, IS_BENIGN).primal > honest.primal * 1.001
    model.coef_[0, 3] -= 0.5
    model.intercept_ = model.intercept_ + 1.0
    assert verify(model, CANCER, IS_BENIGN).primal > honest.primal * 1.001
    model.dual_coef_ *= 0.9
    assert verify(model, CANCER, IS_BENIGN).dual < honest.dual * 0.999


@pytest.mark.parametrize("kind", [kind for kind in FITS if kind != "balanced"])
def test_verify_never_credits_infeasible_multipliers(kind) -> None:
    model = LinearSVC(store_dual=True, **FITS[kind]).fit(CANCER, IS_BENIGN)
    best = model.certificate_
    rng = np.random.default_rng(0)
    for _ in range(20):
        model.dual_coef_ = rng.random(model.dual_coef_.shape) * (rng.random(model.dual_coef_.shape) < 0.1)
        assert verify(model, CANCER, IS_BENIGN).dual <= best.primal, "a false dual bound was accepted"


def test_verify_notices_other_rows() -> None:
    model = LinearSVC(store_dual=True).fit(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match="569 rows"):
        verify(model, CANCER[:100], IS_BENIGN[:100])
    with pytest.raises(ValueError, match="X has 569 rows, y has 100"):
        verify(model, CANCER, IS_BENIGN[:100])
    assert verify(model, CANCER[::-1], IS_BENIGN).primal != pytest.approx(model.certificate_.primal, rel=1e-3)


def test_multipliers_are_dropped_when_a_refit_does_not_keep_them() -> None:
    model = LinearSVC(store_dual=True).fit(CANCER, IS_BENIGN)
    model.set_params(store_dual=False).fit(CANCER[:300], IS_BENIGN[:300])
    with pytest.raises(ValueError, match="store_dual=True"):
        verify(model, CANCER[:300], IS_BENIGN[:300])


def test_intercept_none_is_refused_and_not_recommended() -> None:
    """The error used to ask "Did you mean 'none'?"."""
    with pytest.raises(ValueError, match="fit_intercept=False for none") as refused:
        LinearSVC(intercept="none").fit(IRIS, SPECIES)
    assert "Did you mean" not in str(refused.value)
