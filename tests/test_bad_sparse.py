"""Corrupt sparse matrices get a clear Python error before any native code reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from refusals import DTYPES, X, csr, fit, refused, y

import hinge
from hinge import LinearSVC, OnlineSVC, solve


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [5, -1, 2**31 - 1])
def test_column_index_out_of_range_is_refused_with_its_place(index, value) -> None:
    bad = csr()
    bad.indices = bad.indices.astype(index)
    bad.indices[4 * 5 + 2] = value
    with refused("index out of range", "row 4"):
        solve(bad, y)


def test_duplicate_entries_are_refused_with_the_remedy() -> None:
    bad = csr()
    bad.indices[9 * 5 + 3] = bad.indices[9 * 5 + 1]
    with refused("row 9, column 1", "sum_duplicates()"):
        solve(bad, y)
    bad.sum_duplicates()
    solve(bad, y)


def test_unsorted_indices_give_the_same_model() -> None:
    flipped = csr()
    flipped.data = np.ascontiguousarray(flipped.data.reshape(60, 5)[:, ::-1]).ravel()
    flipped.indices = np.ascontiguousarray(flipped.indices.reshape(60, 5)[:, ::-1]).ravel()
    flipped.has_sorted_indices = False
    expected, found = solve(csr(), y), solve(flipped, y)
    assert found.status == "converged"
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-7, err_msg="unsorted rows changed the model")
    assert np.array_equal(flipped.indices[:5], [4, 3, 2, 1, 0]), "the caller's matrix was sorted in place"


def corrupted_indptr(change: Callable[[Any], Any]) -> Any:
    bad = csr()
    bad.indptr = change(bad.indptr.copy())
    return bad


def _set(position: int, value: int) -> Callable[[Any], Any]:
    def change(indptr: Any) -> Any:
        indptr[position] = value
        return indptr

    return change


INDPTRS = {
    "decreasing": _set(10, 100),
    "beyond the data": _set(60, 301),
    "far beyond the data": _set(30, 2**31 - 1),
    "negative": _set(5, -5),
    "negative at the end": _set(60, -(2**31)),
    "wrong start": _set(0, 1),
    "too short": lambda indptr: indptr[:-1],
    "too long": lambda indptr: np.r_[indptr, indptr[-1:]],
}


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", INDPTRS)
def test_corrupt_indptr_is_refused(kind, index) -> None:
    bad = corrupted_indptr(INDPTRS[kind])
    bad.indptr = bad.indptr.astype(index)
    with refused("indptr"):
        solve(bad, y)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.longdouble, bool])
def test_corrupt_matrix_that_scipy_would_convert_is_refused_before(kind, dtype) -> None:
    """Its own conversions trust the indices, and crash."""
    model = fit(X, y)
    for train in (solve, LinearSVC().fit, OnlineSVC().fit, lambda X, y: model.predict(X)):
        for name, place, value in (
            ("indices", 11, 1_000_000),
            ("indices", 11, -3),
            ("indptr", 3, 2**30),
            ("indptr", 3, -9),
            ("indptr", -1, -1),
        ):
            bad = kind(np.ones_like(X).astype(dtype))
            getattr(bad, name)[place] = value
            with pytest.raises(ValueError, match=r"Corrupt CS[RC] matrix"):
                train(bad, y)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.longdouble, np.float32, np.float64])
@pytest.mark.parametrize("value", [-(2**63), -(2**63) + 1, 2**63 - 1])
@pytest.mark.parametrize("place", [0, 1, 30, 60])
def test_indptr_whose_differences_overflow_is_refused(dtype, value, place) -> None:
    bad = sp.csr_array(np.ones_like(X).astype(dtype))
    bad.indptr = bad.indptr.astype(np.int64)
    bad.indptr[place] = value
    model, online = fit(X, y, store_dual=True), OnlineSVC().fit(X, y)
    uses: list[Callable[[], Any]] = [
        lambda: solve(bad, y),
        lambda: fit(bad, y),
        lambda: online.certify(bad, y),
        lambda: online.decision_function(bad),
        lambda: model.predict(bad),
        lambda: hinge.verify(model, bad, y),
    ]
    for use in uses:
        with refused("Corrupt CSR matrix", "indptr"):
            use()


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("value", [-1, 60, 10**7, 2**31 - 1])
@pytest.mark.parametrize("axis", ["row", "col"])
def test_corrupt_coo_matrix_is_refused(dtype, value, axis) -> None:
    model = fit(X, y, store_dual=True)
    for use in (solve, fit, lambda X, y: model.predict(X), lambda X, y: hinge.verify(model, X, y)):
        bad = sp.coo_array(np.ones_like(X).astype(dtype))
        getattr(bad, axis)[7] = value
        with refused("Corrupt COO matrix", f"{value} out of range at entry 7"):
            use(bad, y)


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("indptr", -1, -(2**31), "indptr"),
        ("indptr", 3, 2**30, "indptr"),
        ("indices", 11, 10**7, "row of blocks 11"),
        ("indices", 11, -3, "row of blocks 11"),
    ],
)
def test_corrupt_bsr_matrix_is_refused(name, place, value, words) -> None:
    model = fit(X, y, store_dual=True)
    for use in (solve, fit, lambda X, y: model.predict(X), lambda X, y: hinge.verify(model, X, y)):
        bad = sp.bsr_array(X, blocksize=(2, 5))
        getattr(bad, name)[place] = value
        with refused("Corrupt BSR matrix", words):
            use(bad, y)


def _spoilt_dia(change: Callable[[Any], Any]) -> Any:
    bad = sp.dia_array(X)
    bad.offsets = change(bad.offsets)
    return bad


def _shorter_row_of_lil() -> Any:
    bad = sp.lil_array(X)
    bad.rows[4] = bad.rows[4][:1]
    return bad


def _fewer_rows_of_lil() -> Any:
    bad = sp.lil_array(X)
    bad.rows = bad.rows[:30]
    return bad


OTHERS: dict[str, Callable[[], Any]] = {
    "DIA, fewer offsets": lambda: _spoilt_dia(lambda offsets: offsets[:2]),
    "DIA, more offsets": lambda: _spoilt_dia(lambda offsets: np.r_[offsets, offsets]),
    "DIA, fractions": lambda: _spoilt_dia(lambda offsets: offsets + 0.5),
    "LIL, shorter row": _shorter_row_of_lil,
    "LIL, fewer rows": _fewer_rows_of_lil,
}


@pytest.mark.parametrize("kind", OTHERS)
def test_corrupt_matrix_of_another_format_is_refused(kind) -> None:
    model = fit(X, y, store_dual=True)
    for use in (solve, fit, lambda X, y: model.predict(X), lambda X, y: hinge.verify(model, X, y)):
        with refused(f"Corrupt {kind[:3]} matrix"):
            use(OTHERS[kind](), y)


@pytest.mark.parametrize("name", ["indices", "indptr"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_indices_that_are_not_integers_are_refused(name, dtype) -> None:
    bad = csr().astype(dtype)
    setattr(bad, name, getattr(bad, name) + 0.3)
    with refused("Corrupt CSR matrix", "must be integers"):
        solve(bad, y)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_array])
def test_one_dimensional_sparse_array_is_refused(kind) -> None:
    for dtype in (np.int64, np.float64):
        with refused("2D array", "(5,)"):
            solve(kind(np.ones(5, dtype=dtype)), y[:5])


@pytest.mark.parametrize("short", ["data", "indices"])
def test_indptr_is_checked_against_the_shorter_of_data_and_indices(short) -> None:
    bad = csr()
    setattr(bad, short, getattr(bad, short)[:-1])
    with pytest.raises(ValueError, match=r"indptr|data|indices"):
        solve(bad, y)
