"""What is measured of an attempt. Plain NumPy, independent of hinge and of benchopt."""

from __future__ import annotations

import math
from typing import Any

from benchmark_utils.harness import Attempt
from benchmark_utils.problem import Bracket, Problem, relative_gap

_UNKNOWN = {"value": math.nan, "suboptimality": math.nan, "gap": math.nan, "epochs": math.nan}
#: A curve whose gap lags behind ends when its suboptimality is this much better than asked for.
_BEYOND = 10.0


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
