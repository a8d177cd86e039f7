"""Entry point of ``python benchmarks/papers``."""

import os

# CPU seconds are compared: one thread for everything; set before anything that starts threads is imported.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from papers.cli import main

sys.exit(main())
