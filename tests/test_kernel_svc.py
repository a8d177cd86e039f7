"""KernelSVC: certified in the space of its features, bracketed in the space of its kernel."""

from __future__ import annotations

import gzip
import lzma
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_svmlight_file, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from hinge import Asset, AssetStar, KernelSVC, Pegasos, verify
from hinge.features import Nystroem

CANCER, IS_BENIGN = load_breast_cancer(return_X_y=True)
CANCER = scale(CANCER)
IRIS, SPECIES = load_iris(return_X_y=True)
MOONS, SIDES = make_moons(3000, noise=0.2, random_state=0)


@parametrize_with_checks(
    [
        KernelSVC(),
        KernelSVC(kernel="polynomial", coef0=1.0, loss="squared_hinge", n_jobs=2),
        KernelSVC(approximation="fourier", n_components=100),
        KernelSVC(approximation="fourier", n_components=100, frequencies="orthogonal"),
        KernelSVC(memory_limit=1, intercept="penalized", landmarks="k-means++"),
        KernelSVC(landmarks="support"),
    ]
)
def test_sklearn_contract(estimator, check) -> None:
    check(estimator)


def optimum(X, y, C: float, gamma: float) -> float:
    """Of the exact kernel SVM, from scikit-learn's own multipliers."""
    model = SVC(C=C, gamma=gamma, tol=1e-8).fit(X, y)
    a, Z = model.dual_coef_[0], model.support_vectors_
    K = np.exp(-gamma * np.square(Z[:, np.newaxis] - Z).sum(axis=2))
    return float(np.abs(a).sum() - 0.5 * a @ K @ a)


# Certificates


def test_with_all_rows_as_landmarks_it_is_the_kernel_svm() -> None:
    exact = SVC(C=2.0, gamma=0.03, tol=1e-8).fit(CANCER, IS_BENIGN)
    model = KernelSVC(C=2.0, gamma=0.03, n_components=len(CANCER), dtype="float64", tol=1e-8).fit(CANCER, IS_BENIGN)
    np.testing.assert_allclose(model.decision_function(CANCER), exact.decision_function(CANCER), rtol=1e-3, atol=1e-3)
    best = optimum(CANCER, IS_BENIGN, 2.0, 0.03)
    for certificate in (model.certificate_, model.exact_certificate(CANCER, IS_BENIGN)):
        assert certificate.dual <= best * (1 + 1e-9) and best * (1 - 1e-9) <= certificate.primal
        assert certificate.relative_gap < 1e-6


@pytest.mark.parametrize("approximation", ["nystroem", "fourier"])
def test_exact_certificate_brackets_the_optimum_and_closes(approximation) -> None:
    best = optimum(CANCER, IS_BENIGN, 1.0, 0.03)
    gaps = []
    for s in (20, 100, 500):
        model = KernelSVC(C=1.0, gamma=0.03, approximation=approximation, n_components=s).fit(CANCER, IS_BENIGN)
        certificate = model.exact_certificate(CANCER, IS_BENIGN)
        assert 0 < certificate.dual <= best <= certificate.primal
        gaps.append(certificate.relative_gap)
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]


@pytest.mark.parametrize("options", [{"intercept": "penalized"}, {"loss": "squared_hinge"}, {"fit_intercept": False}])
@pytest.mark.parametrize("approximation", ["nystroem", "fourier"])
def test_exact_certificates_of_other_problems_bracket_the_same_optimum(options, approximation) -> None:
    exact = KernelSVC(gamma=0.03, n_components=569, dtype="float64", tol=1e-7, **options).fit(CANCER, IS_BENIGN)
    best = exact.exact_certificate(CANCER, IS_BENIGN)
    assert best.relative_gap < 1e-6
    rough = clone(exact).set_params(n_components=100, approximation=approximation).fit(CANCER, IS_BENIGN)
    certificate = rough.exact_certificate(CANCER, IS_BENIGN)
    assert certificate.dual <= best.primal and best.dual <= certificate.primal


def test_exact_certificate_of_several_classes_weights_and_threads(capsys) -> None:
    weight = np.tile([0.0, 1.0, 2.0], 50)
    model = KernelSVC(C=10, n_components=60, verbose=1).fit(IRIS, SPECIES, sample_weight=weight)
    found = model.exact_certificate(IRIS, SPECIES, sample_weight=weight)
    assert "exact certificate: " in capsys.readouterr().out
    assert len(found) == 3 and all(one.dual <= one.primal for one in found)
    assert found == model.set_params(n_jobs=2).exact_certificate(IRIS, SPECIES, sample_weight=weight)
    with pytest.raises(ValueError, match="150 rows, but X has 100"):
        model.exact_certificate(IRIS[:100], SPECIES[:100])


def test_exact_certificate_needs_a_positive_definite_kernel_and_multipliers() -> None:
    model = KernelSVC(kernel="sigmoid", gamma=0.001, n_components=20)
    with pytest.raises(ValueError, match="not positive definite"):
        model.fit(CANCER, IS_BENIGN).exact_certificate(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match="store_dual=True"):
        KernelSVC(store_dual=False).fit(CANCER, IS_BENIGN).exact_certificate(CANCER, IS_BENIGN)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_certificate_is_that_of_the_features(dtype) -> None:
    model = KernelSVC(C=10, gamma=2.0, n_components=100, dtype=dtype).fit(MOONS, SIDES)
    features = np.empty((len(MOONS), model.feature_map_.map_.n_out), dtype=dtype)
    model.feature_map_.map_.write(MOONS, features, 1)
    checked = verify(model, features, SIDES)
    assert np.isclose(checked.primal, model.certificate_.primal) and np.isclose(checked.dual, model.certificate_.dual)


# Models


@pytest.mark.parametrize("approximation", ["nystroem", "fourier"])
@pytest.mark.parametrize("solver", ["auto", "newton", "dcd", Asset(), AssetStar(), Pegasos()])
def test_every_solver_runs_on_the_features(approximation, solver) -> None:
    model = KernelSVC(
        C=1.0, gamma=2.0, approximation=approximation, n_components=100, solver=solver, tol=0.2, max_iter=5000
    )
    model = model.set_params(fit_intercept=not isinstance(solver, AssetStar)).fit(MOONS, SIDES)
    assert model.certificate_.relative_gap <= 0.2
    assert model.score(MOONS, SIDES) > 0.95


@pytest.mark.parametrize("approximation", ["nystroem", "fourier"])
def test_threads_memory_and_layout_change_no_bit(approximation) -> None:
    model = KernelSVC(C=10, gamma=2.0, approximation=approximation, n_components=64, dtype="float32").fit(MOONS, SIDES)
    threaded = clone(model).set_params(n_jobs=3).fit(MOONS, SIDES)
    on_disk = clone(model).set_params(memory_limit="10kB").fit(MOONS, SIDES)
    sparse = clone(model).fit(sp.csr_matrix(MOONS), SIDES)
    for other in (threaded, on_disk, sparse):
        assert np.array_equal(model.coef_, other.coef_)
    assert np.array_equal(model.decision_function(MOONS), threaded.decision_function(MOONS))


def test_a_prediction_is_the_product_with_the_features() -> None:
    for approximation in ("nystroem", "fourier"):
        model = KernelSVC(gamma=0.3, approximation=approximation, n_components=40).fit(IRIS, SPECIES)
        expected = model.feature_map_.transform(IRIS) @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(IRIS), expected, atol=1e-9)


def test_warm_start_goes_on() -> None:
    model = KernelSVC(C=100, gamma=2.0, n_components=50, warm_start=True, tol=1e-2).fit(MOONS, SIDES)
    again = model.set_params(tol=1e-4).fit(MOONS, SIDES)
    assert again.status_ == "converged" and again.certificate_.relative_gap <= 1e-4


def test_works_in_a_grid_search_and_a_pickle() -> None:
    search = GridSearchCV(KernelSVC(n_components=50), {"gamma": [0.1, 2.0], "C": [1, 10]}, cv=3).fit(MOONS, SIDES)
    assert search.best_params_["gamma"] == 2.0
    model = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(model.predict(MOONS), search.predict(MOONS))


def test_a_callable_kernel() -> None:
    model = KernelSVC(kernel=lambda a, b: (a @ b.T + 1.0) ** 3, n_components=60).fit(MOONS, SIDES)
    same = KernelSVC(kernel="poly", gamma=1.0, coef0=1.0, degree=3, n_components=60, dtype="float64").fit(MOONS, SIDES)
    assert np.mean(model.predict(MOONS) == same.predict(MOONS)) > 0.99


# Landmarks among support vectors


def test_support_landmarks_lie_where_the_classes_meet() -> None:
    matters = np.zeros(len(SIDES), dtype=bool)
    matters[SVC(C=10.0, gamma=2.0).fit(MOONS, SIDES).support_] = True
    shares = {}
    for rule in ("uniform", "support"):
        models = [KernelSVC(C=10.0, gamma=2.0, n_components=40, landmarks=rule, random_state=k) for k in range(5)]
        drawn = [model.fit(MOONS, SIDES).feature_map_.landmark_indices_ for model in models]
        shares[rule] = np.mean([matters[rows].mean() for rows in drawn])
    assert shares["support"] > 0.5 > 0.15 > shares["uniform"]
    support = models[0]
    chosen = support.feature_map_.landmark_indices_
    assert chosen.size == np.unique(chosen).size == 40
    assert support.status_ == "converged" and support.certificate_.relative_gap <= 1e-2


def test_support_landmarks_close_the_exact_gap_further() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[::2] / 16.0, y[::2] > 4
    gaps = {}
    for rule in ("uniform", "support"):
        models = [KernelSVC(C=10.0, gamma=0.1, n_components=120, landmarks=rule, random_state=k) for k in range(3)]
        gaps[rule] = [model.fit(X, y).exact_certificate(X, y).relative_gap for model in models]
    assert max(gaps["support"]) < min(gaps["uniform"])


def test_support_landmarks_have_weight_and_the_same_bits() -> None:
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    first, second = (
        KernelSVC(n_components=30, landmarks="support", n_jobs=jobs).fit(IRIS, SPECIES, weight) for jobs in (1, 2)
    )
    assert np.all(weight[first.feature_map_.landmark_indices_] > 0)
    np.testing.assert_array_equal(first.coef_, second.coef_)


def test_support_landmarks_where_few_rows_support_are_filled_up() -> None:
    X = np.array([[-1.0], [1.0]]).repeat(50, axis=0) + np.linspace(-0.1, 0.1, 100)[:, np.newaxis]
    model = KernelSVC(C=1e3, n_components=60, landmarks="support", tol=1e-6).fit(X, np.arange(100) // 50)
    assert np.unique(model.feature_map_.landmark_indices_).size == 60
    assert model.score(X, np.arange(100) // 50) == 1.0


def test_support_landmarks_of_a_transformer_are_refused() -> None:
    with pytest.raises(ValueError, match=r"use hinge\.KernelSVC"):
        Nystroem(landmarks="support").fit(IRIS)


# Refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gamma": 0.0}, "gamma must be positive"),
        ({"gamma": -1.0}, "gamma must be positive"),
        ({"gamma": "wide"}, "gamma must be one of"),
        ({"kernel": "cubic"}, "kernel must be one of"),
        ({"approximation": "exact"}, "approximation must be one of"),
        ({"approximation": "fourier", "kernel": "linear"}, "kernel must be one of"),
        ({"landmarks": "best"}, "landmarks must be one of"),
        ({"approximation": "fourier", "frequencies": "even"}, "frequencies must be one of"),
        ({"dtype": "float16"}, "dtype must be one of"),
        ({"memory_limit": "much"}, "memory_limit must be"),
        ({"memory_limit": "1.2.3MB"}, "memory_limit must be"),
        ({"memory_limit": -1}, "memory_limit must be"),
        ({"kernel": lambda a, b: np.full((a.shape[0], b.shape[0]), np.nan)}, "nan"),
        ({"kernel": lambda a, b: np.zeros((3, 3))}, "shape"),
        ({"degree": 1.5, "kernel": "polynomial"}, "degree must be"),
        ({"coef0": np.inf, "kernel": "polynomial"}, "coef0 must be"),
    ],
)
def test_what_it_does_not_support_is_refused(options, words) -> None:
    with pytest.raises(ValueError, match=words):
        KernelSVC(**options).fit(IRIS, SPECIES)


@pytest.mark.parametrize("gamma", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("rows", [IRIS, np.ones_like(IRIS), np.repeat(IRIS[::10], 10, axis=0)])
@pytest.mark.parametrize("approximation", ["nystroem", "fourier", "none"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_extreme_kernels_give_finite_models(gamma, rows, approximation) -> None:
    model = KernelSVC(gamma=gamma, approximation=approximation, n_components=30, max_iter=10_000)
    if approximation == "fourier" and gamma == 1e300:
        with pytest.raises(ValueError, match="no digits left"):
            model.fit(rows, SPECIES)
        return
    model.fit(rows, SPECIES)
    assert np.all(np.isfinite(model.decision_function(rows)))
    assert all(one.dual <= one.primal for one in model.certificate_)


def test_more_components_than_rows_warn() -> None:
    with pytest.warns(UserWarning, match="150 rows for 1000 landmarks"):
        KernelSVC(n_components=1000).fit(IRIS, SPECIES)


# Memory


LARGE = """
import sys, threading, time
from pathlib import Path
import numpy as np
from hinge import KernelSVC
def own():  # MB that belong to this process alone; pages of files are the operating system's to take back
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1e3
def watch():
    while True:
        seen.append(own())
        time.sleep(0.005)
rng = np.random.default_rng(0)
X = rng.random((60_000, 10), dtype=np.float32)
y = np.sin(8 * X[:, 0]) > X[:, 1]
KernelSVC(n_components=64, max_iter=5, tol=0.5).fit(X[:3000], y[:3000]).predict(X[:3000])
seen = [own()]
threading.Thread(target=watch, daemon=True).start()
limit = sys.argv[1] if sys.argv[1] != "None" else None
model = KernelSVC(gamma=4.0, n_components=1024, memory_limit=limit, max_iter=30, tol=0.1).fit(X, y)
model.predict(X)
print(max(seen) - seen[0])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts memory as Linux does")
def test_memory_limit_bounds_what_the_process_owns() -> None:
    """The features take 246 MB."""
    used = [
        float(subprocess.run([sys.executable, "-c", LARGE, limit], capture_output=True, text=True, check=True).stdout)
        for limit in ("None", "100MB")
    ]
    assert used[0] > 246 and used[1] < 100, f"{used} MB"


def test_a_full_disk_is_an_error_with_advice(monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="TMPDIR"):
        KernelSVC(memory_limit=1000).fit(IRIS, SPECIES)


# Papers


def test_adult_has_the_error_of_the_paper(data_dir) -> None:
    with lzma.open(data_dir / "a9a.xz") as train, lzma.open(data_dir / "a9a.t.xz") as test:
        X, y, X_test, y_test = (
            *load_svmlight_file(train, n_features=123),
            *load_svmlight_file(test, n_features=123),
        )
    model = KernelSVC(C=1000, gamma=0.001, n_components=512, n_jobs=2).fit(X, y)
    assert model.status_ == "converged"
    assert abs(100 * (1 - model.score(X_test, y_test)) - 15.06) < 0.3


def test_mnist_has_the_error_of_the_paper(data_dir) -> None:
    def read(name: str, offset: int) -> np.ndarray:
        with gzip.open(data_dir / "mnist" / name) as file:
            return np.frombuffer(file.read(), dtype=np.uint8, offset=offset)

    X, X_test = (
        read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32) / 255 for part in ("train", "t10k")
    )
    y, y_test = (read(f"{part}-labels-idx1-ubyte.gz", 8) > 4 for part in ("train", "t10k"))
    model = KernelSVC(C=100, gamma=0.01, n_components=1024, n_jobs=2).fit(X, y)
    assert model.status_ == "converged"
    assert abs(100 * (1 - model.score(X_test, y_test)) - 2.66) < 0.3
