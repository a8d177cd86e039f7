"""Measured results: a small JSON file per exhibit, written after every cell, and the generated parts of a page."""

from __future__ import annotations

import functools
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
from micro import machine

import hinge


class Results:
    """The cells of one exhibit by name, kept in a file. Cells that are not measured again stay as they are."""

    def __init__(self, path: Path) -> None:
        self._path = path
        stored = json.loads(path.read_text()) if path.exists() else {}
        self.cells: dict[str, Any] = stored.get("cells", {})
        self.measured_on: str = stored.get("measured_on", "")

    def put(self, name: str, value: Any) -> None:
        """Keep a cell."""
        self.cells[name] = value
        self.measured_on = _measured_on()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"measured_on": self.measured_on, "cells": self.cells}, indent=1, sort_keys=True)
        self._path.write_text(text + "\n")


class Part:
    """Some cells of an exhibit under one name, such as those of a data set."""

    def __init__(self, whole: Results, name: str) -> None:
        self._whole = whole
        self._name = name
        self.cells: dict[str, Any] = whole.cells.get(name, {})

    def put(self, name: str, value: Any) -> None:
        """Keep a cell."""
        self.cells[name] = value
        self._whole.put(self._name, self.cells)


@functools.cache
def _measured_on() -> str:
    return f"{machine()}; Python {platform.python_version()}, NumPy {np.__version__}, hinge {hinge.__version__}"


def fill(page: str, name: str, content: str) -> str:
    """The page with what stands between the markers of `name` replaced; without such markers it is an error."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"The page must have the lines {begin.strip()!r} and {end.strip()!r} once each.")
    before, rest = page.split(begin)
    return before + begin + content.strip() + "\n" + end + rest.split(end)[1]


def markdown(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
