"""The child process of a campaign: one line of JSON for each case, on standard output."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from attack.table import Finding


def attempt(case: Callable[[np.random.Generator], Finding], seed: int, index: int) -> Finding:
    """One case; an exception that it lets through is a failure."""
    try:
        return case(np.random.default_rng([seed, index]))
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        place = " < ".join(f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in reversed(frames))
        return Finding(failures=[f"unexpected {type(error).__name__}: {error} ({place})"])


def main(name: str, seed: int, index: int, step: int, count: int) -> None:
    """Cases index, index + step, ... until `count` attempts are made."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # inherited as ignored in the background of a script
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the cases print
    case = importlib.import_module(f"attack.{name}").case
    tried = 0
    while tried < count:
        finding = attempt(case, seed, index)
        print(json.dumps(asdict(finding)), file=report, flush=True)
        tried += finding.tried
        index += step


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
