"""A user's own solver gets the loop and the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import X, solve_quietly, y
from registry import INTERCEPTS

from hinge import Blocks, LinearSVC, Permutation, Point, Problem, Run, Traits, solve
from hinge.problem import LOSSES
from hinge.solvers import Setup, State, as_run


class MyRun(Run):
    """Dual coordinate ascent in NumPy: nothing but advance and point."""

    def __init__(self, problem: Problem, key: tuple[int, ...]) -> None:
        self.problem = problem
        self.random = np.random.default_rng(key)
        self.a = np.zeros(problem.m)
        self.w = np.zeros(problem.n_features + 1)

    def advance(self, epochs: int) -> int:
        problem, rows, norms = self.problem, self.problem.rows, self.problem.rows.squared_norms
        diagonal = 0.0 if problem.loss.bounded else 0.5 / problem.cost
        for _ in range(epochs):
            for i in self.random.permutation(problem.m):
                sign, extra = problem.target[i], np.broadcast_to(diagonal, problem.m)[i]
                g = sign * rows.dot(i, self.w) - 1.0 + extra * self.a[i]
                a = min(max(self.a[i] - g / (norms[i] + extra), 0.0), problem.box[i])
                rows.add(i, float((a - self.a[i]) * sign), self.w)
                self.a[i] = a
        return epochs * problem.m

    def point(self) -> Point:
        return Point(self.a)


class MySolver:
    """Traits and `start`: everything else is optional."""

    traits = Traits(losses=tuple(LOSSES))

    def start(self, problem: Problem, setup: Setup) -> Run:
        return MyRun(problem, setup.key)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_own_solver_gets_loop_and_certificate(layout, loss) -> None:
    rows, labels = layout(X[:1200]), y[:1200]
    options: dict[str, Any] = {"loss": loss, "intercept": "penalized", "C": 0.05}
    solution = solve(rows, labels, solver=MySolver(), **options)
    assert solution.status == "converged"
    assert solution.certificate.relative_gap <= 1e-3
    assert solution.history
    assert solution.state is None
    native = solve(rows, labels, **options).certificate
    assert solution.certificate.dual <= native.primal
    assert native.dual <= solution.certificate.primal


def test_own_solver_works_in_the_estimator() -> None:
    model = LinearSVC(solver=MySolver(), intercept="penalized", C=0.05, warm_start=True).fit(X[:1200], y[:1200])
    assert model.status_ == "converged"
    with pytest.warns(UserWarning, match="starting afresh"):
        model.fit(X[:1200], y[:1200])
    assert model.status_ == "converged"


def test_own_solver_that_cannot_be_resumed_says_so() -> None:
    state = solve_quietly(X, y, intercept="penalized", max_iter=1).state
    with pytest.raises(TypeError, match="MyRun cannot be resumed"):
        solve(X, y, solver=MySolver(), intercept="penalized", state=state)


def test_own_solver_with_save_and_restore_goes_on_to_the_same_bits() -> None:
    class Resumable(MyRun):
        def save(self) -> State:
            words = self.random.bit_generator.state["state"]
            halves = [word >> shift & (2**64 - 1) for word in words.values() for shift in (0, 64)]
            return {"a": self.a.copy(), "w": self.w.copy(), "random": np.array(halves, dtype=np.uint64)}

        def restore(self, state: State, *, same_problem: bool) -> None:
            assert same_problem
            self.a, self.w = state["a"].copy(), state["w"].copy()
            low, high, low2, high2 = (int(word) for word in state["random"])
            words = {"state": low | high << 64, "inc": low2 | high2 << 64}
            self.random.bit_generator.state = self.random.bit_generator.state | {"state": words}

    class Mine(MySolver):
        def start(self, problem: Problem, setup: Setup) -> Run:
            return Resumable(problem, setup.key)

    options: dict[str, Any] = {"solver": Mine(), "intercept": "penalized", "C": 1.0, "tol": 1e-9}
    rows, labels = X[:1200], y[:1200]
    half = solve_quietly(rows, labels, max_iter=3, **options)
    rest = solve_quietly(rows, labels, max_iter=6, state=half.state, **options)
    whole = solve_quietly(rows, labels, max_iter=9, **options)
    assert rest.certificate == whole.certificate
    assert np.array_equal(rest.coef, whole.coef)
    assert np.array_equal(rest.dual, whole.dual)


@pytest.mark.parametrize("loss", LOSSES)
def test_own_solver_with_wild_multipliers_never_gets_a_false_certificate(loss) -> None:
    class Wild(MyRun):
        def advance(self, epochs: int) -> int:
            self.a = self.random.standard_cauchy(self.problem.m) * 10
            self.a[:5] = [np.nan, np.inf, -np.inf, 1e308, -1e308]
            return self.problem.m * epochs

    class WildSolver(MySolver):
        traits = Traits(losses=tuple(LOSSES), intercepts=("none", "free", "penalized"))

        def start(self, problem: Problem, setup: Setup) -> Run:
            return Wild(problem, setup.key)

    for intercept in INTERCEPTS:
        best = solve(X, y, intercept=intercept, loss=loss).certificate
        found = solve_quietly(X, y, solver=WildSolver(), intercept=intercept, loss=loss, max_iter=30).certificate
        assert found.dual <= best.primal, f"{intercept}: dual {found.dual} above the optimum"
        assert found.primal >= best.dual, f"{intercept}: primal {found.primal} below the optimum"


# What is declared counts


def test_traits_decide_what_is_refused() -> None:
    class OnlyHinge(MySolver):
        traits = Traits()

    for changes in ({"loss": "squared_hinge"}, {"intercept": "free"}, {"order": "blocks"}):
        options: dict[str, Any] = {"intercept": "none", **changes}
        with pytest.raises(ValueError, match=r"OnlyHinge (does not support|takes no order)"):
            solve(X, y, solver=OnlyHinge(), **options)


def test_order_is_resolved_once_and_arrives() -> None:
    seen = []

    class Ordered(MySolver):
        traits = Traits(order=Blocks(rows=8))

        def start(self, problem: Problem, setup: Setup) -> Run:
            seen.append(setup.order)
            assert setup.max_iter == 2
            return MyRun(problem, setup.key)

    for order in (None, "permutation", Blocks(rows=16)):
        solve_quietly(X[:50], y[:50], solver=Ordered(), intercept="none", max_iter=2, order=order)
    assert seen == [Blocks(rows=8), Permutation(), Blocks(rows=16)]


def test_solver_without_traits_is_refused_with_the_fix() -> None:
    class Silent:
        def start(self, problem: Problem, setup: Setup) -> Run:
            return MyRun(problem, setup.key)

    with pytest.raises(TypeError, match=r"(?s)Silent does not declare what it supports.*traits.*hinge\.Traits"):
        solve(X, y, solver=Silent(), intercept="none")


def test_run_that_is_no_run_is_refused_with_the_fix() -> None:
    class Half:
        def advance(self, epochs: int) -> int:
            return epochs

    class Mine(MySolver):
        def start(self, problem: Problem, setup: Setup) -> Any:
            return Half()

    with pytest.raises(TypeError, match=r"Half has no method point.*subclass of hinge\.Run"):
        solve(X, y, solver=Mine(), intercept="none")


def test_run_without_a_label_is_refused_with_the_fix() -> None:
    class Bare:
        estimate = rejected = finished = save = surrender = restore = advance = point = lambda self: None

    with pytest.raises(TypeError, match=r"Bare has no text `label`.*subclass of hinge\.Run"):
        as_run(Bare())


def test_targets_and_costs_handed_to_a_solver_are_read_only() -> None:
    weight = np.ones(len(y))

    class Meddling(MySolver):
        def start(self, problem: Problem, setup: Setup) -> Run:
            for array in (problem.target, problem.cost):
                assert array.dtype == np.float64
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 5.0
            return MyRun(problem, setup.key)

    solve_quietly(X, y, solver=Meddling(), intercept="none", sample_weight=weight, max_iter=1)
    assert weight.flags.writeable, "the caller's own array was locked"
