"""Cases that once went wrong, each a promise of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from loops import solve_quietly
from problems import Case, exact_dual, exact_primal
from registry import VARIANTS, with_losses

import hinge
from hinge import BestOf, LinearSVC, Pegasos, Problem, Run, Traits, _core
from hinge.problem import LOSSES
from hinge.solvers import Setup


@pytest.mark.parametrize(("solver", "loss"), with_losses(VARIANTS))
def test_dual_holds_where_squares_leave_float64(solver: str, loss: str) -> None:
    """The scale theta of the multipliers is so small that its square underflows."""
    for size in (1e-150, 1e-100, 1e80, 1e100, 1e140):
        X, y = np.array([[size], [-size], [2 * size]]), np.array([1, -1, 1])
        case = Case(0, 3, 1, 1.0, 1.0, np.float64, False, False, "none", 1.0, solver, 3, loss)
        case.X, case.y, case.weight = X, y, None
        solution = solve_quietly(X, y, **case.options())
        assert solution.certificate.dual <= exact_dual(case, solution.dual), size
        assert solution.certificate.primal >= exact_primal(case, solution.coef, solution.intercept), size
        assert Fraction(solution.certificate.dual) <= Fraction(solution.certificate.primal), size


def test_certified_model_is_safe_from_a_solver_that_goes_on_changing_its_weights() -> None:
    class Restless(Run):
        traits = Traits()

        def start(self, problem: Problem, setup: Setup) -> Run:
            self.w, self.m, self.calls = np.zeros(problem.n_features + 1), problem.m, 0
            return self

        def advance(self, epochs: int) -> int:
            self.calls += 1
            self.w[0] = 0.5 if self.calls < 20 else 50.0  # in place
            return epochs * self.m

        def point(self) -> hinge.Point:
            return hinge.Point(np.full(self.m, 0.1), self.w)

    X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    solution = solve_quietly(X, y, solver=Restless(), intercept="none", max_iter=100_000)
    found = hinge.verify(solution, X, y)
    assert isinstance(found, hinge.Certificate)
    assert found.primal == pytest.approx(solution.certificate.primal), "the model is not the one that was certified"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("mean", [0.0, 3.0, 10.0])
@pytest.mark.parametrize("m", [300, 3000])
def test_default_converges_on_features_with_a_large_mean(mean: float, m: int, loss: Any) -> None:
    """Shrinking at a wrong b once went in circles here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 5)) + mean
    y = X[:, 0] + 0.5 * rng.normal(size=m) > mean + 0.3
    assert hinge.solve(X, y, loss=loss, max_iter=4000).status == "converged"


def test_free_intercept_of_four_rows_does_not_cycle() -> None:
    X = np.array(
        [[0, 0.738405347, 0], [-0.348175645, 0, 0], [-0.710735679, 0, 0.519049406], [0.132478073, 0, -0.0287839975]]
    )
    for seed in range(20):
        assert hinge.solve(X, [1, -1, -1, -1], C=10, random_state=seed).status == "converged"


@pytest.mark.parametrize("intercept", ["none", "penalized"])
def test_state_of_a_free_intercept_does_not_poison_another_problem(intercept: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5)) + 1
    y = X[:, 0] + 0.5 * rng.normal(size=3000) > 1.3
    for loss in ("hinge", "squared_hinge"):
        free = hinge.solve(X, y, loss=loss)
        assert hinge.solve(X, y, loss=loss, intercept=intercept, state=free.state).status == "converged"
    model = LinearSVC(warm_start=True).fit(X, y)
    assert model.set_params(fit_intercept=False).fit(X, y).status_ == "converged"


def test_cost_that_underflows_is_refused_not_dropped() -> None:
    X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    with pytest.raises(ValueError, match="row 0 underflows"):
        hinge.solve(X, y, C=1e-200, sample_weight=[1e-200, 1e-200, 1, 1])


def test_class_weight_may_name_a_class_that_a_fold_lacks_but_not_a_wrong_one() -> None:
    X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    LinearSVC(class_weight={0: 1.0, 1: 2.0, 2: 5.0}).fit(X, y)
    with pytest.raises(ValueError, match="not in y"):
        LinearSVC(class_weight={0: 1.0, "one": 2.0}).fit(X, y)


def test_validation_labels_are_checked_before_the_first_run() -> None:
    X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="-1 and"):
        hinge.solve(X, y, solver=BestOf(Pegasos(), validation=(X, y)), intercept="none")


def test_intercept_of_tiny_slopes_is_the_best_one() -> None:
    """A slope below 1e-13 of the sum of costs is a slope: rows of cost 1e-3 beside one of 1e12."""
    z, cost = np.array([0.0, -3.0, -4.0]), np.array([1e12, 1e-3, 1e-3])
    for loss in LOSSES.values():
        b = _core.best_intercept(z, np.array([1.0, -1.0, -1.0]), cost, loss.native)
        assert 1.0 <= b <= 2.0, f"b = {b}: the rows of small cost have a loss that b = 1.5 has not"


@pytest.mark.parametrize("ratio", [1e5, 1e8])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_free_intercept_with_class_weights_far_apart_has_a_lower_bound(ratio: float, loss: Any) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 3))
        y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
        solution = solve_quietly(X, y, loss=loss, sample_weight=np.where(y == 1, ratio, 1.0))
        assert solution.certificate.dual > 0, f"seed {seed}: {solution.certificate}"
        assert solution.certificate.relative_gap < 1e-3, f"seed {seed}: {solution.certificate}"
