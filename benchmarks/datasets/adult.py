"""benchopt: Adult (a9a), 32,561 x 123, with its test set a9a.t of 16,281 rows."""

from __future__ import annotations

from typing import Any

import data
from benchmark_utils.sources import from_files, payload
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "Adult"
    requirements = ["scikit-learn"]

    def get_data(self) -> dict[str, Any]:
        return payload(lambda: from_files("adult", data.adult_split))
