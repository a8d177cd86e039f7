"""What hinge runs on: for bug reports, and to see that everything is there."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys

from hinge import _core

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "matplotlib", "pandas", "polars")


def versions() -> dict[str, str]:
    """Versions, compiler, threads and BLAS, by name."""
    found = {
        "hinge": importlib.metadata.version("hinge"),
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "compiler of the core": _core.compiler,
        "threads": f"{_usable_threads()} usable",
    }
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found | _linear_algebra()


def show_versions() -> None:
    """Print the versions of hinge and of what it uses, the compiler, the threads and the BLAS libraries.

    ``python -m hinge`` prints the same.

    Examples
    --------
    >>> import hinge
    >>> hinge.show_versions()
    hinge                 ...
    python                ...
    """
    for name, value in versions().items():
        sys.stdout.write(f"{name:21} {value}\n")


def _usable_threads() -> int:
    """Those that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _linear_algebra() -> dict[str, str]:
    """The libraries that NumPy and SciPy have loaded, with their threads."""
    from threadpoolctl import threadpool_info  # here: it looks through all loaded libraries

    found: dict[str, str] = {}
    for pool in threadpool_info():
        name = f"{pool['user_api']} {len([key for key in found if key.startswith(pool['user_api'])]) + 1}"
        found[name] = f"{pool['internal_api']} {pool['version'] or ''}, {pool['num_threads']} threads"
    return found
