"""benchopt: MNIST, digits 0-4 against 5-9, 60,000 x 784, with its test set of 10,000."""

from __future__ import annotations

from typing import Any

import data
from benchmark_utils.sources import fetch_mnist, from_files, payload
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "MNIST"
    requirements = ["scikit-learn"]

    def get_data(self) -> dict[str, Any]:
        return payload(lambda: from_files("mnist", data.mnist_split, fetch=fetch_mnist))
