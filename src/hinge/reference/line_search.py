"""The exact minimum over k >= 0 of P on the ray from w to v, for the hinge loss.

::

    phi(k) = 1/2 |w + k (v - w)|^2 + sum_i C_i max(0, 1 - (s_i + k e_i)),    s_i = t_i w.x_i,   e_i = t_i v.x_i - s_i

Its slope grows with k at the rate |v - w|^2, and jumps by C_i |e_i| where s_i + k e_i passes through 1. The minimum is
where the slope passes through zero. k ends at 1000: so long a step is one between points that differ by little more
than rounding, and k multiplies that. A free intercept is part of the margins, and moves along the ray.
"""

from __future__ import annotations

import numpy as np

from hinge.reference.sums import Floats

LONGEST = 1000.0


def line_search(at_w: Floats, at_v: Floats, cost: Floats, slope: float, curvature: float) -> float:
    """`slope` = w.(v - w), `curvature` = |v - w|^2; `at_w` holds s_i, `at_v` s_i + e_i."""
    e = at_v - at_w
    loses = (at_w < 1.0) | ((at_w == 1.0) & (e < 0.0))
    slope -= float(np.sum((cost * e)[loses]))
    if not (slope < 0.0 and curvature > 0.0):
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        places = (1.0 - at_w) / e
    jumps = np.flatnonzero((places > 0.0) & (places < LONGEST))
    jumps = jumps[np.argsort(places[jumps])]
    # Between two jumps the slope is a straight line: where each begins and ends, and where it is zero.
    begins, ends = np.append(0.0, places[jumps]), np.append(places[jumps], np.inf)
    zeros = -(slope + np.append(0.0, np.cumsum((cost * np.abs(e))[jumps]))) / curvature
    first = int(np.argmax(zeros <= ends))
    return float(min(max(zeros[first], begins[first]), LONGEST))
