"""What the laboratory is made of: plain Python, and benchopt only where the name says so (`bench.py`)."""

from __future__ import annotations

import sys
from pathlib import Path

_BENCHMARKS = str(Path(__file__).resolve().parents[1])
if _BENCHMARKS not in sys.path:  # benchopt imports this package by its file; the loaders in data.py lie beside it
    sys.path.insert(0, _BENCHMARKS)
