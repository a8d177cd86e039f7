"""Small exact kernel machines, and runs on them in pairs: native and in NumPy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from pairs import setup

from hinge import _core
from hinge.features import Kernel, KernelProblem
from hinge.problem import Intercept, as_loss, as_rows
from hinge.reference import core
from hinge.reference.twin import in_numpy

KERNELS: dict[str, Kernel] = {
    "rbf": Kernel("rbf", gamma=0.1),
    "laplacian": Kernel("laplacian", gamma=0.1),
    "polynomial": Kernel("polynomial", gamma=0.2, coef0=1.0, degree=3),
    "linear": Kernel("linear"),
    "cosine": Kernel("cosine"),
}


@dataclass(frozen=True)
class KernelCase:
    """A random problem: dense or CSR, double or single, with a row of zeros and two equal rows."""

    kernel: Kernel = KERNELS["rbf"]
    layout: str = "dense"
    dtype: Any = np.float64
    intercept: Any = "free"
    loss: str = "hinge"
    weights: bool = False
    C: float = 1.0
    m: int = 40
    d: int = 11
    scale: float = 1.0
    offset: float = 0.0
    seed: int = 0

    def arrays(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """(X, target, cost)"""
        random = np.random.default_rng(self.seed)
        target = np.where(random.random(self.m) < 0.4, 1.0, -1.0)
        target[:2] = 1.0, -1.0
        X = random.normal(size=(self.m, self.d)) + 0.5 * target[:, np.newaxis]
        X[self.m // 2] = 0.0
        X[-1] = X[0]
        cost = np.full(self.m, float(self.C))
        if self.weights:
            cost *= random.uniform(0.1, 3.0, self.m)
            cost[3] = 0.0  # left out
        X = (X * self.scale + self.offset).astype(self.dtype)
        if self.layout == "csr":
            X[random.random(X.shape) < 0.5] = 0.0
            return sp.csr_array(X), target, cost
        return X, target, cost

    def make(self) -> KernelProblem:
        X, target, cost = self.arrays()
        intercept = Intercept(self.intercept, 0.7)
        return KernelProblem.of(
            as_rows(X), target, cost, kernel=self.kernel, loss=as_loss(self.loss), intercept=intercept
        )


def name(case: KernelCase) -> str:
    weights = "weights" if case.weights else "equal"
    kind = np.dtype(case.dtype).name
    return f"{case.kernel.function}-{case.layout}-{kind}-{case.intercept}-{case.loss}-{weights}"


_LAYOUTS = [("dense", np.float64), ("csr", np.float32), ("dense", np.float32), ("csr", np.float64)]

#: Every kernel in every layout; the intercepts, losses and weights each with each at least once.
CASES = [
    KernelCase(
        kernel=kernel,
        layout=layout,
        dtype=dtype,
        intercept=("free", "none", "penalized")[(j + k) % 3],
        loss=("hinge", "squared_hinge")[(j // 2 + k) % 2],
        weights=(j + k // 2) % 2 == 1,
        seed=j + 10 * k,
    )
    for k, kernel in enumerate(KERNELS.values())
    for j, (layout, dtype) in enumerate(_LAYOUTS)
]


def kernel_pair(solver: Any, case: KernelCase) -> tuple[Any, Any]:
    """The algorithm at work, native and in NumPy."""
    if case.loss not in solver.traits.losses:
        case = replace(case, loss="hinge")
    problem, how = case.make(), setup(solver)
    return solver.build(_core, problem, how), solver.build(core, in_numpy(problem), how)
