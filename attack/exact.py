"""Certificates in exact arithmetic: of every solver's models, and of random points handed to the native evaluation.

Promise: the exact P of (coef, intercept) is at most ``certificate.primal``, the multipliers are feasible, and their
exact D is at least ``certificate.dual``.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

import hinge
from attack.library import Native, draw_setting
from attack.problems import INTERCEPTS, Extreme, extreme
from attack.rational import ExactProblem
from attack.table import Finding

LOSSES = ("hinge", "squared_hinge")
_SOLVES = 6
_POINTS = 34

warnings.simplefilter("ignore")


def case(rng: np.random.Generator) -> Finding:
    """One problem: some solvers on it, and the native evaluation at points near their results and elsewhere."""
    problem = extreme(rng)
    loss, intercept = str(rng.choice(LOSSES)), str(rng.choice(INTERCEPTS))
    exact = ExactProblem(problem.X, problem.y, problem.cost, loss, intercept, problem.scale)
    failures: list[str] = []
    notes: list[str] = []
    solutions = []
    for _ in range(_SOLVES):
        setting = draw_setting(rng, loss=loss, intercept=intercept)
        options = {**setting.options(), **problem.options(), "random_state": int(rng.integers(1000))}
        try:
            solution = hinge.solve(problem.data, problem.y, max_iter=int(rng.choice([1, 2, 5, 30])), **options)
        except ValueError:  # too large for float64, or options that need more rows
            notes.append("solve refused")
            continue
        solutions.append(solution)
        failures += [f"{setting}: {text}" for text in false_certificate(exact, solution)]
    if not solutions:
        return Finding(0, failures, [], notes)
    native = Native(problem.data, problem.y, problem.cost, loss, intercept, problem.scale)
    for _ in range(_POINTS):
        solution = solutions[rng.integers(len(solutions))]
        w, b = _draw_weights(rng, solution, intercept, problem)
        a = _draw_multipliers(rng, solution, problem)
        failures += [f"{loss}, {intercept}: {text}" for text in _false_evaluation(exact, native, w, b, a)]
    return Finding(len(solutions) + _POINTS, failures, [], notes)


def false_certificate(exact: ExactProblem, solution: Any) -> list[str]:
    """What is wrong with the certificate of a Solution."""
    found = solution.certificate
    failures = []
    if not found.dual <= found.primal:
        failures.append(f"the certificate is no bracket: {found}")
    if not math.isnan(found.primal) and math.isinf(found.primal):
        return [*failures, f"primal is {found.primal}"]
    if exact.primal(solution.coef, float(solution.intercept)) > found.primal:
        failures.append(f"primal {found.primal!r} is below the exact P")
    return failures + _false_dual(exact, solution.dual, found.dual)


def _false_dual(exact: ExactProblem, a: Any, dual: float) -> list[str]:
    outside = exact.outside(a)
    if outside is not None:
        return [outside]
    if dual > 0 and not exact.proves(a, dual):  # a = 0 proves 0
        return [f"dual {dual!r} is above the exact D"]
    return []


def _false_evaluation(exact: ExactProblem, native: Native, w: Any, b: float | None, a: Any) -> list[str]:
    """What is wrong with the native P at (w, b) and D at a."""
    failures = []
    value, at = native.primal(w, b)
    if not np.isfinite(w).all() or (b is not None and not math.isfinite(b)):
        if math.isfinite(value):
            failures.append(f"P at weights that are not finite is {value!r}")
    elif math.isnan(value) or value < 0:
        failures.append(f"P is {value!r}")
    elif math.isfinite(value) and exact.native_primal(w, at) > value:
        failures.append(f"P {value!r} is below the exact one at w = {w!r}, b = {b!r}")
    dual, feasible = native.dual(a)
    if math.isnan(dual) or dual == math.inf:
        failures.append(f"D is {dual!r}")
    else:
        failures += [f"{text} (a = {a!r})" for text in _false_dual(exact, feasible, dual)]
    return failures


def _draw_weights(
    rng: np.random.Generator, solution: Any, intercept: str, problem: Extreme
) -> tuple[Any, float | None]:
    """Weights near those of a solution, or anywhere; b is given now and then if it is free."""
    w = np.append(solution.coef, solution.intercept / problem.scale)
    kind = rng.integers(10)
    if kind < 4:
        w = w * (1.0 + 10.0 ** rng.uniform(-16, 0) * rng.standard_normal(w.size))
    elif kind < 6:
        w = rng.standard_normal(w.size) * 10.0 ** rng.uniform(-5, 5)
    elif kind < 7:
        w = np.round(w)
    elif kind < 9:
        w = rng.standard_normal(w.size) * 10.0 ** rng.uniform(-150, 150, w.size)
    elif rng.random() < 0.2:
        w[rng.integers(w.size)] = rng.choice([np.nan, np.inf, -np.inf])
    if intercept != "penalized":
        w[-1] = 0.0
    b = float(solution.intercept * (1.0 + 10.0 ** rng.uniform(-16, 3) * rng.standard_normal()))
    return np.ascontiguousarray(w), b if intercept == "free" and rng.random() < 0.5 else None


def _draw_multipliers(rng: np.random.Generator, solution: Any, problem: Extreme) -> Any:
    """Multipliers near those of a solution, or anywhere, outside the box too."""
    a = solution.dual.copy()
    kind = rng.integers(10)
    if kind < 4:
        a = a * (1.0 + 10.0 ** rng.uniform(-16, 0) * rng.standard_normal(a.size))
    elif kind < 6:
        a = problem.cost * rng.uniform(-0.2, 1.2, a.size) * 10.0 ** rng.uniform(-12, 0)
    elif kind < 7:
        a = problem.cost * rng.integers(0, 2, a.size)
    elif kind < 9:
        a = rng.standard_normal(a.size) * 10.0 ** rng.uniform(-150, 150, a.size)
    elif rng.random() < 0.2:
        a[rng.integers(a.size)] = rng.choice([np.nan, np.inf, -np.inf])
    return a
