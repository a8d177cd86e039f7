"""What is measured of an attempt, and when a program arrives. Plain NumPy, independent of hinge and of benchopt."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from common.harness import Adapter, Attempt, attempt, next_budget
from common.problem import Bracket, Problem, relative_gap

_UNKNOWN = {"value": math.nan, "suboptimality": math.nan, "gap": math.nan, "epochs": math.nan}
#: A curve whose gap lags behind ends when its suboptimality is this much better than asked for.
_BEYOND = 10.0
_MOST_BUDGETS = 30


def measure(
    problem: Problem, bracket: Bracket, attempt: Attempt, *, accuracy: float, time_limit: float
) -> dict[str, Any]:
    """Objective, accuracy and proof of a result, and whether its curve ends here.

    Returns
    -------
    dict
        ``value`` P(w); ``suboptimality`` P(w)/lower - 1 with the lower side of the bracket; ``gap`` (P - D)/D with D
        from the program's own multipliers, NaN if it has none; ``epochs``, NaN if it does not tell; ``done``: accurate,
        failed, given up, or so slow that twice the work would not end within `time_limit` seconds.
    """
    fit = attempt.fit
    if fit is None:
        return _UNKNOWN | {"done": True}
    value = problem.primal(fit.w)
    suboptimality = bracket.suboptimality(value)
    gap = math.nan if fit.a is None else relative_gap(value, problem.dual(fit.a))
    accurate = suboptimality <= accuracy and not gap > accuracy
    return {
        "value": value,
        "suboptimality": suboptimality,
        "gap": gap,
        "epochs": math.nan if fit.epochs is None else float(fit.epochs),
        "done": accurate or suboptimality <= accuracy / _BEYOND or fit.exhausted or attempt.seconds > time_limit / 2.0,
    }


def geometric(values: Iterable[float]) -> float:
    """The geometric mean."""
    return statistics.geometric_mean(list(values))


@dataclass(frozen=True)
class Contestant:
    """A program with the budget that it takes, and what it needs to be run again."""

    adapter: Adapter
    prepared: Any
    budget: float
    limit: float


def side_by_side(contestants: dict[str, Contestant], problem: Problem, repeats: int) -> dict[str, float]:
    """The median CPU seconds of each program. They take turns, so that what disturbs the machine disturbs them all.

    Programs that take long are repeated less often. A fit that does not end counts with the limit.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(repeats):
        for name, of in contestants.items():
            if sum(times[name]) < of.limit:
                seconds = attempt(of.adapter, of.prepared, problem, of.budget, turn, of.limit).seconds
                times[name].append(seconds if math.isfinite(seconds) else of.limit)
    return {name: statistics.median(took) for name, took in times.items()}


@dataclass(frozen=True)
class Arrival:
    """The first fit that was good enough."""

    by: Contestant
    seconds: float


def arrivals(
    adapter: Adapter,
    problem: Problem,
    bracket: Bracket,
    accuracies: tuple[float, ...],
    limit: float,
    patience: float = math.inf,
) -> dict[float, Arrival]:
    """A program with its budget tuned, for each accuracy that it reaches within `limit` seconds.

    The budget is made tighter step by step. After `patience` seconds in all no tighter one is tried.
    """
    prepared = adapter.prepare(problem)
    found: dict[float, Arrival] = {}
    budget, spent = None, 0.0
    for _ in range(_MOST_BUDGETS):
        budget = next_budget(adapter, budget)
        once = attempt(adapter, prepared, problem, budget, 0, limit)
        if once.fit is None:
            break
        reached = bracket.suboptimality(problem.primal(once.fit.w))
        arrival = Arrival(Contestant(adapter, prepared, budget, limit), once.seconds)
        found.update({a: arrival for a in accuracies if a not in found and reached <= a})
        spent += once.seconds
        if len(found) == len(accuracies) or once.fit.exhausted or spent > patience:
            break
    return found
