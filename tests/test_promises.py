"""What hinge promises, over random problems: all solvers, weights, intercepts, layouts, scales from 1e-3 to 1e3."""

from __future__ import annotations

import contextlib
import math
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import INTERCEPTS, Case, cases, exact_dual, exact_primal, share
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import _core
from hinge.problem import Intercept, Problem, Selection, as_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def solve(case: Case, X: Any = None, **changes: Any) -> hinge.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return hinge.solve(case.data if X is None else X, case.y, **case.options(**changes))


def problem_of(case: Case) -> Problem:
    intercept = Intercept(case.intercept, case.intercept_scaling)
    return Problem(Selection.make(as_rows(case.data), case.cost, intercept), case.y.astype(np.int8))


@settings(max_examples=share(0.45))
@given(cases())
def test_certificate_is_true_in_exact_arithmetic(case: Case) -> None:
    """The primal is at least P(w, b), the dual at most D(a), as rational numbers: no rounding excuses."""
    solution = solve(case)
    certificate = solution.certificate
    assert certificate.primal >= exact_primal(case, solution.coef, solution.intercept), "primal rounded down"
    if certificate.dual > 0:
        assert certificate.dual <= exact_dual(case, solution.dual), "dual above what its multipliers prove"
    assert certificate.dual <= certificate.primal, "dual exceeds primal"


@settings(max_examples=share(0.1))
@given(cases(dtype=np.float64), st.integers(-150, 140), st.integers(-20, 20))
def test_certificate_is_true_at_the_ends_of_float64(case: Case, scale: int, C: int) -> None:
    """Where squares underflow, or nearly overflow; what would overflow is refused."""
    extreme = replace(case, scale=10.0**scale, C=10.0**C)
    with np.errstate(over="ignore"):
        bound = float(np.sum(extreme.cost * (np.linalg.norm(extreme.X, axis=1) + case.intercept_scaling)))
    if not bound < 1e149:  # a row's squared norm or the objective may overflow
        with contextlib.suppress(ValueError):
            solve(extreme)
        return
    solution = solve(extreme)
    assert solution.certificate.primal >= exact_primal(extreme, solution.coef, solution.intercept)
    if solution.certificate.dual > 0:
        assert solution.certificate.dual <= exact_dual(extreme, solution.dual)


@settings(max_examples=share(0.1))
@given(cases(max_iter=300), st.sampled_from(["dcd", "pegasos"]))
def test_brackets_of_different_solvers_overlap(case: Case, other: str) -> None:
    one, two = solve(case).certificate, solve(case, solver=other, max_iter=50).certificate
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
    size = float(case.cost @ (1.0 + abs(solution.intercept) + length * norms))
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
    problem = problem_of(case)
    poll = _core.Poll(_core.StopFlag())
    solver = case.configuration
    start = {"order": solver.default_order, "stream": (case.seed, 1), "poll": poll}
    whole, half, rest = (solver.start(problem, **start) for _ in range(3))
    whole.advance(first + second)
    half.advance(first)
    rest.restore(half.state(), same_problem=True)
    rest.advance(second)
    assert_same_state(whole.state(), rest.state())


@settings(max_examples=share(0.05))
@given(cases(solver="pegasos"), st.booleans(), st.sampled_from([1, 2]), st.sampled_from(["iid", "epoch"]))
def test_tracked_norm_equals_recomputed_norm_in_pegasos(case: Case, projection: bool, k: int, sampling: str) -> None:
    solver = hinge.Pegasos(k=k, projection=projection, sampling=sampling)  # type: ignore[arg-type]
    problem = problem_of(case)
    run = solver.start(problem, order=None, stream=(case.seed,), poll=_core.Poll(_core.StopFlag()))
    run.advance(20)
    state = run.state()
    recomputed = float(np.sum((state["scale"] * state["v"]) ** 2))
    # At most the largest norm on the way, 1/lambda times |x|^2, has been rounded once a step.
    largest = problem.native.total_cost**2 * float(problem.rows.squared_norms.max(initial=0.0))
    assert state["norm2"] == pytest.approx(recomputed, rel=1e-7, abs=1e-12 * (largest + 1e-300))
    if projection:
        assert recomputed <= problem.native.total_cost * (1 + 1e-6) + 1e-12 * largest, "outside the ball"
    multipliers = state["scale"] * state["c"] * problem.y
    rebuilt = np.zeros(problem.n_features + 1)
    for i, multiplier in enumerate(multipliers):
        problem.rows.add(i, float(multiplier), rebuilt)
    size = float(np.abs(multipliers) @ np.sqrt(problem.rows.squared_norms))
    np.testing.assert_allclose(state["scale"] * state["v"], rebuilt, rtol=0, atol=1e-9 * size + 1e-300)


@settings(max_examples=share(0.05))
@given(cases(solver="sgd-m"), st.sampled_from(["sgd-s", "sgd-m"]), st.integers(1, 12))
def test_running_dual_of_sgd_equals_dual_rebuilt_from_the_counts(case: Case, name: str, epochs: int) -> None:
    problem = problem_of(case)
    run = hinge.solvers.as_solver(name).start(
        problem, order=None, stream=(case.seed,), poll=_core.Poll(_core.StopFlag())
    )
    run.advance(epochs)
    state, (_, running) = run.state(), run.estimate()  # type: ignore[attr-defined]
    T_eff = state["t"] / problem.m
    assert T_eff == round(T_eff) and state["counts"].max() <= T_eff, "a count beyond the presentations"
    multipliers = problem.cost * state["counts"] / T_eff
    w = np.zeros(problem.n_features + 1)
    for i, multiplier in enumerate(multipliers * problem.y):
        problem.rows.add(i, float(multiplier), w)
    parts = multipliers.sum() + 0.5 * float(multipliers @ np.sqrt(problem.rows.squared_norms)) ** 2
    assert running == pytest.approx(multipliers.sum() - 0.5 * w @ w, abs=1e-9 * parts)
    assert state["r"] == pytest.approx(
        state["a"] @ state["a"], rel=1e-9, abs=1e-9 * problem.m**2 * 25 * problem.rows.squared_norms.max()
    )


@settings(max_examples=share(0.05))
@given(cases(solver="sgd-s", weighted=False), st.integers(1, 12), st.sampled_from(["sgd-r", "sgd-s"]))
def test_norm_of_sgd_obeys_proposition_1(case: Case, epochs: int, name: str) -> None:
    problem = problem_of(case)
    run = hinge.solvers.as_solver(name).start(
        problem, order=None, stream=(case.seed,), poll=_core.Poll(_core.StopFlag())
    )
    run.advance(epochs)
    w, t, lam = run.point().w, run.state()["t"], problem.lambda_  # type: ignore[attr-defined]
    R2 = float(problem.rows.squared_norms.max())
    bound = math.sqrt(max(0.0, 1 + (R2 / lam - 1) / t) / lam)
    assert w is not None and np.linalg.norm(w) <= bound * (1 + 1e-9), "the norm bound of the paper is broken"


@settings(max_examples=share(0.05))
@given(cases(solver="dcd"), st.sampled_from(INTERCEPTS))
def test_exact_intercept_is_the_best_one(case: Case, _: str) -> None:
    """No breakpoint gives a smaller loss than the weighted median does."""
    rng = np.random.default_rng(case.seed)
    z = rng.choice([rng.normal(size=case.m) * case.scale, np.round(rng.normal(size=case.m), 1)])
    cost = case.cost + 1e-3
    y = case.y.astype(np.int8)

    def loss(b: float) -> Fraction:
        slack = (max(Fraction(0), 1 - int(s) * (Fraction(float(v)) + Fraction(b))) for s, v in zip(y, z, strict=True))
        return sum((Fraction(float(c)) * x for c, x in zip(cost, slack, strict=True)), Fraction(0))

    best = loss(_core.best_intercept(z, y, cost))
    lowest = min(loss(float(label - v)) for label, v in zip(y, z, strict=True))
    assert best <= lowest * (1 + Fraction(1, 10**11)) + Fraction(1, 10**12)


@settings(max_examples=share(0.05))
@given(cases(solver="dcd", max_iter=300))
def test_same_seed_gives_the_same_bits(case: Case) -> None:
    assert_same_bits(solve(case), solve(case))


def assert_same_bits(one: hinge.Solution, two: hinge.Solution) -> None:
    assert np.array_equal(one.coef, two.coef) and one.intercept == two.intercept
    assert np.array_equal(one.dual, two.dual) and one.certificate == two.certificate
    assert one.n_iter == two.n_iter


def assert_same_state(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert one.keys() == two.keys()
    for name in one:
        assert np.array_equal(one[name], two[name]), f"{name} differs"


def test_exact_arithmetic_would_notice_a_false_certificate() -> None:
    """The oracle itself: a certificate that claims too much is found out."""
    case = Case(1, 10, 3, 1.0, 1.0, np.float64, False, False, "free", 1.0, "dcd", 300)
    solution = solve(case)
    assert solution.certificate.primal * (1 - 1e-9) < exact_primal(case, solution.coef, solution.intercept)
    assert solution.certificate.dual * (1 + 1e-9) > exact_dual(case, solution.dual)
    assert sp.issparse(sp.csr_matrix(case.X))
