"""Exact kernel machines on the common loop: resuming, weights, threads, stopping; and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kernel_cases import CASES, KERNELS, KernelCase, kernel_pair, name
from pairs import poll
from refusals import refused

from hinge import DCD, KernelPegasos, Lasvm, LinearSVC, _core
from hinge.certificate import KernelEvaluator
from hinge.features import Kernel, KernelProblem
from hinge.problem import Intercept, as_loss, as_rows
from hinge.solvers import KERNEL_SOLVERS, as_solver, solver_names
from hinge.training import Options, train

SOLVERS: dict[str, Any] = {
    "lasvm": Lasvm(working_set=4),
    "lasvm online": Lasvm(online_epochs=3, working_set=4, cache_size=1e-6),
    "kernel-pegasos": KernelPegasos(),
    "kernel-pegasos epoch": KernelPegasos(sampling="epoch"),
}
OPTIONS = Options(tol=1e-7, max_iter=8, key=(2,))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", ["none", "free", "penalized"])
def test_run_is_resumed_to_the_same_bits(solver: str, intercept: Any) -> None:
    problem = KernelCase(intercept=intercept, m=300).make()
    whole = train(problem, SOLVERS[solver], OPTIONS)
    half = train(problem, SOLVERS[solver], replace(OPTIONS, max_iter=3))
    rest = train(problem, SOLVERS[solver], replace(OPTIONS, max_iter=5, state=half.state))
    assert rest.certificate == whole.certificate
    assert rest.model.w.tobytes() == whole.model.w.tobytes()
    assert rest.state is not None and whole.state is not None
    assert rest.state["loop_seal"] == whole.state["loop_seal"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_is_a_warm_start_at_other_costs(solver: str) -> None:
    first = train(KernelCase(m=100, C=10.0).make(), SOLVERS[solver], OPTIONS)
    found = train(KernelCase(m=100, C=1.0).make(), SOLVERS[solver], replace(OPTIONS, state=first.state))
    best = train(KernelCase(m=100, C=1.0).make(), Lasvm(), Options(tol=1e-6)).certificate
    assert found.certificate.dual <= best.primal
    assert best.dual <= found.certificate.primal


@pytest.mark.parametrize("case", [replace(case, m=150) for case in CASES[:4]], ids=name)
def test_threads_and_cache_change_no_bit(case: KernelCase) -> None:
    problem = case.make()
    found = [
        train(problem, Lasvm(working_set=16, cache_size=size), Options(tol=1e-6, n_threads=n))
        for n, size in ((1, 512.0), (3, 512.0), (2, 0.01))  # the last one has room for a working set
    ]
    assert len({outcome.model.w.tobytes() for outcome in found}) == 1
    assert len({outcome.certificate for outcome in found}) == 1


def test_rows_of_zero_weight_are_left_out() -> None:
    case = KernelCase(m=50)
    X, target, cost = case.arrays()
    some = np.arange(50) % 4 != 1
    options: dict[str, Any] = {"kernel": case.kernel, "loss": as_loss("hinge"), "intercept": Intercept("free")}
    part = KernelProblem.of(as_rows(X[some]), target[some], cost[some], **options)
    whole = KernelProblem.of(as_rows(X), target, np.where(some, cost, 0.0), **options)
    assert whole.m == some.sum()
    found, expected = (train(problem, Lasvm(), Options(tol=1e-6)) for problem in (whole, part))
    assert found.certificate == expected.certificate
    spread = whole.spread(found.bound.multipliers)
    assert spread.shape == (50,) and not spread[~some].any()


def test_other_targets_costs_and_parts_are_kernel_problems() -> None:
    problem = KernelCase(m=30).make()
    for other in (problem.with_target(-problem.target), problem.with_cost(2.0 * problem.cost), problem.part([3, 1, 9])):
        assert isinstance(other, KernelProblem)
        assert other.kernel == problem.kernel
        assert other.fingerprint != problem.fingerprint
    assert problem.part([3, 1, 9]).squared_norms.shape == (3,)
    other_kernel = replace(KernelCase(m=30), kernel=Kernel("rbf", gamma=0.2)).make()
    assert other_kernel.fingerprint != problem.fingerprint


@pytest.mark.parametrize("solver", SOLVERS)
def test_time_limit_and_stop_are_heard(solver: str) -> None:
    problem = KernelCase(m=2000, d=30).make()
    token = _core.StopToken()
    token.set_deadline(0.05)
    outcome = train(problem, SOLVERS[solver], Options(tol=1e-12, max_iter=10**6, token=token))
    assert outcome.status in ("time_limit", "converged", "stalled")
    assert np.isfinite(outcome.certificate.primal)
    stopped = _core.StopToken()
    stopped.stop()
    outcome = train(problem, SOLVERS[solver], Options(token=stopped))
    assert outcome.status == "interrupted"


def test_rows_that_are_all_the_same_are_no_problem() -> None:
    X, target = np.ones((20, 3)), np.where(np.arange(20) < 12, 1.0, -1.0)
    for intercept in ("none", "free", "penalized"):
        problem = KernelProblem.of(
            as_rows(X),
            target,
            np.ones(20),
            kernel=KERNELS["rbf"],
            loss=as_loss("hinge"),
            intercept=Intercept(intercept),  # type: ignore[arg-type]
        )
        found = train(problem, Lasvm(), Options(tol=1e-6))
        assert found.certificate.relative_gap <= 1e-6


def test_huge_gamma_makes_every_row_its_own_and_is_solved() -> None:
    """K is the identity: a_i = C for C < 1 without an intercept."""
    problem = KernelCase(kernel=Kernel("rbf", gamma=1e300), intercept="none", m=30, C=0.5).make()
    found = train(problem, Lasvm(), Options(tol=1e-9))
    assert found.certificate.relative_gap <= 1e-9
    np.testing.assert_allclose(found.bound.multipliers[1:29], 0.5)  # the first and the last row are the same


# Refused


def make(X: Any, kernel: Kernel, C: float = 1.0) -> KernelProblem:
    target = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)
    cost = np.full(len(X), C)
    loss, intercept = as_loss("hinge"), Intercept("free")
    return KernelProblem.of(as_rows(np.asarray(X)), target, cost, kernel=kernel, loss=loss, intercept=intercept)


X = np.random.default_rng(1).normal(size=(30, 4))


def test_callable_is_refused_with_the_way_out() -> None:
    with refused("callable", "Nystroem"):
        make(X, Kernel(lambda A, B: A @ B.T))


def test_kernel_with_negative_eigenvalues_is_refused_with_the_way_out() -> None:
    with refused("sigmoid", "eigenvalues", "Nystroem"):
        make(X, Kernel("sigmoid", gamma=5.0, coef0=-3.0))
    with refused("polynomial", "eigenvalues", "Nystroem"):
        make(X, Kernel("polynomial", gamma=1.0, coef0=-1.0, degree=3))
    with refused("sigmoid", "2000", "Nystroem"):
        make(np.tile(X, (70, 1)), Kernel("sigmoid", gamma=0.1))


def test_overflow_is_refused() -> None:
    with refused("polynomial", "Scale"):
        make(1e5 * X, Kernel("polynomial", gamma=1.0, degree=20))
    with refused("overflow", "MaxAbsScaler"):
        make(1e152 * X, Kernel("rbf", gamma=1e-300))
    with refused("NaN"):
        make(np.where(X > 2.0, np.nan, X), KERNELS["rbf"])


def test_solvers_of_the_other_space_are_refused() -> None:
    with refused("DCD", "kernel", "lasvm", "nystroem"):
        train(make(X, KERNELS["rbf"]), DCD(), Options())
    for solver in KERNEL_SOLVERS:
        assert solver not in solver_names()
        assert as_solver(solver) is KERNEL_SOLVERS[solver]
        with refused("kernel", "auto", "dcd"):
            LinearSVC(solver=solver).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Lasvm(online_epochs=-1),
        lambda: Lasvm(online_epochs=1.5),  # type: ignore[arg-type]
        lambda: Lasvm(tau=0.0),
        lambda: Lasvm(working_set=1),
        lambda: Lasvm(cache_size=0.0),
        lambda: Lasvm(cache_size=np.nan),
        lambda: KernelPegasos(sampling="some"),  # type: ignore[arg-type]
        lambda: KernelPegasos(cache_size=-1.0),
    ],
)
def test_options_out_of_range_are_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        wrong()


@pytest.mark.parametrize("solver", SOLVERS)
def test_corrupt_states_are_refused_or_harmless(solver: str) -> None:
    problem = KernelCase().make()
    best = train(problem, Lasvm(), Options(tol=1e-9)).certificate
    native, _ = kernel_pair(SOLVERS[solver], KernelCase())
    native.advance(2, poll())
    state = native.state()
    for key, garbage in (
        ("support", np.array([3, 3])),
        ("support", np.array([40])),
        ("support", np.array([-1])),
        ("rows_at_work", np.array([0, 0])),
        ("rows_at_work", np.array([1000])),
    ):
        if key in state:
            with pytest.raises(ValueError, match="saved state"):
                native.restore({**state, key: garbage})
    for key in ("alpha", "c", "g", "scale", "norm2", "b"):
        for value in (np.nan, np.inf, -1e300):
            if key not in state:
                continue
            run, _ = kernel_pair(SOLVERS[solver], KernelCase())
            wrong = np.full_like(state[key], value) if np.ndim(state[key]) else value
            try:
                run.restore({**state, key: wrong})
            except ValueError:
                continue
            run.advance(1, poll())
            w, _, multipliers = run.point()
            lower = KernelEvaluator(problem).lower(multipliers, poll())
            upper = KernelEvaluator(problem).upper(w, poll())
            assert lower is not None and upper is not None
            assert lower.value <= best.primal and upper.value >= best.dual, f"{key} = {value}"
