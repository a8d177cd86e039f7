"""Lines that tell how far long work is."""

from __future__ import annotations

import time
from collections.abc import Callable

# Seconds between two lines.
_PAUSE = 1.0


def progress_lines(what: str) -> Callable[[int, int], None]:
    """A function to call with (done, of): it prints a line each second, and one at the end."""
    began = time.perf_counter()
    last = began

    def show(done: int, of: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last < _PAUSE and done < of:
            return
        last = now
        seconds = now - began
        print(f"{what}: {done} of {of} blocks, {seconds:.1f} s, about {seconds * (of - done) / done:.0f} s left")

    return show
