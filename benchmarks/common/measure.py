"""What is measured of an attempt, and when a program arrives. Plain NumPy, independent of hinge and of benchopt."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
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


def median_seconds(
    adapter: Adapter, prepared: Any, problem: Problem, budget: float, limit: float, repeats: int
) -> float:
    """The median CPU seconds of a fit; fewer repeats of long ones. One that does not end counts with the limit."""
    times: list[float] = []
    while len(times) < repeats and sum(times) < limit:
        seconds = attempt(adapter, prepared, problem, budget, len(times), limit).seconds
        times.append(seconds if math.isfinite(seconds) else limit)
    return statistics.median(times)


def arrivals(
    adapter: Adapter,
    problem: Problem,
    bracket: Bracket,
    accuracies: tuple[float, ...],
    limit: float,
    repeats: int,
    patience: float = math.inf,
) -> dict[float, float]:
    """Seconds of a program, its budget tuned, for each accuracy that it reaches within `limit` seconds.

    The budget is made tighter step by step; the fit that reaches an accuracy is repeated, and the median counts. After
    `patience` seconds in all no tighter budget is tried.
    """
    prepared = adapter.prepare(problem)
    found: dict[float, float] = {}
    budget, spent = None, 0.0
    for _ in range(_MOST_BUDGETS):
        budget = next_budget(adapter, budget)
        once = attempt(adapter, prepared, problem, budget, 0, limit)
        if once.fit is None:
            break
        reached = bracket.suboptimality(problem.primal(once.fit.w))
        new = [accuracy for accuracy in accuracies if accuracy not in found and reached <= accuracy]
        if new:
            again = repeats > 1
            took = median_seconds(adapter, prepared, problem, budget, limit, repeats) if again else once.seconds
            found.update(dict.fromkeys(new, took))
        spent += once.seconds
        if len(found) == len(accuracies) or once.fit.exhausted or spent > patience:
            break
    return found
