"""benchopt: IJCNN 2001, training part, 49,990 x 22; one row in `held_out` is kept for testing, none if it is 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import data
from benchmark_utils.sources import from_files, payload
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "ijcnn1"
    requirements = ["scikit-learn"]
    parameters = {"held_out": [10]}

    def get_data(self) -> dict[str, Any]:
        def load(folder: Path) -> data.Split:
            return data.held_out(*data.ijcnn1(folder), self.held_out)

        return payload(lambda: from_files(f"ijcnn1-{self.held_out}", load))
