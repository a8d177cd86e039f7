"""benchopt: 20 newsgroups, one topic against the rest, 11,314 x 56,436, with its test set of 7,532."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import data
from benchmark_utils.sources import fetch_newsgroups, from_files, payload
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "20news"
    requirements = ["scikit-learn"]
    parameters = {"topic": ["sci.space"]}

    def get_data(self) -> dict[str, Any]:
        def load(folder: Path) -> data.Split:
            return data.newsgroups_split(folder, self.topic)

        return payload(lambda: from_files(f"20news-{self.topic}", load, fetch=lambda: fetch_newsgroups(self.topic)))
