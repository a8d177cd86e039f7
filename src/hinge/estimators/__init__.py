"""Estimators with scikit-learn's conventions; no numerics."""

from hinge.estimators.kernel import KernelSVC
from hinge.estimators.linear import LinearSVC
from hinge.estimators.online import OnlineSVC
from hinge.estimators.online_kernel import OnlineKernelSVC
from hinge.estimators.search import LinearSVCCV

__all__ = ["KernelSVC", "LinearSVC", "LinearSVCCV", "OnlineKernelSVC", "OnlineSVC"]
