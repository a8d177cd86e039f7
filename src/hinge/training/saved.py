"""Saved runs: the state of the solver and of the loop in one flat dict of arrays and numbers, sealed by a checksum."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from hinge import _core
from hinge.solvers import State

_PREFIX = "loop_"
_SEAL = "loop_seal"


def sealed(run: State, loop: State) -> State:
    """One dict of both. What it says of the best points so far will be believed, so damage must be noticed."""
    state = {**run, **{_PREFIX + key: value for key, value in loop.items()}}
    return {**state, _SEAL: _checksum(state)}


def opened(state: Mapping[str, Any]) -> tuple[State, State]:
    """(of the solver, of the loop); ValueError if this is no state, or a damaged one."""
    if _SEAL not in state:
        raise ValueError("This is not the state of a Solution: it has no seal.")
    content = {key: value for key, value in state.items() if key != _SEAL}
    try:
        intact = int(state[_SEAL]) == _checksum(content)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"This is not the state of a Solution: {error}.") from error
    if not intact:
        raise ValueError("This state is damaged: its checksum does not fit. Start afresh, or from another one.")
    loop = {key.removeprefix(_PREFIX): content.pop(key) for key in list(content) if key.startswith(_PREFIX)}
    return content, loop


def _checksum(state: Mapping[str, Any]) -> int:
    seal = zlib.crc32(b"hinge")  # not that of nothing
    for key in sorted(state):
        array = np.ascontiguousarray(state[key])
        if array.dtype.kind not in "iuf":
            raise ValueError(f"state[{key!r}] is neither a number nor an array of numbers")
        content = _core.checksum(array.reshape(-1).view(np.uint8))
        seal = zlib.crc32(f"{key} {array.dtype.str} {array.shape} {content}".encode(), seal)
    return seal
