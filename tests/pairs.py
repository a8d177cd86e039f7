"""Random problems and runs in pairs: of the native core and of its NumPy twin."""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from registry import VARIANTS, fitted

from hinge import Blocks, CuttingPlane, Newton, Permutation, Problem, _core, reference
from hinge.problem import Intercept, InterceptKind, as_loss, as_rows
from hinge.reference import core
from hinge.reference import problem as twin
from hinge.reference.loss import LOSSES
from hinge.reference.rows import Rows
from hinge.solvers import Setup

SCALES = [1e-3, 1.0, 1e3]
EPOCHS = [1, 2, 5]
PERMUTATION = Permutation()
BLOCKS = Blocks(rows=2, group=2)


@dataclass(frozen=True)
class Case:
    """A random problem: dense or CSR, with all the traits that a sum or a step could trip over."""

    layout: Literal["dense", "csr"] = "dense"
    dtype: Any = np.float64
    index: Any = np.int32
    scale: float = 1.0
    weights: bool = False
    intercept: InterceptKind = "none"
    loss: str = "hinge"
    C: float = 1.0
    m: int = 70  # enough for real blocks of BLOCKS
    d: int = 11
    seed: int = 0

    def make(self) -> tuple[Problem, twin.Problem]:
        """The native problem, and its twin made from the same arrays."""
        random = np.random.default_rng(self.seed)
        target = np.where(random.random(self.m) < 0.4, 1.0, -1.0)
        X = random.normal(size=(self.m, self.d)) + 0.5 * target[:, np.newaxis]
        X[5] = 0.0
        cost = np.full(self.m, float(self.C))
        if self.weights:
            cost *= random.uniform(0.1, 3.0, self.m)
            cost[random.random(self.m) < 0.05] = 0.0  # left out
        kept = np.flatnonzero(cost > 0)
        intercept = Intercept(self.intercept, 0.7 * self.scale)
        if self.layout == "dense":
            data: Any = (X * self.scale).astype(self.dtype)
            rows = Rows.dense(data[kept], intercept.rho)
        else:
            X[random.random(X.shape) < 0.5] = 0.0
            data = sp.csr_array((X * self.scale).astype(self.dtype))
            data.indices, data.indptr = data.indices.astype(self.index), data.indptr.astype(self.index)
            rows = Rows.csr(data[kept], intercept.rho)
        native = Problem.make(as_rows(data), target, cost, loss=as_loss(self.loss), intercept=intercept)
        free = self.intercept == "free"
        return native, twin.Problem(rows, target[kept], cost[kept], LOSSES[self.loss], free)


def describe(case: Case) -> str:
    weights = "weights" if case.weights else "equal"
    return f"{case.layout}-{np.dtype(case.dtype).name}-{case.scale:g}-{weights}-{case.intercept}-{case.loss}"


# Each layout and type, with and without weights, and each scale somewhere.
_LAYOUTS: list[dict[str, Any]] = [
    {"layout": "dense", "dtype": np.float64, "scale": 1.0, "weights": True},
    {"layout": "csr", "dtype": np.float64, "scale": 1e3, "weights": False},
    {"layout": "dense", "dtype": np.float32, "scale": 1e-3, "weights": False},
    {"layout": "csr", "dtype": np.float32, "scale": 1.0, "weights": True, "index": np.int64},
]


def cases(*intercepts: InterceptKind, losses: tuple[str, ...] = ("hinge",)) -> list[Case]:
    """Every layout, every intercept and every loss at least once, and some of their pairs."""
    kinds = list(itertools.product(losses, intercepts))
    return [
        Case(**_LAYOUTS[j % len(_LAYOUTS)], loss=kinds[j % len(kinds)][0], intercept=kinds[j % len(kinds)][1], seed=j)
        for j in range(max(len(kinds), len(_LAYOUTS)))
    ]


def all_of(*intercepts: InterceptKind) -> list[Case]:
    """The full product, for what is cheap."""
    return [
        Case(layout, dtype, np.int64 if weights else np.int32, scale, weights, intercept)
        for layout, dtype, scale, weights, intercept in itertools.product(
            ("dense", "csr"), (np.float64, np.float32), SCALES, (False, True), intercepts
        )
    ]


def is_exact(solver: Any) -> bool:
    """Whether native code and twin agree to the bit: but for linear algebra, they do."""
    return not isinstance(solver, CuttingPlane | Newton) and not getattr(solver, "polish", False)


#: (variant of a solver, case that it supports): the registry, and variants of it.
RUNS = [
    (name, case)
    for name, solver in VARIANTS.items()
    for case in cases(*solver.traits.intercepts, losses=solver.traits.losses)
]
EXACT_RUNS = [(name, case) for name, case in RUNS if is_exact(VARIANTS[name])]


def run_id(value: Any) -> str:
    return describe(value) if isinstance(value, Case) else str(value)


def poll() -> _core.Poll:
    return _core.Poll(_core.StopToken())


def setup(solver: Any, order: Any = None, key: tuple[int, ...] = (4,)) -> Setup:
    """Of a run; an order only for a solver that takes one."""
    usual = solver.traits.order
    return Setup(usual if order is None or usual is None else order, key, poll(), 100)


def twin_of(solver: Any) -> Any:
    """The same configuration in NumPy."""
    return getattr(reference, type(solver).__name__)(**solver.get_params())


def pair(solver: Any, case: Case, order: Any = None, key: tuple[int, ...] = (4,)) -> tuple[Any, Any]:
    """The algorithm at work, native and in NumPy. `solver` may be the name of a variant."""
    problem, slow_problem = case.make()
    if isinstance(solver, str):
        solver = fitted(solver, problem.m, problem.native.total_cost)
    how = setup(solver, order, key)
    return solver.build(_core, problem, how), solver.build(core, with_native(problem, slow_problem), how)


def with_native(problem: Problem, native: Any) -> Problem:
    other = copy.copy(problem)
    other.native = native
    return other


def bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


def assert_same(native: Any, slow: Any, when: str) -> None:
    """Everything that can be seen of them has the same bits."""
    state, expected = native.state(), slow.state()
    assert state.keys() == expected.keys()
    for name, value in state.items():
        _assert_same_bits(f"{name} {when}", value, expected[name])
    for name, part, other in zip(("w", "b", "multipliers"), native.point(), slow.point(), strict=True):
        _assert_same_bits(f"{name} of the point {when}", part, other)
    assert native.estimate() == slow.estimate(), f"estimates {when}"


def _assert_same_bits(what: str, found: Any, expected: Any) -> None:
    """NaN may be any NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype, f"{what}: of another type"
    assert np.array_equal(found, expected, equal_nan=True), f"{what}: native {found!r}, twin {expected!r}"
    assert np.any(np.isnan(found)) or bits(found) == bits(expected), f"{what}: a zero has another sign"


def assert_same_run(native: Any, slow: Any, epochs: list[int]) -> None:
    assert_same(native, slow, "at the start")
    for before, after in itertools.pairwise([0, *epochs]):
        read = native.advance(after - before, poll())
        assert read == slow.advance(after - before, poll()), "rows read"
        assert_same(native, slow, f"after {after} epochs")


def assert_same_while_rows_leave(native: Any, slow: Any, epochs: int) -> list[int]:
    """Epoch by epoch, with the rebuilding that a failed check on all rows asks for; how many rows were active."""
    n_active = []
    for epoch in range(1, epochs + 1):
        assert native.advance(1, poll()) == slow.advance(1, poll())
        n_active.append(len(slow.at_work.active))
        assert_same(native, slow, f"after {epoch} epochs")
        if epoch % 25 == 0:
            native.rebuild(poll())
            slow.rebuild(poll())
            assert_same(native, slow, f"after {epoch} epochs and rebuilding")
    return n_active
