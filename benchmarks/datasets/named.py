"""benchopt: the data sets of common/sources.py by name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchopt import BaseDataset

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import sources


class Dataset(BaseDataset):
    name = "data"
    requirements = ["scikit-learn"]
    parameters = {"source": list(sources.NAMES)}
    parameter_template = "{source}"

    def get_data(self) -> dict[str, Any]:
        return sources.payload(self.source)
