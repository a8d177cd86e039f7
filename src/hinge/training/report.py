"""What a run prints while it works: nothing, one line that changes, plain lines, or a table."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from hinge import checks
from hinge.training.result import HEADER, Record, Report

# A line on a terminal changes at most so often; in seconds.
_PAUSE = 0.1
_ERASE = "\r\x1b[K"


class Lines(Report):
    """A plain line for each evaluation: where output goes to a file or a notebook."""

    def evaluated(self, title: str, record: Record, rows: int) -> None:
        print(progress_line(title, record, rows), flush=True)


class UpdatingLine(Report):
    """One line of a terminal, written anew while the run goes on. Runs in several threads share it."""

    live: ClassVar[bool] = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._due = 0.0
        self._open = False

    def working(self, title: str, record: Record, rows: int) -> None:
        if time.monotonic() >= self._due:
            self.evaluated(title, record, rows)

    def evaluated(self, title: str, record: Record, rows: int) -> None:
        with self._lock:
            self._due = time.monotonic() + _PAUSE
            self._open = True
            print(_ERASE + progress_line(title, record, rows), end="", flush=True)

    def close(self) -> None:
        """Leave the line; what is printed next begins a new one."""
        if self._open:
            print(flush=True)
        self._open = False


class Table(Report):
    """All numbers of each evaluation, under one header."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = False

    def evaluated(self, title: str, record: Record, rows: int) -> None:
        with self._lock:
            if not self._begun:
                print(f"{'':>{len(title)}} {HEADER}")
            self._begun = True
            print(f"{title} {record.line()}", flush=True)


@contextmanager
def reporting(verbose: Any) -> Iterator[Report]:
    """What `verbose` asks for: 0 nothing, 1 the progress, 2 the table."""
    level = int(verbose) if isinstance(verbose, bool) else checks.whole("verbose", verbose, least=0)
    report = Report() if level == 0 else Table() if level >= 2 else UpdatingLine() if sys.stdout.isatty() else Lines()
    try:
        yield report
    finally:
        report.close()


def progress_line(title: str, record: Record, rows: int) -> str:
    """Class, gap, passes, speed and time."""
    speed = rows / record.seconds if record.seconds > 0 else 0.0
    return (
        f"{title + '  ' if title else ''}relative gap {record.relative_gap:.2e}  pass {record.epoch}  "
        f"{speed:.2g} rows/s  {record.seconds:.1f} s  {record.solver}"
    )
