"""Rows are read in place: dense and CSR, any float and index type, read-only and mapped; the rest is converted once."""

from __future__ import annotations

import itertools
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import solve_quietly
from registry import VARIANTS, with_losses

from hinge import LinearSVC, Solution, solve, verify
from hinge.problem import as_rows
from hinge.problem.rows import _in_place

rng = np.random.default_rng(0)
# Values that float32 holds exactly, so that every layout holds the same problem.
X = (rng.normal(size=(300, 12)) * (rng.random((300, 12)) < 0.6)).astype(np.float32).astype(np.float64)
y = np.where(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=300) > 0, "yes", "no")

# A few passes of each are enough: bits are compared, not models.
RUN = {"intercept": "penalized", "max_iter": 5, "tol": 1e-9}


def dense(dtype: Any) -> Any:
    return np.array(X, dtype=dtype, order="C")


def csr(dtype: Any = np.float64, indices: Any = np.int32, indptr: Any = np.int32) -> Any:
    """CSR with exactly these types: scipy's constructor would make the index types equal."""
    matrix = sp.csr_array(X.astype(dtype))
    matrix.indices = matrix.indices.astype(indices)
    matrix.indptr = matrix.indptr.astype(indptr)
    assert (matrix.data.dtype, matrix.indices.dtype, matrix.indptr.dtype) == (dtype, indices, indptr)
    return matrix


def assert_same_bits(found: Solution, expected: Solution, what: str) -> None:
    assert np.array_equal(found.coef, expected.coef), f"{what}: other coefficients"
    assert found.intercept == expected.intercept, f"{what}: another intercept"
    assert np.array_equal(found.dual, expected.dual), f"{what}: other multipliers"
    assert found.certificate == expected.certificate, f"{what}: another certificate"


def arrays(X: Any) -> list[Any]:
    return [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]


def freeze(X: Any) -> Any:
    for array in arrays(X):
        array.flags.writeable = False
    return X


def mapped(X: Any, folder: Path, mode: str = "r") -> Any:
    """The same matrix on memory-mapped files."""
    maps = []
    for number, array in enumerate(arrays(X)):
        path = folder / f"{number}.npy"
        np.save(path, array)
        maps.append(np.load(path, mmap_mode=mode))
    if not sp.issparse(X):
        return maps[0]
    matrix = sp.csr_array(X.shape, dtype=X.dtype)
    matrix.data, matrix.indices, matrix.indptr = maps
    return matrix


# The same bits in every layout that is read in place


@pytest.mark.parametrize(("solver", "loss"), with_losses(VARIANTS))
def test_types_of_values_and_indices_do_not_change_a_bit(solver, loss) -> None:
    options: dict[str, Any] = {"solver": VARIANTS[solver], "loss": loss, **RUN}
    expected = solve_quietly(csr(), y, **options)
    for dtype, indices, indptr in itertools.product((np.float32, np.float64), *2 * [(np.int32, np.int64)]):
        found = solve_quietly(csr(dtype, indices, indptr), y, **options)
        assert_same_bits(found, expected, f"CSR {dtype.__name__}, {indices.__name__}, {indptr.__name__}")
    wide, narrow = (solve_quietly(dense(dtype), y, **options) for dtype in (np.float64, np.float32))
    assert_same_bits(narrow, wide, "dense float32")


def test_dense_and_csr_agree() -> None:
    found, expected = solve(csr(), y), solve(dense(np.float64), y)
    # P is strongly convex: |w - w*|^2 <= 2 (P - optimum).
    apart = np.sqrt(2 * found.certificate.gap) + np.sqrt(2 * expected.certificate.gap)
    assert np.linalg.norm(found.coef - expected.coef) <= apart
    assert found.certificate.dual <= expected.certificate.primal
    assert expected.certificate.dual <= found.certificate.primal


def test_sparse_array_and_sparse_matrix_give_the_same_bits() -> None:
    assert_same_bits(solve(sp.csr_matrix(X), y), solve(sp.csr_array(X), y), "csr_matrix")


MAKERS: dict[str, Callable[[], Any]] = {
    "dense float32": lambda: dense(np.float32),
    "dense float64": lambda: dense(np.float64),
    "csr float32 int32": lambda: csr(np.float32),
    "csr float64 int64": lambda: csr(np.float64, np.int64, np.int64),
    "csr float64 mixed": lambda: csr(np.float64, np.int32, np.int64),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_read_only_rows_give_the_same_bits(kind) -> None:
    assert_same_bits(solve(freeze(MAKERS[kind]()), y), solve(MAKERS[kind](), y), "read-only " + kind)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@pytest.mark.parametrize("kind", MAKERS)
def test_memory_mapped_rows_give_the_same_bits(kind, mode, tmp_path) -> None:
    assert_same_bits(solve(mapped(MAKERS[kind](), tmp_path, mode), y), solve(MAKERS[kind](), y), "mapped " + kind)


@pytest.mark.parametrize("kind", MAKERS)
def test_training_and_prediction_do_not_write_to_the_rows(kind) -> None:
    given = MAKERS[kind]()
    before = [array.copy() for array in arrays(given)]
    LinearSVC().fit(given, y).predict(given)
    assert all(map(np.array_equal, arrays(given), before)), f"{kind} was modified"


@pytest.mark.parametrize("kind", MAKERS)
def test_scores_do_not_depend_on_the_layout(kind, tmp_path) -> None:
    model = LinearSVC().fit(X, y)
    expected = X @ model.coef_[0] + model.intercept_[0]
    for given in (MAKERS[kind](), freeze(MAKERS[kind]()), mapped(MAKERS[kind](), tmp_path)):
        np.testing.assert_allclose(model.decision_function(given), expected, rtol=1e-12, atol=1e-12)
        assert np.array_equal(model.predict(given), np.where(expected > 0, "yes", "no"))


@pytest.mark.parametrize("kind", MAKERS)
def test_native_rows_point_into_the_caller_s_memory(kind, tmp_path) -> None:
    """All but an indptr of 32 bits, which is copied: values and column indices are what is large."""
    for given in (MAKERS[kind](), freeze(MAKERS[kind]()), mapped(MAKERS[kind](), tmp_path)):
        for array in arrays(given)[:2]:
            assert np.shares_memory(_in_place(array), array), f"{kind} is copied before native code sees it"


def test_change_of_a_value_reaches_native_rows_at_once() -> None:
    for make in MAKERS.values():
        given = make()
        rows = as_rows(given)
        w = np.ones(X.shape[1] + 1)
        before = rows.dot(0, w)
        (given.data if sp.issparse(given) else given.reshape(-1))[0] += 1.0
        assert rows.dot(0, w) == pytest.approx(before + 1.0), "the values were copied"


def test_rows_outlive_the_caller_s_reference() -> None:
    def state_only() -> Any:
        return solve(dense(np.float64).copy(), y)

    solutions = [state_only() for _ in range(5)]
    assert all(s.certificate == solutions[0].certificate for s in solutions)


# No copy, by peak memory of a process of its own

PEAK = textwrap.dedent("""
    import sys, threading, warnings
    import numpy as np, psutil, scipy.sparse as sp
    from hinge import LinearSVC, solve
    warnings.simplefilter("ignore")
    layout, dtype, folder = sys.argv[1], np.dtype(sys.argv[2]), sys.argv[3]
    rng = np.random.default_rng(0)
    megabytes, width = 100, 256
    block = rng.normal(size=(1000, width)).astype(dtype)
    if layout == "csr":
        m = megabytes * 2**20 // (width * (dtype.itemsize + 4))
        columns = np.sort(np.argsort(rng.random((1000, 4 * width)), axis=1)[:, :width], axis=1).astype(np.int32)
        indices, data = np.resize(columns, (m, width)), np.resize(block, (m, width))
        X = sp.csr_array((4, 4 * width), dtype=dtype)
        X.data, X.indices, X.indptr = data.ravel(), indices.ravel(), np.arange(m + 1, dtype=np.int64) * width
        X._shape = (m, 4 * width)
        y = np.where(data[:, 0] > 0, 1, -1)
        size = data.nbytes + indices.nbytes
    else:
        X = np.resize(block, (megabytes * 2**20 // (width * dtype.itemsize), width))
        y = np.where(X[:, 0] > 0, 1, -1)
        size = X.nbytes
    if layout == "memmap":
        np.save(folder + "/X.npy", X)
        X = np.load(folder + "/X.npy", mmap_mode="r")
        X.sum()  # pages of the file are in memory before the measurement begins
    tiny = slice(0, 400)
    LinearSVC(max_iter=2).fit(X[tiny], y[tiny]).predict(X[tiny])  # imports and thread pools are no part of it
    process = psutil.Process()
    before = peak = process.memory_info().rss
    done = threading.Event()
    def watch():
        global peak
        while not done.wait(0.002):
            peak = max(peak, process.memory_info().rss)
    thread = threading.Thread(target=watch)
    thread.start()
    model = LinearSVC(max_iter=2, store_dual=True).fit(X, y)
    fitted = peak
    model.predict(X)
    done.set()
    thread.join()
    print((fitted - before) / size, (peak - before) / size)
""")


@pytest.mark.parametrize(
    ("layout", "dtype"), [*itertools.product(["dense", "csr"], ["float32", "float64"]), ("memmap", "float32")]
)
def test_no_copy_of_the_rows_is_made(layout, dtype, tmp_path) -> None:
    pytest.importorskip("psutil")
    command = [sys.executable, "-c", PEAK, layout, dtype, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    fitting, predicting = map(float, run.stdout.split())
    assert fitting < 0.25, f"fit took {100 * fitting:.0f} % of the size of the data on top of it"
    assert predicting < 0.25, f"predict took {100 * predicting:.0f} % of the size of the data on top of it"


# Other inputs are converted once


def unaligned(values: Any) -> Any:
    buffer = np.zeros(values.nbytes + 1, dtype=np.uint8)
    array = buffer[1:].view(values.dtype).reshape(values.shape)
    array[...] = values
    assert not array.flags.aligned
    return array


def unaligned_csr() -> Any:
    matrix = csr()
    matrix.data, matrix.indices, matrix.indptr = map(unaligned, arrays(matrix))
    return matrix


def swapped_csr() -> Any:
    matrix = csr()
    matrix.indices = matrix.indices.astype(matrix.indices.dtype.newbyteorder())
    matrix.data = matrix.data.astype(">f8")
    return matrix


def pandas_frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(X)


def polars_frame() -> Any:
    return pytest.importorskip("polars").DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])


def pyarrow_table() -> Any:
    return pytest.importorskip("pyarrow").table({f"x{j}": X[:, j] for j in range(X.shape[1])})


CONVERTED: dict[str, Callable[[], Any]] = {
    "Fortran order": lambda: np.asfortranarray(X),
    "Fortran order float32": lambda: np.asfortranarray(X, dtype=np.float32),
    "list": X.tolist,
    "negative strides": lambda: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "every second column": lambda: np.repeat(X, 2, axis=1)[:, ::2],
    "longdouble": lambda: X.astype(np.longdouble),
    "big-endian float64": lambda: X.astype(">f8"),
    "big-endian float32": lambda: X.astype(">f4"),
    "unaligned float64": lambda: unaligned(X),
    "unaligned float32": lambda: unaligned(X.astype(np.float32)),
    "object": lambda: X.astype(object),
    "pandas": pandas_frame,
    "polars": polars_frame,
    "pyarrow": pyarrow_table,
}
CONVERTED_SPARSE: dict[str, Callable[[], Any]] = {
    "CSC": lambda: sp.csc_array(X),
    "COO": lambda: sp.coo_array(X),
    "LIL": lambda: sp.lil_array(X),
    "big-endian CSR": swapped_csr,
    "unaligned CSR": unaligned_csr,
    "longdouble CSR": lambda: sp.csr_array(X.astype(np.longdouble)),
}


@pytest.mark.parametrize("kind", CONVERTED)
def test_converted_rows_give_the_same_bits(kind) -> None:
    given = CONVERTED[kind]()
    assert_same_bits(solve(given, y), solve(X, y), kind)
    model, reference = LinearSVC(store_dual=True).fit(given, y), LinearSVC().fit(X, y)
    assert np.array_equal(model.coef_, reference.coef_), f"{kind}: other coefficients"
    assert np.array_equal(model.predict(given), reference.predict(X)), f"{kind}: other predictions"


@pytest.mark.parametrize("kind", CONVERTED_SPARSE)
def test_converted_sparse_rows_give_the_same_bits(kind) -> None:
    given = CONVERTED_SPARSE[kind]()
    assert_same_bits(solve(given, y), solve(csr(), y), kind)
    model, reference = LinearSVC().fit(given, y), LinearSVC().fit(csr(), y)
    assert np.array_equal(model.predict(given), reference.predict(csr())), f"{kind}: other predictions"


@pytest.mark.parametrize("kind", [*CONVERTED, *CONVERTED_SPARSE])
def test_verify_accepts_what_fit_accepts(kind) -> None:
    given = {**CONVERTED, **CONVERTED_SPARSE}[kind]()
    model = LinearSVC(store_dual=True).fit(given, y)
    found = verify(model, given, y)
    own = model.certificate_
    np.testing.assert_allclose([found.primal, found.dual], [own.primal, own.dual], rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, bool])
def test_integers_and_booleans_are_numbers(dtype) -> None:
    whole = np.round(3 * np.abs(X)).astype(dtype)
    assert_same_bits(solve(whole, y), solve(whole.astype(np.float64), y), f"dense {np.dtype(dtype)}")
    sparse = sp.csr_array(whole)
    assert_same_bits(solve(sparse, y), solve(sparse.astype(np.float64), y), f"CSR {np.dtype(dtype)}")


@pytest.mark.parametrize("dtype", [np.int16, np.uint32, np.uint64])
def test_other_index_types_are_converted(dtype) -> None:
    assert_same_bits(solve(csr(np.float64, dtype, np.int64), y), solve(csr(), y), f"indices {np.dtype(dtype)}")
    assert_same_bits(solve(csr(np.float64, np.int32, dtype), y), solve(csr(), y), f"indptr {np.dtype(dtype)}")


def test_labels_and_weights_of_any_container_are_accepted() -> None:
    pd = pytest.importorskip("pandas")
    weight = rng.random(300)
    expected = solve(X, y, sample_weight=weight)
    for labels, weights in [
        (y.tolist(), weight.tolist()),
        (y.astype(object), weight[::-1][::-1]),
        (pd.Series(y), pd.Series(weight)),
        (freeze(y.copy()), freeze(weight.copy())),
    ]:
        assert_same_bits(solve(X, labels, sample_weight=weights), expected, f"{type(labels).__name__} labels")
