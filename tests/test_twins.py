"""The native core and its NumPy twins agree to the bit, on the same random stream."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import _core
from hinge import _reference as twin
from hinge._reference import face, objective
from hinge.problem import Intercept, InterceptKind, Problem, Selection, as_rows

SCALES = [1e-3, 1.0, 1e3]
EPOCHS = [1, 3, 7]


@dataclass(frozen=True)
class Case:
    """A random problem: dense or CSR, with all the traits that a sum or a step could trip over."""

    layout: Literal["dense", "csr"] = "dense"
    dtype: Any = np.float64
    index: Any = np.int32
    scale: float = 1.0
    weights: bool = False
    intercept: InterceptKind = "none"
    C: float = 1.0
    m: int = 70  # enough for real blocks of Order(2, 2)
    d: int = 11
    seed: int = 0

    def make(self) -> tuple[Problem, twin.Problem]:
        random = np.random.default_rng(self.seed)
        y = np.where(random.random(self.m) < 0.4, 1, -1).astype(np.int8)
        X = random.normal(size=(self.m, self.d)) + 0.5 * y[:, np.newaxis]
        X[5] = 0.0
        cost = np.full(self.m, float(self.C))
        if self.weights:
            cost *= random.uniform(0.1, 3.0, self.m)
            cost[random.random(self.m) < 0.05] = 0.0  # left out
        kept = np.flatnonzero(cost > 0)
        intercept = Intercept(self.intercept, 0.7 * self.scale)
        if self.layout == "dense":
            data: Any = (X * self.scale).astype(self.dtype)
            rows: twin.Rows = twin.DenseRows(data[kept], intercept.rho)
        else:
            X[random.random(X.shape) < 0.5] = 0.0
            data = sp.csr_array((X * self.scale).astype(self.dtype))
            data.indices, data.indptr = data.indices.astype(self.index), data.indptr.astype(self.index)
            rows = twin.CsrRows(data[kept], intercept.rho)
        native = Problem(Selection.make(as_rows(data), cost, intercept), y)
        return native, twin.Problem(rows, y[kept], cost[kept], self.intercept == "free")


def describe(case: Case) -> str:
    weights = "weights" if case.weights else "equal"
    return f"{case.layout}-{np.dtype(case.dtype).name}-{case.scale:g}-{weights}-{case.intercept}"


def all_of(*intercepts: InterceptKind) -> list[Case]:
    return [
        Case(layout, dtype, np.int64 if weights else np.int32, scale, weights, intercept)
        for layout, dtype, scale, weights, intercept in itertools.product(
            ("dense", "csr"), (np.float64, np.float32), SCALES, (False, True), intercepts
        )
    ]


def few_of(*intercepts: InterceptKind) -> list[Case]:
    """Each layout, scale and intercept; type and weights as they fall."""
    coin = np.random.default_rng(0)
    return [
        Case(
            layout, coin.choice([np.float64, np.float32]), np.int32, scale, bool(coin.integers(2)), intercept, seed=seed
        )
        for seed, (layout, scale, intercept) in enumerate(itertools.product(("dense", "csr"), SCALES, intercepts))
    ]


PERMUTATION = (0, 1)
BLOCKS = (2, 2)


def bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


def assert_same(native: Any, slow: Any, when: str) -> None:
    state = native.state()
    for name, value in state.items():
        expected = slow.rng.state if name == "rng" else getattr(slow, name)
        expected = np.asarray(expected, dtype=np.asarray(value).dtype)
        assert np.array_equal(value, expected), f"{name} {when}: native {value!r}, twin {expected!r}"
        assert bits(value) == bits(expected), f"{name} {when}: a zero has another sign"


def assert_same_run(native: Any, slow: Any, epochs: list[int]) -> None:
    poll = _core.Poll(_core.StopFlag())
    assert_same(native, slow, "at the start")
    for before, after in itertools.pairwise([0, *epochs]):
        native.advance(after - before, poll)
        for _ in range(after - before):
            slow.run_epoch()
        assert_same(native, slow, f"after {after} epochs")


@pytest.mark.parametrize("key", [[], [0], [1], [1, 2, 3], [2**64 - 1, 5]])
def test_native_random_numbers_equal_the_twin(key: list[int]) -> None:
    native, slow = _core.Rng(key), twin.Rng(key)
    assert [native.next() for _ in range(50)] == [slow.next() for _ in range(50)]
    assert [native.uniform() for _ in range(50)] == [slow.uniform() for _ in range(50)]
    for bound in [1, 2, 3, 10, 2**32 + 1, 2**62 + 1, 2**63 - 1]:  # the large ones reject often
        assert [native.below(bound) for _ in range(50)] == [slow.below(bound) for _ in range(50)]
    assert native.next() == slow.next()


@pytest.mark.parametrize(("block", "group"), [(0, 1), (1, 1), (2, 2), (3, 2), (2, 5)])
@pytest.mark.parametrize("m", [0, 1, 2, 15, 63, 64, 65, 131, 200])
def test_native_order_equals_the_twin(block: int, group: int, m: int) -> None:
    native, slow = _core.Rng([7, m]), twin.Rng([7, m])
    for _ in range(3):
        visit = _core.Order(block, group).of_all(m, native)
        assert visit.tolist() == twin.Order(block, group).of_all(m, slow)
        assert sorted(visit) == list(range(m))
    assert native.next() == slow.next()


def test_blocks_keep_consecutive_rows_together() -> None:
    visit = np.array(twin.Order(block=4, group=2).of_all(128, twin.Rng([3])))
    blocks_of_groups = [set(piece // 4) for piece in visit.reshape(-1, 8)]
    assert all(len(blocks) == 2 for blocks in blocks_of_groups)
    assert not np.array_equal(visit, np.arange(128))


@pytest.mark.parametrize("case", all_of("none", "penalized"), ids=describe)
def test_native_rows_equal_the_twin(case: Case) -> None:
    for d in [1, 3, 4, 7, 8, 9, 16, 21]:
        native, slow = replace(case, d=d).make()
        random = np.random.default_rng(d)
        w = random.normal(size=d + 1)
        added = w.copy()
        for i in range(native.m):
            assert native.rows.dot(i, w) == slow.rows.dot(i, w), f"dot of row {i}"
            assert native.rows.squared_norms[i] == slow.rows.squared_norm(i), f"squared norm of row {i}"
            change = random.normal()
            native.rows.add(i, change, w)
            slow.rows.add(i, change, added)
            assert bits(w) == bits(added), f"add of row {i}"
        assert native.native.total_cost == slow.total_cost


def test_unsorted_indices_are_read_as_they_are() -> None:
    X = sp.csr_array((np.array([1.0, 2.0, 1e-9]), np.array([4, 0, 2]), np.array([0, 3])), shape=(1, 5))
    w = np.random.default_rng(0).normal(size=6)
    assert as_rows(X).dot(0, w) == twin.CsrRows(X).dot(0, w)


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
    assert [bits(part) for part in native.point()] == [bits(part) for part in slow.point()]
    assert_same_run(native, slow, [*EPOCHS, 12])  # SGD-m: passes 1 to 4 and 10 to 12 are multiple
    assert [bits(part) for part in native.point()] == [bits(part) for part in slow.point()]
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
    for name, fast_part, slow_part in zip(("w", "multipliers"), native.point(), slow.point(), strict=True):
        assert bits(fast_part) == bits(slow_part), f"{name} of the point"


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
    record = twin.Pegasos._record

    def keeping(run: twin.Pegasos) -> None:
        record(run)
        iterates.append(run.scale * run.v)
        multipliers.append(run.scale * run.c)

    monkeypatch.setattr(twin.Pegasos, "_record", keeping)
    assert_same_run(native, slow, [20])
    w, a = native.point()
    mean, mean_multipliers = np.mean(iterates, axis=0), np.mean(multipliers, axis=0)
    assert np.linalg.norm(w - mean) <= 1e-8 * np.linalg.norm(mean)
    assert np.linalg.norm(a - mean_multipliers) <= 1e-8 * np.linalg.norm(mean_multipliers)


def test_tiny_scale_is_folded_as_in_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Huge rows: every step with loss ends in a projection that shrinks the scale by orders of magnitude."""
    folds = []
    fold = twin.Pegasos._fold_tiny_scale

    def counting(run: twin.Pegasos) -> None:
        folds.append(run.scale < 1e-100)
        fold(run)

    monkeypatch.setattr(twin.Pegasos, "_fold_tiny_scale", counting)
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
    poll = _core.Poll(_core.StopFlag())
    n_active = []
    for epoch in range(1, 61):
        native.advance(1, poll)
        slow.run_epoch()
        n_active.append(len(slow.active))
        assert_same(native, slow, f"after {epoch} epochs")
        if epoch % 25 == 0:
            native.rebuild(poll)
            slow.rebuild()
            assert_same(native, slow, f"after {epoch} epochs and rebuilding")
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


def feasible(problem: twin.Problem, a: Sequence[float]) -> list[Fraction]:
    """sum a_i y_i = 0 exactly: what rounding left of it is taken off one multiplier."""
    exact = [Fraction(a_i) for a_i in a]
    residue = sum(a_i * y for a_i, y in zip(exact, problem.y, strict=True))
    j = max(range(problem.m), key=lambda i: exact[i] * problem.y[i] * (1 if residue >= 0 else -1))
    exact[j] -= abs(residue)
    assert exact[j] >= 0, "no multiplier is large enough for the repair"
    return exact


def exactly(
    problem: twin.Problem, w: Sequence[float], b: float, a: Sequence[float | Fraction]
) -> tuple[Fraction, Fraction]:
    """P(w, b) and D(a) as rational numbers."""
    X = [[Fraction(x) for x in row] for row in objective.augmented(problem).tolist()]
    weights = [Fraction(x) for x in w]
    multipliers = [Fraction(a_i) for a_i in a]
    primal = sum(x * x for x in weights) / 2
    combined = [Fraction(0)] * len(weights)
    for x, y, cost, a_i in zip(X, problem.y, problem.cost, multipliers, strict=True):
        margin = y * (sum(p * q for p, q in zip(x, weights, strict=True)) + Fraction(b))
        primal += Fraction(cost) * max(Fraction(0), 1 - margin)
        combined = [total + a_i * y * p for total, p in zip(combined, x, strict=True)]
    return primal, sum(multipliers) - sum(x * x for x in combined) / 2


@pytest.mark.parametrize("case", all_of("none", "penalized", "free"), ids=describe)
def test_native_objective_brackets_the_exact_values(case: Case) -> None:
    problem, slow = case.make()
    poll = _core.Poll(_core.StopFlag())
    random = np.random.default_rng(1)
    near = random.uniform(0.0, 1.0, problem.m) * problem.cost / (1.0 + problem.rows.squared_norms.mean())
    for start in (np.zeros(problem.m), near, 2.0 * near - 0.1 * problem.cost, 5.0 * problem.cost):
        D, lowered, a, w = _core.dual(problem.native, start, poll)
        P, raised, b = _core.primal(problem.native, w, poll)
        exact_P, exact_D = exactly(slow, w, b, a)
        assert np.all((a >= 0.0) & (a <= problem.cost))
        assert Fraction(D) <= exact_D, "the dual bound is above the dual value"
        assert Fraction(P) >= exact_P, "the primal bound is below the primal value"
        assert float(exact_D - Fraction(D)) <= 2.0 * lowered + 1e-300
        assert float(Fraction(P) - exact_P) <= 2.0 * raised + 1e-300
        assert objective.primal(slow, w, b) == pytest.approx(float(exact_P), rel=1e-12)
        assert objective.dual(slow, a) == pytest.approx(float(exact_D), rel=1e-12, abs=1e-12 * float(a.sum()))
        if case.intercept == "free":
            z = [slow.rows.dot(i, w) for i in range(slow.m)]
            assert b == pytest.approx(objective.best_intercept(z, slow.y, slow.cost), rel=1e-12, abs=1e-12)
            assert exactly(slow, w, b, feasible(slow, a))[1] >= Fraction(D), "the bound is not that of a feasible point"


@pytest.mark.parametrize("m", [1, 2, 3, 10, 41])
@pytest.mark.parametrize("ties", [False, True])
def test_best_intercept_minimises_the_loss(m: int, ties: bool) -> None:
    random = np.random.default_rng(m)
    for _ in range(40):
        z = random.integers(-3, 4, m).astype(float) if ties else random.normal(size=m) * 10.0
        y = np.where(random.random(m) < 0.5, 1, -1).astype(np.int8)
        cost = random.integers(1, 3, m).astype(float) if ties else random.uniform(0.1, 2.0, m)
        b = _core.best_intercept(z, y, cost)
        assert b == pytest.approx(objective.best_intercept(z.tolist(), y.tolist(), cost.tolist()), rel=1e-12, abs=1e-12)

        def loss(b: float, z: Any = z, y: Any = y, cost: Any = cost) -> float:
            return float(cost @ np.maximum(0.0, 1.0 - y * (z + b)))

        assert loss(b) <= min(loss(at) for at in y - z) * (1.0 + 1e-12)
