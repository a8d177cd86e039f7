"""Text in which the class shows: many words of a document are drawn from the vocabulary of its class.

`data.text` draws words without regard to the class and labels the rows by a random linear function of them. That is a
hard problem at strong regularisation: most rows violate the margin at the optimum. In a real collection such as CCAT the
classes have words of their own. Here they have, and the strengths are set so that two printed figures of CCAT come out
roughly: the optimal objective at C = 0.1 (12114.29 for 804,414 rows, that is lambda P = 0.151: SGD revisited, Table 1)
and the test error of the optimum at lambda = 1e-4 (5.6 %: overview).
"""

from __future__ import annotations

import data
import numpy as np
import scipy.sparse as sp

_MEAN_LENGTH = 75.0
_SPREAD = 0.6
_FLAT_HEAD = 50  # the commonest words are equally common
_TOPIC_WORDS = 2000
# How much of a document is drawn from its topic: a beta distribution, with many documents that hardly show any.
_TOPICALITY, _SHAPE = 0.4, 0.7
_TURNED = 0.005  # share of wrong labels


def topical_text(n_rows: int, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows of unit norm with about 72 non-zeros of 47,236, and labels -1.0 or +1.0, half of each."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    mean_of_log = np.log(_MEAN_LENGTH) - 0.5 * _SPREAD**2
    lengths = np.clip(rng.lognormal(mean_of_log, _SPREAD, n_rows), 5, 600).astype(np.int64)
    row = np.repeat(np.arange(n_rows, dtype=np.int32), lengths)
    column = _words(rng, row, y)
    frequency = np.bincount(column, minlength=data.TEXT_FEATURES)
    idf = np.log(row.size / np.maximum(frequency, 1))
    tf_idf = np.log1p(1.0 + rng.geometric(0.6, row.size)) * idf[column]
    X = sp.csr_matrix((tf_idf, (row, column)), shape=(n_rows, data.TEXT_FEATURES))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    return X, np.where(rng.random(n_rows) < _TURNED, -y, y)


def _words(rng: np.random.Generator, row: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A word for each place in the documents: Zipf ranks in the common vocabulary or in that of the class."""
    share = 1.0 / np.maximum(np.arange(1, data.TEXT_FEATURES + 1), _FLAT_HEAD + 1)
    below = np.cumsum(share / share.sum())
    strength = rng.beta(_SHAPE, _SHAPE / _TOPICALITY - _SHAPE, y.size)
    topical = rng.random(row.size) < strength[row]
    uniform = rng.random(row.size)
    uniform[topical] *= below[_TOPIC_WORDS - 1]
    rank = np.searchsorted(below[:-1], uniform, side="right").astype(np.int32)
    vocabularies = np.array([rng.permutation(data.TEXT_FEATURES) for _ in range(3)], dtype=np.int32)
    return vocabularies[np.where(topical, np.where(y[row] > 0, 1, 2), 0), rank]
