"""Signals while a model is trained: obeyed at once, raised when nothing can be lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, ClassVar, Self, TypeAlias

from hinge import _core

Handler: TypeAlias = Callable[[int, FrameType | None], Any]
# Asking for all 64 would take longer than to train a tiny model; the others have no name, and hardly ever a handler.
_NAMED = tuple(signal.Signals)


def in_main_thread() -> bool:
    """Whether this thread runs Python's signal handlers."""
    return threading.current_thread() is threading.main_thread()


class Signals:
    """A block in which a signal handler's exception stops the work instead of breaking it off at a random place.

    Python's signal handlers, Ctrl-C's among them, run as usual. What one of them raises is kept in `error`, and `token`
    is told to stop; native loops and the training loop notice within a fraction of a second. Whoever opened the block
    stores what there is, and raises `error` after it. Of blocks inside each other (a callback that fits a model) all
    stop. Threads other than the main one never run handlers: there the block does nothing.
    """

    _open: ClassVar[list[Signals]] = []  # in the main thread, the outermost first

    def __init__(self) -> None:
        self.token = _core.StopToken()
        self.error: BaseException | None = None
        self._wrapped: dict[int, _Keeping] = {}

    def __enter__(self) -> Self:
        if in_main_thread():
            try:
                self._wrap_handlers()
            except BaseException:  # a handler's own, before this block was open
                self._restore_handlers()
                raise
            self._open.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self in self._open:
            try:
                self._restore_handlers()
            finally:
                self._open.remove(self)

    def _wrap_handlers(self) -> None:
        for number in _NAMED:
            handler = signal.getsignal(number)
            if callable(handler) and not isinstance(handler, _Keeping):  # of an outer block
                self._wrapped[number] = _Keeping(handler)
                signal.signal(number, self._wrapped[number])

    def _restore_handlers(self) -> None:
        try:
            while self._wrapped:
                number, ours = next(iter(self._wrapped.items()))
                handler = ours.handler
                if signal.getsignal(number) is ours:  # unless somebody has set another one meanwhile
                    signal.signal(number, handler)
                del self._wrapped[number]
        finally:
            if self._wrapped:  # a handler that was restored has raised something: the others are restored all the same
                self._restore_handlers()

    @classmethod
    def stop_all(cls, error: BaseException) -> None:
        """Stop the work of every open block because of `error`; the first one counts."""
        for block in cls._open:
            block.error = block.error or error
            block.token.stop()


class _Keeping:
    """A handler around the user's own: what that raises stops the open blocks; without any it is raised as ever."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def __call__(self, number: int, frame: FrameType | None) -> None:
        try:
            self.handler(number, frame)
        except BaseException as error:
            if not Signals._open:
                raise
            Signals.stop_all(error)
