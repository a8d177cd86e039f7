"""benchopt: Covertype, class 1 against the rest, features times 0.001, 581,012 x 54; `held_out` as for Web."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import data
from benchmark_utils.sources import fetch_covertype, from_files, payload
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "Covertype"
    requirements = ["scikit-learn"]
    parameters = {"held_out": [10]}

    def get_data(self) -> dict[str, Any]:
        def load(folder: Path) -> data.Split:
            return data.held_out(*data.covertype(folder), self.held_out)

        return payload(
            lambda: from_files(f"covertype-{self.held_out}", load, fetch=lambda: fetch_covertype(self.held_out))
        )
