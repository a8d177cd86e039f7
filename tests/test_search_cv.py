"""LinearSVCCV: the C that cross-validation chooses, from warm-started paths on shared rows."""

from __future__ import annotations

import pickle
import signal
import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import unconverged
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from hinge import DCD, LinearSVC, LinearSVCCV, verify
from hinge.estimators.search import _Fold
from hinge.problem import as_rows

CANCER, IS_BENIGN = load_breast_cancer(return_X_y=True)
CANCER = scale(CANCER)
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = scale(IRIS)
CS = np.logspace(-3, 1, 5)
DATA = {"two classes": (CANCER, IS_BENIGN), "three classes": (IRIS, SPECIES)}


@parametrize_with_checks(
    [  # three folds: check_sparsify_coefficients has three rows of each class
        LinearSVCCV(cv=3),
        LinearSVCCV(Cs=[0.1, 1.0], cv=3, intercept="penalized", loss="squared_hinge", n_jobs=2),
        LinearSVCCV(
            [0.01, 1.0], cv=3, class_weight="balanced", solver=DCD(shrinking=False), scoring="balanced_accuracy"
        ),
    ]
)
def test_sklearn_contract(estimator, check) -> None:
    check(estimator)


def by_hand(X: Any, y: Any, cv: Any, scoring: Any = None, **options: Any) -> Any:
    """Scores of every fold and C, from fits of their own."""
    found = [cross_val_score(LinearSVC(C=C, **options), X, y, cv=cv, scoring=scoring) for C in CS]
    return np.transpose(found)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"loss": "squared_hinge", "intercept": "penalized"}, {"class_weight": "balanced"}, {"fit_intercept": False}],
    ids=str,
)
def test_choice_is_that_of_a_loop_over_cross_val_score(data, sparse, options) -> None:
    X, y = DATA[data]
    X = sp.csr_matrix(X) if sparse else X
    model = LinearSVCCV(Cs=CS, cv=4, tol=1e-6, **options).fit(X, y)
    expected = by_hand(X, y, 4, tol=1e-6, **options)
    np.testing.assert_allclose(model.scores_, expected, atol=1e-12)
    assert model.C_ == CS[expected.mean(axis=0).argmax()]
    alone = LinearSVC(C=model.C_, tol=1e-6, **options).fit(X, y)
    assert np.array_equal(model.coef_, alone.coef_), "the model is not the one at C_ on all rows"
    assert model.certificate_ == alone.certificate_


@pytest.mark.parametrize("scoring", ["f1", "roc_auc", make_scorer(f1_score), lambda model, X, y: -X.shape[0]])
def test_any_scoring_will_do(scoring) -> None:
    model = LinearSVCCV(Cs=CS, cv=3, scoring=scoring).fit(CANCER, IS_BENIGN)
    np.testing.assert_allclose(model.scores_, by_hand(CANCER, IS_BENIGN, 3, scoring), atol=1e-3)
    assert isinstance(model.score(CANCER, IS_BENIGN), float)


def test_scorer_that_asks_for_other_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="test rows"):
        LinearSVCCV(Cs=CS, scoring=lambda model, X, y: model.predict(CANCER).mean()).fit(CANCER, IS_BENIGN)


@pytest.mark.parametrize("cv", [3, StratifiedKFold(4, shuffle=True, random_state=0), KFold(3), "splits", "masks"])
def test_folds_are_those_of_scikit_learn(cv) -> None:
    splits = list(KFold(4, shuffle=True, random_state=1).split(CANCER))
    if cv == "masks":
        splits = [tuple(np.isin(np.arange(len(CANCER)), part) for part in split) for split in splits]
    chosen = splits if isinstance(cv, str) else cv
    model = LinearSVCCV(Cs=CS, cv=chosen, tol=1e-6).fit(CANCER, IS_BENIGN)
    np.testing.assert_allclose(model.scores_, by_hand(CANCER, IS_BENIGN, chosen, tol=1e-6), atol=1e-12)


def test_integer_weights_are_copies_in_training_and_in_scores() -> None:
    times = np.random.default_rng(0).integers(0, 3, size=len(IS_BENIGN))
    fold = np.arange(len(IS_BENIGN)) % 3
    weighted = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    copied = [
        (np.flatnonzero(np.repeat(fold, times) != k), np.flatnonzero(np.repeat(fold, times) == k)) for k in range(3)
    ]
    one = LinearSVCCV(Cs=CS, cv=weighted, tol=1e-6).fit(CANCER, IS_BENIGN, sample_weight=times)
    other = LinearSVCCV(Cs=CS, cv=copied, tol=1e-6).fit(np.repeat(CANCER, times, axis=0), np.repeat(IS_BENIGN, times))
    np.testing.assert_allclose(one.scores_, other.scores_, atol=1e-12)
    assert one.C_ == other.C_


def test_smallest_C_of_equal_scores_is_chosen() -> None:
    model = LinearSVCCV(Cs=[10.0, 0.1, 1.0], scoring=lambda model, X, y: 0.5).fit(CANCER, IS_BENIGN)
    assert np.array_equal(model.Cs_, [0.1, 1.0, 10.0])
    assert model.C_ == 0.1


@pytest.mark.parametrize("data", DATA)
def test_number_of_threads_does_not_change_a_bit(data) -> None:
    X, y = DATA[data]
    one, two = (LinearSVCCV(Cs=CS, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3))
    assert np.array_equal(one.scores_, two.scores_)
    assert np.array_equal(one.coef_, two.coef_)


def test_certificate_can_be_verified_and_the_model_pickled() -> None:
    model = LinearSVCCV(Cs=CS, store_dual=True).fit(IRIS, SPECIES)
    checked = verify(model, IRIS, SPECIES)
    assert isinstance(checked, tuple)
    for certificate, seen in zip(model.certificate_, checked, strict=True):
        assert certificate.primal == pytest.approx(seen.primal, rel=1e-9)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(IRIS), model.predict(IRIS))
    assert clone(model).get_params().keys() == model.get_params().keys()


def test_without_refit_there_is_a_choice_and_no_model() -> None:
    model = LinearSVCCV(Cs=CS, refit=False).fit(CANCER, IS_BENIGN)
    assert model.C_ in CS
    assert not hasattr(model, "coef_")
    with pytest.raises(NotFittedError):
        model.predict(CANCER)


def test_fold_without_a_class_still_has_scores() -> None:
    last = np.flatnonzero(SPECIES == 2)
    rest = np.flatnonzero(SPECIES != 2)
    model = LinearSVCCV(Cs=CS, cv=[(rest, last), (np.arange(0, 150, 2), np.arange(1, 150, 2))]).fit(IRIS, SPECIES)
    assert np.array_equal(model.scores_[0], np.zeros(len(CS)))
    assert model.scores_[1].max() > 0.8
    with pytest.raises(ValueError, match="2 classes"):
        LinearSVCCV(Cs=CS, cv=[(last, rest)]).fit(IRIS, SPECIES)


def test_interrupted_search_leaves_the_model_of_the_last_fit() -> None:
    model = LinearSVCCV(Cs=CS).fit(CANCER, IS_BENIGN)
    before = dict(model.__dict__)

    class Interrupting(DCD):
        def start(self, problem: Any, setup: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            return super().start(problem, setup)

    model.solver = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        model.fit(CANCER, IS_BENIGN)
    del model.solver, before["solver"]
    assert model.__dict__ == before


def test_search_that_does_not_converge_says_so_once() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        LinearSVCCV(Cs=[10.0, 100.0], cv=3, max_iter=2, tol=1e-9, refit=False).fit(CANCER, IS_BENIGN)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("Cs", [[], 0, [1.0, -1.0], [[1.0]]])
def test_senseless_values_of_C_are_refused(Cs) -> None:
    with pytest.raises(ValueError, match="Cs"):
        LinearSVCCV(Cs=Cs).fit(CANCER, IS_BENIGN)


# Rows


def test_folds_and_classes_share_the_rows() -> None:
    X = IRIS.copy()
    split = np.arange(0, 150, 2), np.arange(1, 150, 2)
    fold = _Fold.make(LinearSVCCV(), as_rows(X), SPECIES, np.ones(150), split, [0.1, 1.0])
    assert len(fold.problems) == 3
    X[split[0][7]] = 1.0
    X[split[1][7]] = 2.0
    assert [problem.rows.dot(7, np.ones(5)) for problem in fold.problems] == [4.0] * 3, "the training rows are a copy"
    assert fold.test_rows.decision(np.ones((4, 1)), np.zeros(1))[7, 0] == 8.0, "the test rows are a copy"


def test_search_takes_little_memory_beside_the_rows() -> None:
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, size=10_000)
    X = draw.normal(size=(10_000, 500))  # 40 MB
    X[:, 0] += y
    tracemalloc.start()
    try:
        with unconverged():
            LinearSVCCV(Cs=[1e-5, 1e-4], cv=3, max_iter=2).fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.1 * X.nbytes, f"{peak / 1e6:.0f} MB for rows of {X.nbytes / 1e6:.0f} MB"
