"""Solve one binary problem: the functional interface."""

from __future__ import annotations

import math
import numbers
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, check_X_y
from sklearn.utils.validation import _check_sample_weight

from hinge import _core
from hinge.certificate import Certificate
from hinge.loop import train
from hinge.order import Order, as_order
from hinge.outcome import Callback, Options, Outcome, Record, Status
from hinge.problem import Floats, Intercept, InterceptKind, Problem, Selection, as_rows
from hinge.solvers import Solver, as_solver


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
        saved with ``numpy.savez``. None after an interrupt, or if the solver cannot be resumed.
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
    treatment: Intercept
    state: dict[str, Any] | None = field(repr=False)

    def certified_problems(
        self, y: Any, sample_weight: Any
    ) -> list[tuple[Floats, float, Floats | None, Floats, Floats, Intercept]]:
        """What :func:`hinge.verify` checks."""
        signs = np.where(np.asarray(y) == self.classes[1], 1.0, -1.0)
        weight = np.ones(signs.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return [(self.coef, self.intercept, self.dual, signs, self.C * weight, self.treatment)]


def solve(
    X: Any,
    y: Any,
    *,
    C: float = 1.0,
    solver: Solver | str = "auto",
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
) -> Solution:
    """Train a linear SVM on two classes until the duality gap proves it good enough.

    Minimises ``P(w, b) = 1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i (w.x_i + b))`` and stops as soon as
    ``P - D <= tol * D`` for a feasible dual value D, so that P is within the fraction `tol` of the optimum.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        C-contiguous arrays and CSR matrices of float32 or float64 are read in place, memory-mapped ones included;
        anything else that scikit-learn accepts is converted once.
    y : array of shape (n_samples,)
        Labels, of two kinds.
    C : float, default=1.0
        Cost of a unit of hinge loss.
    solver : str or configuration, default="auto"
        "auto", "cutting-plane", "dcd", "mpu", "norma", "ocas", "online", "pegasos", "sgd-m", "sgd-qn", "sgd-r",
        "sgd-s", "svmsgd", "zhang", a configuration such as ``Pegasos(k=100)``, or an object of yours with a method
        ``start`` (see the documentation: "your own solver").
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
        Called with a :class:`hinge.Progress` after every call of the solver; stops the run by returning True.
    verbose : int, default=0
        1 prints a line per evaluation.
    state : dict, default=None
        ``Solution.state`` of an earlier call on the same rows, to go on from.

    Returns
    -------
    Solution
        Also after Ctrl-C (status "interrupted"): the best model so far.

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
    check_numbers(C=C, tol=tol, max_iter=max_iter, time_limit=time_limit)
    if state is not None and not isinstance(state, dict):
        raise ValueError(f"state must be the state of a Solution (a dict), got {type(state).__name__}.")
    X, y = check_X_y(
        X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_all_finite=False, estimator="solve"
    )
    rows = as_rows(X)
    weight = check_weights(sample_weight, X)
    classes = np.unique(y[weight > 0])
    if classes.size != 2:
        raise ValueError(
            f"solve needs two classes, got {classes.size} (rows of zero weight do not count)."
            + (" Use hinge.LinearSVC for more than two." if classes.size > 2 else "")
        )
    selection = Selection.make(rows, check_costs(C, weight), Intercept(intercept, intercept_scaling))
    problem = Problem(selection, np.where(y == classes[1], 1, -1).astype(np.int8))
    options = Options(
        tol=tol,
        max_iter=max_iter,
        order=as_order(order),
        stream=(seed_of(random_state), 0),
        time_limit=time_limit,
        callback=callback,
        verbose=verbose,
        state=state,
    )
    outcome = train(problem, as_solver(solver), options)
    if outcome.error is not None and not isinstance(outcome.error, KeyboardInterrupt):
        raise outcome.error
    if outcome.status != "interrupted":
        warn_unless_converged([outcome], options, rows, stacklevel=3)
    return Solution(
        coef=outcome.w[:-1],
        intercept=outcome.b,
        dual=problem.spread(outcome.multipliers),
        certificate=outcome.certificate,
        history=outcome.history,
        status=outcome.status,
        n_iter=outcome.n_iter,
        classes=classes,
        C=C,
        treatment=selection.intercept,
        state=outcome.state,
    )


def check_numbers(*, C: float, tol: float, max_iter: int, time_limit: float | None) -> None:
    """Refuse values that make no sense, naming the parameter."""
    for name, value in (("C", C), ("tol", tol)):
        if not (isinstance(value, numbers.Real) and 0 < value < math.inf):
            raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    if not (isinstance(max_iter, numbers.Integral) and int(max_iter) >= 1):
        raise ValueError(f"max_iter must be an integer of at least 1, got {max_iter!r}.")
    if time_limit is not None and not (isinstance(time_limit, numbers.Real) and time_limit > 0):
        raise ValueError(f"time_limit must be positive (seconds) or None, got {time_limit!r}.")


def check_weights(sample_weight: Any, X: Any, *, all_zero: bool = False) -> Floats:
    """Sample weights as an array of float64: finite, not negative, and not all zero unless allowed."""
    if (
        all_zero
        and sample_weight is not None
        and np.shape(sample_weight) == (X.shape[0],)
        and not np.any(sample_weight)
    ):
        return np.zeros(X.shape[0])  # here: scikit-learn refuses them, in some versions
    weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(weight < 0):
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight must not be negative: row {row} has {weight[row]!r}.")
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for every row: there is nothing to learn from.")
    return weight


def check_costs(C: float, weight: Floats, factors: Floats | float = 1.0) -> Floats:
    """C_i = C s_i (times the class weight); a positive weight that underflows to a cost of zero is refused."""
    cost: Floats = C * weight * factors
    lost = (weight > 0) & (cost == 0)
    if np.any(lost):
        row = int(np.flatnonzero(lost)[0])
        raise ValueError(f"C times the weight of row {row} underflows to zero: raise C or the weights.")
    return cost


def seed_of(random_state: Any) -> int:
    """An integer seed: given, or drawn from a RandomState."""
    if isinstance(random_state, numbers.Integral) and 0 <= int(random_state) < 2**63:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


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
    scales = np.sqrt(rows.column_squares() / max(1, len(rows)))
    scales = scales[scales > 0]
    if scales.size and scales.max() > 100 * np.median(scales):
        message += (
            f" The features differ in scale (largest root mean square {scales.max():.2g}, median "
            f"{np.median(scales):.2g}): scale them first, for example with sklearn.preprocessing.StandardScaler or "
            "MaxAbsScaler; that alone may be enough."
        )
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)
