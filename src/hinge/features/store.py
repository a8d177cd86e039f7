"""Where features are kept while a model is trained on them: in memory, or in a file that is mapped."""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import numpy.typing as npt

# Seconds between two times at which the pages of the file that were read are let go. Memory is read at some GB per
# second: the process shows some ten MB of the file, or some hundred on a busy machine, where this thread has to wait.
_INTERVAL = 0.005
_LET_GO: int | None = getattr(mmap, "MADV_DONTNEED", None)
# A row that is read must not bring in megabytes around it, as it does where files are cached in large pieces.
_SMALL: int | None = getattr(mmap, "MADV_RANDOM", None)


@contextmanager
def stored(shape: tuple[int, int], dtype: Any, memory_limit: int | None) -> Iterator[npt.NDArray[Any]]:
    """An array to write features into and train on: in memory up to `memory_limit` bytes, otherwise in a file.

    The file is temporary and has no name: it is gone with the process, however that ends. Its pages belong to the
    operating system's cache; the process lets go of them as it goes along. TMPDIR chooses the disk.
    """
    n_bytes = shape[0] * shape[1] * int(np.dtype(dtype).itemsize)
    if memory_limit is None or n_bytes <= memory_limit:
        yield np.empty(shape, dtype=dtype)
        return
    with tempfile.TemporaryFile(prefix="hinge-") as file:
        _reserve(file.fileno(), n_bytes)
        pages = mmap.mmap(file.fileno(), n_bytes)  # unmapped with the last array that shows it
        _advise(pages, _SMALL)
        with _letting_go(pages):
            yield np.frombuffer(pages, dtype=dtype).reshape(shape)


def _reserve(file: int, n_bytes: int) -> None:
    """Room on the disk now: a mapped file that runs out of it later would end the process."""
    try:
        os.posix_fallocate(file, 0, n_bytes)
    except OSError as error:
        raise OSError(
            error.errno,
            f"The features take {n_bytes / 1e9:.1f} GB, more than memory_limit, and {tempfile.gettempdir()} has no "
            f"room for them ({error.strerror}). Set TMPDIR to another disk, raise memory_limit or lower n_components.",
        ) from error


@contextmanager
def _letting_go(pages: mmap.mmap) -> Iterator[None]:
    """Let go of the mapped pages again and again, so that they do not add up in the memory of this process."""
    done = threading.Event()

    def work() -> None:
        while not done.wait(_INTERVAL):
            _advise(pages, _LET_GO)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _advise(pages: mmap.mmap, advice: int | None) -> None:
    """Where the operating system knows this advice."""
    if advice is not None:
        with suppress(OSError):
            pages.madvise(advice)
