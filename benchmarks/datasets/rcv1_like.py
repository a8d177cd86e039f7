"""benchopt: text with the statistics of RCV1, made on the spot: `rows` x 47,236, and a tenth as many for testing."""

from __future__ import annotations

from typing import Any

import data
from benchmark_utils.sources import kept_split, payload, source_stamp
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "RCV1-like"
    requirements = ["scikit-learn"]
    parameters = {"rows": [200_000, 804_414]}

    def get_data(self) -> dict[str, Any]:
        key = f"rcv1-like-{self.rows}-{source_stamp()}"
        return payload(lambda: kept_split(key, lambda: data.text_split(self.rows, self.rows // 10)))
