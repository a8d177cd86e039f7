"""What to do about a run that did not converge."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hinge import _core
from hinge.certificate import Certificate
from hinge.problem import Problem
from hinge.problem.labels import distinct
from hinge.solvers import SOLVERS, Auto, name_of
from hinge.training.result import Options, Record, Status

# Rows that are looked at for features of different scale.
_SAMPLE = 10_000
# Standardised features, features between -1 and 1, one-hot codes and tf-idf weights have root mean squares of at most
# about 1.
_LARGE = 5.0
# Values of features in the same units do not differ by so much, where they are not zero.
_MIXED = 100.0
# More passes are advice only if the second half of them has brought the gap down to this part of what it was.
_PROGRESS = 0.9
#: The solver that reaches any tolerance where others crawl.
_SURE = "newton"
# By status: what there was too little of.
_MORE = {"max_iter": "max_iter", "time_limit": "time_limit"}


class Ended(Protocol):
    """How a run ended: an Outcome, or what is left of it."""

    @property
    def status(self) -> Status: ...
    @property
    def n_iter(self) -> int: ...
    @property
    def certificate(self) -> Certificate: ...
    @property
    def history(self) -> tuple[Record, ...]: ...


def warn_unless_converged(
    runs: Sequence[Ended], problem: Problem, solver: Any, options: Options, stacklevel: int
) -> None:
    """One ConvergenceWarning for all runs: the gap reached, and what to do; `stacklevel` finds the user's line.

    A run that the user's own callback has ended is as long as it was meant to be. `problem` is one of those trained on.
    """
    missed = [run for run in runs if run.status not in ("converged", "callback")]
    if not missed:
        return
    worst = max(missed, key=lambda run: run.certificate.relative_gap)
    advice = " or ".join(_remedies(worst, problem, solver))
    message = (
        f"hinge stopped ({worst.status}) at a relative duality gap of {worst.certificate.relative_gap:.2e}, "
        f"above tol={options.tol:.2e}, after {worst.n_iter} passes. {advice[0].upper()}{advice[1:]}."
        + _advice_on_scales(problem.rows)
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)


def sure_solver(problem: Problem, solver: Any) -> str | None:
    """The name of a solver that reaches any tolerance on such a problem; None if there is none, or it is at work."""
    traits = SOLVERS[_SURE].traits
    fits = problem.space == traits.space and problem.loss.name in traits.losses
    supported = fits and problem.intercept.kind in traits.intercepts
    at_work = isinstance(solver, Auto) or name_of(solver) == _SURE
    return _SURE if supported and not at_work else None


def _remedies(run: Ended, problem: Problem, solver: Any) -> list[str]:
    """What would help, best first."""
    if run.status == "stalled":
        return ["the limit of float64 is reached: raise tol"]
    if run.status == "finished":
        return [f"the solver has ended by its own rule: change its options ({solver}) or raise tol"]
    shrinking = _still_shrinking(run)
    found = [f"raise {_MORE[run.status]}"] if shrinking and run.status in _MORE else []
    if (name := sure_solver(problem, solver)) is not None:
        found.append(f"use solver={name!r}")
    if not shrinking:
        found[:1] = [f"more passes will not help, the gap has stopped to shrink: {'; '.join(found[:1]) or 'raise tol'}"]
    return [*found, "lower C"]


def _still_shrinking(run: Ended) -> bool:
    """Whether the second half of the passes has brought the gap down. A run that is too short to tell has."""
    early = [record.relative_gap for record in run.history[:-1] if record.epoch <= run.n_iter / 2]
    return not early or run.certificate.relative_gap <= _PROGRESS * early[-1]


def _advice_on_scales(rows: _core.Rows) -> str:
    sample = rows.part(distinct(np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)).astype(np.int64)))
    squares, counts = sample.column_squares()
    used = squares > 0
    if not used.any():
        return ""
    overall = np.sqrt(squares[used] / len(sample))
    where_not_zero = np.sqrt(squares[used] / counts[used])
    largest, median = overall.max(), np.median(overall)
    if where_not_zero.max() > _MIXED * np.median(where_not_zero) or largest > max(_LARGE, 10 * median):
        what = f"differ in scale (largest root mean square {largest:.2g}, median {median:.2g})"
    elif largest > _LARGE:
        what = f"are large (root mean square {largest:.2g})"
    else:
        return ""
    return (
        f" The features {what}: scale them first, for example with sklearn.preprocessing.StandardScaler or "
        "MaxAbsScaler; that alone may be enough."
    )
