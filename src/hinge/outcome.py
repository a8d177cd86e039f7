"""What a training run is told and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hinge import _core
from hinge.certificate import Certificate
from hinge.order import Order
from hinge.problem import Floats

Status: TypeAlias = Literal["converged", "stalled", "max_iter", "time_limit", "callback", "interrupted"]

#: From best to worst.
STATUSES: tuple[Status, ...] = ("converged", "stalled", "max_iter", "time_limit", "callback", "interrupted")


@dataclass(frozen=True)
class Record:
    """One line of the history: an evaluation after `epoch` passes.

    `primal` and `dual` are the best so far, as is the `gap` between them.
    """

    epoch: int
    seconds: float
    primal: float
    dual: float
    gap: float


@dataclass(frozen=True)
class Progress:
    """What a callback sees after every call of the solver: passes done, seconds spent, the certificate so far."""

    epoch: int
    seconds: float
    certificate: Certificate


#: Return True to stop the run.
Callback: TypeAlias = Callable[[Progress], bool | None]


@dataclass(frozen=True)
class Options:
    """How long and how to train."""

    tol: float = 1e-3
    max_iter: int = 1000
    order: Order | None = None
    stream: tuple[int, ...] = (0,)
    time_limit: float | None = None
    callback: Callback | None = None
    verbose: int = 0
    state: dict[str, Any] | None = None
    warm: bool = False  # the state may be of other rows
    flag: _core.StopFlag | None = None
    title: str = ""


@dataclass(frozen=True)
class Outcome:
    """The best model of a run, its multipliers and proof, and how the run went."""

    w: Floats
    b: float
    multipliers: Floats
    certificate: Certificate
    history: tuple[Record, ...]
    status: Status
    n_iter: int
    state: dict[str, Any] | None
    error: BaseException | None = None
