"""What a training run is told and what it returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from hinge import _core
from hinge.certificate import Certificate, Lower, PerClass, Upper
from hinge.problem import Order
from hinge.solvers import State

Status: TypeAlias = Literal["converged", "stalled", "finished", "max_iter", "time_limit", "callback", "interrupted"]

#: From best to worst.
STATUSES: tuple[Status, ...] = ("converged", "stalled", "finished", "max_iter", "time_limit", "callback", "interrupted")


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

    def line(self) -> str:
        """As a line of a table."""
        return (
            f"{self.epoch:7d} {self.seconds:9.2f} {self.primal:16.8g} {self.dual:16.8g} {self.relative_gap:13.2e} "
            f"{self.solver}"
        )


#: What the columns of `Record.line` are.
HEADER = f"{'epoch':>7} {'seconds':>9} {'primal':>16} {'dual':>16} {'relative gap':>13} solver"
# A longer history is shown without its middle.
_SHOWN = 20


class History(tuple[Record, ...]):
    """The records of a run, one for each evaluation: a tuple that is shown as a table."""

    @property
    def worst(self) -> History:
        """Itself: a fit of several classes has the history of the worst of them here."""
        return self

    @property
    def relative_gap(self) -> float:
        """That of the last record; infinite if there is none."""
        return self[-1].relative_gap if self else math.inf

    def __repr__(self) -> str:
        lines = [record.line() for record in self]
        if len(lines) > _SHOWN:
            half = _SHOWN // 2
            lines = [*lines[:half], f"    ... {len(lines) - 2 * half} more", *lines[-half:]]
        return "\n".join([HEADER, *lines])


class Histories(PerClass[History]):
    """The histories of a one-vs-rest fit."""

    @property
    def worst(self) -> History:
        """The one that has ended with the largest gap."""
        return max(self, key=lambda history: history.relative_gap)

    @property
    def relative_gap(self) -> float:
        """The largest at the end."""
        return self.worst.relative_gap

    def __repr__(self) -> str:
        return self._table(
            f"{'evaluations':>12} {HEADER}",
            (f"{len(history):12d} {history[-1].line() if history else ''}" for history in self),
        )


@dataclass(frozen=True)
class Progress(Record):
    """What a callback sees: the record as of now, the class that is at work, and the state to go on from.

    ``progress.state()``, called inside the callback, is what ``Solution.state`` would be if the run ended here: a
    checkpoint, to be saved with ``numpy.savez`` and handed to ``solve(..., state=...)``. It is None if the solver
    cannot be resumed.
    """

    label: Any = None
    state: Callable[[], State | None] = field(default=lambda: None, repr=False, compare=False)


#: Return True to stop the run.
Callback: TypeAlias = Callable[[Progress], bool | None]


class Report:
    """Who is told how a run goes; this one keeps it to itself. :mod:`hinge.training.report` has those that print."""

    #: Whether it wants to hear between evaluations, too.
    live: ClassVar[bool] = False

    def working(self, title: str, record: Record, rows: int) -> None:
        """A call of the solver has ended; `rows` were read so far."""

    def evaluated(self, title: str, record: Record, rows: int) -> None:
        """There are new exact values."""

    def close(self) -> None:
        """All runs have ended."""


@dataclass(frozen=True)
class Options:
    """How long and how to train.

    `order` None is the solver's own. `key` seeds the random numbers. `token` stops the run, or carries its time limit;
    several runs may share one. `state` is that of an earlier run; without `keep_state` the outcome has none. `label` is
    the class that the problem is about, if there are several, and `title` what the report calls it.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    order: Order | None = None
    key: tuple[int, ...] = (0,)
    token: _core.StopToken | None = None
    callback: Callback | None = None
    report: Report = Report()
    title: str = ""
    label: Any = None
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
