"""The exact minimum over k >= 0 of P on the ray from w to v.

::

    phi(k) = 1/2 |w + k (v - w)|^2 + sum_i C_i max(0, 1 - (s_i + k e_i)),    s_i = y_i w.x_i,   e_i = y_i v.x_i - s_i

Its slope grows with k at the rate |v - w|^2, and jumps by C_i |e_i| where s_i + k e_i passes through 1. The minimum is
where the slope passes through zero; the jumps beyond k = -slope(0) / |v - w|^2 do not count. Selection by halves.
k ends at 1000: so long a step is one between points that differ by little more than rounding, and k multiplies that.
"""

from __future__ import annotations

import numpy as np

from hinge._reference.rows import Floats, interleaved_sum

LONGEST = 1000.0


def line_search(at_w: Floats, at_v: Floats, cost: Floats, slope: float, curvature: float) -> float:
    """`slope` = w.(v - w), `curvature` = |v - w|^2; `at_w` holds s_i, `at_v` s_i + e_i."""
    e = at_v - at_w
    loses = (at_w < 1.0) | ((at_w == 1.0) & (e < 0.0))
    slope -= interleaved_sum(np.where(loses, cost * e, 0.0), 8)
    if not (slope < 0.0 and curvature > 0.0):
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        places = (1.0 - at_w) / e
    counts = (places > 0.0) & (places < min(-slope / curvature, LONGEST))
    places, heights = places[counts], (cost * np.abs(e))[counts]
    while places.size:
        k = _pivot(places)
        before = interleaved_sum(np.where(places < k, heights, 0.0), 8)
        there = interleaved_sum(np.where(places == k, heights, 0.0), 8)
        here = slope + k * curvature + before
        if here >= 0.0:
            left = places < k
        elif here + there >= 0.0:
            return k
        else:
            slope += before + there
            left = places > k
        places, heights = places[left], heights[left]
    return min(-slope / curvature, LONGEST)


def _pivot(places: Floats) -> float:
    """The median of up to 31 jumps, evenly spread."""
    count = min(31, places.size)
    sample = sorted(float(places[j * places.size // count]) for j in range(count))
    return sample[count // 2]
