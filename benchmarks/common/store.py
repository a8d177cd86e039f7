"""What is kept between runs: measured cells (JSON), parsed data sets (arrays in the user's cache), and Markdown tables."""

from __future__ import annotations

import functools
import json
import os
import platform
import subprocess
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hinge

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


class Results:
    """Cells by name in a file, written after every cell. Cells that are not measured again stay as they are."""

    def __init__(self, path: Path) -> None:
        self._path = path
        stored = json.loads(path.read_text()) if path.exists() else {}
        self.cells: dict[str, Any] = stored.get("cells", {})
        self.measured_on: list[str] = stored.get("measured_on", [])

    def put(self, name: str, value: Any) -> None:
        """Keep a cell."""
        self.cells[name] = value
        self.measured_on = sorted({*self.measured_on, machine()})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"measured_on": self.measured_on, "cells": self.cells}, indent=1, sort_keys=True)
        self._path.write_text(text + "\n")

    def part(self, name: str) -> Part:
        """Some cells under one name, such as those of a data set."""
        return Part(self, name)


class Part:
    """Cells that are together one cell of a whole."""

    def __init__(self, whole: Results, name: str) -> None:
        self._whole, self._name = whole, name
        self.cells: dict[str, Any] = whole.cells.get(name, {})

    def put(self, name: str, value: Any) -> None:
        """Keep a cell."""
        self.cells[name] = value
        self._whole.put(self._name, self.cells)


@functools.cache
def machine() -> str:
    """Processor, cores, caches, compiler, versions: nothing that names the computer."""
    info = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "unknown processor")
    indices = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
    known = [[(index / name).read_text().strip() for name in ("type", "level", "size")] for index in indices]
    caches = [f"L{level} {size}" for kind, level, size in known if kind != "Instruction"]
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=True)
    return (
        f"{model}, {os.cpu_count()} cores, {', '.join(caches)}; {compiler.stdout.splitlines()[0]}; "
        f"Python {platform.python_version()}, NumPy {np.__version__}, hinge {hinge.__version__}"
    )


def cache_directory() -> Path:
    """``HINGE_LAB_CACHE``, or a folder of the user's cache directory."""
    named = os.environ.get("HINGE_LAB_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hinge-lab"


def kept(key: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """The arrays stored under `key`; made and stored if they are missing or unreadable."""
    path = cache_directory() / f"{key}.npz"
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


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
