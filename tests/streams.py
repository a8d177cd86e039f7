"""Rows for the tests of streams, and the comparison of two streams."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from hinge import OnlineSVC

CANCER, IS_BENIGN = load_breast_cancer(return_X_y=True)
CANCER = scale(CANCER)
IRIS, SPECIES = load_iris(return_X_y=True)
MIXED = np.random.default_rng(0).permutation(len(SPECIES))
IRIS, SPECIES = scale(IRIS)[MIXED], SPECIES[MIXED]
WEIGHT = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(IS_BENIGN))


def same(model: OnlineSVC, other: OnlineSVC) -> bool:
    return (
        model.coef_.tobytes() == other.coef_.tobytes()
        and model.intercept_.tobytes() == other.intercept_.tobytes()
        and (model.t_, model.n_samples_seen_) == (other.t_, other.n_samples_seen_)
        and np.array_equal(model.classes_, other.classes_)
    )
