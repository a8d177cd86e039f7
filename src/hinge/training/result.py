"""What a training run is told and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hinge import _core
from hinge.certificate import Certificate, Lower, Upper
from hinge.problem import Order
from hinge.solvers import State

Status: TypeAlias = Literal["converged", "stalled", "max_iter", "time_limit", "callback", "interrupted"]

#: From best to worst.
STATUSES: tuple[Status, ...] = ("converged", "stalled", "max_iter", "time_limit", "callback", "interrupted")


@dataclass(frozen=True)
class Record:
    """Where a run was after `epoch` passes and so many seconds: a line of the history, and what a callback sees.

    `primal` and `dual` are the best so far, `solver` is the one at work.
    """

    epoch: int
    seconds: float
    primal: float
    dual: float
    solver: str = ""

    @property
    def certificate(self) -> Certificate:
        """The bracket around the optimum so far."""
        return Certificate(self.primal, self.dual)

    @property
    def gap(self) -> float:
        """P - D."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """(P - D) / D, infinite while D = 0."""
        return self.certificate.relative_gap


#: Return True to stop the run.
Callback: TypeAlias = Callable[[Record], bool | None]


@dataclass(frozen=True)
class Options:
    """How long and how to train.

    `order` None is the solver's own. `key` seeds the random numbers. `token` stops the run, or carries its time limit;
    several runs may share one. `state` is that of an earlier run; without `keep_state` the outcome has none.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    order: Order | None = None
    key: tuple[int, ...] = (0,)
    token: _core.StopToken | None = None
    callback: Callback | None = None
    verbose: int = 0
    title: str = ""
    state: State | None = None
    keep_state: bool = True
    n_threads: int = 1


@dataclass(frozen=True)
class Outcome:
    """The best model of a run and the best lower bound, and how the run went.

    `error` is the interrupt that ended the run, if a callback or a solver of the user's raised it.
    """

    model: Upper
    bound: Lower
    history: tuple[Record, ...]
    status: Status
    n_iter: int
    state: State | None
    error: KeyboardInterrupt | None = None

    @property
    def certificate(self) -> Certificate:
        """The bracket around the optimum."""
        return Certificate(self.model.value, self.bound.value)
