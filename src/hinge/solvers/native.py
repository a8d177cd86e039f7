"""What the solvers of the native core share: how a configuration becomes a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from hinge import _core
from hinge.problem import Floats, Permutation, Problem
from hinge.solvers.contract import Configuration, Point, Run, Setup, State, Traits

#: Type of the weights while training.
Precision = Literal["double", "single"]

# Under this name a state says what sum_i C_i was.
_TOTAL_COST = "total_cost"
# A multiplier at its old bound must not stop a rounding error short of the new one; whatever goes beyond is cut off.
_BEYOND = 1e-12


@dataclass(frozen=True)
class NativeSolver(Configuration):
    """A configuration whose algorithm is a class of the core.

    A subclass declares its traits, and says in `build` which class of `core` to make with which options. `core` is the
    compiled module; :mod:`hinge.reference` puts its readable twin in the same place.
    """

    core: ClassVar[Any] = _core
    #: Fields of a saved state that mean nothing on another problem, and what they are there.
    forgets: ClassVar[State] = {}
    #: The field of a saved state that holds the multipliers, if there is one; "w" then holds their weights.
    multipliers: ClassVar[str | None] = None

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        raise NotImplementedError

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work, made from `core`."""
        raise NotImplementedError

    def start(self, problem: Problem, setup: Setup) -> NativeRun:
        """Begin a run."""
        return NativeRun(self.build(self.core, problem, setup), setup, self, problem)


def rng_of(core: Any, setup: Setup) -> Any:
    """The random numbers of a run."""
    return core.Rng(list(setup.key))


def order_of(core: Any, problem: Problem, setup: Setup) -> Any:
    """Its row order; a solver that draws rows itself is built with one that it does not use."""
    return (setup.order or Permutation()).build(core, problem.m, setup.key)


def kappa_of(problem: Problem) -> float:
    """kappa of the method of multipliers: b moves by kappa times the change of sum_i a_i t_i.

    A constant feature of 3 % of the rows' mean squared norm is small enough not to slow the steps down, and large
    enough for b to follow. The second term lets b move where the rows are tiny: all multipliers together move it by 1.
    """
    if problem.intercept.kind != "free":
        return 0.0
    return 0.03 * float(problem.rows.squared_norms.mean()) + 1.0 / problem.native.total_cost


class NativeRun(Run):
    """Any class of the core at work."""

    def __init__(self, algorithm: Any, setup: Setup, solver: NativeSolver, problem: Problem) -> None:
        self._algorithm = algorithm
        self._poll = setup.poll
        self._tol = setup.tol
        self._solver = solver
        self._problem = problem

    def advance(self, epochs: int) -> int:
        if self._solver.traits.leaves_rows_out:
            return sum(self.advance_by(self._problem.m, self._tol) for _ in range(epochs) if not self._poll.stopped)
        touched, _ = self._algorithm.advance(epochs, self._poll)
        return int(touched)

    def advance_by(self, rows: int, tol: float) -> int:
        """Epochs, at least one, until so many rows are read or the estimated gap is within `tol`; returns rows read."""
        touched, _ = self._algorithm.advance_by(rows, tol, self._poll)
        return int(touched)

    def point(self) -> Point:
        w, b, multipliers = self._algorithm.point()
        multipliers.flags.writeable = False  # nobody else has it: an evaluation need not copy it
        return Point(multipliers, w, b)

    def estimate(self) -> tuple[float, float] | None:
        found: tuple[float, float] | None = self._algorithm.estimate()
        return found

    def rejected(self) -> None:
        """w may have drifted from w(a), and rows that were left out may matter: w is computed anew, all rows return."""
        if self._solver.traits.rebuilds:
            self._algorithm.rebuild(self._poll)

    def finished(self) -> bool:
        return bool(self._algorithm.finished())

    def save(self) -> State:
        return self._with_cost(self._algorithm.state())

    def surrender(self) -> State:
        return self._with_cost(self._algorithm.surrender())

    def _with_cost(self, state: State) -> State:
        return {**state, _TOTAL_COST: float(self._problem.native.total_cost)}

    def restore(self, state: State, *, same_problem: bool) -> None:
        try:
            transferred = self._transferred(state)  # always: it refuses a state without its total cost
            self._algorithm.restore(state if same_problem else transferred)
        except (KeyError, TypeError, ValueError, RuntimeError, ZeroDivisionError) as error:
            name = type(self._solver).__name__
            raise ValueError(f"The saved state does not fit this problem and {name}: {error}.") from error
        if not same_problem:
            self._algorithm.rebuild(self._poll)

    def _transferred(self, state: State) -> State:
        """The state of another problem, for this one: multipliers grow with the costs, as far as that is good for D."""
        factor = self._problem.native.total_cost / float(state[_TOTAL_COST])
        name = self._solver.multipliers
        if name is None or factor == 1.0:
            return {**state, **self._solver.forgets}
        a = np.asarray(state[name], dtype=np.float64)
        scale = _best_scale(self._problem, a, np.asarray(state["w"]), factor)
        return {**state, name: a * scale * (1.0 + _BEYOND), **self._solver.forgets}


def _best_scale(problem: Problem, a: Floats, w: Floats, factor: float) -> float:
    """The s between 1 and `factor`, by which the costs have grown, with the largest D(s a); w is w(a).

    D(s a) = s sum_i a_i - s^2 (1/2 |w|^2 + penalty). Where most multipliers lie at their bounds, s is `factor`: they go
    to the new bounds. Where the rows can be separated, the old multipliers are still the best ones, and s is 1. Either
    way sum_i a_i t_i = 0 stays true. Falling costs take the multipliers with them.
    """
    weights = w if problem.intercept.kind == "penalized" else w[:-1]
    with np.errstate(all="ignore"):
        penalty = 0.0 if problem.loss.bounded else float(np.sum(problem.loss.dual_penalty(a, problem.cost)))
        best = float(np.sum(a)) / (float(np.sum(np.square(weights))) + 2.0 * penalty)
    return max(1.0, min(best, factor)) if factor > 1.0 and best > 0.0 else factor
