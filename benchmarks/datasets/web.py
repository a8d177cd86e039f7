"""benchopt: Web (w8a), 49,749 x 300; one row in `held_out` is kept for testing, none if it is 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import data
from benchmark_utils.sources import from_files, payload
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "Web"
    requirements = ["scikit-learn"]
    parameters = {"held_out": [10]}

    def get_data(self) -> dict[str, Any]:
        def load(folder: Path) -> data.Split:
            return data.held_out(*data.web(folder), self.held_out)

        return payload(lambda: from_files(f"web-{self.held_out}", load))
