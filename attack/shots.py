"""Signals at a given moment of a call, and what became of both."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


class OutOfTime(Exception):
    """What the handler of SIGALRM raises."""


def _exit(*_: Any) -> None:
    raise SystemExit(3)


def _out_of_time(*_: Any) -> None:
    raise OutOfTime


#: Signals, their handlers and what these raise.
SIGNALS: dict[signal.Signals, tuple[Callable[..., Any], type[BaseException]]] = {
    signal.SIGINT: (signal.default_int_handler, KeyboardInterrupt),
    signal.SIGTERM: (_exit, SystemExit),
    signal.SIGALRM: (_out_of_time, OutOfTime),
}


@dataclass
class Shot:
    """A call that signals were sent to.

    Attributes
    ----------
    sent : list of float
        When each signal was sent; none after the call had ended.
    ended : float
        When the call had ended.
    result : object
        What the call returned, None if it raised.
    raised : BaseException or None
        What the call raised. An exception that arrived outside of it does not count.
    late : bool
        A signal came out behind the call.
    restored : bool
        The signal still has the handler that it had before.
    """

    sent: list[float] = field(default_factory=list)
    ended: float = 0.0
    result: Any = None
    raised: BaseException | None = None
    late: bool = False
    restored: bool = True

    @property
    def reaction(self) -> float:
        """Seconds from the first signal to the end of the call."""
        return self.ended - self.sent[0] if self.sent else 0.0

    @property
    def place(self) -> str:
        """Where the exception came from."""
        frames = traceback.extract_tb(self.raised.__traceback__) if self.raised else []
        return " < ".join(f"{os.path.basename(f.filename)}:{f.lineno} {f.name}" for f in reversed(frames[-4:]))


def shoot(call: Callable[[], Any], signum: signal.Signals, delays: Sequence[float]) -> Shot:
    """Call, and send `signum` after each of the delays (seconds, increasing) unless the call has ended by then."""
    handler, _ = SIGNALS[signum]
    before = signal.signal(signum, handler)
    gun = _Gun(signum, delays)
    try:
        shot = _fire(call, gun)
    except BaseException:  # a second signal between two lines of ours: nothing can be said
        shot = Shot()
        gun.rest()
    shot.restored = signal.getsignal(signum) is handler
    signal.signal(signum, before)
    return shot


def _fire(call: Callable[[], Any], gun: _Gun) -> Shot:
    shot = Shot(gun.sent)
    try:
        gun.trigger.release()
        shot.result = call()
        shot.ended = time.perf_counter()
    except BaseException as error:
        shot.ended = time.perf_counter()
        if _came_from_outside(error):
            shot.late = True
        else:
            shot.raised = error
    try:
        gun.rest()
        time.sleep(0.001)  # a signal on its way comes out here
    except BaseException:
        shot.late = True
        gun.rest()
    return shot


def _came_from_outside(error: BaseException) -> bool:
    """Raised in this package, not in what it called."""
    here = os.path.dirname(__file__)
    return all(os.path.dirname(frame.filename) == here for frame in traceback.extract_tb(error.__traceback__))


class _Gun:
    """The thread that sends the signals."""

    def __init__(self, signum: signal.Signals, delays: Sequence[float]) -> None:
        self._signum, self._delays = signum, delays
        self._lock, self._over = threading.Lock(), False
        self.sent: list[float] = []
        self.trigger = threading.Lock()  # released when the call begins
        self.trigger.acquire()
        self._thread = threading.Thread(target=self._shoot, name="gun")
        self._thread.start()

    def _shoot(self) -> None:
        self.trigger.acquire()
        began = time.perf_counter()
        for delay in self._delays:
            time.sleep(max(0.0, began + delay - time.perf_counter()))
            with self._lock:
                if self._over:
                    return
                self.sent.append(time.perf_counter())
                os.kill(os.getpid(), self._signum)

    def rest(self) -> None:
        """Send nothing more."""
        with self._lock:
            self._over = True
        self._thread.join()
