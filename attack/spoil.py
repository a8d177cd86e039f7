"""Spoil CSR matrices, values, and pickles."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np

_NUMBERS = (-1, 0, 1, 3, 7, 127, -128, 2**31 - 1, -(2**31), 2**62, -(2**63), 2**63 - 1)
_GARBAGE = (np.nan, np.inf, -np.inf, -1.0, 1e308, 1e-320, 0.0)


def spoilt_matrix(rng: np.random.Generator, good: Any) -> tuple[Any, str]:
    """A copy with one array changed behind scipy's back, and what was changed."""
    bad = good.copy()
    index = [np.int32, np.int64][rng.integers(2)]
    bad.indices, bad.indptr = bad.indices.astype(index), bad.indptr.astype(index)
    name = str(rng.choice(["indices", "indptr", "data"], p=[0.4, 0.5, 0.1]))
    array = getattr(bad, name)
    kind = str(rng.choice(["entry", "entry", "shorter", "longer", "dtype", "shape", "stride", "swap", "empty", "none"]))
    if kind == "entry" and array.size:
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        value: Any = int(rng.choice(_NUMBERS)) if name != "data" else float(rng.choice(_GARBAGE[:3]))
        if limits is not None:
            value = int(np.clip(int(value) if np.isfinite(value) else 0, limits.min, limits.max))
        array[rng.integers(array.size)] = value
    elif kind == "shorter":
        array = array[: rng.integers(array.size + 1)]
    elif kind == "longer":
        array = np.append(array, array[-1:])
    elif kind == "dtype":
        array = array.astype([np.uint32, np.int8, np.float64, np.bool_, object, ">i4", ">f8"][rng.integers(7)])
    elif kind == "shape":
        bad._shape = (bad.shape[0] + int(rng.integers(-2, 3)), bad.shape[1] + int(rng.integers(-2, 3)))
        name = "shape"
    elif kind == "stride":
        array = np.repeat(array, 2)[::2]
    elif kind == "swap" and array.size:
        array[:] = array[rng.permutation(array.size)]
    elif kind == "empty":
        array = array[:0]
    if name != "shape":
        setattr(bad, name, array)
    return bad, f"{kind} of {name}"


def decoded(X: Any) -> Any:
    """The matrix as Python reads its arrays, None if they make none."""
    m, d = X.shape
    try:
        bounds, columns = [[_whole(value) for value in np.asarray(array)] for array in (X.indptr, X.indices)]
        data = np.asarray(X.data, dtype=np.float64)
    except (ValueError, OverflowError):
        return None
    if min(m, d) < 1 or len(bounds) != m + 1 or bounds[0] != 0 or bounds[-1] > min(len(columns), len(data)):
        return None
    dense = np.zeros((m, d))
    for i in range(m):
        begin, end = bounds[i], bounds[i + 1]
        here = columns[begin:end]
        if begin > end or not all(0 <= j < d for j in here):
            return None
        np.add.at(dense[i], here, data[begin:end])  # entries of the same place add up, where they are not refused
    return dense if np.isfinite(dense).all() else None


def _whole(value: Any) -> int:
    """An index, of whatever type."""
    if int(value) != value:
        raise ValueError(value)
    return int(value)


def spoilt_value(rng: np.random.Generator, value: Any) -> tuple[Any, str]:
    """Something else, of the same type or not."""
    kind = str(rng.choice(["bytes", "entry", "length", "dtype", "type", "dimensions"]))
    array = np.atleast_1d(np.array(value))
    if kind == "bytes" and array.dtype != object and array.nbytes:
        raw = bytearray(array.tobytes())
        for _ in range(int(rng.integers(1, 9))):
            raw[rng.integers(len(raw))] = rng.integers(256)
        array = np.frombuffer(bytes(raw), dtype=array.dtype).reshape(array.shape)
        return (array if isinstance(value, np.ndarray) else array[0].item()), "has other bytes"
    if kind == "entry" and array.size and array.dtype.kind in "iuf":
        choices = _GARBAGE if array.dtype.kind == "f" else _NUMBERS
        chosen = choices[rng.integers(len(choices))]
        if array.dtype.kind != "f":
            chosen = int(np.clip(chosen, np.iinfo(array.dtype).min, np.iinfo(array.dtype).max))
        if not isinstance(value, np.ndarray):
            return type(value)(chosen), f"is {chosen}"
        array.flat[rng.integers(array.size)] = chosen
        return array, f"has an entry {chosen}"
    if kind == "length":
        return [array[:-1], np.concatenate([array, array]), array[:0]][rng.integers(3)], "has another length"
    if kind == "dtype" and array.dtype.kind in "biuf":
        other: Any = [np.float32, np.int8, np.complex128, object, "U5", np.int64, np.uint64, np.float64][
            rng.integers(8)
        ]
        return array.astype(other), f"is of {np.dtype(other)}"
    if kind == "dimensions":
        return array.reshape(1, -1), "is a matrix"
    others: list[Any] = [None, "text", b"", {}, [], [1, "2"], -1, 10**30, np.nan, object(), (1, 2)]
    return others[rng.integers(len(others))], "is of another type"


def spoilt_tree(rng: np.random.Generator, tree: Any) -> tuple[Any, str]:
    """One leaf of nested tuples, lists and dictionaries spoilt, or a branch."""
    if not isinstance(tree, tuple | list | dict) or not tree or rng.random() < 0.05:
        return spoilt_value(rng, tree) if not isinstance(tree, tuple | list | dict) else (None, "is None")
    if rng.random() < 0.05:
        return (dict(list(tree.items())[1:]) if isinstance(tree, dict) else tree[1:]), "is shorter"
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    key = keys[rng.integers(len(keys))]
    leaf, change = spoilt_tree(rng, tree[key])
    change = f"[{key!r}]{change}" if change.startswith("[") else f"[{key!r}] {change}"
    if isinstance(tree, dict):
        return {**tree, key: leaf}, change
    changed = list(tree)
    changed[key] = leaf
    return type(tree)(changed), change


class Spoiler(pickle.Pickler):
    """Spoils the state of one of the objects of this library that a model consists of.

    Parameters
    ----------
    file : BytesIO
    rng : Generator
    model : object
        What will be pickled.
    """

    def __init__(self, file: io.BytesIO, rng: np.random.Generator, model: Any) -> None:
        super().__init__(file, protocol=5)
        census = _Census(io.BytesIO(), protocol=5)
        census.dump(model)
        self._rng, self._left = rng, int(rng.integers(census.met))
        self.change = "nothing"

    def reducer_override(self, thing: Any) -> Any:
        """Called for every object; those of others are pickled as ever."""
        if not _is_ours(thing):
            return NotImplemented
        self._left -= 1
        reduced = thing.__reduce_ex__(5)
        if self._left != -1 or len(reduced) < 3:
            return reduced
        state, self.change = spoilt_tree(self._rng, copy.copy(reduced[2]))
        self.change = f"{type(thing).__name__} {self.change}"
        return (*reduced[:2], state, *reduced[3:])


class _Census(pickle.Pickler):
    """Counts the objects of this library."""

    met = 0

    def reducer_override(self, thing: Any) -> Any:
        self.met += _is_ours(thing)
        return NotImplemented


def _is_ours(thing: Any) -> bool:
    return not isinstance(thing, type) and type(thing).__module__.split(".")[0] == "hinge"
