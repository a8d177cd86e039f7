"""The laboratory's data sets with rows to test on: from HINGE_DATA, else scikit-learn's fetchers, else a reason why not."""

from __future__ import annotations

import hashlib
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import data, store, text
from common.problem import Split

#: What a missing, damaged or unreachable file raises.
_UNAVAILABLE = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error)


def _fetch_covertype() -> Split:
    from sklearn.datasets import fetch_covtype

    X, y = fetch_covtype(return_X_y=True)
    return data.held_out(sp.csr_matrix(0.001 * X), np.where(y == 1, 1.0, -1.0))


def _fetch_mnist() -> Split:
    """The last 10,000 images are the test set."""
    from sklearn.datasets import fetch_openml

    X, y = fetch_openml("mnist_784", version=1, as_frame=False, return_X_y=True)
    rows, signs = sp.csr_matrix(X / 255.0), np.where(y.astype(int) < 5, 1.0, -1.0)
    return Split(rows[:60_000], signs[:60_000], rows[60_000:], signs[60_000:])


def _fetch_newsgroups() -> Split:
    """scikit-learn's features are others than those of the files."""
    from sklearn.datasets import fetch_20newsgroups_vectorized

    parts = []
    for subset in ("train", "test"):
        bunch = fetch_20newsgroups_vectorized(subset=subset)
        parts += [sp.csr_matrix(bunch.data), np.where(bunch.target == bunch.target_names.index("sci.space"), 1.0, -1.0)]
    return Split(*parts)


#: name -> how to read it from HINGE_DATA, and how to fetch it without (None: not at all)
READ: dict[str, tuple[Callable[[], Split], Callable[[], Split] | None]] = {
    "Adult": (lambda: Split(*data.adult(), *data.adult("a9a.t.xz")), None),
    "Web": (lambda: data.held_out(*data.web()), None),
    "ijcnn1": (lambda: data.held_out(*data.ijcnn1()), None),
    "Covertype": (lambda: data.held_out(*data.covertype_small()), _fetch_covertype),
    "MNIST": (lambda: Split(*data.mnist(), *data.mnist("t10k")), _fetch_mnist),
    "20news": (lambda: Split(*data.newsgroups(), *data.newsgroups(part="test")), _fetch_newsgroups),
}
#: name -> rows; a tenth as many for testing
MADE = {"text-200000": 200_000, "text-804414": 804_414}
NAMES = (*READ, *MADE)


def payload(name: str) -> dict[str, Any]:
    """The data for benchopt: arrays, or the reason why the data set is skipped."""
    try:
        split = split_of(name)
    except _UNAVAILABLE as error:
        return {"reason": " ".join(f"{type(error).__name__}: {error}".split())}
    return {"X": split.X, "y": split.y, "X_test": split.X_test, "y_test": split.y_test}


def split_of(name: str) -> Split:
    """Parsed or made once, then kept in the cache."""
    if name in MADE:
        return kept_split(f"{name}-{_sources()}", lambda: text.rcv1_like(MADE[name], MADE[name] // 10))
    read, fetch = READ[name]
    folder = os.environ.get("HINGE_DATA")
    if folder:
        if not Path(folder).is_dir():
            raise FileNotFoundError(f"HINGE_DATA is {folder!r}, which is not a directory")
        return kept_split(f"{name}-{_stamp(Path(folder))}", read)
    if fetch is None:
        raise FileNotFoundError("HINGE_DATA is not set to the folder with the data sets, and no fetcher has this one")
    return kept_split(f"{name}-fetched", fetch)


def kept_split(key: str, make: Callable[[], Split]) -> Split:
    """A split from the cache, or made and stored."""
    arrays = store.kept(key, lambda: _pack(make()))
    return Split(_csr(arrays, "X"), arrays["y"], _csr(arrays, "X_test"), arrays["y_test"])


def _pack(split: Split) -> dict[str, Any]:
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


def _sources() -> str:
    """Changes when the loaders and generators do."""
    code = b"".join(Path(module.__file__ or "").read_bytes() for module in (data, text))
    return hashlib.sha256(code).hexdigest()[:16]


def _stamp(folder: Path) -> str:
    """Changes when the loaders or the files do: names, sizes and times of all files of the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listing = [(str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr((str(folder.resolve()), listing, _sources())).encode()).hexdigest()[:16]
