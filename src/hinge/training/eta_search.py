"""A step size for Zhang's method: short runs over a grid."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from hinge import checks
from hinge.problem import InterceptChoice, Order
from hinge.solvers import Zhang
from hinge.training.solve import solve

_ZHANG = Zhang()
# Of the default grid, and beyond the end of a grid with one value.
_FACTOR = 10.0
_DEFAULT_SIZE = 7
# Relative to 1/lambda, of what a grid grows to: beyond, a step forgets more than half of w.
_LARGEST = 0.5
# A best value at an end of the grid asks for another one beyond; where w = 0 is the best of all, that would never end.
_MOST_EXTENSIONS = 30


@dataclass(frozen=True)
class EtaSearch:
    """What :func:`search_eta` has found.

    Attributes
    ----------
    best : Zhang
        The configuration with the best step size.
    table : tuple of (float, float)
        (eta, primal objective after the short run) of every step size that was tried, by ascending eta.
    """

    best: Zhang
    table: tuple[tuple[float, float], ...]


def search_eta(
    X: Any,
    y: Any,
    *,
    C: float = 1.0,
    solver: Zhang = _ZHANG,
    etas: Iterable[float] | None = None,
    epochs: int = 5,
    intercept: InterceptChoice = "none",
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    order: Order | str | None = None,
    random_state: Any = 0,
) -> EtaSearch:
    """Choose the constant step size of Zhang's method.

    Runs `solver` for a few epochs with each of a geometric grid of step sizes ``eta < 1/lambda = sum_i C_i``, and takes
    the one that ends with the lowest primal objective. While that is the first or the last of the grid, the grid grows
    there by the ratio of the two values at that end.

    Parameters
    ----------
    X, y, C, intercept, intercept_scaling, sample_weight, order, random_state :
        As in :func:`hinge.solve`, but for the intercept: Zhang's method has none, or a penalised one.
    solver : Zhang, default=Zhang()
        Its other options stay as they are.
    etas : iterable of float, default=None
        Step sizes to begin with, each below ``sum_i C_i``; None: 0.1, 0.01, ..., 1e-7 times that.
    epochs : int, default=5
        Length of a run. A small eta is the better the longer a run is: search with as many epochs as you will train.

    Returns
    -------
    EtaSearch

    References
    ----------
    Zhang: Solving Large Scale Linear Prediction Problems Using Stochastic Gradient Descent Algorithms. ICML 2004.

    Examples
    --------
    >>> import hinge
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> found = hinge.search_eta(X, y, C=0.01)
    >>> found.best.eta == min(found.table, key=lambda row: row[1])[0]
    True
    >>> hinge.solve(X, y, C=0.01, solver=found.best, intercept="none", tol=0.2).status
    'converged'
    """
    if not isinstance(solver, Zhang):
        raise ValueError(f"search_eta chooses the step size of Zhang(...), got solver={solver!r}.")
    epochs, C = checks.whole("epochs", epochs), checks.positive("C", C)
    limit = float(checks.costs(C, checks.weights(sample_weight, X)).sum())  # 1/lambda
    seed = checks.seed(random_state)

    def primal(eta: float) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = solve(
                X,
                y,
                C=C,
                solver=replace(solver, eta=eta),
                tol=1e-9,
                max_iter=epochs,
                intercept=intercept,
                intercept_scaling=intercept_scaling,
                sample_weight=sample_weight,
                order=order,
                random_state=seed,
            )
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        return solution.certificate.primal

    found = _extend({eta: primal(eta) for eta in _checked(etas, limit)}, primal, limit)
    table = tuple(sorted(found.items()))
    return EtaSearch(replace(solver, eta=_best(table)), table)


def _checked(etas: Iterable[float] | None, limit: float) -> list[float]:
    """The grid to begin with, ascending."""
    if etas is None:
        return [limit * _FACTOR**-k for k in range(_DEFAULT_SIZE, 0, -1)]
    grid = sorted({float(eta) for eta in etas})
    if not grid:
        raise ValueError("etas is empty: give at least one step size, or None for the default grid.")
    wrong = [eta for eta in grid if not 0 < eta < limit]
    if wrong:
        raise ValueError(f"etas must lie between 0 and 1/lambda = sum of C_i = {limit:g}, got {wrong[0]!r}.")
    return grid


def _best(table: Iterable[tuple[float, float]]) -> float:
    """The eta of the lowest primal; of equal ones the smallest: where all are too large no run gets below w = 0."""
    return min(table, key=lambda row: (row[1], row[0]))[0]


def _extend(found: dict[float, float], primal: Callable[[float], float], limit: float) -> dict[float, float]:
    """Extend the grid at its ends while the best value is there."""
    for _ in range(_MOST_EXTENSIONS):
        grid, best = sorted(found), _best(found.items())
        if best == grid[0]:
            following = best / (grid[1] / grid[0] if len(grid) > 1 else _FACTOR)
        elif best == grid[-1]:
            following = best * (grid[-1] / grid[-2])
        else:
            break
        if not 0 < following <= _LARGEST * limit:
            break
        found = {**found, following: primal(following)}
    return found
