"""A user's own solver gets the loop and the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import X, solve_quietly, y

from hinge import LinearSVC, Point, Problem, solve


class MyRun:
    """Dual coordinate ascent in NumPy: nothing but advance and point."""

    def __init__(self, problem: Problem, stream: tuple[int, ...]) -> None:
        self.problem = problem
        self.random = np.random.default_rng(stream)
        self.a = np.zeros(problem.m)
        self.w = np.zeros(problem.n_features + 1)

    def advance(self, epochs: int) -> int:
        rows, norms = self.problem.rows, self.problem.rows.squared_norms
        for _ in range(epochs):
            for i in self.random.permutation(self.problem.m):
                sign = self.problem.y[i]
                wanted = self.a[i] + (1 - sign * rows.dot(i, self.w)) / norms[i]
                a = min(max(wanted, 0.0), self.problem.cost[i])
                rows.add(i, float((a - self.a[i]) * sign), self.w)
                self.a[i] = a
        return epochs * self.problem.m

    def point(self) -> Point:
        return Point(self.a)


class MySolver:
    """Only `start`: everything else is optional."""

    def start(self, problem: Problem, *, order: Any, stream: tuple[int, ...], poll: Any) -> MyRun:
        return MyRun(problem, stream)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_own_solver_gets_loop_and_certificate(layout) -> None:
    rows, labels = layout(X[:1200]), y[:1200]
    solution = solve(rows, labels, solver=MySolver(), intercept="penalized", C=0.1)
    assert solution.status == "converged"
    assert solution.certificate.relative_gap <= 1e-3
    assert solution.history
    assert solution.state is None
    native = solve(rows, labels, intercept="penalized", C=0.1).certificate
    assert solution.certificate.dual <= native.primal
    assert native.dual <= solution.certificate.primal


def test_own_solver_works_in_the_estimator() -> None:
    model = LinearSVC(solver=MySolver(), intercept="penalized", C=0.1, warm_start=True).fit(X[:1200], y[:1200])
    assert model.status_ == "converged"
    with pytest.warns(UserWarning, match="starting afresh"):
        model.fit(X[:1200], y[:1200])
    assert model.status_ == "converged"


def test_own_solver_that_cannot_be_resumed_says_so() -> None:
    with pytest.raises((TypeError, ValueError), match="cannot be resumed"):
        solve(X, y, solver=MySolver(), intercept="penalized", state={"a": 1})


def test_own_solver_with_wild_multipliers_never_gets_a_false_certificate() -> None:
    best = solve(X, y).certificate

    class Wild(MyRun):
        def advance(self, epochs: int) -> int:
            self.a = self.random.standard_cauchy(self.problem.m) * 10
            self.a[:5] = [np.nan, np.inf, -np.inf, 1e308, -1e308]
            return self.problem.m * epochs

    class WildSolver(MySolver):
        def start(self, problem: Problem, *, order: Any, stream: tuple[int, ...], poll: Any) -> MyRun:
            return Wild(problem, stream)

    for intercept in ("none", "free", "penalized"):
        best = solve(X, y, intercept=intercept).certificate
        found = solve_quietly(X, y, solver=WildSolver(), intercept=intercept, max_iter=30).certificate
        assert found.dual <= best.primal, f"{intercept}: dual {found.dual} above the optimum"
        assert found.primal >= best.dual, f"{intercept}: primal {found.primal} below the optimum"
