"""Every solver has a twin in NumPy that runs on the same loop and takes the same steps, to the bit."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import make, solve_quietly
from pairs import (
    BLOCKS,
    EPOCHS,
    EXACT_RUNS,
    RUNS,
    SCALES,
    Case,
    all_of,
    assert_same,
    assert_same_run,
    cases,
    describe,
    is_exact,
    pair,
    poll,
    run_id,
    setup,
    twin_of,
    with_native,
)
from registry import SOLVERS, VARIANTS

from hinge import Pegasos, Problem, SGDm, Zhang, _core, reference, solve
from hinge.problem import Intercept, InterceptKind, as_loss, as_rows
from hinge.reference import core
from hinge.reference import problem as twin
from hinge.reference.primal_iterate import PrimalIterate
from hinge.reference.rows import Rows
from hinge.solvers import KERNEL_SOLVERS
from hinge.solvers import SOLVERS as REGISTRY

# All solvers


def test_every_solver_of_the_registry_has_a_twin_with_its_options() -> None:
    kinds = {type(solver) for solver in [*REGISTRY.values(), *KERNEL_SOLVERS.values()]}
    assert {kind.__name__ for kind in kinds} | {"core"} == set(reference.__all__)
    for kind in kinds:
        slow = getattr(reference, kind.__name__)
        assert issubclass(slow, kind)
        assert dataclasses.fields(slow) == dataclasses.fields(kind)
        assert slow().traits == kind().traits
        assert slow() != kind(), "another solver"
        assert pickle.loads(pickle.dumps(slow())) == slow()
        assert repr(slow()) == repr(kind())


def test_documentation_of_a_twin_is_that_of_the_solver() -> None:
    for solver in REGISTRY.values():
        slow, native = str(twin_of(solver).__doc__), str(type(solver).__doc__)
        assert "in readable NumPy" in slow.splitlines()[0]
        assert f"from hinge.reference import {type(solver).__name__}" in slow, "the example is one of native code"
        assert native.splitlines()[0] in slow


@pytest.mark.parametrize(("name", "case"), EXACT_RUNS, ids=run_id)
def test_native_solver_equals_the_twin(name: str, case: Case) -> None:
    native, slow = pair(name, case, order=BLOCKS if case.seed % 2 else None)
    assert_same_run(native, slow, EPOCHS)
    native.rebuild(poll())
    slow.rebuild(poll())
    assert_same(native, slow, "after rebuilding")
    assert native.advance(1, poll()) == slow.advance(1, poll())
    assert_same(native, slow, "an epoch after rebuilding")


@pytest.mark.parametrize("name", [name for name in VARIANTS if is_exact(VARIANTS[name])])
def test_a_run_may_change_hands_between_native_code_and_twin(name: str) -> None:
    case = cases(*VARIANTS[name].traits.intercepts)[0]
    native, slow = pair(name, case)
    other_native, other_slow = pair(name, case)
    native.advance(2, poll())
    slow.advance(2, poll())
    other_slow.restore(native.state())
    other_native.restore(slow.state())
    assert_same_run_on(native, [other_slow, other_native])


def assert_same_run_on(run: Any, others: list[Any]) -> None:
    run.advance(3, poll())
    for other in others:
        other.advance(3, poll())
        assert_same(run, other, "after the change of hands")


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        (name, loss)
        for name in [*SOLVERS, "dcd without polish"]
        for loss in VARIANTS[name].traits.losses
        if is_exact(VARIANTS[name])
    ],
)
def test_state_of_another_problem_is_rebuilt_as_in_the_twin(name: str, loss: str) -> None:
    """Other costs, above all smaller ones: multipliers are clipped to their new box."""
    for intercept in VARIANTS[name].traits.intercepts:
        before, _ = pair(name, Case(loss=loss, intercept=intercept, C=3.0))
        native, slow = pair(name, Case(loss=loss, intercept=intercept, C=0.1))
        before.advance(5, poll())
        for run in (native, slow):
            run.restore(before.state())
            run.rebuild(poll())
        assert_same(native, slow, f"after rebuilding with intercept={intercept}")
        native.advance(2, poll())
        slow.advance(2, poll())
        assert_same(native, slow, f"two epochs later, with intercept={intercept}")


@pytest.mark.parametrize("name", VARIANTS)
def test_poll_stops_a_twin_in_the_middle_of_an_epoch(name: str) -> None:
    _, slow = pair(name, Case())
    left = 30

    def stop(work: int) -> bool:
        nonlocal left
        left -= 1
        return left <= 0

    read, finished = slow.advance(1, stop)
    assert not finished
    assert 0 <= read <= 30 or name.startswith("svmsgd"), "rows read after the request to stop"
    w, _, multipliers = slow.point()
    assert np.all(np.isfinite(w)) and np.all(multipliers >= 0)
    assert slow.advance(2, poll())[1], "a stopped run goes on"


@pytest.mark.parametrize("name", VARIANTS)
def test_twin_refuses_the_state_of_another_solver(name: str) -> None:
    _, slow = pair(name, Case())
    before = slow.state()
    with pytest.raises(ValueError, match="saved state"):
        slow.restore({})
    with pytest.raises(ValueError, match="saved state"):
        slow.restore({key: np.zeros((3, 3)) for key in before})
    with pytest.raises(ValueError, match="saved state"):
        slow.restore({**before, **{key: np.zeros(3) for key in ("w", "v", "a") if key in before}})
    assert all(np.array_equal(value, before[key]) for key, value in slow.state().items()), "restored by halves"


# On the training loop

LAYOUTS = ("dense", "csr")
X, y = make(120, d=6)


@pytest.mark.parametrize(("name", "layout"), [(name, LAYOUTS[j % 2]) for j, name in enumerate(VARIANTS)])
def test_solve_gives_the_same_certificate_with_the_twin(name: str, layout: str) -> None:
    """The schedule of evaluations included; to the bit, or to rounding where linear algebra is at work."""
    data = X if layout == "dense" else sp.csr_array(X)
    solver, exact = VARIANTS[name], is_exact(VARIANTS[name])
    intercept = solver.traits.intercepts[-1]
    options: dict[str, Any] = {"C": 0.1, "intercept": intercept, "tol": 0.02, "max_iter": 40, "random_state": 3}
    fast, slow = (solve_quietly(data, y, solver=how, **options) for how in (solver, twin_of(solver)))
    assert slow.status == fast.status
    if exact:
        assert slow.certificate == fast.certificate
        assert slow.n_iter == fast.n_iter
        assert slow.coef.tobytes() == fast.coef.tobytes() and slow.intercept == fast.intercept
        assert slow.dual.tobytes() == fast.dual.tobytes()
        assert [(r.epoch, r.primal) for r in slow.history] == [(r.epoch, r.primal) for r in fast.history]
        assert slow.state is not None and slow.state["loop_seal"] == fast.state["loop_seal"]
    else:
        assert max(slow.certificate.dual, fast.certificate.dual) <= min(
            slow.certificate.primal, fast.certificate.primal
        )
        assert slow.certificate.relative_gap <= 0.02 or slow.status != "converged"


def test_twin_reads_rows_of_zero_weight_and_labels_as_native_code_does() -> None:
    weight = np.where(np.arange(120) % 3 == 0, 0.0, 1.0 + np.arange(120) % 2)
    options: dict[str, Any] = {"C": 0.1, "sample_weight": weight, "intercept": "penalized", "intercept_scaling": 0.3}
    labels = np.where(y == 1, "yes", "no")
    fast, slow = (solve(X, labels, solver=how, tol=0.05, **options) for how in (SGDm(), reference.SGDm()))
    assert fast.certificate == slow.certificate
    assert not slow.dual[weight == 0].any()


def test_run_of_a_twin_is_resumed_to_the_same_bits() -> None:
    options: dict[str, Any] = {"intercept": "none", "tol": 1e-9, "solver": reference.Pegasos(k=3), "C": 0.1}
    whole = solve_quietly(X, y, max_iter=20, **options)
    half = solve_quietly(X, y, max_iter=7, **options)
    rest = solve_quietly(X, y, max_iter=13, state=half.state, **options)
    assert rest.coef.tobytes() == whole.coef.tobytes()
    assert rest.certificate == whole.certificate
    native = solve_quietly(X, y, max_iter=13, state=half.state, **{**options, "solver": Pegasos(k=3)})
    assert native.coef.tobytes() == whole.coef.tobytes(), "begun in NumPy, ended in native code"


def test_time_limit_stops_a_twin() -> None:
    rows, labels = make(3000)
    solution = solve_quietly(rows, labels, solver=reference.SGDr(), intercept="none", time_limit=0.3, tol=1e-12)
    assert solution.status == "time_limit"


# SGD


def test_proposition_3_counts_what_repetition_counts() -> None:
    for P, lambda_, q, repetitions in itertools.product(range(-25, 26), range(1, 7), range(13), range(1, 8)):
        margin, threshold, errors = P, 0, 0
        for _ in range(repetitions):
            if margin <= threshold:
                margin += q
                errors += 1
            threshold += lambda_
        where = f"P={P}, lambda={lambda_}, q={q}, l={repetitions}"
        assert _core.margin_errors(P, lambda_, q, repetitions) == errors, where
        assert core.margin_errors(P, lambda_, q, repetitions) == errors, where


def test_sgd_m_presents_rows_five_times_in_the_passes_of_the_paper() -> None:
    _, slow = pair("sgd-m", Case())
    passes = [slow.multiplicity(T) for T in range(1, 20)]
    assert passes == [5, 5, 5, 5, 1, 1, 1, 1, 1, 5, 5, 5, 5, 1, 1, 1, 1, 1, 5]


@pytest.mark.parametrize("case", all_of("none"), ids=describe)
def test_native_sgd_m_equals_the_twin_through_its_cycle_of_passes(case: Case) -> None:
    assert_same_run(*pair("sgd-m", case), [9, 12])


# Pegasos

PEGASOS: dict[str, Pegasos] = {
    "t waits, random start": Pegasos(advance_without_loss=False, start_at="random", projection=False),
    "k=7": Pegasos(k=7),
    "k=7 epoch, without projection": Pegasos(k=7, sampling="epoch", projection=False),
    "average, k=3 epoch, without projection": Pegasos(output="average", k=3, sampling="epoch", projection=False),
    "random output, t waits": Pegasos(output="random", advance_without_loss=False, k=2),
    "exact b, average": Pegasos(k=7, bias="exact", output="average"),
    "exact b, epoch": Pegasos(k=20, bias="exact", sampling="epoch"),
}


@pytest.mark.parametrize("solver", PEGASOS.values(), ids=PEGASOS.keys())
def test_native_pegasos_equals_the_twin(solver: Pegasos) -> None:
    for case in cases("none", "penalized", "free", losses=solver.traits.losses):
        assert_same_run(*pair(solver, case, order=BLOCKS), [1, 4])


@pytest.mark.parametrize("bias", ["subgradient", "exact"])
def test_deterministic_pegasos_equals_the_twin(bias: Any) -> None:
    """k = m; t advances once an epoch, so take more of them."""
    for case in cases("none", "free"):
        m = case.make()[0].m
        native, slow = pair(Pegasos(k=m, bias=bias, output="average"), case)
        assert_same_run(native, slow, [1, 2, 3, 7, 20])
        assert native.state()["t"] == 20


def test_exact_intercept_shares_the_margin_as_in_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """On integers many rows lie exactly on the margin, and the fraction of a violation counts."""
    values = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [2.0], [2.0], [-1.0]] * 2)
    target = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0] * 2)
    cost = np.linspace(0.5, 2.0, target.size)
    fractions = []
    at_best_b = core.Pegasos._violators_at_best_b

    def watched(run: core.Pegasos, batch: Any, z: Any) -> Any:
        found = at_best_b(run, batch, z)
        fractions.extend(violator.slope for violator in found)
        return found

    monkeypatch.setattr(core.Pegasos, "_violators_at_best_b", watched)
    for k in (4, 16):
        solver = Pegasos(k=k, bias="exact")
        assert_same_run(*of_arrays(solver, values, target, cost, "free"), [1, 3, 20])
    assert any(0.0 < fraction < 1.0 for fraction in fractions)


def test_exact_intercept_is_refused_for_another_loss_by_both() -> None:
    problem, slow_problem = Case(intercept="free", loss="squared_hinge").make()
    solver = Pegasos(k=7, bias="exact")
    for module, given in ((_core, problem), (core, with_native(problem, slow_problem))):
        with pytest.raises(ValueError, match=r"bias=\"exact\" is for the hinge loss only"):
            solver.build(module, given, setup(solver))


def of_arrays(solver: Any, values: Any, target: Any, cost: Any, kind: InterceptKind) -> tuple[Any, Any]:
    problem = Problem.make(as_rows(values), target, cost, loss=as_loss("hinge"), intercept=Intercept(kind))
    slow = twin.Problem(Rows.dense(values, problem.intercept.rho), target, cost, free_intercept=kind == "free")
    return solver.build(_core, problem, setup(solver)), solver.build(core, with_native(problem, slow), setup(solver))


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_averaged_pegasos_is_the_mean_of_its_iterates(
    scale: float, projection: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    native, slow = pair(Pegasos(output="average", projection=projection), Case(scale=scale))
    iterates, multipliers = [], []
    record = PrimalIterate.record

    def keeping(iterate: PrimalIterate, rng: core.Rng) -> None:
        record(iterate, rng)
        iterates.append(iterate.scale * iterate.v)
        multipliers.append(iterate.scale * iterate.c)

    monkeypatch.setattr(PrimalIterate, "record", keeping)
    assert_same_run(native, slow, [10])
    w, _, a = native.point()
    mean, mean_multipliers = np.mean(iterates, axis=0), np.mean(multipliers, axis=0)
    assert np.linalg.norm(w - mean) <= 1e-8 * np.linalg.norm(mean)
    assert np.linalg.norm(a - mean_multipliers) <= 1e-8 * np.linalg.norm(mean_multipliers)


def test_tiny_scale_is_folded_as_in_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Huge rows: every step with loss ends in a projection that shrinks the scale by orders of magnitude."""
    folds = []
    fold = PrimalIterate.fold_tiny_scale

    def counting(iterate: PrimalIterate) -> None:
        folds.append(iterate.scale < 1e-100)
        fold(iterate)

    monkeypatch.setattr(PrimalIterate, "fold_tiny_scale", counting)
    assert_same_run(*pair(Pegasos(), Case(scale=1e12, m=200)), [3])
    assert any(folds)


def test_exploding_steps_are_those_of_the_twin_and_warn_of_nothing() -> None:
    """The slope of the squared hinge grows with the slack: far too large steps overflow, to the same infinities."""
    for output in ("last", "average"):
        solver = Zhang(eta=0.9 * 7000.0, output=output)  # type: ignore[arg-type]
        native, slow = pair(solver, Case(scale=1e3, C=100.0, loss="squared_hinge"))
        assert_same_run(native, slow, [1, 3])
        assert not np.all(np.isfinite(slow.point()[0]))


def test_linear_algebra_is_all_that_is_not_compared_to_the_bit() -> None:
    loose = {name for name, _ in RUNS} - {name for name, _ in EXACT_RUNS}
    assert loose == {"cutting-plane", "ocas", "ocas that forgets", "dcd", "dcd without shrinking", "newton"}
