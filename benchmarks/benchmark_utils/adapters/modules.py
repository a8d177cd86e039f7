"""Which Python packages are there."""

from __future__ import annotations

import importlib


def missing_module(module: str, package: str) -> str | None:
    """None if `module` can be imported, else why not and what to install."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        return f"cannot import {module} ({error}): pip install {package}"
    return None
