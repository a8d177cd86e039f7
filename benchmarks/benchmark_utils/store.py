"""Arrays kept between runs, in the user's cache directory: parsed data sets and reference solutions."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


def directory() -> Path:
    """``HINGE_LAB_CACHE``, or a folder of the user's cache directory."""
    named = os.environ.get("HINGE_LAB_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hinge-lab"


def kept(key: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """The arrays stored under `key`; made and stored if they are missing or unreadable."""
    path = directory() / f"{key}.npz"
    try:
        with np.load(path) as arrays:
            return dict(arrays)
    except _UNREADABLE:
        arrays = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.npz")
    np.savez(partial, **arrays)
    partial.replace(path)  # whole or not at all
    return dict(arrays)
