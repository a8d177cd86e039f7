"""Hypothesis profiles and shared fixtures."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# One of scikit-learn's estimator checks wants it, set before scipy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# "default": the same examples in every run. "long" (make test-long): new ones each time, and many more.
_EXAMPLES = os.environ.get("HINGE_EXAMPLES")
settings.register_profile("default", max_examples=int(_EXAMPLES or 200), deadline=None, derandomize=True)
settings.register_profile("long", max_examples=int(_EXAMPLES or 100_000), deadline=None, print_blob=True)
settings.load_profile("default")

# Started in the background of a script, Python inherits SIGINT ignored: tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the papers' data sets (a9a.xz, w8a.xz, covtype.data.xz, ...)."""
    folder = os.environ.get("HINGE_DATA")
    if not folder:
        pytest.skip("HINGE_DATA is not set to the folder with the papers' data sets")
    if not Path(folder).is_dir():
        pytest.fail(f"HINGE_DATA is not a folder: {folder}")
    return Path(folder)
