"""Estimators with scikit-learn's conventions; no numerics."""

from hinge.estimators.linear import LinearSVC
from hinge.estimators.online import OnlineSVC

__all__ = ["LinearSVC", "OnlineSVC"]
