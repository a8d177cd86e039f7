"""Solve one binary problem: the functional interface."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_X_y

from hinge import _core, checks
from hinge.certificate import Certificate, Claim
from hinge.problem import (
    Floats,
    Intercept,
    InterceptKind,
    Loss,
    Order,
    Problem,
    as_loss,
    as_order,
    as_rows,
    held_still,
)
from hinge.problem.loss import LossName
from hinge.solvers import Composite, Solver, as_solver
from hinge.training.loop import train
from hinge.training.result import Callback, Options, Outcome, Record, Status
from hinge.training.signals import Signals

# Rows that are looked at for features of different scale.
_SAMPLE = 10_000


@dataclass(frozen=True)
class Solution:
    """What :func:`solve` returns: a model, its proof, and how it was found.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    intercept : float
    dual : ndarray of shape (n_samples,)
        Feasible multipliers a_i >= 0 that prove ``certificate.dual``.
    certificate : Certificate
    history : tuple of Record
        One record per evaluation.
    status : {"converged", "stalled", "max_iter", "time_limit", "callback", "interrupted"}
    n_iter : int
        Passes over the rows.
    classes : ndarray of shape (2,)
        Labels; the second is the positive one.
    state : dict or None
        Everything needed to go on: pass it to ``solve(..., state=...)``. Arrays and numbers only, so that it can be
        saved with ``numpy.savez``. None if the solver cannot be resumed.
    """

    coef: Floats
    intercept: float
    dual: Floats
    certificate: Certificate
    history: tuple[Record, ...]
    status: Status
    n_iter: int
    classes: npt.NDArray[Any]
    C: float
    loss: Loss
    treatment: Intercept
    state: dict[str, Any] | None = field(repr=False)

    def claims(self, y: Any, sample_weight: Any) -> list[Claim]:
        """What :func:`hinge.verify` checks."""
        target = np.where(np.asarray(y) == self.classes[1], 1.0, -1.0)
        weight = np.ones(target.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        cost = self.C * weight
        return [Claim(self.coef, self.intercept, self.dual, target, cost, self.loss, self.treatment)]


def solve(
    X: Any,
    y: Any,
    *,
    C: float = 1.0,
    loss: LossName = "hinge",
    solver: Solver | Composite | str = "auto",
    tol: float = 1e-3,
    max_iter: int = 1000,
    intercept: InterceptKind = "free",
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    order: Order | str | None = None,
    random_state: Any = 0,
    time_limit: float | None = None,
    callback: Callback | None = None,
    verbose: int = 0,
    state: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Solution:
    """Train a linear SVM on two classes until the duality gap proves it good enough.

    Minimises ``P(w, b) = 1/2 |w|^2 + C sum_i s_i loss(1 - t_i (w.x_i + b))`` with targets t_i = -1 or +1. Stops as soon
    as ``P - D <= tol * D`` for a feasible dual value D, so that P is within the fraction `tol` of the optimum.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        C-contiguous arrays and CSR matrices of float32 or float64 are read in place, memory-mapped ones included;
        anything else that scikit-learn accepts is converted once.
    y : array of shape (n_samples,)
        Labels, of two kinds.
    C : float, default=1.0
        Cost of a unit of loss.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        ``max(0, s)`` or its square.
    solver : str or configuration, default="auto"
        "auto" or a name of :data:`hinge.solvers.SOLVERS` ("dcd", "mpu", "newton", "ocas", "pegasos", ...), a
        configuration such as ``Pegasos(k=100)``, or a solver of yours (see the documentation: "your own solver").
    tol : float, default=1e-3
        Relative duality gap to reach. Problems of up to 1000 rows are solved as exactly as float64 allows.
    max_iter : int, default=1000
        Largest number of passes over the rows.
    intercept : {"free", "penalized", "none"}, default="free"
        Unpenalised b; b as the weight of a constant feature `intercept_scaling`; b = 0.
    intercept_scaling : float, default=1.0
        The constant feature of a penalised intercept.
    sample_weight : array of shape (n_samples,), default=None
        s_i >= 0; a row of weight zero counts as absent.
    order : {"permutation", "blocks"}, Permutation, Blocks or None, default=None
        Row order; None is the solver's default.
    random_state : int, RandomState or None, default=0
        Same seed, same bits.
    time_limit : float, default=None
        Seconds after which the best model so far is returned.
    callback : callable, default=None
        Called with a :class:`hinge.Record` after every call of the solver; stops the run by returning True.
    verbose : int, default=0
        1 prints a line per evaluation.
    state : dict, default=None
        ``Solution.state`` of an earlier call, to go on from. The result has the same bits as one run if the problem is
        the same and the earlier run was not cut inside an epoch (by Ctrl-C or a time limit); otherwise it is a warm
        start.
    n_jobs : int or None, default=None
        Threads for evaluations. They change no bit of the result.

    Returns
    -------
    Solution
        Also after Ctrl-C (status "interrupted"): the best model so far.

    Notes
    -----
    X is read in place: it must not change while the call lasts.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> import hinge
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> solution = hinge.solve(scale(X), y, C=0.1)
    >>> solution.status, solution.certificate.relative_gap < 1e-3
    ('converged', True)
    """
    C, tol = checks.positive("C", C), checks.positive("tol", tol)
    if state is not None and not isinstance(state, dict):
        raise ValueError(f"state must be the state of a Solution (a dict), got {type(state).__name__}.")
    options = Options(
        tol=tol,
        max_iter=checks.whole("max_iter", max_iter),
        order=as_order(order),
        key=(checks.seed(random_state), 0),
        callback=callback,
        verbose=int(verbose),
        state=state,
        n_threads=checks.threads(n_jobs),
    )
    seconds = checks.time_limit(time_limit)
    configuration = as_solver(solver)
    checks.sparse_structure(X)
    X, y = check_X_y(
        X, y, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False, estimator="solve"
    )
    with held_still(X):
        rows = as_rows(X)
        weight = checks.weights(sample_weight, X)
        classes = np.unique(y[weight > 0])
        if classes.size != 2:
            raise ValueError(
                f"solve needs two classes, got {classes.size} (rows of zero weight do not count)."
                + (" Use hinge.LinearSVC for more than two." if classes.size > 2 else "")
            )
        problem = Problem.make(
            rows,
            np.where(y == classes[1], 1.0, -1.0),
            checks.costs(C, weight),
            loss=as_loss(loss),
            intercept=Intercept(intercept, intercept_scaling),
        )
        with Signals() as signals:
            if seconds is not None:
                signals.token.set_deadline(seconds)
            outcome = train(problem, configuration, replace(options, token=signals.token))
            solution = Solution(
                coef=outcome.model.w[:-1],
                intercept=outcome.model.b,
                dual=problem.spread(outcome.bound.multipliers),
                certificate=outcome.certificate,
                history=outcome.history,
                status=outcome.status,
                n_iter=outcome.n_iter,
                classes=classes,
                C=C,
                loss=problem.loss,
                treatment=problem.intercept,
                state=outcome.state,
            )
            if outcome.status != "interrupted":
                warn_unless_converged([outcome], options, rows, stacklevel=3)
    if signals.error is None:
        return solution
    if not isinstance(signals.error, KeyboardInterrupt):
        raise signals.error
    return replace(solution, status="interrupted")


def warn_unless_converged(outcomes: list[Outcome], options: Options, rows: _core.Rows, stacklevel: int) -> None:
    """One ConvergenceWarning for all problems: the gap reached, and what to do; `stacklevel` finds the user's line."""
    missed = [outcome for outcome in outcomes if outcome.status != "converged"]
    if not missed:
        return
    worst = max(missed, key=lambda outcome: outcome.certificate.relative_gap)
    advice = {
        "max_iter": "Raise max_iter",
        "time_limit": "Raise time_limit",
        "stalled": "The limit of float64 is reached: raise tol",
        "callback": "The callback ended the run",
        "interrupted": "The run was interrupted",
    }[worst.status]
    message = (
        f"hinge stopped ({worst.status}) at a relative duality gap of {worst.certificate.relative_gap:.2e}, "
        f"above tol={options.tol:.2e}, after {worst.n_iter} passes. {advice}, or lower C."
    )
    sample = rows.part(np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)).astype(np.int64)))
    scales = np.sqrt(sample.column_squares() / max(1, len(sample)))
    scales = scales[scales > 0]
    if scales.size and scales.max() > 100 * np.median(scales):
        message += (
            f" The features differ in scale (largest root mean square {scales.max():.2g}, median "
            f"{np.median(scales):.2g}): scale them first, for example with sklearn.preprocessing.StandardScaler or "
            "MaxAbsScaler; that alone may be enough."
        )
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)
