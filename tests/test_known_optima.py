"""On real data, without intercept, certificates agree with optima that were measured independently.

Each bracket holds the optimum between a valid dual and a valid primal value; Table 1 of Panagiotakopoulos & Tsampouka
("The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited") has the values at C = 0.1 too.
"""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

import hinge


def _libsvm(path: Path, n_features: int) -> tuple[Any, Any]:
    with lzma.open(path, "rb") as file:
        return load_svmlight_file(file, n_features=n_features)


def _covertype(path: Path) -> tuple[Any, Any]:
    """Class 1 against the rest, all features times 0.001."""
    with lzma.open(path, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",")
    return sp.csr_matrix(0.001 * table[:, :-1]), np.where(table[:, -1] == 1, 1.0, -1.0)


def _assert_optimum(X: Any, y: Any, C: float, solver: str, tol: float, bracket: tuple[float, float]) -> None:
    low, high = bracket
    solution = hinge.solve(X, y, C=C, tol=tol, intercept="none", solver=solver)
    certificate = solution.certificate
    assert solution.status == "converged", f"ended {solution.status} at a gap of {certificate.relative_gap:.1e}"
    assert certificate.relative_gap <= tol
    assert certificate.dual <= high, f"dual {certificate.dual} is above the optimum, which is at most {high}"
    assert certificate.primal >= low, f"primal {certificate.primal} is below the optimum, which is at least {low}"
    # A gap within tol, and a bracket that it holds: the model really is within tol of the best one.
    assert certificate.primal <= high * (1.0 + tol)
    assert certificate.dual >= low / (1.0 + tol)


ADULT = {0.1: (1149.9040, 1149.9051), 1.0: (11433.8077, 11433.8124)}
WEB = {0.1: (755.1134, 755.1136), 1.0: (6604.8865, 6604.8928)}
COVERTYPE = {0.1: (36427.478, 36427.542), 1.0: (340487.8, 340488.0)}


@pytest.mark.parametrize(
    ("solver", "C", "tol"), [("dcd", 0.1, 1e-4), ("mpu", 0.1, 1e-4), ("ocas", 1.0, 1e-6), ("sgd-qn", 1.0, 0.05)]
)
def test_optimum_of_adult_is_found(data_dir: Path, solver: str, C: float, tol: float) -> None:
    X, y = _libsvm(data_dir / "a9a.xz", 123)
    _assert_optimum(X, y, C, solver, tol, ADULT[C])


@pytest.mark.parametrize(
    ("solver", "C", "tol"),
    [
        ("dcd", 0.1, 1e-4),
        ("mpu", 0.1, 1e-4),
        ("cutting-plane", 1.0, 1e-3),
        ("sgd-m", 1.0, 0.1),
        ("svmsgd", 1.0, 0.02),
    ],
)
def test_optimum_of_web_is_found(data_dir: Path, solver: str, C: float, tol: float) -> None:
    X, y = _libsvm(data_dir / "w8a.xz", 300)
    _assert_optimum(X, y, C, solver, tol, WEB[C])


@pytest.mark.parametrize(("solver", "C", "tol"), [("dcd", 0.1, 1e-3), ("ocas", 1.0, 1e-6)])
def test_optimum_of_covertype_is_found(data_dir: Path, solver: str, C: float, tol: float) -> None:
    X, y = _covertype(data_dir / "covtype.data.xz")
    _assert_optimum(X, y, C, solver, tol, COVERTYPE[C])
