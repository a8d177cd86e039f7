"""Fixed blocks of rows, worked on by threads: what comes out does not depend on how many there are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

from threadpoolctl import ThreadpoolController

# A block of kernel values should stay in a core's own cache between the product that makes it and the one that uses it,
# and be tall enough for the matrix products to run at full speed. On two machines with 1 MB of such cache, 64 to 512
# rows of 1024 values took the same time within 10 %, fewer or more rows up to twice as long.
_BLOCK_BYTES = 2**20
_FEWEST_ROWS, _MOST_ROWS = 64, 4096

T = TypeVar("T")


def row_blocks(n_rows: int, row_bytes: int, block_bytes: int = _BLOCK_BYTES) -> list[slice]:
    """Consecutive blocks of rows, of which each has values of `row_bytes`. They depend on nothing else."""
    rows = min(max(block_bytes // max(row_bytes, 1), _FEWEST_ROWS), _MOST_ROWS)
    return [slice(begin, min(begin + rows, n_rows)) for begin in range(0, n_rows, rows)]


def for_each(work: Callable[[Any], T], items: Sequence[Any], n_threads: int) -> Iterator[T]:
    """``work(item)`` for every item, in their order, on `n_threads` threads; matrix products use one thread each."""
    with SINGLE_BLAS:
        if n_threads == 1 or len(items) <= 1:
            yield from map(work, items)
            return
        with ThreadPoolExecutor(min(n_threads, len(items))) as pool, _abandoned_on_error(pool):
            yield from pool.map(work, items)


@contextmanager
def _abandoned_on_error(pool: ThreadPoolExecutor) -> Iterator[None]:
    """After an error or Ctrl-C, what has not begun is not begun."""
    try:
        yield
    except BaseException:
        pool.shutdown(wait=True, cancel_futures=True)
        raise


class _SingleBlas:
    """A block in which matrix products use one thread. Blocks of several threads may overlap: the last restores."""

    _controller: ClassVar[ThreadpoolController | None] = None

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                if self._controller is None:
                    type(self)._controller = ThreadpoolController()
                assert self._controller is not None
                self._limits = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


#: Matrix products in one thread: bits do not depend on the machine's load, and no idle threads spin beside ours.
SINGLE_BLAS = _SingleBlas()
