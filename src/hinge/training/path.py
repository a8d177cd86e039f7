"""Models for many values of C, each run starting from where the one before has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hinge import checks
from hinge.certificate import Certificate, Claim
from hinge.problem import (
    Floats,
    Intercept,
    InterceptChoice,
    Order,
    Problem,
    as_loss,
    as_order,
    as_rows,
    column_names,
    held_still,
)
from hinge.problem.labels import counted
from hinge.problem.loss import LossName
from hinge.solvers import Composite, Solver, State, as_solver
from hinge.training.advice import warn_unless_converged
from hinge.training.loop import train
from hinge.training.report import reporting
from hinge.training.result import Callback, Options, Outcome
from hinge.training.signals import Signals
from hinge.training.solve import Solution, labelled, two_classes


def train_path(
    problem: Problem, costs: Sequence[Floats], solver: Solver | Composite, options: Options
) -> Iterator[Outcome]:
    """Train on `problem` at one cost vector after the other; each run is started from the state of the one before.

    That is if the solver says that its states transfer to other costs; others, whose steps have become short, start
    afresh. What ends a run before its time (a token, a callback) ends the path: later costs have no outcome.

    Parameters
    ----------
    problem : Problem
    costs : sequence of ndarray of shape (n_samples,)
        In ascending order, the cheapest problem first. Zero where `problem` leaves rows out.
    solver : solver configuration
    options : Options
        With `keep_state`: that is how it goes on.

    Yields
    ------
    Outcome
    """
    warm = not isinstance(solver, Composite) and solver.traits.transfers
    state: State | None = None
    for cost in costs:
        outcome = train(problem.with_cost(cost), solver, replace(options, state=state))
        state = outcome.state if warm else None
        yield outcome
        if outcome.status in ("time_limit", "callback", "interrupted"):
            return


@dataclass(frozen=True, repr=False)
class Path:
    """What :func:`path` returns: a :class:`Solution` for each C, in ascending order.

    Attributes
    ----------
    solutions : tuple of Solution
        Only the last one keeps its state.
    Cs : ndarray of shape (n_Cs,)
    coefs : ndarray of shape (n_Cs, n_features)
    intercepts : ndarray of shape (n_Cs,)
    certificates : tuple of Certificate
    """

    solutions: tuple[Solution, ...]

    @cached_property
    def Cs(self) -> Floats:
        """Those that were reached, in ascending order."""
        return np.array([solution.C for solution in self.solutions])

    @cached_property
    def coefs(self) -> Floats:
        """The weights, a row for each C."""
        return np.array([solution.coef for solution in self.solutions])

    @cached_property
    def intercepts(self) -> Floats:
        """The intercept for each C."""
        return np.array([solution.intercept for solution in self.solutions])

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate for each C."""
        return tuple(solution.certificate for solution in self.solutions)

    def claims(self, y: Any, sample_weight: Any) -> list[Claim]:
        """What :func:`hinge.verify` checks."""
        return [
            replace(claim, label=f"C={solution.C:g}")
            for solution in self.solutions
            for claim in solution.claims(y, sample_weight)
        ]

    def __len__(self) -> int:
        return len(self.solutions)

    def __repr__(self) -> str:
        lines = [f"{'C':>10} {'primal':>16} {'relative gap':>13} {'passes':>7} status"]
        for found in self.solutions:
            gap = found.certificate.relative_gap
            lines.append(
                f"{found.C:10.4g} {found.certificate.primal:16.8g} {gap:13.2e} {found.n_iter:7d} {found.status}"
            )
        return "\n".join(lines)


def path(
    X: Any,
    y: Any,
    Cs: Any = 10,
    *,
    loss: LossName = "hinge",
    solver: Solver | Composite | str = "auto",
    tol: float = 1e-3,
    max_iter: int = 1000,
    intercept: InterceptChoice = "auto",
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    order: Order | str | None = None,
    random_state: Any = 0,
    time_limit: float | None = None,
    callback: Callback | None = None,
    verbose: int = 0,
    n_jobs: int | None = None,
) -> Path:
    """Train a linear SVM on two classes for many values of C, with a certificate for each.

    The problem is that of :func:`solve`. Values of C are taken in ascending order, and each run starts from the
    multipliers of the one before, scaled to the new costs: ``a_i <- a_i C_new / C_old``. What lay at the old bound lies
    at the new one, so most rows are where they belong from the start. (The factor is smaller, down to 1, where that
    gives a larger dual value.)

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Read in place where :func:`solve` reads it in place.
    y : array of shape (n_samples,)
        Labels, of two kinds.
    Cs : int or array of shape (n_Cs,), default=10
        Values of C, in any order; a number n stands for ``numpy.logspace(-4, 4, n)``.
    loss, solver, tol, intercept, intercept_scaling, sample_weight, order, random_state, callback, verbose, n_jobs :
        As in :func:`solve`. A callback that returns True ends the path.
    max_iter : int, default=1000
        Largest number of passes over the rows for each C.
    time_limit : float, default=None
        Seconds for all values of C together. Those that are not reached are left out.

    Returns
    -------
    Path
        After Ctrl-C, too: as far as it came, the last solution with status "interrupted".

    Notes
    -----
    Solvers whose traits say ``transfers`` start from the C before: "auto", "newton", "dcd", "mpu", and the cutting
    planes, which keep their planes. Stochastic gradient methods start afresh at each C: their steps have become too
    short for another problem.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> import hinge
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = hinge.path(scale(X), y, Cs=np.logspace(-3, 1, 9))
    >>> path.coefs.shape, max(certificate.relative_gap for certificate in path.certificates) < 1e-3
    ((9, 30), True)
    """
    values = checks.costs_to_try(Cs)
    options = Options(
        tol=checks.positive("tol", tol),
        max_iter=checks.whole("max_iter", max_iter),
        order=as_order(order),
        key=(checks.seed(random_state), 0),
        callback=callback,
        n_threads=checks.threads(n_jobs),
    )
    seconds = checks.time_limit(time_limit)
    configuration = as_solver(solver)
    names = column_names(X)
    X, y = labelled(X, y, "path")
    with held_still(X), reporting(verbose) as report:
        weight = checks.weights(sample_weight, X)
        classes = two_classes(counted(y, weight), "path", "LinearSVCCV")
        costs = [checks.costs(C, weight) for C in values]
        problem = Problem.make(
            as_rows(X, names, options.n_threads, fingerprint=True),
            np.where(y == classes[1], 1.0, -1.0),
            costs[-1],
            loss=as_loss(loss),
            intercept=Intercept(configuration.traits.treatment(intercept), intercept_scaling),
        )
        with Signals() as signals:
            if seconds is not None:
                signals.token.set_deadline(seconds)
            solutions: list[Solution] = []
            for outcome in train_path(
                problem, costs, configuration, replace(options, token=signals.token, report=report)
            ):
                if solutions:
                    solutions[-1] = replace(solutions[-1], state=None)
                solutions.append(Solution.of(outcome, problem, classes, values[len(solutions)]))
            if solutions[-1].status != "interrupted":
                warn_unless_converged(solutions, problem, configuration, options, stacklevel=3)
    if signals.error is not None and not isinstance(signals.error, KeyboardInterrupt):
        raise signals.error
    if signals.error is not None:
        solutions[-1] = replace(solutions[-1], status="interrupted")
    return Path(tuple(solutions))
