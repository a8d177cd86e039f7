"""Random problems and runs in pairs: of the native core and of its NumPy twin."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from hinge import _core
from hinge import _reference as twin
from hinge.problem import Intercept, InterceptKind, Problem, Selection, as_rows

SCALES = [1e-3, 1.0, 1e3]
EPOCHS = [1, 3, 7]
PERMUTATION = (0, 1)
BLOCKS = (2, 2)


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


def bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


def field(run: Any, name: str) -> Any:
    """A field of a twin, or of its step size or dual average: the native state has them side by side."""
    if name == "rng":
        return run.rng.state
    owners = [run, *(getattr(run, part) for part in ("rate", "average") if hasattr(run, part))]
    return next(getattr(owner, name) for owner in owners if hasattr(owner, name))


def assert_same(native: Any, slow: Any, when: str) -> None:
    state = native.state()
    for name, value in state.items():
        expected = field(slow, name)
        expected = np.asarray(expected, dtype=np.asarray(value).dtype)
        assert np.array_equal(value, expected), f"{name} {when}: native {value!r}, twin {expected!r}"
        assert bits(value) == bits(expected), f"{name} {when}: a zero has another sign"


def assert_same_point(native: Any, slow: Any) -> None:
    for name, fast_part, slow_part in zip(("w", "multipliers"), native.point(), slow.point(), strict=True):
        assert bits(fast_part) == bits(slow_part), f"{name} of the point"


def assert_same_run(native: Any, slow: Any, epochs: list[int]) -> None:
    poll = _core.Poll(_core.StopFlag())
    assert_same(native, slow, "at the start")
    for before, after in itertools.pairwise([0, *epochs]):
        native.advance(after - before, poll)
        for _ in range(after - before):
            slow.run_epoch()
        assert_same(native, slow, f"after {after} epochs")


def assert_same_while_rows_leave(native: Any, slow: Any, epochs: int) -> list[int]:
    """Epoch by epoch, with the rebuilding that a failed check on all rows asks for; how many rows were active."""
    poll = _core.Poll(_core.StopFlag())
    n_active = []
    for epoch in range(1, epochs + 1):
        native.advance(1, poll)
        slow.run_epoch()
        n_active.append(len(slow.active))
        assert_same(native, slow, f"after {epoch} epochs")
        if epoch % 25 == 0:
            native.rebuild(poll)
            slow.rebuild()
            assert_same(native, slow, f"after {epoch} epochs and rebuilding")
    return n_active
