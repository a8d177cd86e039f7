"""What a solver is: a configuration that can start a run on a problem. A protocol, not a base class."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Protocol, Self, TypeAlias, get_args, runtime_checkable

from hinge import _core
from hinge.certificate import Point
from hinge.order import Order
from hinge.outcome import Options
from hinge.problem import InterceptKind, Problem

State: TypeAlias = dict[str, Any]


class Run(Protocol):
    """A solver at work on one problem."""

    def advance(self, epochs: int) -> int:
        """Work for `epochs` epochs; return how many rows were read."""
        ...

    def point(self) -> Point:
        """The present multipliers (and weights, unless they are w(a))."""
        ...


@runtime_checkable
class Estimating(Protocol):
    """A run that can guess its objective values from what an epoch has computed anyway."""

    def estimate(self) -> tuple[float, float]:
        """(primal, dual), roughly."""
        ...


@runtime_checkable
class Checked(Protocol):
    """A run that wants to hear when an exact evaluation did not end it."""

    def not_yet(self) -> None:
        """An evaluation on all rows found a gap above the tolerance."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """A run that can be saved between epochs and continued to the same bits."""

    def state(self) -> State:
        """Arrays and numbers that make up the run."""
        ...

    def restore(self, state: State, *, same_problem: bool) -> None:
        """Continue from `state`: to the same bits on the same problem, from the best that it offers on another one."""
        ...


class Solver(Protocol):
    """A configuration: what the user passes as ``solver``.

    `intercepts` lists the treatments of b that it supports, `default_order` the row order it uses unless told
    otherwise (None: it draws its rows itself or reads all of them in turn, and takes no order). Both may be missing:
    all treatments, no order.

    Two more are optional: `comparison`, how far above the tolerance an estimate may lie to be worth an exact evaluation
    (missing: learned), and `refines_tiny`, whether problems of up to 1000 rows are worth solving to the last bit.
    """

    @property
    def intercepts(self) -> tuple[InterceptKind, ...]: ...

    @property
    def default_order(self) -> Order | None: ...

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> Run:
        """Begin a run. Random numbers must come from `stream` only."""
        ...


@runtime_checkable
class Tailored(Protocol):
    """A configuration with options that follow from those of the run, unless given."""

    def tailored(self, problem: Problem, options: Options) -> Solver:
        """The configuration for this run."""
        ...


@dataclass(frozen=True)
class Configuration:
    """A frozen set of options that scikit-learn can read and vary (``solver__k=[1, 100]`` in a grid search)."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def replace(self, **options: Any) -> Self:
        """A copy with some options changed; an unknown one is an error."""
        unknown = sorted(set(options) - {field.name for field in fields(self)})
        if unknown:
            raise ValueError(f"{type(self).__name__} has no option {unknown[0]!r}; it has {sorted(asdict(self))}.")
        return replace(self, **options)


def expect_choice(configuration: Configuration, **choices: Any) -> None:
    """Options that are one of several words: ``output=Literal["last", "average"]``."""
    for name, kind in choices.items():
        if getattr(configuration, name) not in get_args(kind):
            raise ValueError(f"{name} must be one of {get_args(kind)}, got {getattr(configuration, name)!r}.")


class NativeRun:
    """What the runs of the native solvers share: the poll, the point, and saving."""

    def __init__(self, native: Any, poll: _core.Poll) -> None:
        self._native = native
        self._poll = poll

    def advance(self, epochs: int) -> int:
        touched, _ = self._native.advance(epochs, self._poll)
        return int(touched)

    def point(self) -> Point:
        w, multipliers = self._native.point()
        return Point(multipliers, w)

    def state(self) -> State:
        return dict(self._native.state())

    def restore(self, state: State, *, same_problem: bool) -> None:
        try:
            self._native.restore(state)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"The saved state does not fit this problem and {type(self).__name__}: {error!r}."
            ) from error
        if not same_problem:
            self._native.rebuild(self._poll)
