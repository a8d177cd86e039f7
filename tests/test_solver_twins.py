"""The native solvers and their NumPy twins agree to the bit, on the same random stream."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from pairs import (
    BLOCKS,
    EPOCHS,
    PERMUTATION,
    SCALES,
    Case,
    all_of,
    assert_same,
    assert_same_point,
    assert_same_run,
    assert_same_while_rows_leave,
    describe,
    few_of,
)

from hinge import _core
from hinge import _reference as twin
from hinge._reference import face
from hinge.problem import Intercept, InterceptKind, Problem, Selection, as_rows


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
        assert twin.margin_errors(P, lambda_, q, repetitions) == errors, where


@pytest.mark.parametrize(
    ("presentation", "order"),
    [("random", PERMUTATION), ("single", PERMUTATION), ("single", BLOCKS), ("multiple", PERMUTATION)],
)
@pytest.mark.parametrize("case", all_of("none", "penalized"), ids=describe)
def test_native_sgd_equals_the_twin(case: Case, presentation: Any, order: tuple[int, int]) -> None:
    problem, slow_problem = case.make()
    native = _core.Sgd(
        problem.native, getattr(_core.Presentation, presentation), _core.Order(*order), _core.Rng([1, case.seed])
    )
    slow = twin.Sgd(slow_problem, presentation, twin.Order(*order), twin.Rng([1, case.seed]))
    assert_same_point(native, slow)
    assert_same_run(native, slow, [*EPOCHS, 12])  # SGD-m: passes 1 to 4 and 10 to 12 are multiple
    assert_same_point(native, slow)
    assert native.estimate() == slow.estimate()


def test_sgd_m_presents_rows_five_times_in_the_passes_of_the_paper() -> None:
    _, problem = Case().make()
    run = twin.Sgd(problem, "multiple", twin.Order(), twin.Rng([1]))
    passes = [run.multiplicity(T) for T in range(1, 20)]
    assert passes == [5, 5, 5, 5, 1, 1, 1, 1, 1, 5, 5, 5, 5, 1, 1, 1, 1, 1, 5]


PEGASOS: dict[str, dict[str, Any]] = {
    "default": {},
    "without projection": {"projection": False},
    "t waits for a loss": {"advance_without_loss": False},
    "t waits, random start": {"advance_without_loss": False, "random_start": True, "projection": False},
    "epoch sampling": {"sampling": "epoch"},
    "k=7 iid": {"k": 7},
    "k=7 epoch": {"k": 7, "sampling": "epoch"},
    "k=7 epoch, without projection": {"k": 7, "sampling": "epoch", "projection": False},
    "average": {"output": "average"},
    "average, k=3 epoch, without projection": {"output": "average", "k": 3, "sampling": "epoch", "projection": False},
    "random output": {"output": "random"},
    "random output, t waits": {"output": "random", "advance_without_loss": False, "k": 2},
    "random start": {"random_start": True},
    "random start, average": {"random_start": True, "output": "average", "k": 5},
}


def pegasos_pair(
    case: Case, options: dict[str, Any], order: tuple[int, int] = PERMUTATION
) -> tuple[_core.Pegasos, twin.Pegasos]:
    problem, slow_problem = case.make()
    if options.get("k") == "m":
        options = {**options, "k": problem.m}
    chosen = twin.PegasosOptions(**options)
    native_options = _core.PegasosOptions(
        k=chosen.k,
        sampling=getattr(_core.Sampling, chosen.sampling),
        projection=chosen.projection,
        advance_without_loss=chosen.advance_without_loss,
        bias=getattr(_core.Bias, chosen.bias),
        output=getattr(_core.Output, chosen.output),
        random_start=chosen.random_start,
    )
    key = [3, case.seed]
    native = _core.Pegasos(problem.native, native_options, _core.Order(*order), _core.Rng(key))
    return native, twin.Pegasos(slow_problem, chosen, twin.Order(*order), twin.Rng(key))


def assert_same_pegasos(case: Case, options: dict[str, Any], order: tuple[int, int] = PERMUTATION) -> None:
    native, slow = pegasos_pair(case, options, order)
    assert_same_run(native, slow, EPOCHS)
    assert_same_point(native, slow)


@pytest.mark.parametrize("options", PEGASOS.values(), ids=PEGASOS.keys())
@pytest.mark.parametrize("case", few_of("none", "penalized"), ids=describe)
def test_native_pegasos_equals_the_twin(case: Case, options: dict[str, Any]) -> None:
    assert_same_pegasos(case, options)


@pytest.mark.parametrize("bias", ["subgradient", "exact"])
@pytest.mark.parametrize(
    "options",
    [{}, {"k": 7}, {"k": 20, "sampling": "epoch"}, {"k": 7, "output": "average"}, {"advance_without_loss": False}],
    ids=str,
)
@pytest.mark.parametrize("case", few_of("free"), ids=describe)
def test_native_pegasos_with_free_intercept_equals_the_twin(case: Case, options: dict[str, Any], bias: str) -> None:
    assert_same_pegasos(case, {**options, "bias": bias})


@pytest.mark.parametrize("bias", ["none", "subgradient", "exact"])
@pytest.mark.parametrize("case", few_of("free"), ids=describe)
def test_deterministic_pegasos_equals_the_twin(case: Case, bias: str) -> None:
    """k = m; t advances once an epoch, so take more of them."""
    native, slow = pegasos_pair(case, {"k": "m", "bias": bias, "output": "average"})
    assert_same_run(native, slow, [1, 2, 3, 7, 40])
    assert native.state()["t"] == 40


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("case", few_of("none", "penalized"), ids=describe)
def test_native_pegasos_in_blocks_equals_the_twin(case: Case, k: int) -> None:
    assert_same_pegasos(case, {"k": k, "sampling": "epoch"}, order=BLOCKS)


@pytest.mark.parametrize("output", ["last", "average", "random"])
@pytest.mark.parametrize("case", few_of("none", "free"), ids=describe)
def test_native_pegasos_rebuilds_as_the_twin(case: Case, output: str) -> None:
    native, slow = pegasos_pair(case, {"output": output, "k": 3})
    assert_same_run(native, slow, [2])
    native.rebuild(_core.Poll(_core.StopFlag()))
    slow.rebuild()
    assert_same(native, slow, "after rebuilding")


def test_exact_intercept_shares_the_margin_as_in_the_twin() -> None:
    """On integers many rows lie exactly on the margin, and the fraction of a violation counts."""
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [2.0], [2.0], [-1.0]] * 2)
    y = np.array([1, -1, -1, 1, -1, 1, 1, -1] * 2, dtype=np.int8)
    cost = np.linspace(0.5, 2.0, y.size)
    problem = Problem(Selection.make(as_rows(X), cost, Intercept("free")), y)
    fractions = []

    class Watched(twin.Pegasos):
        def _violators_at_best_b(self, batch: Any, z: Any) -> Any:
            found = super()._violators_at_best_b(batch, z)
            fractions.extend(violator.fraction for violator in found)
            return found

    for k in (4, 16):
        options = _core.PegasosOptions(
            k, _core.Sampling.iid, True, True, _core.Bias.exact, _core.Output.last, random_start=False
        )
        native = _core.Pegasos(problem.native, options, _core.Order(0), _core.Rng([9]))
        slow_problem = twin.Problem(twin.DenseRows(X), y, cost, True)
        slow = Watched(slow_problem, twin.PegasosOptions(k=k, bias="exact"), twin.Order(), twin.Rng([9]))
        assert_same_run(native, slow, [1, 3, 20])
    assert any(0.0 < fraction < 1.0 for fraction in fractions)


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_averaged_pegasos_is_the_mean_of_its_iterates(
    scale: float, projection: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    native, slow = pegasos_pair(Case(scale=scale), {"output": "average", "projection": projection})
    iterates, multipliers = [], []
    record = twin.Pegasos.record

    def keeping(run: twin.Pegasos, rng: twin.Rng) -> None:
        record(run, rng)
        iterates.append(run.scale * run.v)
        multipliers.append(run.scale * run.c)

    monkeypatch.setattr(twin.Pegasos, "record", keeping)
    assert_same_run(native, slow, [20])
    w, a = native.point()
    mean, mean_multipliers = np.mean(iterates, axis=0), np.mean(multipliers, axis=0)
    assert np.linalg.norm(w - mean) <= 1e-8 * np.linalg.norm(mean)
    assert np.linalg.norm(a - mean_multipliers) <= 1e-8 * np.linalg.norm(mean_multipliers)


def test_tiny_scale_is_folded_as_in_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Huge rows: every step with loss ends in a projection that shrinks the scale by orders of magnitude."""
    folds = []
    fold = twin.Pegasos.fold_tiny_scale

    def counting(run: twin.Pegasos) -> None:
        folds.append(run.scale < 1e-100)
        fold(run)

    monkeypatch.setattr(twin.Pegasos, "fold_tiny_scale", counting)
    assert_same_pegasos(Case(scale=1e12, m=200), {})
    assert any(folds)


def dcd_pair(
    case: Case, shrinking: bool, polish: bool, order: tuple[int, int] = PERMUTATION
) -> tuple[_core.Dcd, twin.Dcd]:
    problem, slow_problem = case.make()
    free = case.intercept == "free"
    kappa = 0.03 * float(problem.rows.squared_norms.mean()) + problem.lambda_ if free else 0.0
    native = _core.Dcd(problem.native, shrinking, polish, kappa, _core.Order(*order), _core.Rng([5]))
    return native, twin.Dcd(slow_problem, shrinking, polish, kappa, twin.Order(*order), twin.Rng([5]))


@pytest.mark.parametrize(
    ("shrinking", "polish", "order"),
    [(False, False, PERMUTATION), (True, False, BLOCKS), (False, True, BLOCKS), (True, True, PERMUTATION)],
)
@pytest.mark.parametrize("case", all_of("none", "penalized", "free"), ids=describe)
def test_native_dcd_equals_the_twin(case: Case, shrinking: bool, polish: bool, order: tuple[int, int]) -> None:
    native, slow = dcd_pair(case, shrinking, polish, order)
    assert_same_run(native, slow, [*EPOCHS, 15])


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_native_dcd_equals_the_twin_to_stagnation(layout: Any, intercept: InterceptKind, C: float) -> None:
    """Rows leave and come back, by themselves and when the caller's check on all rows says so."""
    native, slow = dcd_pair(Case(layout, intercept=intercept, weights=True, C=C, m=90), True, True)
    n_active = assert_same_while_rows_leave(native, slow, 60)
    assert min(n_active) < max(n_active), "nothing was shrunk: the test shows nothing"


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_native_newton_steps_equal_the_twin(
    layout: Any, intercept: InterceptKind, C: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    once = face._climb_once

    def counting(problem: twin.Problem, run: face.DualIterate, free: list[int], K: Any) -> bool:
        before = run.dual
        done = once(problem, run, free, K)
        steps.append(len(free))
        if intercept != "free":
            assert run.dual >= before - 1e-12 * abs(before), "the dual fell"
        return done

    monkeypatch.setattr(face, "_climb_once", counting)
    case = Case(layout, intercept=intercept, C=C, m=150, d=25, seed=4)
    native, slow = dcd_pair(case, True, True)
    assert_same_run(native, slow, list(range(1, 31)))
    assert len(steps) > 3
    assert max(steps) > 8, "the faces were too small for the unrolled sums"


def test_native_newton_steps_on_dependent_rows_equal_the_twin() -> None:
    """Every row thrice, one feature much larger: the factor exists through the ridge only."""
    random = np.random.default_rng(2)
    X = np.repeat(random.normal(size=(20, 3)) * [1.0, 1e-3, 30.0], 3, axis=0)
    y = np.repeat(np.where(random.random(20) < 0.5, 1, -1), 3).astype(np.int8)
    cost = np.full(60, 0.5)
    for kind, kappa in (("none", 0.0), ("free", 0.4)):
        problem = Problem(Selection.make(as_rows(X), cost, Intercept(kind)), y)
        slow_problem = twin.Problem(twin.DenseRows(X), y, cost, kind == "free")
        native = _core.Dcd(problem.native, True, True, kappa, _core.Order(0), _core.Rng([5]))
        slow = twin.Dcd(slow_problem, True, True, kappa, twin.Order(), twin.Rng([5]))
        assert_same_run(native, slow, list(range(1, 41)))
