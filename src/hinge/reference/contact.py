"""Where a plane touches the risk: the best b, and the rows of the plane.

The margins t_i (w.x_i + b) of some w and b are given. With a free intercept b first moves to its best place, by
d = argmin sum_i C_i max(0, s_i) with the slacks s_i = 1 - margin_i - t_i d. The slope in d is a step function: -(the
cost of the rows with t = +1) far to the left, and higher by C_i right of t_i (1 - margin_i).

A plane made of the multipliers 0 <= a_i <= C_i lies below the risk, whatever b is, if it is balanced:
sum_i a_i t_i = 0. It touches the risk if a_i = C_i where s_i > 0 and a_i = 0 where s_i < 0. Rows with s_i = 0 make the
balance, the last of them with a part of its cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hinge.reference.objective import ROUNDOFF
from hinge.reference.problem import Problem
from hinge.reference.sums import LANES, Floats, interleaved_sum

Flags = npt.NDArray[np.bool_]


class Part(NamedTuple):
    """The row that belongs to a set in part: with this share of its cost, which is 0 if there is none."""

    row: int = 0
    share: float = 0.0


@dataclass
class Contact:
    """The plane of some rows; `shift` is d, `risk` is sum_i C_i max(0, s_i)."""

    rows: Flags
    part: Part = Part()
    shift: float = 0.0
    risk: float = 0.0


def best_shift(problem: Problem, margins: Floats) -> float:
    """The best d; 0 unless the intercept is free."""
    places, cost = np.array(problem.target) * (1.0 - margins), np.array(problem.cost)
    order = np.argsort(places)[: np.count_nonzero(np.isfinite(places))]
    if not problem.free_intercept or order.size == 0:
        return 0.0
    slope = -_sum(cost[np.array(problem.target) > 0.0])
    after = slope + np.cumsum(cost[order])
    return float(places[order][min(int(np.count_nonzero(after < 0.0)), order.size - 1)])


def touching(problem: Problem, margins: Floats) -> Contact:
    """The plane that touches the risk at a point with these margins."""
    target, cost = np.array(problem.target), np.array(problem.cost)
    shift = best_shift(problem, margins)
    slack = (1.0 - margins) - target * shift
    contact = Contact(slack > 0.0, shift=shift, risk=_sum(np.where(slack > 0.0, cost * slack, 0.0)))
    if problem.free_intercept:
        _balance(problem, contact, np.flatnonzero(slack == 0.0).tolist())
    return contact


def again(problem: Problem, rows: Flags, part: Part) -> Contact:
    """The plane of the same rows on another problem; as much of the row in part belongs to it as makes the balance."""
    contact = Contact(rows.copy())
    if problem.free_intercept:
        _balance(problem, contact, [part.row] if part.share > 0.0 else [])
    return contact


def _balance(problem: Problem, contact: Contact, candidates: Iterable[int]) -> None:
    """Candidates come, and if that is not enough rows leave, until sum C_i t_i = 0: the last of them in part."""
    rows, target, cost = contact.rows, problem.target, problem.cost
    residue = _sum(np.where(rows, np.array(cost) * np.array(target), 0.0))
    offset = _sum(np.where(rows, np.array(cost), 0.0))
    for i in (*candidates, *np.flatnonzero(rows).tolist()):
        if not abs(residue) > problem.m * ROUNDOFF * offset:  # less than rounding may make of zero
            return
        goes = bool(rows[i])
        change = -cost[i] if goes else cost[i]
        if (change * target[i] > 0.0) == (residue > 0.0):
            continue
        share = abs(residue) / cost[i]
        if share < 1.0:
            rows[i] = False
            contact.part = Part(i, 1.0 - share if goes else share)
            return
        rows[i] = not goes
        residue += change * target[i]
        offset += change


def _sum(terms: Floats) -> float:
    return interleaved_sum(terms, LANES["dense"])
