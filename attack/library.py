"""What the attacks know of the library beyond its public names: the registry, the contract of a solver, the core."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from hinge import _core
from hinge.problem.rows import as_rows
from hinge.solvers import as_solver, solver_names
from hinge.training import saved

# Options that are numbers, with the values to draw from. Words and switches are drawn from all that there are.
_NUMBERS: dict[str, tuple[Any, ...]] = {
    "batch": (1, 7, 16),
    "delta": (None, 0.1, 0.5),
    "eta": (0.01, 0.1),
    "f": (1.0, 1.2, 3.0),
    "horizon": (1000, 100_000),  # given: it would follow from max_iter, and change with it
    "k": (1, 2, 7),
    "keep_unused": (2, 50),
    "mu": (0.1, 0.5),
    "sample_size": (2, 1000),
}


@dataclass(frozen=True)
class Setting:
    """A solver with its options, and a problem that it can solve."""

    solver: Any
    loss: str
    intercept: str
    order: str | None = None

    def options(self) -> dict[str, Any]:
        """Keyword arguments of :func:`hinge.solve`."""
        return {"solver": self.solver, "loss": self.loss, "intercept": self.intercept, "order": self.order}

    def fit_options(self) -> dict[str, Any]:
        """Parameters of :class:`hinge.LinearSVC`."""
        chosen = {"fit_intercept": False} if self.intercept == "none" else {"intercept": self.intercept}
        return {"solver": self.solver, "loss": self.loss, "order": self.order, **chosen}


def draw_setting(rng: np.random.Generator, *, loss: str | None = None, intercept: str | None = None) -> Setting:
    """A solver of the registry, its options, a loss, an intercept and an order, all at random."""
    while True:
        try:
            solver = _draw_options(rng, as_solver(str(rng.choice(solver_names()))))
        except ValueError:  # options that exclude each other
            continue
        traits = solver.traits
        found = Setting(
            solver,
            loss or str(rng.choice(traits.losses)),
            intercept or str(rng.choice(traits.intercepts)),
            None if traits.order is None else [None, "permutation", "blocks"][rng.integers(3)],
        )
        if found.loss in traits.losses and found.intercept in traits.intercepts:
            return found


def _draw_options(rng: np.random.Generator, solver: Any) -> Any:
    """Half of the time as it is, otherwise with random options."""
    varied = rng.random() < 0.5
    return solver.replace(
        **{
            name: choices[rng.integers(len(choices))]
            for name, choices in _choices(type(solver)).items()
            if varied or name == "horizon"
        }
    )


@cache
def _choices(kind: type) -> dict[str, tuple[Any, ...]]:
    """The values to draw the options of a configuration from; unknown numbers keep their default."""
    hints = get_type_hints(kind)
    found: dict[str, tuple[Any, ...]] = {}
    for name in (field.name for field in fields(kind)):
        if hints[name] is bool:
            found[name] = (False, True)
        elif get_origin(hints[name]) is Literal:
            found[name] = get_args(hints[name])
        elif name in _NUMBERS:
            found[name] = _NUMBERS[name]
    return found


def is_of_the_loop(key: str) -> bool:
    """Whether the loop, not the solver, has put this into a state."""
    return key.startswith(saved._PREFIX)


def resealed(state: dict[str, Any]) -> dict[str, Any]:
    """A changed state with a seal that fits; ValueError if there is something in it that no seal is made for."""
    run = {key: value for key, value in state.items() if not is_of_the_loop(key)}
    loop = {key.removeprefix(saved._PREFIX): value for key, value in state.items() if is_of_the_loop(key)}
    return saved.sealed(run, {key: value for key, value in loop.items() if saved._PREFIX + key != saved._SEAL})


class Native:
    """The native evaluation of one problem."""

    def __init__(self, X: Any, target: Any, cost: Any, loss: str, intercept: str, scale: float) -> None:
        rows = as_rows(X).with_constant(scale if intercept == "penalized" else 0.0)
        signs = np.asarray(target, dtype=np.float64)
        self._problem = _core.Problem(rows, signs, cost, getattr(_core.Loss, loss), intercept == "free")
        self._poll = _core.Poll(_core.StopToken(), False)

    def primal(self, w: Any, b: float | None) -> tuple[float, float]:
        """(P rounded up, b): at the best b if it is free and not given."""
        found = _core.primal(self._problem, w, b, self._poll, 1)
        assert found is not None, "nobody stops this poll"
        return found[0], found[2]

    def dual(self, a: Any) -> tuple[float, Any]:
        """(D rounded down, the feasible multipliers that have it)."""
        found = _core.dual(self._problem, a, self._poll, 1)
        assert found is not None, "nobody stops this poll"
        return found[0], found[2]


class Counted:
    """A solver that counts the passes that were finished, for every problem that it was started on."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver
        self._runs: list[tuple[Any, _CountedRun]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._solver, name)

    def start(self, problem: Any, *args: Any, **kwargs: Any) -> Any:
        """Start the solver, and count what it reads."""
        run = _CountedRun(self._solver.start(problem, *args, **kwargs), problem.m)
        self._runs.append((np.asarray(problem.target), run))
        return run

    def passes(self, target: Any) -> int:
        """Passes that were surely finished on the problem with this target."""
        return max((run.passes for signs, run in self._runs if np.array_equal(signs, target)), default=0)


class _CountedRun:
    def __init__(self, run: Any, m: int) -> None:
        self._run, self._m = run, m
        self._before, self.passes = 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def advance(self, epochs: int) -> int:
        self.passes = self._before  # another call begins only after one that was not stopped
        self._before += epochs
        rows: int = self._run.advance(epochs)
        if rows >= epochs * self._m:
            self.passes = self._before
        return rows
