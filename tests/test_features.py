"""Feature maps: their products are the kernel, and no block size, thread or zero changes what comes out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import hadamard
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.estimator_checks import parametrize_with_checks

from hinge.features import KERNELS, Fourier, Kernel, Nystroem
from hinge.features.fourier_map import DenseMap, StructuredMap
from hinge.features.landmarks import RULES
from hinge.reference.fourier import features as reference_features
from hinge.reference.fourier import structured_turns, walsh

RNG = np.random.default_rng(0)
X = np.where(RNG.random((60, 7)) < 0.4, 0.0, RNG.normal(size=(60, 7)))
PARAMETERS = {
    "rbf": {"gamma": 0.3},
    "laplacian": {"gamma": 0.2},
    "polynomial": {"gamma": 0.3, "coef0": 0.5, "degree": 2},
    "sigmoid": {"gamma": 0.1, "coef0": 0.2},
    "linear": {},
    "cosine": {},
}


@parametrize_with_checks(
    [
        Nystroem(),
        Nystroem("laplacian", landmarks="k-means++", n_jobs=2),
        Nystroem("polynomial", coef0=1.0, landmarks="leverage"),
        Fourier(),
        Fourier(frequencies="orthogonal", n_components=100, n_jobs=2),
        Fourier("laplacian", frequencies="independent", n_components=100),
    ]
)
@pytest.mark.filterwarnings("ignore:There are .* rows for .* landmarks:UserWarning")
def test_sklearn_contract(estimator, check) -> None:
    check(estimator)


# Kernels


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("left", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("right", [np.asarray, sp.csr_array])
def test_a_kernel_is_the_one_of_scikit_learn(name, dtype, left, right) -> None:
    Z = X[:20]
    expected = pairwise_kernels(X, Z, metric=name, **PARAMETERS[name])
    kernel = Kernel(name, **PARAMETERS[name])
    block = kernel.block(left(X.astype(dtype)), right(Z.astype(dtype)))
    assert block.dtype == dtype
    np.testing.assert_allclose(block, expected, atol=1e-13 if dtype == np.float64 else 3e-6)
    np.testing.assert_allclose(kernel.diagonal(left(Z.astype(dtype))), np.diagonal(expected), atol=1e-5)


@pytest.mark.parametrize("gamma", [1e8, 1e12, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e200])
def test_a_huge_gamma_gives_the_identity(gamma, offset) -> None:
    rows = X + offset if offset < 1e100 else X * offset
    _, first = np.unique(rows, axis=0, return_index=True)
    rows = rows[first]
    np.testing.assert_allclose(Kernel("rbf", gamma=gamma).block(rows, rows), np.eye(len(rows)), atol=1e-5)


def test_float32_is_left_where_it_is_too_narrow() -> None:
    far = (X + 1e4).astype(np.float32)
    exact = Kernel("rbf", gamma=0.3).block(far.astype(np.float64), far.astype(np.float64))
    np.testing.assert_allclose(Kernel("rbf", gamma=0.3).block(far, far), exact, atol=3e-6)
    wide = far * np.float32(100)
    exact = Kernel("rbf", gamma=0.3).block(wide.astype(np.float64), wide.astype(np.float64))
    np.testing.assert_allclose(Kernel("rbf", gamma=0.3).block(wide, wide), exact, atol=3e-6)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "wide", None, 10**400])
def test_a_gamma_that_is_none_is_refused(gamma) -> None:
    with pytest.raises(ValueError, match="gamma"):
        Kernel.chosen("rbf", X, gamma=gamma, degree=3, coef0=0.0)


def test_gamma_by_name_is_that_of_svc() -> None:
    assert Kernel.chosen("rbf", X, gamma="auto", degree=3, coef0=0.0).gamma == 1 / 7
    for rows in (X, sp.csr_matrix(X)):
        assert np.isclose(Kernel.chosen("rbf", rows, gamma="scale", degree=3, coef0=0.0).gamma, 1 / (7 * X.var()))
    twice = Kernel.chosen("rbf", X, gamma="scale", degree=3, coef0=0.0, weight=np.repeat([0.0, 2.0], 30))
    assert np.isclose(twice.gamma, 1 / (7 * X[30:].var()))
    for rows in (np.ones((5, 3)), np.full((1000, 7), 0.1), sp.csr_matrix(np.full((1000, 7), 0.1))):
        assert Kernel.chosen("rbf", rows, gamma="scale", degree=3, coef0=0.0).gamma == 1.0


def test_gamma_that_overflows_is_refused_for_either_layout() -> None:
    huge = np.array([[1e200, 0.0], [0.0, 1.0]])
    for rows in (huge, sp.csr_matrix(huge)):
        with pytest.raises(ValueError, match="gamma='scale' overflows"):
            Kernel.chosen("rbf", rows, gamma="scale", degree=3, coef0=0.0)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a, b: np.full((len(a), len(b)), np.nan), "nan"),
        (lambda a, b: np.full((len(a), len(b)), np.inf), "inf"),
        (lambda a, b: np.zeros((len(b), len(a) + 1)), "shape"),
        (lambda a, b: np.zeros(len(a)), "shape"),
        (lambda a, b: (a @ b.T).astype(complex), "real numbers"),
    ],
)
def test_what_a_callable_returns_is_checked(function, words) -> None:
    with pytest.raises(ValueError, match=words):
        Kernel(function).block(X, X[:5])


def test_overflow_of_a_kernel_is_an_error() -> None:
    with pytest.raises(ValueError, match="overflows"):
        Kernel("polynomial", degree=50).block(1e10 * X, X)


# Nystroem


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear", "cosine", "polynomial"])
def test_products_of_nystroem_features_are_the_formula(name, rule) -> None:
    features = Nystroem(name, n_components=25, landmarks=rule, **PARAMETERS[name]).fit(X)
    V, chosen = features.transform(X), features.landmark_indices_
    assert len(set(chosen)) == len(chosen)
    K = Kernel(name, **PARAMETERS[name]).block(X, X)
    expected = K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)], rcond=1e-12, hermitian=True) @ K[chosen]
    np.testing.assert_allclose(V @ V.T, expected, atol=1e-7)


def test_all_rows_as_landmarks_give_the_kernel_itself() -> None:
    with pytest.warns(UserWarning, match="60 rows for 100 landmarks"):
        features = Nystroem(gamma=0.3, n_components=100).fit(X)
    V = features.transform(X)
    np.testing.assert_allclose(V @ V.T, Kernel("rbf", gamma=0.3).block(X, X), atol=1e-9)


def test_a_smaller_rank_keeps_the_largest_eigenvalues() -> None:
    features = Nystroem(gamma=0.3, n_components=5, n_landmarks=30).fit(X)
    chosen = features.landmark_indices_
    values, vectors = np.linalg.eigh(Kernel("rbf", gamma=0.3).block(X[chosen], X[chosen]))
    expected = (vectors[:, -5:] * values[-5:]) @ vectors[:, -5:].T
    V = features.transform(X[chosen])
    assert V.shape == (30, 5)
    np.testing.assert_allclose(V @ V.T, expected, atol=1e-10)


def test_threshold_drops_small_eigenvalues() -> None:
    features = Nystroem(gamma=0.3, n_components=40, threshold=0.5).fit(X)
    chosen = features.landmark_indices_
    values = np.linalg.eigvalsh(Kernel("rbf", gamma=0.3).block(X[chosen], X[chosen]))
    assert features.transform(X).shape[1] == np.count_nonzero(values > 0.5) < 40


def test_duplicate_rows_are_no_trouble() -> None:
    rows = np.repeat(X[:10], 6, axis=0)
    for rule in RULES:
        V = Nystroem(gamma=0.3, n_components=40, landmarks=rule).fit_transform(rows)
        assert V.shape[1] <= 10
        np.testing.assert_allclose(V @ V.T, Kernel("rbf", gamma=0.3).block(rows, rows), atol=1e-9)


@pytest.mark.parametrize("name", ["rbf", "linear", "cosine"])
@pytest.mark.parametrize("rule", RULES)
def test_constant_rows_are_no_trouble(name, rule) -> None:
    for rows in (np.ones((30, 4)), np.zeros((30, 4))):
        V = Nystroem(name, n_components=10, landmarks=rule).fit_transform(rows)
        np.testing.assert_allclose(V @ V.T, Kernel(name, gamma=1.0).block(rows, rows), atol=1e-12)


def test_negative_eigenvalues_are_dropped_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="not positive definite"):
        features = Nystroem(lambda a, b: -(a @ b.T) + 1.0, n_components=20).fit(X)
    V = features.transform(X)
    assert features.indefinite_ and np.all(np.isfinite(V))
    assert np.all(np.linalg.eigvalsh(V @ V.T) > -1e-9)


def test_float32_features_are_as_good_as_their_type() -> None:
    digits = load_digits().data / 16
    kernel = {"gamma": 0.05, "n_components": 200}
    wide, narrow = (Nystroem(**kernel).fit_transform(digits.astype(t)) for t in (np.float64, np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow.astype(np.float64) @ narrow.T.astype(np.float64), wide @ wide.T, atol=5e-3)


# Fourier


WAYS = ("independent", "orthogonal", "structured")


@pytest.mark.parametrize(
    "features", [*(Fourier(gamma=0.2, frequencies=way) for way in WAYS), Fourier("laplacian", gamma=0.2)]
)
def test_products_of_fourier_features_have_the_kernel_as_their_mean(features) -> None:
    """The variance of cos cos is at most 2/d for each of independent frequencies: five deviations."""
    d = 40_000
    V = clone(features).set_params(n_components=d).fit_transform(X)
    K = Kernel(features.kernel, gamma=0.2).block(X, X)
    assert np.abs(V @ V.T - K).max() < 5 * np.sqrt(2 / d)


@pytest.mark.parametrize("n_features", [1, 2, 3, 40])
def test_structured_features_have_the_kernel_as_their_mean_in_few_dimensions(n_features) -> None:
    """Signs are not normal numbers: their products are near them only where there are enough of them."""
    rows = RNG.normal(size=(30, n_features)) * np.sqrt(8 / n_features)
    maps = [Fourier(gamma=0.2, n_components=1024, frequencies="structured", random_state=k) for k in range(30)]
    mean = np.mean([(V := m.fit_transform(rows)) @ V.T for m in maps], axis=0)
    assert np.abs(mean - Kernel("rbf", gamma=0.2).block(rows, rows)).max() < 5 * np.sqrt(2 / (30 * 1024))


@pytest.mark.parametrize("way", ["orthogonal", "structured"])
@pytest.mark.parametrize("n_features", [32, 50])
def test_orthogonal_frequencies_are_better(way, n_features) -> None:
    rows = np.random.default_rng(1).normal(size=(60, n_features))
    K = Kernel("rbf", gamma=0.6 / n_features).block(rows, rows)

    def error(frequencies: str) -> float:
        options = {"gamma": 0.6 / n_features, "n_components": 128, "frequencies": frequencies}
        maps = [Fourier(**options, random_state=k) for k in range(40)]
        return float(np.mean([np.mean((m.fit_transform(rows) @ m.transform(rows).T - K) ** 2) for m in maps]))

    assert error(way) < 0.95 * error("independent")


def test_frequencies_are_what_their_names_say() -> None:
    free, orthogonal = (
        Fourier(gamma=0.5, n_components=20, frequencies=way).fit(X).map_ for way in ("independent", "orthogonal")
    )
    rng = np.random.RandomState(0)
    np.testing.assert_allclose(2 * np.pi * free.frequencies, rng.standard_normal((7, 20)), rtol=1e-12)
    assert np.array_equal(free.phases, rng.uniform(size=20))
    for group in (slice(0, 7), slice(7, 14), slice(14, 20)):
        products = orthogonal.frequencies[:, group].T @ orthogonal.frequencies[:, group]
        np.testing.assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-12)
    wide = RNG.normal(size=(3, 64))
    structured = Fourier(gamma=0.5, n_components=100).fit(wide).map_
    assert isinstance(structured, StructuredMap)
    frequencies = (structured_turns(structured, np.eye(64)) - structured.phases).T
    for group in (frequencies[:64], frequencies[64:]):
        products = group @ group.T
        np.testing.assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-12)


def test_by_default_frequencies_are_those_of_the_least_time() -> None:
    assert isinstance(Fourier().fit(X).map_, StructuredMap)
    assert isinstance(Fourier("laplacian").fit(X).map_, DenseMap)


def test_orthogonal_frequencies_of_wide_rows_take_no_more_memory_than_the_result() -> None:
    rows = sp.csr_matrix(np.eye(1, 100_000))
    assert Fourier(gamma=1.0, n_components=3, frequencies="orthogonal").fit(rows).map_.frequencies.shape == (100_000, 3)


@pytest.mark.parametrize("way", ["orthogonal", "structured"])
def test_laplacian_has_independent_frequencies_only(way) -> None:
    with pytest.raises(ValueError, match="for kernel='rbf' only, got 'laplacian': use 'independent' or 'auto'"):
        Fourier("laplacian", frequencies=way).fit(X)
    with pytest.raises(ValueError, match="frequencies must be one of"):
        Fourier(frequencies="sobol").fit(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fourier_features_are_cosines(dtype) -> None:
    rows = (50 * X).astype(dtype)
    features = Fourier(gamma=0.2, n_components=101, frequencies="independent").fit(rows)
    angles = 2 * np.pi * (rows.astype(np.float64) @ features.map_.frequencies + features.map_.phases)
    np.testing.assert_allclose(
        features.transform(rows), np.sqrt(2 / 101) * np.cos(angles), atol=1e-12 if dtype == np.float64 else 1e-4
    )


def test_the_transform_is_that_of_walsh_and_hadamard() -> None:
    for n in (1, 2, 64):
        assert np.array_equal(walsh(np.eye(n)), hadamard(n))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("n_features", "d"), [(1, 1), (7, 130), (64, 64), (65, 300), (200, 17)])
def test_fourier_features_are_their_twin_to_the_bit(dtype, way, n_features, d) -> None:
    rows = RNG.normal(size=(11, n_features)).astype(dtype)
    rows[RNG.random(rows.shape) < 0.5] = 0
    features = Fourier(gamma=0.7, n_components=d, frequencies=way).fit(rows)
    assert np.array_equal(features.transform(rows), reference_features(features.map_, rows, dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("way", WAYS)
def test_a_row_has_the_same_fourier_features_in_any_company(dtype, way) -> None:
    rows = RNG.normal(size=(1000, 9)).astype(dtype)
    rows[RNG.random(rows.shape) < 0.7] = 0
    features = Fourier(gamma=0.2, n_components=77, frequencies=way).fit(rows)
    together = features.transform(rows)
    alone = np.vstack([features.transform(row[np.newaxis]) for row in rows])
    assert np.array_equal(together, alone)
    assert np.array_equal(together, features.transform(sp.csr_matrix(rows)))
    assert np.array_equal(together[::-1], features.transform(np.ascontiguousarray(rows[::-1])))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("gamma", "size", "dtype"),
    [
        (1e30, 1e30, np.float32),
        (1e-60, 3e38, np.float32),
        (1e90, 0.0, np.float32),
        (1e30, 1.0, np.float32),
        (1.0, 1e9, np.float32),
        (1e300, 1.0, np.float64),
    ],
)
def test_angles_of_which_nothing_is_left_are_refused(way, gamma, size, dtype) -> None:
    """Otherwise they are whole numbers of turns, or NaN: all rows would look the same."""
    features = Fourier(gamma=gamma, n_components=300, frequencies=way).fit(X.astype(dtype))
    rows = (size / np.abs(X).max() * X).astype(dtype)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="lower gamma"):
        features.transform(rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_huge_gamma_makes_all_rows_different(kernel, dtype) -> None:
    """A few of the Cauchy frequencies of a laplacian kernel are long enough to lose their angles. The others count."""
    gamma = 1e9 if kernel == "rbf" else 1e4
    rows = np.random.default_rng(0).normal(size=(20, 7)).astype(dtype)
    V = Fourier(kernel, gamma=gamma, n_components=20_000).fit_transform(rows).astype(np.float64)
    np.testing.assert_allclose(V @ V.T, np.eye(20), atol=0.05)


# Both


@pytest.mark.parametrize(
    "features",
    [
        Nystroem(gamma=0.05, n_components=100),
        *(Fourier(gamma=0.05, n_components=100, frequencies=way) for way in WAYS),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_change_no_bit(features, dtype) -> None:
    digits = np.tile(load_digits().data, (3, 1)).astype(dtype) / 16
    one, three = (clone(features).set_params(n_jobs=n).fit_transform(digits) for n in (1, 3))
    assert one.dtype == dtype
    assert np.array_equal(one, three)


@pytest.mark.parametrize("features", [Nystroem(), Fourier()])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_rows_are_refused_with_their_place(features, value) -> None:
    bad = X.copy()
    bad[3, 2] = value
    with pytest.raises(ValueError, match="row 3, column 2"):
        clone(features).fit(bad)
    with pytest.raises(ValueError, match="row 3, column 2"):
        clone(features).fit(X).transform(bad)
