"""Losses: what a row costs that is not classified with a margin of 1.

With the slack ``s = 1 - t (w.x + b)`` of a row with target t:

=================  =================  ====================================  ==============
name               primal             dual term                             multipliers
=================  =================  ====================================  ==============
``hinge``          ``C max(0, s)``    ``a``                                 ``0 <= a <= C``
``squared_hinge``  ``C max(0, s)^2``  ``a - a^2 / (4 C)``                   ``0 <= a``
=================  =================  ====================================  ==============

``loss.hpp`` has the same in C++; a new loss is a line in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from hinge import _core, checks

LossName: TypeAlias = Literal["hinge", "squared_hinge"]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """A loss as plain NumPy functions, for checks and for what is cheap; training uses its native form."""

    name: LossName
    value: Callable[[Any], Any]  # of the slack
    dual_penalty: Callable[[Any, Any], Any]  # of multiplier and cost: the dual term is a minus this
    bounded: bool  # multipliers are at most C
    native: _core.Loss

    def __reduce__(self) -> tuple[Any, ...]:
        """By name: pickles of models hold one, and functions cannot be pickled."""
        return as_loss, (self.name,)

    def box(self, cost: Floats) -> Floats:
        """The largest multiplier of each row."""
        return cost if self.bounded else np.full_like(cost, np.inf)


LOSSES: dict[str, Loss] = {
    "hinge": Loss("hinge", lambda s: np.maximum(0.0, s), lambda a, cost: 0.0 * a, True, _core.Loss.hinge),
    "squared_hinge": Loss(
        "squared_hinge",
        lambda s: np.maximum(0.0, s) ** 2,
        lambda a, cost: a * (0.25 * a / cost),
        False,
        _core.Loss.squared_hinge,
    ),
}


def as_loss(name: Any) -> Loss:
    """The loss of this name."""
    if not isinstance(name, str) or name not in LOSSES:
        raise ValueError(
            f"loss must be one of {tuple(LOSSES)}, got {checks.shown(name)}.{checks.did_you_mean(name, LOSSES)}"
        )
    return LOSSES[name]
