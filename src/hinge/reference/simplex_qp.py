"""The small problem of the cutting-plane methods: a concave quadratic over the simplex.

::

    maximise  f(beta) = b.beta - 1/2 beta' G beta    over  beta >= 0,  sum_j beta_j = 1

An active-set method (after Wolfe, "Finding the Nearest Point in a Polytope", 1976)::

    1. g = b - G beta. For any beta, f + gap is an upper bound of the maximum, gap = max_j g_j - beta.g.
    2. The face: all j with beta_j > 0; once its top is reached, also the j with the largest g_j.
    3. Newton step on the face: K delta = g - beta.g with sum delta = 0, where K = G + c. The constant changes nothing
       where sum delta = 0, and makes K regular where the planes are only affinely independent.
    4. Go to the maximum along delta, or as far as beta >= 0 allows: then a variable leaves the face.

Where rounding makes the Newton step useless, weight moves from the worst variable of the face to the best of all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from hinge.reference.sums import Floats

Face = npt.NDArray[np.int64]

NOTHING = 1e-16  # of beta.g: a step that gains less is rounding


def climb(G: Floats, b: Floats, beta: Floats, target: float) -> tuple[Floats, float, float]:
    """Climb from `beta` until the gap is at most `target`: the point, f and the gap there."""
    beta = np.array(beta)
    beta[np.argmax(beta)] += 1.0 - beta.sum()  # what rounding has lost
    at_top = useful = True  # at the top of the face; the last step was more than rounding
    for _ in range(10 * b.size + 100):
        g, level, gap = _slopes(G, b, beta)
        if gap <= target or not useful:
            break
        best = int(np.argmax(g))
        face = np.flatnonzero((beta > 0.0) | (at_top & (np.arange(b.size) == best)))
        delta = _newton(G, g - level, beta, face)
        if delta is None:
            worst = face[np.argmin(np.where(beta[face] > 0.0, g[face], np.inf))]
            face, delta = np.array([worst, best]), np.array([-1.0, 1.0])
        beta, at_top, gain = _move(G, g - level, beta, face, delta)
        useful = not at_top or gain > NOTHING * abs(level)
    _, level, gap = _slopes(G, b, beta)
    return beta, 0.5 * (float(beta @ b) + level), gap


def _slopes(G: Floats, b: Floats, beta: Floats) -> tuple[Floats, float, float]:
    """g, its mean beta.g, and the gap."""
    g = b - G @ beta
    level = float(beta @ g)
    return g, level, float(g.max()) - level


def _newton(G: Floats, uphill: Floats, beta: Floats, face: Face) -> Floats | None:
    """The step to the top of the plane that holds the face; None where it is of no use."""
    diagonal = G[face, face]
    if not np.any(diagonal > 0.0):
        return None
    K = G[np.ix_(face, face)] + diagonal[diagonal > 0.0].min()
    K[np.diag_indices_from(K)] *= 1.0 + 4e-16 * face.size
    try:
        factor = cho_factor(K)
    except LinAlgError:
        return None
    delta, along = cho_solve(factor, uphill[face]), cho_solve(factor, np.ones(face.size))
    for _ in range(2):  # the second round takes out what rounding has left of the sum
        delta = delta - delta.sum() / along.sum() * along
    climbs = np.all(np.isfinite(delta)) and np.all(delta[beta[face] == 0.0] > 0.0) and delta @ uphill[face] > 0.0
    return delta if climbs else None


def _move(G: Floats, uphill: Floats, beta: Floats, face: Face, delta: Floats) -> tuple[Floats, bool, float]:
    """Along delta to the maximum or to the border: the point, whether it was the maximum, and what was gained."""
    slope, curvature = float(delta @ uphill[face]), float(delta @ G[np.ix_(face, face)] @ delta)
    falling = delta < 0.0
    rooms = beta[face][falling] / -delta[falling]
    room = float(rooms.min(initial=np.inf))
    inside = curvature > 0.0 and slope / curvature < room
    length = slope / curvature if inside else room
    if not np.isfinite(length):
        return beta, True, 0.0
    moved = beta.copy()
    moved[face] = np.maximum(beta[face] + length * delta, 0.0)
    moved[face[falling][rooms <= length]] = 0.0
    return moved, inside, length * (slope - 0.5 * length * curvature)
