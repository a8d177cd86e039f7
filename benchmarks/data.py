"""Data sets of the benchmarks: real ones from the directory named by HINGE_DATA, and text-like ones made on the spot.

Every loader returns (X, y): a CSR matrix of float64 and labels -1.0 or +1.0. A :class:`Split` has rows to test on as
well: the published test set where there is one, else rows held out.
"""

from __future__ import annotations

import gzip
import lzma
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
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
_NEWSGROUPS_FEATURES = 56_436
_HELD_OUT = 10  # one row in ten, where no test set is published


@dataclass(frozen=True)
class Split:
    """Rows to train on, and rows to test on (none at all: shape (0, n_features))."""

    X: sp.csr_matrix
    y: npt.NDArray[np.float64]
    X_test: sp.csr_matrix
    y_test: npt.NDArray[np.float64]


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
    X, y = covertype_raw(directory)
    return sp.csr_matrix(0.001 * X), y


def covertype_raw(directory: Path) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Covertype, class 1 against the rest, as it is: dense, 581,012 x 54."""
    with lzma.open(directory / "covtype.data.xz", "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float64)
    return np.ascontiguousarray(table[:, :-1]), np.where(table[:, -1] == 1, 1.0, -1.0)


def mnist(directory: Path, part: str = "train") -> Labelled:
    """MNIST, digits 0-4 against 5-9, pixels in [0, 1]: 60,000 x 784; `part` "t10k" is the test set of 10,000."""
    pixels = _idx(directory / "mnist" / f"{part}-images-idx3-ubyte.gz", header=16).reshape(-1, 28 * 28)
    digits = _idx(directory / "mnist" / f"{part}-labels-idx1-ubyte.gz", header=8)
    return sp.csr_matrix(pixels / 255.0), np.where(digits < 5, 1.0, -1.0)


def newsgroups(directory: Path, topic: str = "sci.space", part: str = "train") -> Labelled:
    """20 newsgroups by date, tf-idf rows of unit norm, one `topic` against the rest: 11,314 x 56,436; test 7,532."""
    topics = (directory / "20news-classes.txt").read_text().split()
    if topic not in topics:
        raise ValueError(f"{topic!r} is not a newsgroup: choose one of {topics}.")
    X, y = _read_libsvm(directory / f"20news-bydate.{part}.tfidf.libsvm.xz", _NEWSGROUPS_FEATURES)
    return X, np.where(y == 1 + topics.index(topic), 1.0, -1.0)  # the file counts from 1


LOADERS: dict[str, Callable[[Path], Labelled]] = {
    "Adult": adult,
    "Adult test": lambda directory: _libsvm(directory / "a9a.t.xz", 123),
    "Web": web,
    "Covertype": covertype,
    "ijcnn1": ijcnn1,
    "MNIST": mnist,
    "MNIST test": lambda directory: mnist(directory, "t10k"),
    "20news": newsgroups,
}


def load(name: str) -> Labelled:
    """The data set `name` of LOADERS, from HINGE_DATA."""
    return LOADERS[name](data_dir())


def adult_split(directory: Path) -> Split:
    """Adult with its published test set a9a.t."""
    return Split(*adult(directory), *_libsvm(directory / "a9a.t.xz", 123))


def mnist_split(directory: Path) -> Split:
    """MNIST with its published test set."""
    return Split(*mnist(directory), *mnist(directory, "t10k"))


def newsgroups_split(directory: Path, topic: str) -> Split:
    """20 newsgroups with its published test set."""
    return Split(*newsgroups(directory, topic), *newsgroups(directory, topic, "test"))


def held_out(X: sp.csr_matrix, y: npt.NDArray[np.float64], every: int = _HELD_OUT) -> Split:
    """One row in `every` is for testing, the others for training; 0 holds nothing out.

    The rows are drawn at random, always the same ones. Rows at equal distances would not do: ijcnn1 has a period of ten.
    """
    test = np.zeros(y.size, dtype=bool)
    if every:
        test[np.random.default_rng(0).permutation(y.size)[: y.size // every]] = True
    return Split(X[~test], y[~test], X[test], y[test])


def text(n_rows: int, seed: int = 0) -> Labelled:
    """Rows with the statistics of RCV1: Zipf features, lognormal lengths, unit norm, noisy linear labels.

    Words are drawn with repetition, so a row has about 72 distinct ones of the 75 drawn on average. Half of the labels
    are positive; noise of a quarter of the score's standard deviation makes the classes overlap.
    """
    split = text_split(n_rows, 0, seed)
    return split.X, split.y


def text_split(n_rows: int, n_test: int, seed: int = 0) -> Split:
    """The rows of :func:`text`, and `n_test` more of the same distribution and the same truth."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.maximum(np.arange(1, TEXT_FEATURES + 1), _FLAT_HEAD + 1)
    share /= share.sum()
    lengths, rank = _words(rng, n_rows, share)
    columns = rng.permutation(TEXT_FEATURES)
    X = _tf_idf(rng, lengths, rank, columns, share)
    truth = np.where(rng.random(TEXT_FEATURES) < 0.2, rng.standard_normal(TEXT_FEATURES), 0.0)
    score = X @ truth
    threshold, noise = np.median(score), 0.25 * score.std()
    y = _noisy_signs(rng, score - threshold, noise)
    X_test = _tf_idf(rng, *_words(rng, n_test, share), columns, share)
    return Split(X, y, X_test, _noisy_signs(rng, X_test @ truth - threshold, noise))


def _words(
    rng: np.random.Generator, n_rows: int, share: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Words per row, and the rank of each word."""
    mean_of_log = np.log(_MEAN_LENGTH) - 0.5 * _LENGTH_SPREAD**2
    lengths = np.clip(rng.lognormal(mean_of_log, _LENGTH_SPREAD, n_rows), 5, 600).astype(np.int64)
    return lengths, np.searchsorted(np.cumsum(share)[:-1], rng.random(int(lengths.sum())), side="right")


def _tf_idf(
    rng: np.random.Generator,
    lengths: npt.NDArray[np.int64],
    rank: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    share: npt.NDArray[np.float64],
) -> sp.csr_matrix:
    """Rows of unit norm."""
    n_rows = lengths.size
    tf_idf = np.log1p(1.0 + rng.geometric(0.6, rank.size)) * -np.log(share[rank])
    X = sp.csr_matrix((tf_idf, (np.repeat(np.arange(n_rows), lengths), columns[rank])), shape=(n_rows, TEXT_FEATURES))
    X.sum_duplicates()
    if n_rows:
        norms = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
        X.data /= np.repeat(norms, np.diff(X.indptr))
    return X


def _noisy_signs(rng: np.random.Generator, score: npt.NDArray[np.float64], noise: float) -> npt.NDArray[np.float64]:
    return np.where(score + noise * rng.standard_normal(score.size) > 0, 1.0, -1.0)


def _libsvm(path: Path, n_features: int) -> Labelled:
    X, y = _read_libsvm(path, n_features)
    return X, np.where(y > 0, 1.0, -1.0)


def _read_libsvm(path: Path, n_features: int) -> Labelled:
    with lzma.open(path, "rb") as file:
        X, y = load_svmlight_file(file, n_features=n_features)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LinearSVC refuses int64
    return X, y


def _idx(path: Path, header: int) -> npt.NDArray[np.uint8]:
    """The bytes of an idx file after its header."""
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)
