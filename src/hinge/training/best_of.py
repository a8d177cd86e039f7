"""Boosting the confidence: the best of several independent runs (Pegasos paper, section 3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from hinge import checks
from hinge.certificate import Certificate
from hinge.problem import Problem
from hinge.solvers import Composite, Configuration, Pegasos, Solver, Traits
from hinge.training.result import Options, Outcome, Record

Judgement = Literal["loss", "error"]


@dataclass(frozen=True)
class BestOf(Configuration, Composite):
    """Share the epochs among `runs` independent runs and keep the best model.

    A stochastic method reaches its accuracy with some probability only. Of ``s = ceil(ln(1/delta))`` runs of T/s steps
    each, the best is good with confidence ``1 - delta``.

    Parameters
    ----------
    solver : solver configuration, default=Pegasos(output="random")
        What to run; by default the iterate of a random step, of which the paper's theorem speaks.
    runs : int, default=3
        Number of runs; each gets ``max_iter // runs`` epochs and random numbers of its own.
    validation : tuple (X, y) or None, default=None
        Judge the runs on these rows, labels -1 and +1; None: by the training objective.
    by : {"loss", "error"}, default="loss"
        What is compared on the validation rows: the mean loss, or the share of wrong signs (the zero-one loss, the
        paper's choice). Among equals the first run wins.

    Examples
    --------
    >>> from hinge import BestOf, Pegasos
    >>> BestOf.with_confidence(Pegasos(k=10), delta=0.05).runs
    3
    """

    solver: Any = Pegasos(output="random")
    runs: int = 3
    validation: tuple[Any, Any] | None = None
    by: Judgement = "loss"

    def __post_init__(self) -> None:
        if isinstance(self.solver, str | type):
            raise ValueError(f"BestOf needs a solver configuration such as Pegasos(), got {self.solver!r}.")
        checks.whole("runs", self.runs)
        checks.choice("by", self.by, get_args(Judgement))
        if self.by == "error" and self.validation is None:
            raise ValueError("by='error' counts errors on validation rows: give validation=(X, y).")

    @classmethod
    def with_confidence(
        cls, solver: Solver, delta: float, validation: tuple[Any, Any] | None = None, by: Judgement = "loss"
    ) -> BestOf:
        """As many runs as confidence ``1 - delta`` needs."""
        if not 0 < delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, got {delta!r}.")
        return cls(solver, max(1, math.ceil(math.log(1 / delta))), validation, by)

    @property
    def traits(self) -> Traits:
        """Those of the solver that it runs."""
        found: Traits = self.solver.traits
        return found

    def train(self, problem: Problem, options: Options, train: Callable[[Problem, Solver, Any], Any]) -> Outcome:
        """Run the loop `runs` times and keep the best."""
        if options.max_iter < self.runs:
            raise ValueError(f"{self.runs} runs need max_iter >= {self.runs}, got {options.max_iter}.")
        if options.state is not None:
            raise ValueError("BestOf starts every run afresh: it takes no state (and no warm_start).")
        if self.validation is not None and not np.isin(np.asarray(self.validation[1]), (-1, 1)).all():
            raise ValueError("The labels of the validation set must be -1 and +1.")
        outcomes: list[Outcome] = []
        for run in range(self.runs):
            share = replace(options, key=(*options.key, run), max_iter=options.max_iter // self.runs)
            outcome = train(problem, self.solver, share)
            outcomes.append(outcome)
            done = self.validation is None and outcome.status == "converged"
            if done or outcome.status in ("interrupted", "callback", "time_limit"):
                break
        best = min(outcomes, key=lambda outcome: self._judge(problem, outcome))
        bound = max((outcome.bound for outcome in outcomes), key=lambda bound: bound.value)
        last = outcomes[-1].status
        converged = Certificate(best.model.value, bound.value).within(options.tol) and last != "interrupted"
        return replace(
            best,
            bound=bound,
            state=None,
            history=_joined(outcomes),
            status="converged" if converged else last,
            n_iter=sum(outcome.n_iter for outcome in outcomes),
            error=outcomes[-1].error,
        )

    def _judge(self, problem: Problem, outcome: Outcome) -> float:
        if self.validation is None:
            return outcome.model.value
        X, y = self.validation
        decision = np.asarray(X @ outcome.model.w[:-1]) + outcome.model.b
        margin = np.asarray(y) * decision
        return float(np.mean(margin <= 0.0 if self.by == "error" else problem.loss.value(1.0 - margin)))


def _joined(outcomes: list[Outcome]) -> tuple[Record, ...]:
    """The histories one after the other."""
    records: list[Record] = []
    epoch, seconds = 0, 0.0
    for outcome in outcomes:
        records += [replace(r, epoch=r.epoch + epoch, seconds=r.seconds + seconds) for r in outcome.history]
        epoch += outcome.n_iter
        seconds = records[-1].seconds if records else 0.0
    return tuple(records)
