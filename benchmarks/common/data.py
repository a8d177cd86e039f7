"""Data sets of the benchmarks: real ones from the directory named by HINGE_DATA, scikit-learn's, and made ones.

`load(name)` returns (X, y). "RCV1-like 200,000" and "topical text 200,000" are made with so many rows.
"""

from __future__ import annotations

import gzip
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import datasets
from sklearn.preprocessing import scale

from common.problem import Floats, Labelled, Problem, Split
from common.store import kept
from common.text import rcv1_like, topical

_NEWSGROUPS_FEATURES = 56_436
_HELD_OUT = 10  # one row in ten, where no test set is published


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


def adult(file: str = "a9a.xz") -> Labelled:
    """Adult: 32,561 x 123; "a9a.t.xz" is the test set."""
    return _libsvm(file, 123)


def web() -> Labelled:
    """Web (w8a): 49,749 x 300."""
    return _libsvm("w8a.xz", 300)


def ijcnn1() -> Labelled:
    """IJCNN 2001, training part: 49,990 x 22."""
    return _libsvm("ijcnn1.xz", 22)


def cover_types(every: int = 1) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Covertype as it is, dense, 581,012 x 54, and the seven types; one row in `every`. Parsed once, then kept."""
    path = data_dir() / "covtype.data.xz"
    file = path.stat()

    def parsed() -> dict[str, Floats]:
        with lzma.open(path, "rt") as lines:
            return {"table": np.loadtxt(lines, delimiter=",")}

    table = kept(f"covtype-{file.st_size}-{file.st_mtime_ns}", parsed)["table"][::every]
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)


def covertype(change: Callable[[Floats], Floats] = lambda X: X) -> Labelled:
    """Covertype, class 1 against the rest, its features changed."""
    X, types = cover_types()
    return np.ascontiguousarray(change(X)), np.where(types == 1, 1.0, -1.0)


def covertype_small() -> Labelled:
    """The papers' Covertype: all features times 0.001, sparse."""
    X, y = covertype(lambda X: 0.001 * X)
    return sp.csr_matrix(X), y


def digits(part: str = "train") -> tuple[Floats, npt.NDArray[np.uint8]]:
    """MNIST: pixels from 0 to 255, 60,000 x 784, and digits; `part` "t10k" is the test set of 10,000."""
    pixels, labels = (
        _idx(data_dir() / "mnist" / f"{part}-{name}-ubyte.gz", header)
        for name, header in (("images-idx3", 16), ("labels-idx1", 8))
    )
    return pixels.reshape(-1, 28 * 28).astype(np.float64), labels


def mnist(part: str = "train") -> Labelled:
    """MNIST, digits 0-4 against 5-9, pixels in [0, 1], sparse."""
    pixels, labels = digits(part)
    return sp.csr_matrix(pixels / 255.0), np.where(labels < 5, 1.0, -1.0)


def topics(part: str = "train") -> Labelled:
    """20 newsgroups by date, tf-idf rows of unit norm, and the number of the topic from 1: 11,314 x 56,436; test 7,532."""
    return _read_libsvm(f"20news-bydate.{part}.tfidf.libsvm.xz", _NEWSGROUPS_FEATURES)


def newsgroups(topic: str = "sci.space", part: str = "train") -> Labelled:
    """20 newsgroups, one `topic` against the rest."""
    names = (data_dir() / "20news-classes.txt").read_text().split()
    if topic not in names:
        raise ValueError(f"{topic!r} is not a newsgroup: choose one of {names}.")
    X, y = topics(part)
    return X, np.where(y == 1 + names.index(topic), 1.0, -1.0)


def made(rows: int, columns: int, informative: int) -> Callable[[], Labelled]:
    """scikit-learn's make_classification."""
    return lambda: datasets.make_classification(rows, columns, n_informative=informative, random_state=0)


def california_like(seed: int = 0) -> Labelled:
    """20,000 x 8 raw columns with the scales of the California housing data."""
    rng = np.random.default_rng(seed)
    scales = np.array([2.0, 12.0, 2.5, 0.5, 1100.0, 10.0, 2.1, 2.0])
    centres = np.array([3.9, 28.0, 5.4, 1.1, 1425.0, 3.0, 35.6, -119.6])
    X = np.abs(rng.normal(size=(20_000, 8))) * scales + centres
    y = (X - centres) / scales @ np.array([1.0, 0.2, -0.1, 0.3, 0.0, -0.4, -0.5, -0.5]) + rng.normal(size=20_000)
    return X, (y > np.median(y)).astype(int)


def _standardised(name: str) -> Callable[[], Labelled]:
    def scaled() -> Labelled:
        X, y = SETS[name]()
        return scale(X), y

    return scaled


SETS: dict[str, Callable[[], Labelled]] = {
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "breast cancer, standardised": _standardised("breast cancer"),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "wine, standardised": _standardised("wine"),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "digits, standardised": _standardised("digits"),
    "California-like": california_like,
    "California-like, standardised": _standardised("California-like"),
    "made 5,000 x 20": made(5000, 20, 2),
    "made 50,000 x 50": made(50_000, 50, 10),
    "made 50,000 x 50, 10 informative": made(50_000, 50, 10),
    "made 50,000 x 50, 30 informative": made(50_000, 50, 30),
    "made 5,000 x 500": made(5000, 500, 100),
    "Adult": adult,
    "Adult test": lambda: adult("a9a.t.xz"),
    "Web": web,
    "IJCNN1": ijcnn1,
    "Covertype": covertype,
    "Covertype, standardised": lambda: covertype(scale),
    "Covertype x 0.001": covertype_small,
    "MNIST 0-4 against 5-9": mnist,
    "MNIST 0-4 against 5-9 test": lambda: mnist("t10k"),
    "20 newsgroups": newsgroups,
}
#: With a number of rows after the name.
MADE: dict[str, Callable[[int], Labelled]] = {
    "RCV1-like": lambda rows: (lambda split: (split.X, split.y))(rcv1_like(rows)),
    "topical text": topical,
}


def load(name: str) -> Labelled:
    """Rows and labels of a data set."""
    if name in SETS:
        return SETS[name]()
    kind, _, rows = name.rpartition(" ")
    if kind not in MADE or not rows.replace(",", "").isdigit():
        raise ValueError(f"{name!r} is no data set: choose one of {list(SETS)}, or {list(MADE)} and a number of rows.")
    return MADE[kind](int(rows.replace(",", "")))


def problem(name: str, C: float) -> Problem:
    """A data set of two classes as a problem: sparse rows, labels -1 and +1."""
    X, y = load(name)
    return Problem(sp.csr_matrix(X), np.where(y > 0, 1.0, -1.0), C, name)


def held_out(X: sp.csr_matrix, y: Floats, every: int = _HELD_OUT, seed: int = 0) -> Split:
    """One row in `every` is for testing, the others for training; 0 holds nothing out.

    The rows are drawn at random, the same ones for the same seed. Rows at equal distances would not do: ijcnn1 has a period of ten.
    """
    test = np.zeros(y.size, dtype=bool)
    if every:
        test[np.random.default_rng(seed).permutation(y.size)[: y.size // every]] = True
    return Split(X[~test], y[~test], X[test], y[test])


def _libsvm(file: str, n_features: int) -> Labelled:
    X, y = _read_libsvm(file, n_features)
    return X, np.where(y > 0, 1.0, -1.0)


def _read_libsvm(file: str, n_features: int) -> Labelled:
    with lzma.open(data_dir() / file, "rb") as lines:
        X, y = datasets.load_svmlight_file(lines, n_features=n_features)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LinearSVC refuses int64
    return X, y


def _idx(path: Path, header: int) -> npt.NDArray[np.uint8]:
    """The bytes of an idx file after its header."""
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)
