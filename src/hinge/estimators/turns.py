"""One thread at a time fits a model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Models that are being fitted at the moment, by id.
_FITTING: set[int] = set()
_LOCK = threading.Lock()


@contextmanager
def alone(model: Any) -> Iterator[None]:
    """Refuse a second thread that fits the same model: what both write would be a mixture."""
    with _LOCK:
        if id(model) in _FITTING:
            raise RuntimeError(
                f"This {type(model).__name__} is being fitted in another thread: give each thread a model of its own."
            )
        _FITTING.add(id(model))
    try:
        yield
    finally:
        with _LOCK:
            _FITTING.discard(id(model))
