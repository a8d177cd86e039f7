"""The contract of a solver: a configuration that declares what it supports and starts a run on a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, Protocol, Self, TypeAlias

from hinge import _core, checks
from hinge.problem import Floats, InterceptChoice, InterceptKind, Order, Problem
from hinge.problem.problem import Space

# Intermediate evaluations read at most this share of the rows that training reads; the final one is not counted.
BUDGET = 0.2

#: Arrays and numbers that make up a run.
State: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Traits:
    """What a solver supports and how the loop is to treat it.

    Attributes
    ----------
    losses : names of the losses that it minimises
    intercepts : treatments of b that it knows
    order : the row order that it uses unless told otherwise; None: it takes no order, because it draws its rows itself
        or reads all of them in turn
    comparison : how far above the tolerance an estimate may lie to be worth an exact evaluation, as a factor; None:
        learned from evaluations that came too early
    budget : rows that intermediate evaluations may read for each row that training reads; infinite: an evaluation
        whenever the estimate passes, as in the papers
    refines_tiny : whether problems of up to 1000 rows are worth solving to the last bit
    rebuilds : whether its model is w(a), rebuilt from the multipliers by evaluation, whatever w its points carry
    transfers : whether its state is a good start at other costs, too; a path over C starts other solvers afresh
    leaves_rows_out : whether an epoch may read few of the rows: as many of them as read all rows then count as one pass
    space : "linear", or "kernel" for one that works on a :class:`hinge.features.KernelProblem`
    """

    losses: tuple[str, ...] = ("hinge",)
    intercepts: tuple[InterceptKind, ...] = ("none", "penalized")
    order: Order | None = None
    comparison: float | None = None
    budget: float = BUDGET
    refines_tiny: bool = False
    rebuilds: bool = False
    transfers: bool = False
    leaves_rows_out: bool = False
    space: Space = "linear"

    def treatment(self, intercept: InterceptChoice) -> InterceptKind:
        """What ``intercept=`` means: "auto" is free if that is supported, otherwise the papers' way, penalized."""
        if intercept != "auto":
            return intercept
        return "free" if "free" in self.intercepts else "penalized"


@dataclass(frozen=True)
class Setup:
    """What a run is started with.

    Attributes
    ----------
    order : the order of rows in an epoch; None for a solver that takes none
    key : integers that random numbers must come from, and from nothing else: same key, same bits
    poll : tells native loops to stop
    max_iter : the largest number of epochs that will be asked for
    tol : the relative gap that is wanted
    n_threads : threads that the run may use; they must change no bit of the result
    """

    order: Order | None
    key: tuple[int, ...]
    poll: _core.Poll
    max_iter: int
    tol: float = 1e-3
    n_threads: int = 1


@dataclass(frozen=True)
class Point:
    """What a run offers for evaluation.

    Attributes
    ----------
    multipliers : ndarray of shape (m,)
        They need not be feasible: evaluation clips them to the box and repairs the rest.
    w : ndarray of shape (problem.n_weights,) or None
        None: w(a).
    b : float
        The run's own guess of a free intercept. Evaluation finds the best one; this is for when there is no time.
    """

    multipliers: Floats
    w: Floats | None = None
    b: float = 0.0


class Run(Protocol):
    """A solver at work on one problem. Subclass it: `advance` and `point` are all that a run must have."""

    @property
    def label(self) -> str:
        """Which solver is at work: for the history."""
        return ""

    @abstractmethod
    def advance(self, epochs: int) -> int:
        """Work for `epochs` epochs; return how many rows were read."""
        ...

    @abstractmethod
    def point(self) -> Point:
        """The present multipliers and weights."""
        ...

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, from what the epochs have computed anyway; None: no idea."""
        return None

    def rejected(self) -> None:
        """An exact evaluation found a gap above the tolerance: drop what may have misled the estimate."""

    def finished(self) -> bool:
        """Whether a rule of the solver's own has ended the run; the loop then evaluates it once more."""
        return False

    def save(self) -> State | None:
        """Everything that it takes to go on to the same bits; None: this run cannot be resumed."""
        return None

    def surrender(self) -> State | None:
        """The same, called last: the run may give its own arrays away, as it is not asked for anything again."""
        return self.save()

    def restore(self, state: State, *, same_problem: bool) -> None:
        """Go on from `state`: to the same bits on the same problem, from the best that it offers on another one."""
        raise TypeError(f"{type(self).__name__} cannot be resumed: it has no save() and restore(state).")


def as_run(run: Any) -> Run:
    """The run itself, if it has every method of one."""
    for name in ("advance", "point", "estimate", "rejected", "finished", "save", "surrender", "restore"):
        if not callable(getattr(run, name, None)):
            raise TypeError(
                f"{type(run).__name__} has no method {name}: make it a subclass of hinge.Run, which has all of them "
                "but advance and point."
            )
    if not isinstance(getattr(run, "label", None), str):
        raise TypeError(f"{type(run).__name__} has no text `label`: make it a subclass of hinge.Run, which has one.")
    found: Run = run
    return found


def rows_read(run: Run, epochs: int) -> int:
    """Advance; who forgets to say how many rows were read is told so."""
    read: Any = run.advance(epochs)
    if isinstance(read, Integral) and int(read) >= 0:
        return int(read)
    raise TypeError(
        f"{type(run).__name__}.advance returned {checks.shown(read)}: it must return the number of rows that it has "
        "read, for example epochs * problem.m."
    )


def point_of(run: Run) -> Point:
    """What the run offers; an array instead of a Point is refused."""
    point: Any = run.point()
    if isinstance(point, Point):
        return point
    raise TypeError(
        f"{type(run).__name__}.point returned an object of type {type(point).__name__}: it must return a hinge.Point, "
        "for example Point(a) of the multipliers or Point(a, w) of multipliers and weights."
    )


class Solver(Protocol):
    """What the user passes as ``solver``."""

    @property
    def traits(self) -> Traits:
        """What it supports."""
        ...

    def start(self, problem: Problem, setup: Setup) -> Run:
        """Begin a run."""
        ...


class Composite(ABC):
    """A solver that consists of several runs of the loop, with a solver of its own in each."""

    @property
    @abstractmethod
    def traits(self) -> Traits:
        """What all of these support."""

    @abstractmethod
    def train(self, problem: Problem, options: Any, train: Callable[[Problem, Solver, Any], Any]) -> Any:
        """Call `train` as often as needed, and return the outcome of all."""


@dataclass(frozen=True)
class Configuration:
    """A frozen set of options that scikit-learn can read and vary (``solver__k=[1, 100]`` in a grid search)."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def replace(self, **options: Any) -> Self:
        """A copy with some options changed; an unknown one is an error."""
        if message := self._unknown(options):
            raise ValueError(message)
        return replace(self, **options)

    def __new__(cls, *_: Any, **options: Any) -> Self:
        """Say which options there are where Python would only say that there is no such one."""
        if message := cls._unknown(options):
            raise TypeError(message)
        return super().__new__(cls)

    @classmethod
    def _unknown(cls, options: dict[str, Any]) -> str:
        """What is wrong with the names of these options, if anything."""
        known = sorted(field.name for field in fields(cls) if field.init)
        unknown = sorted(set(options) - set(known))
        if not unknown:
            return ""
        return f"{cls.__name__} has no option {unknown[0]!r}; it has {known}." + checks.did_you_mean(unknown[0], known)
