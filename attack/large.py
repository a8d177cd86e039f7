"""Signals during short trainings on millions of rows: obeyed within a second, and the model so far is kept."""

from __future__ import annotations

import numpy as np

from attack.interrupts import FitTarget, SolveTarget, fire
from attack.problems import noisy
from attack.table import Finding

_SHOTS = 4
_LONGEST = 5.0
# Rows and features; the second is a gigabyte with all that training needs.
_SHAPES = ((1_000_000, 100), (10_000_000, 6), (3_000_000, 20))


def case(rng: np.random.Generator) -> Finding:
    """One to three passes over many rows."""
    m, d = _SHAPES[rng.integers(len(_SHAPES))]
    kind = SolveTarget if rng.random() < 0.5 else FitTarget
    target = kind(rng, noisy(m, d, single=True, sparse=m == 3_000_000))
    target.given["max_iter"] = int(rng.choice([1, 3]))
    try:
        target.call(_LONGEST)
    except ValueError:  # a step too long
        return Finding(0, notes=["refused"])
    return fire(rng, target, _LONGEST, _SHOTS)
