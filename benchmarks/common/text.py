"""Text made on the spot: rows of unit norm with about 72 of 47,236 words, as in RCV1, and labels -1.0 or +1.0.

*RCV1-like*: words are drawn without regard to the class, and the labels are a noisy linear function of the row. That is a hard
problem at strong regularisation: most rows violate the margin at the optimum. *Topical*: the classes have words of their own, as
in a real collection. Its strengths are set so that two printed figures of CCAT come out roughly: the optimal objective at C = 0.1
(12114.29 for 804,414 rows, that is lambda P = 0.151: SGD revisited, Table 1) and the test error of the optimum at lambda = 1e-4
(5.6 %: overview).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from common.problem import Floats, Labelled, Split

FEATURES = 47_236
_MEAN_LENGTH, _SPREAD = 75.0, 0.6
_FLAT_HEAD = 50  # the commonest words are equally common
_TOPIC_WORDS = 2000
# How much of a document is drawn from its topic: a beta distribution, with many documents that hardly show any.
_TOPICALITY, _SHAPE = 0.4, 0.7
_TURNED = 0.005  # share of wrong labels


def rcv1_like(n_rows: int, n_test: int = 0, seed: int = 0) -> Split:
    """Half of the labels are positive; noise of a quarter of the score's standard deviation makes the classes overlap."""
    rng = np.random.default_rng(seed)
    share = _zipf()
    columns_of: list[np.ndarray] = []

    def rows(count: int) -> sp.csr_matrix:
        lengths = _lengths(rng, count)
        rank = np.searchsorted(np.cumsum(share)[:-1], rng.random(int(lengths.sum())), side="right")
        columns_of[:] = columns_of or [rng.permutation(FEATURES)]
        tf_idf = np.log1p(1.0 + rng.geometric(0.6, rank.size)) * -np.log(share[rank])
        return _unit_rows(tf_idf, np.repeat(np.arange(count), lengths), columns_of[0][rank], count)

    X = rows(n_rows)
    truth = np.where(rng.random(FEATURES) < 0.2, rng.standard_normal(FEATURES), 0.0)
    score = X @ truth
    threshold, noise = np.median(score), 0.25 * score.std()

    def signs(score: Floats) -> Floats:
        return np.where(score - threshold + noise * rng.standard_normal(score.size) > 0, 1.0, -1.0)

    y = signs(score)
    X_test = rows(n_test)
    return Split(X, y, X_test, signs(X_test @ truth))


def topical(n_rows: int, seed: int = 0) -> Labelled:
    """Half of the labels are positive, up to those turned."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    row = np.repeat(np.arange(n_rows, dtype=np.int32), _lengths(rng, n_rows))
    column = _topical_words(rng, row, y)
    idf = np.log(row.size / np.maximum(np.bincount(column, minlength=FEATURES), 1))
    X = _unit_rows(np.log1p(1.0 + rng.geometric(0.6, row.size)) * idf[column], row, column, n_rows)
    return X, np.where(rng.random(n_rows) < _TURNED, -y, y)


def _topical_words(rng: np.random.Generator, row: np.ndarray, y: Floats) -> np.ndarray:
    """A word for each place in the documents: Zipf ranks in the common vocabulary or in that of the class."""
    below = np.cumsum(_zipf())
    strength = rng.beta(_SHAPE, _SHAPE / _TOPICALITY - _SHAPE, y.size)
    in_topic = rng.random(row.size) < strength[row]
    uniform = rng.random(row.size)
    uniform[in_topic] *= below[_TOPIC_WORDS - 1]
    rank = np.searchsorted(below[:-1], uniform, side="right").astype(np.int32)
    vocabularies = np.array([rng.permutation(FEATURES) for _ in range(3)], dtype=np.int32)
    return vocabularies[np.where(in_topic, np.where(y[row] > 0, 1, 2), 0), rank]


def _zipf() -> Floats:
    share = 1.0 / np.maximum(np.arange(1, FEATURES + 1), _FLAT_HEAD + 1)
    return np.asarray(share / share.sum())


def _lengths(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    mean_of_log = np.log(_MEAN_LENGTH) - 0.5 * _SPREAD**2
    return np.clip(rng.lognormal(mean_of_log, _SPREAD, n_rows), 5, 600).astype(np.int64)


def _unit_rows(values: Floats, row: np.ndarray, column: np.ndarray, n_rows: int) -> sp.csr_matrix:
    X = sp.csr_matrix((values, (row, column)), shape=(n_rows, FEATURES))
    X.sum_duplicates()
    if n_rows:
        X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    return X
