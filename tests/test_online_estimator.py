"""OnlineSVC keeps scikit-learn's contract, and a stream does not depend on how it is cut."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import share
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.estimator_checks import estimator_checks_generator
from streams import CANCER, IRIS, IS_BENIGN, SPECIES, WEIGHT, same

from hinge import OnlineKernelSVC, OnlineSVC

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "default, last iterate": {"average": False},
    "default, window": {"window": 50, "unit_norm": True},
    "default, no intercept": {"fit_intercept": False},
    "notes": {"alpha": 1e-4},
    "last iterate": {"alpha": 1e-4, "average": False},
    "penalized": {"alpha": 1e-4, "intercept": "penalized", "intercept_scaling": 3.0},
    "no intercept": {"alpha": 1e-4, "fit_intercept": False, "projection": False},
    "batches": {"alpha": 1e-4, "batch_size": 8},
    "unit norm": {"alpha": 1e-4, "unit_norm": True, "batch_size": 3, "average": False},
}
EVERY = pytest.mark.parametrize("params", VARIANTS.values(), ids=VARIANTS.keys())


# The contract. A stream has an order: a row of weight 3 is one step, three rows are three, so that weights cannot be
# the same as repetitions. scikit-learn expects its own SGDClassifier to fail these two checks for the same reason.
ORDERED = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
CHECKED = [
    OnlineSVC(),
    OnlineSVC(average=False),
    OnlineSVC(unit_norm=True),
    OnlineSVC(window=100),
    OnlineSVC(max_iter=20, shuffle=True),
    OnlineSVC(alpha=0.1),
    OnlineSVC(alpha=0.1, average=False),
    OnlineSVC(alpha=0.1, batch_size=5),
    OnlineSVC(alpha=0.1, max_iter=20, shuffle=True),
    OnlineKernelSVC(n_components=200, gamma=1.0),
    OnlineKernelSVC(n_components=200, gamma=0.002, alpha=1e-2, steps="asset-star", fit_intercept=False),
]


@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for estimator in CHECKED for pair in estimator_checks_generator(estimator)],
    ids=lambda part: part.func.__name__ if hasattr(part, "func") else repr(part),
)
def test_sklearn_contract(estimator: Any, check: Any) -> None:
    if check.func.__name__ in ORDERED:
        with pytest.raises(AssertionError, match="not equivalent to fitting with removed"):
            check(estimator)
    else:
        check(estimator)


def test_works_in_pipelines_searches_calibration_and_selection() -> None:
    pipeline = make_pipeline(StandardScaler(), OnlineSVC(alpha=0.01, max_iter=3)).fit(CANCER, IS_BENIGN)
    assert pipeline.score(CANCER, IS_BENIGN) > 0.95
    search = GridSearchCV(OnlineSVC(), {"alpha": [1e-3, 1e-1], "batch_size": [1, 10]}, cv=3).fit(CANCER, IS_BENIGN)
    assert search.best_score_ > 0.9
    assert CalibratedClassifierCV(OnlineSVC(alpha=0.01), cv=3).fit(CANCER, IS_BENIGN).score(CANCER, IS_BENIGN) > 0.9
    assert SelectFromModel(OnlineSVC()).fit(CANCER, IS_BENIGN).transform(CANCER).shape[1] < CANCER.shape[1]


def test_sample_weight_is_routed_through_cross_validation() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = OnlineSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found = cross_validate(model, CANCER, IS_BENIGN, cv=3, params={"sample_weight": WEIGHT}, return_estimator=True)
        model.set_partial_fit_request(sample_weight=True)
    plain = cross_validate(OnlineSVC(), CANCER, IS_BENIGN, cv=3, return_estimator=True)
    assert not np.array_equal(found["estimator"][0].coef_, plain["estimator"][0].coef_), "the weights did not arrive"


def test_learns_about_as_well_as_sgd_classifier() -> None:
    ours = OnlineSVC(alpha=0.01).partial_fit(CANCER[:400], IS_BENIGN[:400], classes=[0, 1])
    theirs = SGDClassifier(alpha=0.01, average=True, shuffle=False)
    theirs.partial_fit(CANCER[:400], IS_BENIGN[:400], classes=[0, 1])
    held_out = CANCER[400:], IS_BENIGN[400:]
    assert ours.score(*held_out) > theirs.score(*held_out) - 0.02
    assert ours.coef_.shape == theirs.coef_.shape


# A stream, however it is cut


@EVERY
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_one_pass_of_fit_is_one_call_of_partial_fit(params: dict[str, Any], weight: Any) -> None:
    fitted = OnlineSVC(**params).fit(CANCER, IS_BENIGN, sample_weight=weight)
    partial = OnlineSVC(**params).partial_fit(CANCER, IS_BENIGN, classes=[1, 0], sample_weight=weight)
    assert fitted.coef_.any()
    assert same(fitted, partial)


@settings(max_examples=share(0.05))
@given(
    params=st.sampled_from(list(VARIANTS.values())),
    cuts=st.lists(st.integers(1, 149), max_size=12),
    layouts=st.lists(st.booleans(), min_size=13, max_size=13),
    weighted=st.booleans(),
)
def test_chunks_change_no_bit(params: Any, cuts: Any, layouts: Any, weighted: bool) -> None:
    """Dense and sparse chunks alternate; the rows of each third have a layout of their own, whatever the cuts are."""
    weight = WEIGHT[: len(SPECIES)] if weighted else None
    chunked, whole = OnlineSVC(**params), OnlineSVC(**params)
    for begin, layout in zip((0, 50, 100), layouts, strict=False):
        rows = np.arange(begin, begin + 50)
        X = sp.csr_array(IRIS[rows]) if layout else IRIS[rows]
        bounds = sorted({0, 50, *(cut - begin for cut in cuts if 0 < cut - begin < 50)})
        part = None if weight is None else weight[rows]
        whole.partial_fit(X, SPECIES[rows], classes=[0, 1, 2], sample_weight=part)
        for first, last in itertools.pairwise(bounds):
            piece = slice(first, last)
            chunked.partial_fit(X[piece], SPECIES[rows][piece], [0, 1, 2], None if part is None else part[piece])
    assert whole.coef_.any()
    assert same(chunked, whole)


@EVERY
def test_zero_weight_rows_are_absent(params: dict[str, Any]) -> None:
    kept = WEIGHT > 0
    with_zeros = OnlineSVC(**params).partial_fit(CANCER, IS_BENIGN, [0, 1], WEIGHT)
    without = OnlineSVC(**params).partial_fit(CANCER[kept], IS_BENIGN[kept], [0, 1], WEIGHT[kept])
    assert same(with_zeros, without)
    assert with_zeros.n_samples_seen_ == kept.sum()


def test_chunk_without_weight_changes_nothing() -> None:
    model = OnlineSVC().fit(CANCER, IS_BENIGN)
    before = copy.deepcopy(model)
    model.partial_fit(CANCER[:9], IS_BENIGN[:9], sample_weight=np.zeros(9))
    assert same(model, before)
    empty = OnlineSVC().partial_fit(CANCER[:9], np.arange(9), classes=[0, 1], sample_weight=np.zeros(9))
    assert (empty.t_, empty.n_samples_seen_, empty.coef_.any()) == (0, 0, False)


def test_steps_and_rows_are_counted() -> None:
    model = OnlineSVC(alpha=1e-4, batch_size=100).partial_fit(CANCER[:250], IS_BENIGN[:250], classes=[0, 1])
    assert (model.t_, model.n_samples_seen_) == (2, 250)
    model.partial_fit(CANCER[250:300], IS_BENIGN[250:300])
    assert (model.t_, model.n_samples_seen_) == (3, 300)


@pytest.mark.parametrize("way", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), "joblib"])
@EVERY
def test_copies_go_on_to_the_same_bits(params: dict[str, Any], way: Any, tmp_path: Any) -> None:
    model = OnlineSVC(**params).partial_fit(CANCER[:300], IS_BENIGN[:300], classes=[0, 1])
    if way == "joblib":
        joblib.dump(model, tmp_path / "model")
        other = joblib.load(tmp_path / "model")
    else:
        other = way(model)
    assert same(model, other)
    for stream in (model, other):
        stream.partial_fit(CANCER[300:], IS_BENIGN[300:])
    assert same(model, other)
    assert np.array_equal(model.predict(CANCER), other.predict(CANCER))


def test_a_copy_is_independent() -> None:
    model = OnlineSVC().fit(CANCER, IS_BENIGN)
    other = copy.deepcopy(model)
    other.partial_fit(CANCER[::-1], IS_BENIGN[::-1])
    assert not same(model, other)
    assert same(model, OnlineSVC().fit(CANCER, IS_BENIGN))


def test_fit_forgets_and_partial_fit_goes_on_from_it() -> None:
    model = OnlineSVC().fit(IRIS, SPECIES).fit(CANCER, IS_BENIGN)
    assert same(model, OnlineSVC().fit(CANCER, IS_BENIGN))
    model.partial_fit(CANCER, IS_BENIGN)
    assert same(model, OnlineSVC(max_iter=2).fit(CANCER, IS_BENIGN))
    assert not hasattr(clone(model), "coef_")


def test_shuffled_passes_follow_the_seed() -> None:
    first, again, other = (
        OnlineSVC(max_iter=3, shuffle=True, random_state=seed).fit(CANCER, IS_BENIGN) for seed in (1, 1, 2)
    )
    assert same(first, again)
    assert first.coef_.tobytes() != other.coef_.tobytes()
    assert first.t_ == 3 * len(CANCER)
    assert first.n_iter_ == 3


def test_classes_of_one_vs_rest_see_the_same_rows_as_alone() -> None:
    model = OnlineSVC(alpha=1e-4, batch_size=4).fit(IRIS, SPECIES)
    for k in range(3):
        alone = OnlineSVC(alpha=1e-4, batch_size=4).fit(IRIS, SPECIES == k)
        assert model.coef_[k].tobytes() == alone.coef_[0].tobytes()
        assert model.intercept_[k] == alone.intercept_[0]


def test_string_labels_and_unsorted_classes() -> None:
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[SPECIES]
    model = OnlineSVC(alpha=0.01).partial_fit(IRIS, names, classes=["virginica", "setosa", "versicolor"])
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert model.coef_.tobytes() == OnlineSVC(alpha=0.01).fit(IRIS, SPECIES).coef_.tobytes()
    assert model.score(IRIS, names) > 0.8


def test_a_class_may_come_late() -> None:
    order = np.argsort(SPECIES == 2, kind="stable")
    model = OnlineSVC(alpha=0.01, average=False)
    for rows in np.array_split(order, 5):
        model.partial_fit(IRIS[rows], SPECIES[rows], classes=[0, 1, 2])
    assert set(model.predict(IRIS)) == {0, 1, 2}


def test_class_weight_is_a_sample_weight() -> None:
    by_class = {0: 3.0, 1: 0.5}
    found = OnlineSVC(class_weight=by_class).fit(CANCER, IS_BENIGN)
    expected = OnlineSVC().fit(CANCER, IS_BENIGN, sample_weight=np.where(IS_BENIGN == 0, 3.0, 0.5))
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    weights = compute_class_weight("balanced", classes=np.array([0, 1]), y=IS_BENIGN)
    assert OnlineSVC(class_weight=dict(enumerate(weights))).fit(CANCER, IS_BENIGN).score(CANCER, IS_BENIGN) > 0.9


def test_types_may_change_from_chunk_to_chunk() -> None:
    pieces = [
        CANCER[:100].astype(np.float32),
        np.asfortranarray(CANCER[100:200]),
        sp.csr_matrix(CANCER[200:300]),
        sp.csc_array(CANCER[300:400].astype(np.float32)),
        CANCER[400:].tolist(),
    ]
    rounded = CANCER.copy()
    rounded[:100], rounded[300:400] = CANCER[:100].astype(np.float32), CANCER[300:400].astype(np.float32)
    model, begin = OnlineSVC(alpha=0.01), 0
    for piece in pieces:
        m = len(piece) if isinstance(piece, list) else piece.shape[0]
        model.partial_fit(piece, IS_BENIGN[begin : begin + m], classes=[0, 1])
        begin += m
    np.testing.assert_allclose(model.coef_, OnlineSVC(alpha=0.01).fit(rounded, IS_BENIGN).coef_, rtol=1e-9, atol=1e-12)


def test_rows_are_read_in_place_and_may_be_mapped_from_a_file(tmp_path: Any) -> None:
    np.save(tmp_path / "rows.npy", CANCER)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = OnlineSVC()
    for begin in range(0, len(mapped), 100):
        model.partial_fit(mapped[begin : begin + 100], IS_BENIGN[begin : begin + 100], classes=[0, 1])
    assert same(model, OnlineSVC().fit(CANCER, IS_BENIGN))


def test_unit_norm_ignores_the_length_of_rows() -> None:
    lengths = 10.0 ** np.random.default_rng(0).integers(-3, 4, len(CANCER))
    lengths = 2.0 ** np.round(np.log2(lengths))  # powers of two: no rounding
    plain = OnlineSVC(unit_norm=True).fit(CANCER, IS_BENIGN)
    stretched = OnlineSVC(unit_norm=True).fit(CANCER * lengths[:, None], IS_BENIGN)
    assert same(plain, stretched)
    scores = plain.decision_function(CANCER)
    assert np.array_equal(plain.decision_function(CANCER * lengths[:, None]), scores)
    unit = CANCER / np.linalg.norm(CANCER, axis=1)[:, None]
    np.testing.assert_allclose(scores, unit @ plain.coef_[0] + plain.intercept_[0], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(OnlineSVC().fit(unit, IS_BENIGN).coef_, plain.coef_, rtol=1e-7, atol=1e-9)
    zero = plain.decision_function(np.zeros((1, CANCER.shape[1])))
    assert zero[0] == plain.intercept_[0], "a row of zeros stays zero"


def test_attributes_cannot_be_changed_in_place() -> None:
    model = OnlineSVC().fit(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0] = 0.0
    for name in ("coef_", "intercept_", "t_", "n_samples_seen_"):
        assert not hasattr(OnlineSVC(), name)
    with pytest.raises(NotFittedError):
        OnlineSVC().decision_function(CANCER)
