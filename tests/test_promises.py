"""What hinge promises, over random problems: all solvers, losses, weights, intercepts, layouts and scales."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import assert_same_state, start
from problems import Case, cases, exact_dual, exact_primal, share
from registry import INTERCEPTS, SOLVERS, VARIANTS, supporting
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import _core
from hinge.problem import LOSSES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def solve(case: Case, X: Any = None, **changes: Any) -> hinge.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return hinge.solve(case.data if X is None else X, case.y, **case.options(**changes))


def unless_refused(case: Case, reason: str) -> hinge.Solution | None:
    """None if the problem was refused for this reason; refusals for others are errors."""
    try:
        return solve(case)
    except ValueError as refusal:
        if reason in str(refusal):
            return None
        raise


def assert_true(case: Case, solution: hinge.Solution) -> None:
    """The primal is at least P(w, b), the dual at most D(a), as rational numbers: no rounding excuses."""
    certificate = solution.certificate
    assert certificate.primal >= exact_primal(case, solution.coef, solution.intercept), "primal rounded down"
    if certificate.dual > 0:
        assert certificate.dual <= exact_dual(case, solution.dual), "dual above what its multipliers prove"
    assert 0 <= certificate.dual <= certificate.primal, "dual exceeds primal"


@settings(max_examples=share(0.45))
@given(cases())
def test_certificate_is_true_in_exact_arithmetic(case: Case) -> None:
    assert_true(case, solve(case))


@settings(max_examples=share(0.1))
@given(cases(dtype=np.float64), st.integers(-150, 150), st.integers(-20, 20))
def test_certificate_is_true_at_the_ends_of_float64(case: Case, scale: int, C: int) -> None:
    """Where squares underflow, or nearly overflow. What would overflow is refused, and nothing else is."""
    extreme = replace(case, scale=10.0**scale, C=10.0**C)
    with np.errstate(over="ignore"):
        bound = float(np.sum(extreme.cost * (np.linalg.norm(extreme.X, axis=1) + case.intercept_scaling)))
    solution = unless_refused(extreme, "overflow")
    if solution is None:
        assert not bound < 1e149, "refused, although no square overflows"
    else:
        assert_true(extreme, solution)


@settings(max_examples=share(0.1))
@given(cases(max_iter=300), st.data())
def test_brackets_of_different_solvers_overlap(case: Case, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(supporting(VARIANTS, loss=case.loss, intercept=case.intercept)))
    one, two = solve(case).certificate, solve(replace(case, solver=other, max_iter=50)).certificate
    assert max(one.dual, two.dual) <= min(one.primal, two.primal), f"{one} and {two} exclude each other"


@settings(max_examples=share(0.1))
@given(cases())
def test_verify_finds_the_same_certificate(case: Case) -> None:
    solution = solve(case)
    found = hinge.verify(solution, case.data.astype(np.float64), case.y, case.weight)
    assert isinstance(found, hinge.Certificate)
    # What rounding may do to the loss is measured by the product of the norms in the augmented space, not by the loss.
    norms = np.linalg.norm(case.X.astype(np.float64), axis=1) + case.intercept_scaling
    length = np.linalg.norm(solution.coef) + abs(solution.intercept) / case.intercept_scaling
    slack = 1.0 + abs(solution.intercept) + length * norms
    size = float(case.cost @ (slack if case.loss == "hinge" else slack**2))
    assert found.primal == pytest.approx(solution.certificate.primal, rel=1e-11, abs=1e-13 * size)
    # D is a difference: what it may lose is measured by the sums it is made of.
    parts = float(solution.dual @ (1.0 + norms * (solution.dual @ norms))) + 1e-300
    assert found.dual == pytest.approx(solution.certificate.dual, rel=1e-12, abs=1e-12 * parts)


@settings(max_examples=share(0.05))
@given(cases(solver="dcd", max_iter=300, sparse=True))
def test_sparse_and_dense_rows_have_the_same_optimum(case: Case) -> None:
    sparse, dense = solve(case).certificate, solve(case, X=case.X).certificate
    assert max(sparse.dual, dense.dual) <= min(sparse.primal, dense.primal)


@settings(max_examples=share(0.05))
@given(cases(sparse=True))
def test_index_width_does_not_change_a_bit(case: Case) -> None:
    narrow = case.data
    wide = narrow.copy()
    wide.indices, wide.indptr = narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)
    mixed = narrow.copy()
    mixed.indptr = narrow.indptr.astype(np.int64)
    for X in (wide, mixed):
        assert_same_bits(solve(case), solve(case, X=X))


@settings(max_examples=share(0.05))
@given(cases(weighted=True))
def test_zero_weight_equals_row_absent_to_the_bit(case: Case) -> None:
    present = case.weight > 0
    whole = solve(case)
    part = replace(case)
    part.X, part.y, part.weight, part.m = case.X[present], case.y[present], case.weight[present], int(present.sum())
    absent = solve(part)
    assert np.array_equal(whole.coef, absent.coef) and whole.intercept == absent.intercept
    assert np.array_equal(whole.dual[present], absent.dual) and not whole.dual[~present].any()
    assert whole.certificate == absent.certificate


@settings(max_examples=share(0.05))
@given(cases(solver="dcd", weighted=False, max_iter=300), st.integers(2, 4))
def test_weight_k_and_k_copies_have_the_same_optimum(case: Case, k: int) -> None:
    counts = np.random.default_rng(case.seed).integers(1, k + 1, case.m)
    weighted = replace(case)
    weighted.weight = counts.astype(float)
    repeated = replace(case)
    repeated.X, repeated.y = case.X.repeat(counts, axis=0), case.y.repeat(counts)
    repeated.m, repeated.weight = int(counts.sum()), None
    one, two = solve(weighted).certificate, solve(repeated).certificate
    assert max(one.dual, two.dual) <= min(one.primal, two.primal)


@settings(max_examples=share(0.05))
@given(cases(), st.integers(1, 6), st.integers(1, 6))
def test_two_half_runs_equal_one_run_in_solver_state(case: Case, first: int, second: int) -> None:
    """Run by run of the solver itself: the loop may stop early."""
    problem, solver = case.problem, case.configuration
    whole, half, rest = (start(solver, problem, case.seed, 1) for _ in range(3))
    whole.advance(first + second)
    half.advance(first)
    rest.restore(half.save(), same_problem=True)
    rest.advance(second)
    assert_same_state(whole.save(), rest.save())


@settings(max_examples=share(0.05))
@given(cases(solver="pegasos"), st.booleans(), st.sampled_from([1, 2]), st.sampled_from(["iid", "epoch"]))
def test_tracked_norm_equals_recomputed_norm_in_pegasos(case: Case, projection: bool, k: int, sampling: str) -> None:
    solver = hinge.Pegasos(k=k, projection=projection, sampling=sampling)  # type: ignore[arg-type]
    problem = case.problem
    run = start(solver, problem, case.seed)
    run.advance(20)
    state = run.save()
    assert state is not None
    recomputed = float(np.sum((state["scale"] * state["v"]) ** 2))
    # At most the largest norm on the way, 1/lambda times |x|^2, has been rounded once a step.
    total = problem.native.total_cost
    largest = total**2 * float(problem.rows.squared_norms.max(initial=0.0))
    assert state["norm2"] == pytest.approx(recomputed, rel=1e-7, abs=1e-12 * (largest + 1e-300))
    if projection:
        assert recomputed <= total * (1 + 1e-6) + 1e-12 * largest, "outside the ball"
    multipliers = state["scale"] * state["c"] * problem.target
    rebuilt = np.zeros(problem.n_features + 1)
    for i, multiplier in enumerate(multipliers):
        problem.rows.add(i, float(multiplier), rebuilt)
    size = float(np.abs(multipliers) @ np.sqrt(problem.rows.squared_norms))
    np.testing.assert_allclose(state["scale"] * state["v"], rebuilt, rtol=0, atol=1e-9 * size + 1e-300)


@settings(max_examples=share(0.05))
@given(cases(solver="sgd-m"), st.sampled_from(["sgd-s", "sgd-m"]), st.integers(1, 12))
def test_running_dual_of_sgd_equals_dual_rebuilt_from_the_counts(case: Case, name: str, epochs: int) -> None:
    problem = case.problem
    run = start(SOLVERS[name], problem, case.seed)
    run.advance(epochs)
    state, estimate = run.save(), run.estimate()
    assert state is not None and estimate is not None
    running = estimate[1]
    T_eff = state["t"] / problem.m
    assert T_eff == round(T_eff) and state["counts"].max() <= T_eff, "a count beyond the presentations"
    multipliers = problem.cost * state["counts"] / T_eff
    w = np.zeros(problem.n_features + 1)
    for i, multiplier in enumerate(multipliers * problem.target):
        problem.rows.add(i, float(multiplier), w)
    parts = multipliers.sum() + 0.5 * float(multipliers @ np.sqrt(problem.rows.squared_norms)) ** 2
    assert running == pytest.approx(multipliers.sum() - 0.5 * w @ w, abs=1e-9 * parts)
    assert state["r"] == pytest.approx(
        state["a"] @ state["a"], rel=1e-9, abs=1e-9 * problem.m**2 * 25 * problem.rows.squared_norms.max()
    )


@settings(max_examples=share(0.05))
@given(cases(solver="sgd-s", weighted=False), st.integers(1, 12), st.sampled_from(["sgd-r", "sgd-s"]))
def test_norm_of_sgd_obeys_proposition_1(case: Case, epochs: int, name: str) -> None:
    problem = case.problem
    run = start(SOLVERS[name], problem, case.seed)
    run.advance(epochs)
    state, w, lam = run.save(), run.point().w, problem.lambda_
    assert state is not None and w is not None
    R2 = float(problem.rows.squared_norms.max())
    bound = math.sqrt(max(0.0, 1 + (R2 / lam - 1) / state["t"]) / lam)
    assert np.linalg.norm(w) <= bound * (1 + 1e-9), "the norm bound of the paper is broken"


@settings(max_examples=share(0.05))
@given(cases(solver="dcd"))
def test_exact_intercept_is_the_best_one(case: Case) -> None:
    """No other b gives a smaller loss: exact minima over the pieces between breakpoints, in rational numbers."""
    rng = np.random.default_rng(case.seed)
    z = rng.choice([rng.normal(size=case.m) * case.scale, np.round(rng.normal(size=case.m), 1)])
    cost, target = case.cost + 1e-3, case.y.astype(np.float64)
    rows = [(int(t), Fraction(float(v)), Fraction(float(c))) for t, v, c in zip(target, z, cost, strict=True)]
    power = 1 if case.loss == "hinge" else 2

    def loss(b: Fraction) -> Fraction:
        return sum((c * max(Fraction(0), 1 - t * (v + b)) ** power for t, v, c in rows), Fraction(0))

    found = _core.best_intercept(z, target, cost, LOSSES[case.loss].native)
    breakpoints = sorted({t - v for t, v, _ in rows})
    candidates = list(breakpoints)
    if power == 2:  # on each piece a parabola, whose rows with loss are known
        edges = [breakpoints[0] - 1, *breakpoints, breakpoints[-1] + 1]
        for low, high in itertools.pairwise(edges):
            middle = (low + high) / 2
            violators = [(t - v, c) for t, v, c in rows if t * (v + middle) < 1]
            total = sum((c for _, c in violators), Fraction(0))
            if total:
                best = sum((c * at for at, c in violators), Fraction(0)) / total
                candidates.append(min(max(best, low), high))
    lowest = min(loss(b) for b in candidates)
    assert loss(Fraction(found)) <= lowest * (1 + Fraction(1, 10**11)) + Fraction(1, 10**12)


@settings(max_examples=share(0.05))
@given(cases(solver="dcd", max_iter=300))
def test_same_seed_gives_the_same_bits(case: Case) -> None:
    assert_same_bits(solve(case), solve(case))


def assert_same_bits(one: hinge.Solution, two: hinge.Solution) -> None:
    assert np.array_equal(one.coef, two.coef) and one.intercept == two.intercept
    assert np.array_equal(one.dual, two.dual) and one.certificate == two.certificate
    assert one.n_iter == two.n_iter


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_exact_arithmetic_would_notice_a_false_certificate(loss: str, intercept: str) -> None:
    """The oracle itself: a certificate that claims too much is found out."""
    case = Case(
        seed=1,
        m=10,
        d=3,
        scale=1.0,
        C=1.0,
        dtype=np.float64,
        sparse=False,
        weighted=False,
        intercept=intercept,
        intercept_scaling=1.0,
        solver="dcd",
        max_iter=300,
        loss=loss,
    )
    solution = solve(case)
    assert_true(case, solution)
    assert solution.certificate.primal * (1 - 1e-9) < exact_primal(case, solution.coef, solution.intercept)
    assert solution.certificate.dual * (1 + 1e-9) > exact_dual(case, solution.dual)
    with pytest.raises(AssertionError, match=r"box|negative|repaired"):
        exact_dual(case, solution.dual - 1e3)
    beyond = exact_dual(case, solution.dual * 0.5)
    assert beyond < exact_dual(case, solution.dual), "other multipliers than the best ones prove as much"
