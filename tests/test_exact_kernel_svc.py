"""KernelSVC(approximation="none") is the exact kernel machine: certified, and that of scikit-learn's SVC."""

from __future__ import annotations

import lzma
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_svmlight_file
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from hinge import KernelSVC, Lasvm

CANCER, IS_BENIGN = load_breast_cancer(return_X_y=True)
CANCER = scale(CANCER)
IRIS, SPECIES = load_iris(return_X_y=True)


def exact(**options: Any) -> KernelSVC:
    return KernelSVC(approximation="none", **options)


@parametrize_with_checks([exact(), exact(loss="squared_hinge", intercept="penalized", n_jobs=2)])
def test_sklearn_contract(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_model_is_that_of_svc(kernel: str, layout: Any) -> None:
    X = layout(CANCER)
    shared: dict[str, Any] = {"C": 0.5, "kernel": kernel, "gamma": 0.02, "coef0": 1.0}
    ours = exact(tol=1e-7, **shared).fit(X, IS_BENIGN)
    theirs = SVC(tol=1e-8, **shared).fit(X, IS_BENIGN)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    assert ours.certificate_.relative_gap <= 1e-7
    large = np.abs(theirs.dual_coef_.toarray() if layout is sp.csr_array else theirs.dual_coef_).ravel() > 1e-2
    assert set(theirs.support_[large]) <= set(ours.support_)
    assert ours.n_support_.sum() == ours.support_.size
    assert ours.coef_.shape == (1, ours.support_.size)
    np.testing.assert_array_equal(ours.n_support_, [np.sum(IS_BENIGN[ours.support_] == k) for k in (0, 1)])


def test_certificate_is_confirmed_by_the_independent_one() -> None:
    for intercept in ("free", "penalized"):
        model = exact(C=3.0, gamma=0.01, intercept=intercept).fit(CANCER, IS_BENIGN)
        other = model.exact_certificate(CANCER, IS_BENIGN)
        assert other.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
        assert other.dual == pytest.approx(model.certificate_.dual, rel=1e-9)


def test_several_classes_weights_and_a_warm_start() -> None:
    weight = np.random.default_rng(0).integers(0, 3, size=len(SPECIES)).astype(float)
    model = exact(C=2.0, warm_start=True).fit(IRIS, SPECIES, sample_weight=weight)
    repeated = exact(C=2.0).fit(np.repeat(IRIS, weight.astype(int), axis=0), np.repeat(SPECIES, weight.astype(int)))
    gamma = model.feature_map_.kernel_.gamma
    assert gamma == pytest.approx(repeated.feature_map_.kernel_.gamma)
    np.testing.assert_allclose(model.decision_function(IRIS), repeated.decision_function(IRIS), atol=1e-3)
    assert len(model.certificate_) == 3 and model.coef_.shape == (3, model.support_.size)
    assert not np.any(weight[model.support_] == 0.0)
    first = model.n_iter_
    model.fit(IRIS, SPECIES, sample_weight=weight)
    assert model.n_iter_ < first, "nothing was left to do"
    with pytest.warns(UserWarning, match="starting afresh"):
        model.fit(IRIS[:100], SPECIES[:100])


def test_bits_do_not_depend_on_threads_nor_on_memory() -> None:
    models = [
        exact(C=10.0, n_jobs=n, memory_limit=limit).fit(IRIS, SPECIES)
        for n, limit in ((1, None), (2, None), (1, "100KB"))  # which has room for a working set
    ]
    assert len({model.coef_.tobytes() for model in models}) == 1
    assert len({model.decision_function(IRIS).tobytes() for model in models}) == 1


def test_little_memory_means_small_working_sets_and_the_same_optimum() -> None:
    with_much, with_little = (exact(C=10.0, memory_limit=limit).fit(IRIS, SPECIES) for limit in (None, "1KB"))
    for one, other in zip(with_much.certificate_, with_little.certificate_, strict=True):
        assert other.within(1e-3)
        assert one.dual <= other.primal and other.dual <= one.primal


def test_model_survives_pickling_and_cloning() -> None:
    model = exact().fit(IRIS, SPECIES)
    copied = pickle.loads(pickle.dumps(model))
    assert copied.decision_function(IRIS).tobytes() == model.decision_function(IRIS).tobytes()
    assert clone(model).get_params() == model.get_params()


def test_solvers_of_the_exact_kernel_can_be_named() -> None:
    for solver in ("lasvm", Lasvm(online_epochs=1), "kernel-pegasos"):
        model = exact(solver=solver, C=0.1, tol=0.1).fit(CANCER, IS_BENIGN)
        assert model.status_ == "converged"
        assert model.score(CANCER, IS_BENIGN) > 0.9


def test_what_the_exact_kernel_cannot_do_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match="lasvm"):
        exact(solver="newton").fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="nystroem"):
        exact(kernel=lambda X, Z: X @ Z.T).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match=r"eigenvalues.*nystroem"):
        exact(kernel="sigmoid", gamma=5.0, coef0=-3.0).fit(scale(IRIS), SPECIES)
    with pytest.raises(ValueError, match="exact kernel"):
        KernelSVC(solver="lasvm").fit(IRIS, SPECIES)


@pytest.mark.parametrize("gamma", [1e-12, 1e12])
def test_extreme_gamma_gives_a_certified_model(gamma: float) -> None:
    model = exact(gamma=gamma).fit(CANCER, IS_BENIGN)
    assert model.certificate_.relative_gap <= 1e-3
    assert np.all(np.isfinite(model.decision_function(CANCER)))


def test_adult_has_the_objective_of_svc(data_dir: Path) -> None:
    with lzma.open(data_dir / "a9a.xz") as file:
        X, y = load_svmlight_file(file, n_features=123)
    X, y = X[:2000].tocsr(), y[:2000]
    ours = exact(gamma=0.05, tol=1e-3).fit(X, y)
    theirs = SVC(gamma=0.05).fit(X, y)
    assert ours.certificate_.relative_gap <= 1e-3
    assert np.mean(ours.predict(X) != theirs.predict(X)) < 0.01
