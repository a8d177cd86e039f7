"""Data sets of the benchmarks: real ones from the directory named by HINGE_DATA, and text-like ones made on the spot.

Every loader returns (X, y): a CSR matrix of float64 and labels -1.0 or +1.0.
"""

from __future__ import annotations

import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

Labelled: TypeAlias = tuple[sp.csr_matrix, npt.NDArray[np.float64]]

TEXT_FEATURES = 47_236  # of RCV1
_MEAN_LENGTH = 75.0
_LENGTH_SPREAD = 0.6
_FLAT_HEAD = 50  # the commonest words are equally common


def data_dir() -> Path:
    """The directory of the data sets; ends the program with the next step if there is none."""
    name = os.environ.get("HINGE_DATA", "")
    if not name or not Path(name).is_dir():
        sys.exit(
            "HINGE_DATA must name a directory with a9a.xz, w8a.xz, ijcnn1.xz (LIBSVM format, from "
            "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html) and covtype.data.xz (csv, from "
            "https://archive.ics.uci.edu/dataset/31/covertype): "
            + (f"{name!r} is not a directory." if name else "it is not set. Try: export HINGE_DATA=<directory>")
        )
    return Path(name)


def adult(directory: Path) -> Labelled:
    """Adult (a9a): 32,561 x 123."""
    return _libsvm(directory / "a9a.xz", 123)


def web(directory: Path) -> Labelled:
    """Web (w8a): 49,749 x 300."""
    return _libsvm(directory / "w8a.xz", 300)


def ijcnn1(directory: Path) -> Labelled:
    """IJCNN 2001, training part: 49,990 x 22."""
    return _libsvm(directory / "ijcnn1.xz", 22)


def covertype(directory: Path) -> Labelled:
    """Covertype, class 1 against the rest, all features times 0.001: 581,012 x 54."""
    with lzma.open(directory / "covtype.data.xz", "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float64)
    return sp.csr_matrix(0.001 * table[:, :-1]), np.where(table[:, -1] == 1, 1.0, -1.0)


LOADERS: dict[str, Callable[[Path], Labelled]] = {
    "Adult": adult,
    "Web": web,
    "Covertype": covertype,
    "ijcnn1": ijcnn1,
}


def load(name: str) -> Labelled:
    """The data set `name` of LOADERS, from HINGE_DATA."""
    return LOADERS[name](data_dir())


def text(n_rows: int, seed: int = 0) -> Labelled:
    """Rows with the statistics of RCV1: Zipf features, lognormal lengths, unit norm, noisy linear labels.

    Words are drawn with repetition, so a row has about 72 distinct ones of the 75 drawn on average. Half of the labels
    are positive; noise of a quarter of the score's standard deviation makes the classes overlap.
    """
    rng = np.random.default_rng(seed)
    mean_of_log = np.log(_MEAN_LENGTH) - 0.5 * _LENGTH_SPREAD**2
    lengths = np.clip(rng.lognormal(mean_of_log, _LENGTH_SPREAD, n_rows), 5, 600).astype(np.int64)
    share = 1.0 / np.maximum(np.arange(1, TEXT_FEATURES + 1), _FLAT_HEAD + 1)
    share /= share.sum()
    rank = np.searchsorted(np.cumsum(share)[:-1], rng.random(int(lengths.sum())), side="right")
    column = rng.permutation(TEXT_FEATURES)[rank]
    tf_idf = np.log1p(1.0 + rng.geometric(0.6, rank.size)) * -np.log(share[rank])
    X = sp.csr_matrix((tf_idf, (np.repeat(np.arange(n_rows), lengths), column)), shape=(n_rows, TEXT_FEATURES))
    X.sum_duplicates()
    norms = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data /= np.repeat(norms, np.diff(X.indptr))
    truth = np.where(rng.random(TEXT_FEATURES) < 0.2, rng.standard_normal(TEXT_FEATURES), 0.0)
    score = X @ truth
    noisy = score - np.median(score) + 0.25 * score.std() * rng.standard_normal(n_rows)
    return X, np.where(noisy > 0, 1.0, -1.0)


def _libsvm(path: Path, n_features: int) -> Labelled:
    with lzma.open(path, "rb") as file:
        X, y = load_svmlight_file(file, n_features=n_features)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LinearSVC refuses int64
    return X, np.where(y > 0, 1.0, -1.0)
