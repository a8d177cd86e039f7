"""Where data sets come from: HINGE_DATA, else scikit-learn's fetchers, else a reason why there is none."""

from __future__ import annotations

import hashlib
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
import numpy as np
import scipy.sparse as sp

from benchmark_utils import store

#: What a missing, damaged or unreachable file raises.
_UNAVAILABLE = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error)


def payload(load: Callable[[], data.Split]) -> dict[str, Any]:
    """The data for benchopt: arrays, or the reason why the data set is skipped."""
    try:
        split = load()
    except _UNAVAILABLE as error:
        return {"reason": " ".join(f"{type(error).__name__}: {error}".split())}
    return {"X": split.X, "y": split.y, "X_test": split.X_test, "y_test": split.y_test}


def from_files(
    name: str, load: Callable[[Path], data.Split], fetch: Callable[[], data.Split] | None = None
) -> data.Split:
    """`load` from HINGE_DATA; without it `fetch` with scikit-learn. Parsed once, then kept in the cache."""
    folder = os.environ.get("HINGE_DATA")
    if folder:
        return kept_split(f"{name}-{_stamp(Path(folder))}", lambda: load(Path(folder)))
    if fetch is None:
        raise FileNotFoundError("HINGE_DATA is not set to the folder with the data sets, and no fetcher has this one")
    return kept_split(f"{name}-fetched", fetch)


def kept_split(key: str, make: Callable[[], data.Split]) -> data.Split:
    """A split from the cache, or made and stored."""
    arrays = store.kept(key, lambda: _pack(make()))
    return data.Split(_csr(arrays, "X"), arrays["y"], _csr(arrays, "X_test"), arrays["y_test"])


def fetch_covertype(every: int) -> data.Split:
    """Covertype by scikit-learn."""
    from sklearn.datasets import fetch_covtype

    X, y = fetch_covtype(return_X_y=True)
    return data.held_out(sp.csr_matrix(0.001 * X), np.where(y == 1, 1.0, -1.0), every)


def fetch_mnist() -> data.Split:
    """MNIST by scikit-learn: the last 10,000 images are the test set."""
    from sklearn.datasets import fetch_openml

    X, y = fetch_openml("mnist_784", version=1, as_frame=False, return_X_y=True)
    rows, signs = sp.csr_matrix(X / 255.0), np.where(y.astype(int) < 5, 1.0, -1.0)
    return data.Split(rows[:60_000], signs[:60_000], rows[60_000:], signs[60_000:])


def fetch_newsgroups(topic: str) -> data.Split:
    """20 newsgroups by scikit-learn, whose features are others than those of the files."""
    from sklearn.datasets import fetch_20newsgroups_vectorized

    parts = []
    for subset in ("train", "test"):
        bunch = fetch_20newsgroups_vectorized(subset=subset)
        parts += [sp.csr_matrix(bunch.data), np.where(bunch.target == bunch.target_names.index(topic), 1.0, -1.0)]
    return data.Split(*parts)


def source_stamp() -> str:
    """Changes when the loaders and generators do."""
    return hashlib.sha256(Path(data.__file__).read_bytes()).hexdigest()[:16]


def _pack(split: data.Split) -> dict[str, Any]:
    packed = {"y": split.y, "y_test": split.y_test}
    for name, matrix in (("X", split.X), ("X_test", split.X_test)):
        packed |= {
            f"{name}.data": matrix.data,
            f"{name}.indices": matrix.indices.astype(np.int32),  # several programs refuse int64
            f"{name}.indptr": matrix.indptr.astype(np.int32),
            f"{name}.shape": np.array(matrix.shape),
        }
    return packed


def _csr(arrays: dict[str, Any], name: str) -> sp.csr_matrix:
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_matrix(parts, shape=tuple(arrays[f"{name}.shape"]))


def _stamp(folder: Path) -> str:
    """Changes when the loaders or the files do: names, sizes and times of all files of the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listing = [(str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr((str(folder.resolve()), listing, source_stamp())).encode()).hexdigest()[:16]
