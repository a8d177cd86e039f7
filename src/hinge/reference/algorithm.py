"""What every algorithm here has in common with the native ones: epochs, a point, an estimate, a saved state.

An algorithm says in `run_epoch` how it works, in `point` what it offers, and in `fields` what a saved run consists of.
The names of the fields are those of the native core, so that a run may begin there and go on here, or the reverse.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any, ClassVar, TypeAlias

import numpy as np

from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import Floats

#: Weights, intercept, multipliers.
Point: TypeAlias = tuple[Floats, float, Floats]

# A poll looks at the clock when so many values were read as take native code a millisecond; this is slower.
_SLOWER = 1000


class Stopped(Exception):
    """The poll has told a run to stop."""


class Algorithm:
    """One algorithm at work on one problem.

    Subclasses define `run_epoch`, `point` and `fields`: the names of the attributes that a saved run consists of. An
    attribute of a part is written "part.name", and saved as "name".
    """

    fields: ClassVar[tuple[str, ...]] = ()
    varying: ClassVar[tuple[str, ...]] = ()  # fields that are NumPy arrays whose length is part of the state

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.touched = 0  # rows read
        self._poll: Any = None

    # What an algorithm defines

    def run_epoch(self) -> None:
        """One epoch."""
        raise NotImplementedError

    def point(self) -> Point:
        """The present weights, intercept and multipliers; these need not lie in their box."""
        raise NotImplementedError

    def estimate(self) -> tuple[float, float] | None:
        """(P, D), roughly, from what the epoch has computed anyway; None: it cannot tell."""
        return None

    def make_consistent(self) -> None:
        """What follows from the multipliers, computed anew: it has drifted, or is that of another problem."""

    def finished(self) -> bool:
        """Whether its own rule has ended the run."""
        return False

    # What the training loop uses

    def advance(self, epochs: int, poll: Any = None) -> tuple[int, bool]:
        """Work for `epochs` epochs: (rows read, whether all were finished). `poll` may tell to stop on the way."""
        return self._work(poll, iter([True] * epochs))

    def advance_by(self, rows: int, tol: float, poll: Any = None) -> tuple[int, bool]:
        """Epochs, at least one, until so many rows are read or the estimated gap is within `tol`; as `advance`."""

        def more() -> Iterator[bool]:
            rest, last = rows, self.touched
            yield True
            while True:
                rest, last = rest - max(self.touched - last, 1), self.touched
                found = self.estimate()
                if rest <= 0 or (found is not None and found[0] - found[1] <= tol * found[1]):
                    return
                yield True

        return self._work(poll, more())

    def _work(self, poll: Any, epochs: Iterator[bool]) -> tuple[int, bool]:
        before = self.touched
        try:
            with self._at_work(poll):
                for _ in epochs:
                    self.run_epoch()
        except Stopped:
            return self.touched - before, False
        return self.touched - before, True

    def rebuild(self, poll: Any = None) -> None:
        """`make_consistent`, unless told to stop."""
        with suppress(Stopped), self._at_work(poll):
            self.make_consistent()

    def state(self) -> dict[str, Any]:
        """Everything that a resumed run needs, as arrays and numbers."""
        return saved_fields(self, self.fields)

    def surrender(self) -> dict[str, Any]:
        """The last state. Native runs give their arrays away with it; here they are copied as ever."""
        return self.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a saved state; ValueError if it is one of another kind, with nothing changed."""
        restored = {
            path: _restored(_name(path), attrgetter(path)(self), state, path in self.varying) for path in self.fields
        }
        for path, value in restored.items():
            *parts, name = path.split(".")
            setattr(attrgetter(".".join(parts))(self) if parts else self, name, value)

    # What epochs use

    def each(self, visit: Iterable[int]) -> Iterator[int]:
        """The rows of `visit` in turn, counted; ends with `Stopped` after a row if the poll says so."""
        for i in visit:
            yield i
            self.touched += 1
            self.ask_poll(i)

    def ask_poll(self, i: int) -> None:
        """Row i has been read: `Stopped` if that should be the last one."""
        if self._poll is not None and self._poll(_SLOWER * self.problem.rows.stored(i)):
            raise Stopped

    @contextmanager
    def _at_work(self, poll: Any) -> Iterator[None]:
        """As in native code, what overflows becomes infinite without a warning."""
        self._poll = poll
        try:
            with np.errstate(all="ignore"):
                yield
        finally:
            self._poll = None


def inside(part: str, fields: tuple[str, ...]) -> tuple[str, ...]:
    """The fields of a part, as fields of the whole."""
    return tuple(f"{part}.{name}" for name in fields)


def saved_fields(part: object, fields: tuple[str, ...]) -> dict[str, Any]:
    """The fields of an algorithm, or of a part of it, by name."""
    return {_name(path): _saved(attrgetter(path)(part)) for path in fields}


def _name(path: str) -> str:
    return path.rpartition(".")[2]


def _saved(value: Any) -> Any:
    """Arrays as copies, flags as numbers. `array.array` holds what varies in length."""
    if isinstance(value, Rng):
        return np.array(value.state, dtype=np.uint64)
    if isinstance(value, np.ndarray | array):
        return np.array(value)
    return int(value) if isinstance(value, bool) else value


def _restored(name: str, present: Any, state: dict[str, Any], varying: bool) -> Any:
    """The saved value, as something of the kind that is there; `varying`: of any length."""
    if name not in state:
        raise ValueError(f"saved state: {name} is missing")
    saved = np.asarray(state[name])
    fixed = isinstance(present, np.ndarray) and not varying
    length = 4 if isinstance(present, Rng) else present.size if fixed else None
    expected = 1 if isinstance(present, np.ndarray | array | Rng) else 0
    if saved.dtype.kind not in "iuf" or saved.ndim != expected or length not in (None, saved.size):
        raise ValueError(f"saved state: {name} has shape {saved.shape} and type {saved.dtype}, which does not fit")
    if isinstance(present, Rng):
        return Rng.from_state(saved.tolist())
    if isinstance(present, np.ndarray):
        return saved.astype(present.dtype)
    return array(present.typecode, saved.tolist()) if isinstance(present, array) else type(present)(saved)


class ActiveRows:
    """The rows at work, ascending.

    A method that shrinks leaves the others out for a while, on a guess: it looks at all again when those at work are
    settled, and whenever it has a reason of its own.
    """

    fields = ("active", "full_gap")

    FAR_AGAIN = 3.0  # rows that could come back stay out if they are so many times farther than those that left last
    SETTLED = 0.1  # of the gap of all rows: more of it may by now be among the others

    def __init__(self, m: int) -> None:
        self.m = m
        self.full_gap = float("inf")  # estimated gap of the last epoch over all rows
        self.take_all()

    def take_all(self) -> None:
        self.active = array("q", range(self.m))

    @property
    def full(self) -> bool:
        return len(self.active) == self.m

    def remove(self, leaving: set[int]) -> None:
        self.active = array("q", (i for i in self.active if i not in leaving))

    def settled(self, gap: float) -> bool:
        return gap <= self.SETTLED * self.full_gap
