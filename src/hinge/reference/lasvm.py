"""LASVM: an online method for exact kernel machines, and its finishing step.

Bordes, Ertekin, Weston & Bottou, "Fast Kernel Classifiers with Online and Active Learning", JMLR 6, 2005. The function
is f(x) = sum_s alpha_s k(x_s, x) + b; `hinge.reference.decomposition` has the dual and its derivatives g. The support
set S holds the rows that may have alpha_s != 0; g is known on S only::

    process(k)    k enters S with g_k = t_k - sum_s alpha_s k(x_s, x_k); then the pair of k and the most violating row
                  of S moves
    reprocess     the most violating pair of S moves; rows with alpha = 0 that violate nothing leave S
    online epoch  for each row k of a permutation: process(k), reprocess
    finishing     g of all rows, and steps on working sets of the most violating ones, until the gap is closed

A pair violates if g_i - g_j > tau, i can rise and j can fall. Without a free intercept single rows move instead.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from hinge.reference.algorithm import Algorithm, Point, inside
from hinge.reference.decomposition import FLAT, Decomposition, KernelDual, pair_step
from hinge.reference.kernel import Kernel
from hinge.reference.order import Order
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng

_LEAST_ROWS = 4  # in the cache
_BYTES = 4  # of a kernel value in it


@dataclass(frozen=True)
class LasvmOptions:
    """Those of :class:`hinge.Lasvm`; here all kernel rows are kept, by one thread.

    `cache_bytes` bounds the size of a working set all the same.
    """

    online_epochs: int = 0
    tau: float = 1e-3
    working_set: int = 1024
    cache_bytes: int = 2**28
    tol: float = 1e-3
    n_threads: int = 1


class Lasvm(Algorithm):
    """Online epochs first, then epochs of the finishing step."""

    fields = (
        *inside("dual", ("alpha", "g")),
        "support",
        "decomposition.rows_at_work",
        *("epochs", "finishing", "rng"),
    )

    def __init__(self, problem: Problem, kernel: Kernel, options: LasvmOptions, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        self.options = options
        self.order = order
        self.rng = rng
        self.dual = KernelDual(problem, kernel)
        self.support = array("q")
        fit = max(_LEAST_ROWS, options.cache_bytes // (_BYTES * problem.m))
        self.decomposition = Decomposition(min(options.working_set, problem.m, fit))
        self.epochs = 0
        self.finishing = False

    def run_epoch(self) -> None:
        if not self.finishing and self.epochs < self.options.online_epochs:
            self.epochs += 1
            for k in self.each(self.order.of_all(self.problem.m, self.rng)):
                self.process(k)
                self.reprocess()
            return
        if not self.finishing:
            self.make_consistent()
        self.finish()

    def finish(self) -> None:
        """Steps on about m rows, or until the gap is that asked for, or a quarter of what it was."""
        read, tol = 0, self.options.tol
        primal, dual = self.now()
        quarter, above = 0.25 * (primal - dual), primal - dual > tol * dual
        while read < self.problem.m:
            if not self.decomposition.choose(self.dual):
                self.touched += self.problem.m  # all were looked at: it is time for an exact evaluation
                return
            self.decomposition.step(self.dual)
            read += len(self.decomposition.rows_at_work)
            self.touched += len(self.decomposition.rows_at_work)
            self.ask_poll(0)
            primal, dual = self.now()
            if primal - dual <= (max(quarter, tol * dual) if above else quarter):
                return

    def now(self) -> tuple[float, float]:
        """(P, D) at the present alpha."""
        return self.dual.objective(self.dual.intercept())

    def process(self, k: int) -> None:
        dual, target = self.dual, self.problem.target[k]
        if k in self.support:
            return None
        values = dual.rows.on(k, self.support)
        z = 0.0
        for s in self.support:
            z += float(dual.alpha[s]) * float(values[s])
        dual.g[k] = target - z
        self.support.append(k)
        if not self.problem.free_intercept:
            return self.move_single(k)
        i, j = dual.extremes(self.support)
        return self.move_pair(k, j) if target > 0.0 else self.move_pair(i, k)

    def reprocess(self) -> None:
        dual, target = self.dual, self.problem.target
        if not self.problem.free_intercept:
            self.move_single(self.largest_gain())
            self.support = array("q", (s for s in self.support if dual.alpha[s] != 0.0 or target[s] * dual.g[s] > 0.0))
            return
        self.move_pair(*dual.extremes(self.support))
        i, j = dual.extremes(self.support)
        if i is None or j is None:
            return
        high, low = dual.g[i], dual.g[j]
        violates = {s: dual.g[s] > low if target[s] > 0.0 else dual.g[s] < high for s in self.support}
        self.support = array("q", (s for s in self.support if dual.alpha[s] != 0.0 or violates[s]))

    def move_pair(self, i: int | None, j: int | None) -> None:
        """The pair moves if it violates by more than tau."""
        dual = self.dual
        if i is None or j is None or not dual.can_rise(i) or not dual.can_fall(j):
            return
        difference = float(dual.g[i] - dual.g[j])
        if not difference > self.options.tau:
            return
        ki, kj = dual.rows.on(i, self.support), dual.rows.on(j, self.support)
        diagonals = float(dual.curvature[i] + dual.curvature[j])
        curvature = max(diagonals - 2.0 * float(ki[j]), FLAT * diagonals)
        bounds = (float(x) for x in (dual.alpha[i], dual.upper[i], dual.alpha[j], dual.lower[j]))
        step, dual.alpha[i], dual.alpha[j] = pair_step(difference, curvature, *bounds)
        for s in self.support:
            dual.g[s] -= step * (float(ki[s]) - float(kj[s]))
        dual.g[i] -= step * float(dual.diagonal[i])
        dual.g[j] += step * float(dual.diagonal[j])

    def largest_gain(self) -> int | None:
        dual, best, most = self.dual, None, 0.0
        for s in self.support:
            step = dual.single_step(s)
            gain = step * (float(dual.g[s]) - 0.5 * step * float(dual.curvature[s]))
            if gain > most:
                best, most = s, gain
        return best

    def move_single(self, i: int | None) -> None:
        dual = self.dual
        if i is None or (step := dual.single_step(i)) == 0.0 or not abs(dual.g[i]) > self.options.tau:
            return
        dual.alpha[i] = min(max(float(dual.alpha[i] + step), float(dual.lower[i])), float(dual.upper[i]))
        values = dual.rows.on(i, self.support)
        for s in self.support:
            dual.g[s] -= step * float(values[s])
        dual.g[i] -= step * float(dual.diagonal[i])

    def point(self) -> Point:
        dual = self.dual
        b = dual.intercept() if self.finishing else 0.0
        return dual.alpha.copy(), b, dual.alpha * self.problem.target

    def estimate(self) -> tuple[float, float] | None:
        return self.now() if self.finishing else None

    def make_consistent(self) -> None:
        """g of all rows, so that the finishing step can begin, or go on where g has drifted."""
        self.dual.make_feasible()
        self.dual.recompute()
        self.finishing = True
