"""Pegasos with Mercer kernels.

Shalev-Shwartz, Singer & Srebro (ICML 2007), section "Using Mercer kernels": w is a combination of the rows seen so far,
so that their coefficients are all that is stored, and products with w are sums of kernel values. With
w = scale * sum over the support set I of c_s t_s phi(x_s), step t = 1, 2, ... is::

    1. choose a row i;   z = <w, phi(x_i)> = scale * sum_s c_s t_s k(x_s, x_i)
    2. w <- (1 - 1/t) w, and + eta_t s^_i t_i phi(x_i) if t_i (z + b) < 1   (strict),   eta_t = 1/(lambda t)
    3. w <- min(1, 1/(sqrt(lambda) |w|)) w                                  (optional)

At t = 1 the factor 1 - 1/t is exactly 0: I begins anew. A free intercept moves by b += eta_t s^_i t_i.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

import numpy as np

from hinge.reference.algorithm import Algorithm, Point
from hinge.reference.kernel import Kernel, KernelRows, kernel_sums
from hinge.reference.loss import slack
from hinge.reference.order import Order, Sampling
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import Floats, dot


@dataclass(frozen=True)
class KernelPegasosOptions:
    """Those of :class:`hinge.KernelPegasos`; here all kernel rows are kept."""

    sampling: Sampling = Sampling.iid
    projection: bool = True
    cache_bytes: int = 0


class KernelPegasos(Algorithm):
    """One epoch takes m rows."""

    fields = ("c", "support", "scale", "norm2", "b", "t", "rng")

    def __init__(self, problem: Problem, kernel: Kernel, options: KernelPegasosOptions, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        self.options = options
        self.order = order
        self.rng = rng
        self.kernel_rows = KernelRows(kernel, problem.rows)
        self.c: Floats = np.zeros(problem.m)
        self.support = array("q")
        self.scale = 1.0
        self.norm2 = 0.0  # |w|^2, tracked
        self.b = 0.0
        self.t = 0

    def run_epoch(self) -> None:
        m = self.problem.m
        for i in self.each(self.order.sample(self.options.sampling, m, m, self.rng)):
            self._step(i)

    def _step(self, i: int) -> None:
        problem = self.problem
        z = self._decision(i)  # 1.
        slope = problem.loss.slope(slack(problem.target[i], z + self.b))
        self.t += 1
        keep = 1.0 - 1.0 / self.t  # exactly 0 at t = 1
        self._shrink(keep)
        if slope != 0.0:
            self._add(i, keep * z)  # 2.
        if self.options.projection and self.norm2 > problem.total_cost:  # 3.
            self.scale *= math.sqrt(problem.total_cost / self.norm2)
            self.norm2 = problem.total_cost
        if self.scale < 1e-100:
            self.c *= self.scale
            self.scale = 1.0

    def _decision(self, i: int) -> float:
        values, target, total = self.kernel_rows.on(i, self.support), self.problem.target, 0.0
        for s in self.support:
            total += float(self.c[s]) * target[s] * float(values[s])
        return self.scale * total

    def _shrink(self, keep: float) -> None:
        if keep == 0.0:
            self.c[:] = 0.0
            self.support = array("q")
            self.scale, self.norm2 = 1.0, 0.0
            return
        self.scale *= keep
        self.norm2 *= keep * keep

    def _add(self, i: int, before: float) -> None:
        """w <- w + eta_t s^_i t_i phi(x_i), where <w, phi(x_i)> is `before`."""
        problem, target = self.problem, self.problem.target[i]
        step = problem.total_cost / self.t * problem.relative_weight(i)
        self.norm2 += 2.0 * step * target * before + step * step * self.kernel_rows.kernel.diagonal(problem.rows, i)
        if self.c[i] == 0.0:
            self.support.append(i)
        self.c[i] += step / self.scale
        if problem.free_intercept:
            self.b += step * target

    def point(self) -> Point:
        multipliers = self.scale * self.c
        return multipliers * self.problem.target, self.b if self.problem.free_intercept else 0.0, multipliers

    def make_consistent(self) -> None:
        """For a state saved with other costs, targets or rows: |w|^2 anew."""
        if not self.problem.free_intercept:
            self.b = 0.0
        w = self.point()[0]
        self.norm2 = max(0.0, dot(w, kernel_sums(self.kernel_rows.kernel, self.problem.rows, w)))
