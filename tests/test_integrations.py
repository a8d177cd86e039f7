"""Where people put a classifier: 45 integrations, with LinearSVC and OnlineSVC."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance
from sklearn.metrics import RocCurveDisplay, make_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from streams import CANCER, IRIS, IS_BENIGN, SPECIES

import hinge
from hinge import LinearSVC, LinearSVCCV, OnlineSVC

BOTH = pytest.mark.parametrize("model", [LinearSVC(), OnlineSVC()], ids=["LinearSVC", "OnlineSVC"])
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


def good(fitted: Any, X: Any = CANCER, y: Any = IS_BENIGN, least: float = 0.9) -> bool:
    return bool(fitted.score(X, y) > least)


# Pipelines and columns


@BOTH
def test_01_pipeline(model: Any) -> None:
    assert good(make_pipeline(StandardScaler(), model).fit(CANCER, IS_BENIGN))


@BOTH
def test_02_pipeline_with_memory(model: Any, tmp_path: Any) -> None:
    assert good(Pipeline([("scale", StandardScaler()), ("svm", model)], memory=str(tmp_path)).fit(CANCER, IS_BENIGN))


@BOTH
def test_03_feature_union_and_polynomials(model: Any) -> None:
    union = FeatureUnion([("plain", FunctionTransformer()), ("squares", PolynomialFeatures(2, include_bias=False))])
    assert good(make_pipeline(union, StandardScaler(), model).fit(IRIS, SPECIES), IRIS, SPECIES)


@BOTH
def test_04_column_transformer(model: Any) -> None:
    columns = make_column_transformer((StandardScaler(), [0, 1]), ("passthrough", [2, 3]))
    assert good(make_pipeline(columns, model).fit(IRIS, SPECIES), IRIS, SPECIES)


@BOTH
def test_05_text(model: Any) -> None:
    texts = ["a red apple", "a green apple", "a fast car", "a slow car"] * 10
    labels = ["fruit", "fruit", "vehicle", "vehicle"] * 10
    assert make_pipeline(TfidfVectorizer(), model).fit(texts, labels).predict(["an apple"])[0] == "fruit"


@BOTH
def test_06_set_output(model: Any) -> None:
    pytest.importorskip("pandas")
    pipeline = make_pipeline(StandardScaler(), model).set_output(transform="pandas").fit(IRIS, SPECIES)
    assert list(pipeline[-1].feature_names_in_) == ["x0", "x1", "x2", "x3"]


# Searches


def test_07_grid_search_over_options_of_the_solver() -> None:
    grid = {"C": [0.01, 1.0], "solver__shrinking": [True, False]}
    search = GridSearchCV(LinearSVC(solver=hinge.DCD()), grid, cv=3).fit(CANCER, IS_BENIGN)
    assert good(search) and search.best_estimator_.certificate_.relative_gap < 1e-3


def test_08_randomized_search() -> None:
    search = RandomizedSearchCV(LinearSVC(), {"C": [0.01, 0.1, 1.0]}, n_iter=2, random_state=0, cv=3)
    assert good(search.fit(CANCER, IS_BENIGN))


@BOTH
def test_09_halving_search(model: Any) -> None:
    grid = {"intercept_scaling": [1.0, 2.0], "fit_intercept": [True, False]}
    assert good(HalvingGridSearchCV(model, grid, cv=3, random_state=0).fit(CANCER, IS_BENIGN))


def test_10_search_in_a_pipeline_with_several_metrics() -> None:
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearSVC()),
        {"linearsvc__C": [0.1, 1.0]},
        scoring=["accuracy", "roc_auc"],
        refit="roc_auc",
        cv=3,
    )
    assert good(search.fit(CANCER, IS_BENIGN))


def test_11_search_over_estimators() -> None:
    pipeline = Pipeline([("svm", LinearSVC())])
    search = GridSearchCV(pipeline, {"svm": [LinearSVC(C=0.1), OnlineSVC(), LinearSVCCV(2, cv=3)]}, cv=3)
    assert good(search.fit(CANCER, IS_BENIGN))


def test_12_built_in_search() -> None:
    assert good(make_pipeline(StandardScaler(), LinearSVCCV(3, cv=3)).fit(CANCER, IS_BENIGN))


# Cross-validation and curves


@BOTH
def test_13_cross_val_score(model: Any) -> None:
    assert cross_val_score(model, CANCER, IS_BENIGN, cv=4).mean() > 0.9


@BOTH
def test_14_cross_val_predict(model: Any) -> None:
    assert roc_auc_score(IS_BENIGN, cross_val_predict(model, CANCER, IS_BENIGN, method="decision_function")) > 0.95


@BOTH
def test_15_cross_validate_in_processes(model: Any) -> None:
    found = cross_validate(model, CANCER, IS_BENIGN, cv=3, n_jobs=2, return_estimator=True)
    alone = cross_validate(model, CANCER, IS_BENIGN, cv=3, return_estimator=True)
    for one, other in zip(found["estimator"], alone["estimator"], strict=True):
        assert np.array_equal(one.coef_, other.coef_)


@BOTH
def test_16_learning_curve(model: Any) -> None:
    assert learning_curve(model, CANCER, IS_BENIGN, cv=3, shuffle=True, random_state=0)[2].shape == (5, 3)


def test_17_validation_curve() -> None:
    assert validation_curve(LinearSVC(), CANCER, IS_BENIGN, param_name="C", param_range=[0.1, 1], cv=3)[1].min() > 0.9


def test_18_permutation_test() -> None:
    score, others, _ = permutation_test_score(LinearSVC(C=0.01), CANCER, IS_BENIGN, cv=3, n_permutations=5)
    assert score > others.max()


# Probabilities, thresholds, ensembles


@BOTH
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_19_calibration(model: Any, method: str) -> None:
    calibrated = CalibratedClassifierCV(model, method=method, cv=3).fit(CANCER, IS_BENIGN)
    assert good(calibrated) and np.allclose(calibrated.predict_proba(CANCER).sum(axis=1), 1)


def test_20_calibration_of_a_frozen_model() -> None:
    frozen = FrozenEstimator(LinearSVC().fit(CANCER[:300], IS_BENIGN[:300]))
    assert good(CalibratedClassifierCV(frozen).fit(CANCER[300:], IS_BENIGN[300:]))


@BOTH
def test_21_tuned_threshold(model: Any) -> None:
    assert good(TunedThresholdClassifierCV(model, scoring="balanced_accuracy", cv=3).fit(CANCER, IS_BENIGN))


def test_22_fixed_threshold() -> None:
    fixed = FixedThresholdClassifier(LinearSVC(), threshold=0.5, response_method="decision_function")
    fixed.fit(CANCER, IS_BENIGN)
    assert np.array_equal(fixed.predict(CANCER), (fixed.estimator_.decision_function(CANCER) >= 0.5).astype(int))


@BOTH
def test_23_stacking(model: Any) -> None:
    assert good(StackingClassifier([("a", model), ("b", LinearSVC(C=0.01))], LinearSVC(), cv=3).fit(CANCER, IS_BENIGN))


@BOTH
def test_24_voting(model: Any) -> None:
    assert good(VotingClassifier([("a", model), ("b", LinearSVC(C=0.01))]).fit(CANCER, IS_BENIGN))


@BOTH
def test_25_bagging(model: Any) -> None:
    assert good(BaggingClassifier(model, 5, random_state=0).fit(CANCER, IS_BENIGN))


def test_26_boosting() -> None:
    assert good(AdaBoostClassifier(LinearSVC(C=500.0), n_estimators=3).fit(CANCER, IS_BENIGN))


# Features


@BOTH
def test_27_rfe(model: Any) -> None:
    assert good(RFE(model, n_features_to_select=5).fit(CANCER, IS_BENIGN))


def test_28_rfecv() -> None:
    assert good(RFECV(LinearSVC(), step=5, cv=3).fit(CANCER, IS_BENIGN))


@BOTH
def test_29_select_from_model(model: Any) -> None:
    assert 0 < SelectFromModel(model).fit(CANCER, IS_BENIGN).transform(CANCER).shape[1] < CANCER.shape[1]


def test_30_sequential_selection() -> None:
    assert SequentialFeatureSelector(LinearSVC(), n_features_to_select=2, cv=3).fit(IRIS, SPECIES).support_.sum() == 2


@BOTH
def test_31_permutation_importance(model: Any) -> None:
    assert permutation_importance(model.fit(IRIS, SPECIES), IRIS, SPECIES, random_state=0).importances_mean.max() > 0.1


# Several classes, several outputs, few labels


@BOTH
def test_32_one_vs_rest(model: Any) -> None:
    assert good(OneVsRestClassifier(model).fit(IRIS, SPECIES), IRIS, SPECIES)


@BOTH
def test_33_one_vs_one(model: Any) -> None:
    assert good(OneVsOneClassifier(model).fit(IRIS, SPECIES), IRIS, SPECIES)


def test_34_output_codes() -> None:
    assert good(OutputCodeClassifier(LinearSVC(), random_state=0).fit(IRIS, SPECIES), IRIS, SPECIES, 0.6)


@BOTH
def test_35_chains_and_several_outputs(model: Any) -> None:
    X, Y = make_multilabel_classification(200, random_state=0)
    assert ClassifierChain(model, random_state=0).fit(X, Y).predict(X).shape == Y.shape
    assert MultiOutputClassifier(model).fit(X, Y).score(X, Y) > 0.1


def test_36_self_training() -> None:
    few = np.where(np.arange(len(IS_BENIGN)) % 5 == 0, IS_BENIGN, -1)
    calibrated = CalibratedClassifierCV(LinearSVC(), cv=3)
    assert good(SelfTrainingClassifier(calibrated).fit(CANCER, few))


# Metadata, scorers, displays, clones


@BOTH
def test_37_metadata_routing(model: Any) -> None:
    weight = np.where(IS_BENIGN == 0, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, clone(model).set_fit_request(sample_weight=True))
        found = routed.fit(CANCER, IS_BENIGN, sample_weight=weight)
    alone = clone(model).fit(StandardScaler().fit_transform(CANCER), IS_BENIGN, sample_weight=weight)
    assert np.array_equal(found[-1].coef_, alone.coef_)


@BOTH
def test_38_own_scorers(model: Any) -> None:
    auc = make_scorer(roc_auc_score, response_method="decision_function")
    assert cross_val_score(model, CANCER, IS_BENIGN, scoring=auc, cv=3).min() > 0.9


def test_39_displays() -> None:
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    model = LinearSVC().fit(IRIS[:, :2], SPECIES > 0)
    assert RocCurveDisplay.from_estimator(model, IRIS[:, :2], SPECIES > 0).roc_auc > 0.9
    assert DecisionBoundaryDisplay.from_estimator(model, IRIS[:, :2]).response.shape == (100, 100)


@BOTH
def test_40_clone_copy_and_html(model: Any) -> None:
    fitted = model.fit(IRIS, SPECIES)
    assert not hasattr(clone(fitted), "classes_")
    assert np.array_equal(copy.deepcopy(fitted).predict(IRIS), fitted.predict(IRIS))
    assert type(model).__name__ in fitted._repr_html_()


# Data frames


def frame_of(library: str, X: Any = IRIS) -> Any:
    columns = dict(zip(NAMES, X.T, strict=True))
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    return pytest.importorskip(library).DataFrame(columns)


@BOTH
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_41_data_frames(model: Any, library: str) -> None:
    frame = frame_of(library)
    fitted = clone(model).fit(frame, SPECIES)
    plain = clone(model).fit(IRIS, SPECIES)
    assert np.array_equal(fitted.coef_, plain.coef_)
    assert np.array_equal(fitted.predict(frame), plain.predict(IRIS))
    if library != "pyarrow":  # scikit-learn reads no names from a pyarrow table
        assert list(fitted.feature_names_in_) == NAMES
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict(frame_of(library)[NAMES[::-1]])


@BOTH
def test_42_nullable_and_categorical_columns(model: Any) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(IRIS, columns=NAMES).astype("Float64")
    assert np.array_equal(clone(model).fit(frame, SPECIES).coef_, clone(model).fit(IRIS, SPECIES).coef_)
    labels = pd.Series(np.array(["ant", "bee", "cat"])[SPECIES], dtype="category")
    fitted = clone(model).fit(frame, labels)
    assert fitted.classes_.tolist() == ["ant", "bee", "cat"]
    frame["size"] = pd.cut(IRIS[:, 0], 3, labels=["s", "m", "l"])
    columns = make_column_transformer((OneHotEncoder(), ["size"]), remainder="passthrough")
    assert good(make_pipeline(columns, clone(model)).fit(frame, labels), frame, labels)
    frame.loc[3, NAMES[0]] = pd.NA
    with pytest.raises(ValueError, match=r"NaN \(row 3, column 0 \('sepal length'\)\)"):
        clone(model).fit(frame[NAMES], SPECIES)


# Files and processes


@BOTH
def test_43_joblib_and_pickle(model: Any, tmp_path: Any) -> None:
    fitted = clone(model).fit(IRIS, SPECIES)
    joblib.dump(fitted, tmp_path / "model.joblib")
    for again in (joblib.load(tmp_path / "model.joblib"), pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(again.decision_function(IRIS), fitted.decision_function(IRIS))
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted.predict)(IRIS[k::2]) for k in range(2))
    assert np.array_equal(found[1], fitted.predict(IRIS[1::2]))


@BOTH
def test_44_skops(model: Any) -> None:
    skops_io = pytest.importorskip("skops.io")
    fitted = make_pipeline(StandardScaler(), clone(model)).fit(IRIS, SPECIES)
    file = skops_io.dumps(fitted)
    unknown = skops_io.get_untrusted_types(data=file)
    assert unknown and all(name.startswith("hinge.") for name in unknown), unknown
    again = skops_io.loads(file, trusted=unknown)
    assert np.array_equal(again.predict(IRIS), fitted.predict(IRIS))


@BOTH
@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_matrix, sp.coo_array, np.asfortranarray, "memmap"], ids=str)
def test_45_layouts_and_memory_maps(model: Any, layout: Any, tmp_path: Any) -> None:
    if layout == "memmap":
        np.save(tmp_path / "rows.npy", IRIS)
        X: Any = np.load(tmp_path / "rows.npy", mmap_mode="r")
    else:
        X = layout(IRIS)
    fitted = clone(model).fit(X, SPECIES)
    assert np.allclose(fitted.coef_, clone(model).fit(IRIS, SPECIES).coef_, rtol=1e-6, atol=1e-8)
    assert np.array_equal(fitted.predict(X), fitted.predict(IRIS))
