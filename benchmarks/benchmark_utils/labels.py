"""Where the names of curves go, so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def spread(heights: Sequence[float], least: float) -> list[float]:
    """Ascending heights moved apart to `least`, as little as possible, kept within [0, 1] where they fit."""
    placed: list[list[float]] = []  # groups of neighbours that touch
    for height in heights:
        placed.append([height])
        while len(placed) > 1 and _bottom(placed[-1], least) - _top(placed[-2], least) < least:
            placed[-2:] = [placed[-2] + placed[-1]]
    return [_bottom(group, least) + i * least for group in placed for i in range(len(group))]


def _bottom(group: Sequence[float], least: float) -> float:
    """Lowest label of a group that is centred on the mean of its heights."""
    extent = (len(group) - 1) * least
    return float(np.clip(np.mean(group) - extent / 2.0, 0.0, max(0.0, 1.0 - extent)))


def _top(group: Sequence[float], least: float) -> float:
    return _bottom(group, least) + (len(group) - 1) * least
