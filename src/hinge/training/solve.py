"""Solve one binary problem: the functional interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, check_X_y

from hinge import checks
from hinge.certificate import Certificate, Claim
from hinge.problem import (
    Floats,
    Intercept,
    InterceptChoice,
    Loss,
    Order,
    Problem,
    as_loss,
    as_order,
    as_rows,
    column_names,
    decision,
    held_still,
)
from hinge.problem.labels import class_factors, counted, distinct, predicted, without_absent
from hinge.problem.loss import LossName
from hinge.solvers import Composite, Solver, as_solver
from hinge.training.advice import warn_unless_converged
from hinge.training.foreign import LinearModel
from hinge.training.loop import train
from hinge.training.report import reporting
from hinge.training.result import Callback, History, Options, Outcome, Status
from hinge.training.signals import Signals


@dataclass(frozen=True, repr=False)
class Solution:
    """What :func:`solve` returns: a model, its proof, and how it was found.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    intercept : float
    dual : ndarray of shape (n_samples,)
        Feasible multipliers a_i >= 0 that prove ``certificate.dual``.
    certificate : Certificate
    history : History
        A tuple of :class:`hinge.Record`, one per evaluation, that is shown as a table.
    status : {"converged", "stalled", "finished", "max_iter", "time_limit", "callback", "interrupted"}
    n_iter : int
        Passes over the rows.
    classes : ndarray of shape (2,)
        Labels; the second is the positive one.
    C, loss, class_weight : as in the call
    treatment : Intercept
        How b was treated: ``treatment.kind`` is "free", "penalized" or "none".
    state : dict or None
        Everything needed to go on: pass it to ``solve(..., state=...)``. Arrays and numbers only, so that it can be
        saved with ``numpy.savez``. None if the solver cannot be resumed.
    """

    coef: Floats
    intercept: float
    dual: Floats
    certificate: Certificate
    history: History
    status: Status
    n_iter: int
    classes: npt.NDArray[Any]
    C: float
    loss: Loss
    treatment: Intercept
    state: dict[str, Any] | None
    class_weight: Any = None

    def decision_function(self, X: Any) -> Floats:
        """Signed score ``w.x + b`` of each sample."""
        names = column_names(X)
        checks.sparse_structure(X)
        X = check_array(
            X, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False, estimator="Solution"
        )
        if X.shape[1] != self.coef.size:
            raise ValueError(f"X has {X.shape[1]} features, but this Solution was trained on {self.coef.size}.")
        with held_still(X):
            weights = np.ascontiguousarray(self.coef[:, np.newaxis])
            return decision(X, weights, np.array([self.intercept]), names).ravel()

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each sample."""
        return predicted(self.classes, self.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on these rows: the share, by weight, whose class is predicted."""
        right = self.predict(X) == np.asarray(y)
        if right.shape != np.shape(y):
            raise ValueError(f"X has {right.size} rows, y has the shape {np.shape(y)}.")
        return float(np.average(right, weights=sample_weight))

    def __repr__(self) -> str:
        return (
            f"Solution({self.status}, relative gap {self.certificate.relative_gap:.2e}, {self.n_iter} passes, "
            f"{self.coef.size} features, C={self.C:g}, {self.loss.name}, {self.treatment.kind} intercept)"
        )

    @classmethod
    def of(
        cls, outcome: Outcome, problem: Problem, classes: npt.NDArray[Any], C: float, class_weight: Any = None
    ) -> Solution:
        """The outcome of training on `problem`, over all samples."""
        return cls(
            coef=np.require(outcome.model.w[:-1], requirements=["C_CONTIGUOUS", "WRITEABLE"]),
            intercept=outcome.model.b,
            dual=problem.spread(outcome.bound.multipliers),
            certificate=outcome.certificate,
            history=History(outcome.history),
            status=outcome.status,
            n_iter=outcome.n_iter,
            classes=classes,
            C=C,
            loss=problem.loss,
            treatment=problem.intercept,
            state=outcome.state,
            class_weight=class_weight,
        )

    def claims(self, y: Any, sample_weight: Any) -> list[Claim]:
        """What :func:`hinge.verify` checks."""
        y = np.asarray(y)
        target = np.where(y == self.classes[1], 1.0, -1.0)
        weight = np.ones(target.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        cost = self.C * weight * class_factors(self.class_weight, self.classes, y, weight)
        return [Claim(self.classes[1], self.coef, self.intercept, self.dual, target, cost, self.loss, self.treatment)]

    def as_linear(self) -> LinearModel:
        """What :func:`hinge.certify` certifies."""
        return LinearModel(
            self.classes,
            self.coef[np.newaxis],
            np.array([self.intercept]),
            loss=self.loss.name,
            treatment=self.treatment,
            C=self.C,
            class_weight=self.class_weight,
        )


def solve(
    X: Any,
    y: Any,
    *,
    C: float = 1.0,
    loss: LossName = "hinge",
    solver: Solver | Composite | str = "auto",
    tol: float = 1e-3,
    max_iter: int = 1000,
    intercept: InterceptChoice = "auto",
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    class_weight: dict[Any, float] | str | None = None,
    order: Order | str | None = None,
    random_state: Any = 0,
    time_limit: float | None = None,
    callback: Callback | None = None,
    verbose: int = 0,
    state: Mapping[str, Any] | None = None,
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
    intercept : {"auto", "free", "penalized", "none"}, default="auto"
        "free": unpenalised b, the classic SVM. "penalized": b as the weight of a constant feature `intercept_scaling`.
        "none": b = 0. "auto": free if the solver supports it, otherwise penalized, the treatment of its paper;
        ``Solution.treatment`` says which it was.
    intercept_scaling : float, default=1.0
        The constant feature of a penalised intercept.
    sample_weight : array of shape (n_samples,), default=None
        s_i >= 0; a row of weight zero counts as absent.
    class_weight : dict, "balanced" or None, default=None
        Factor of C per class, as in :class:`hinge.LinearSVC`.
    order : {"permutation", "once", "blocks"}, Permutation, Once, Blocks or None, default=None
        Row order; None is the solver's default.
    random_state : int, RandomState, Generator or None, default=0
        Same seed, same bits.
    time_limit : float, default=None
        Seconds after which the best model so far is returned.
    callback : callable, default=None
        Called with a :class:`hinge.Progress` after every call of the solver: gap, passes, seconds, and ``state()`` for
        checkpoints. It stops the run by returning True.
    verbose : int, default=0
        1 shows the progress: one line that changes on a terminal, a line per evaluation elsewhere. 2 prints a table.
    state : dict or other mapping, default=None
        ``Solution.state`` of an earlier call, or ``numpy.load`` of the file that it was saved to with ``numpy.savez``,
        to go on from. The result has the same bits as one run if the problem is
        the same and the earlier run was not cut inside an epoch (by Ctrl-C or a time limit); otherwise it is a warm
        start.
    n_jobs : int or None, default=None
        Threads for evaluations, for the solvers newton, ocas and cutting-plane, and for dcd on large sparse data, which
        uses two of them. They change no bit of the result.

    Returns
    -------
    Solution
        Also after Ctrl-C: the best model so far, with the status "interrupted" and the state to go on from. No
        KeyboardInterrupt is raised, or the solution would be lost. (An estimator keeps its model, and ``fit`` raises.)

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
    if state is not None and not isinstance(state, Mapping):
        raise ValueError(
            f"state must be the state of a Solution (a dict) or a loaded .npz file, got {type(state).__name__}."
        )
    options = Options(
        tol=tol,
        max_iter=checks.whole("max_iter", max_iter),
        order=as_order(order),
        key=(checks.seed(random_state), 0),
        callback=callback,
        state=None if state is None else dict(state),
        n_threads=checks.threads(n_jobs),
    )
    seconds = checks.time_limit(time_limit)
    configuration = as_solver(solver)
    names = column_names(X)
    X, y = labelled(X, y, "solve")
    with held_still(X), reporting(verbose) as report:
        rows = as_rows(X, names, options.n_threads, options.keep_state)
        weight = without_absent(class_weight, y, checks.weights(sample_weight, X))
        classes = two_classes(counted(y, weight), "solve", "LinearSVC")
        problem = Problem.make(
            rows,
            np.where(y == classes[1], 1.0, -1.0),
            checks.costs(C, weight, class_factors(class_weight, classes, y, weight)),
            loss=as_loss(loss),
            intercept=Intercept(configuration.traits.treatment(intercept), intercept_scaling),
        )
        del weight  # eight bytes a row that training can use
        with Signals() as signals:
            if seconds is not None:
                signals.token.set_deadline(seconds)
            outcome = train(problem, configuration, replace(options, token=signals.token, report=report))
            solution = Solution.of(outcome, problem, classes, C, class_weight)
            if outcome.status != "interrupted":
                warn_unless_converged([outcome], problem, configuration, options, stacklevel=3)
    if signals.error is None:
        return solution
    if not isinstance(signals.error, KeyboardInterrupt):
        raise signals.error
    return replace(solution, status="interrupted")


def labelled(X: Any, y: Any, caller: str) -> tuple[Any, npt.NDArray[Any]]:
    """Rows and labels in the form that training reads."""
    checks.unmasked("y", y)
    checks.sparse_structure(X)
    X, y = check_X_y(
        X, y, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False, estimator=caller
    )
    return X, y


def two_classes(y: npt.NDArray[Any], caller: str, otherwise: str) -> npt.NDArray[Any]:
    """The two labels in y; for more than two, the error names the estimator to use."""
    classes = distinct(y)
    if classes.size == 2:
        return classes
    raise ValueError(
        f"{caller} needs two classes, got {classes.size} (rows of zero weight do not count)."
        + (f" Use hinge.{otherwise} for more than two." if classes.size > 2 else "")
    )
