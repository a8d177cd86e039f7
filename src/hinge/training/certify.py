"""The certificate of a model that came from anywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge import _core, checks
from hinge.certificate import Certificate, Certificates, Evaluator, LocalEvaluator
from hinge.problem import Floats, Intercept, InterceptKind, Problem, as_loss, as_rows, column_names, held_still
from hinge.problem.labels import class_factors, counted, distinct, one_vs_rest, without_absent
from hinge.problem.loss import LOSSES, LossName
from hinge.problem.rows import scaled, unit_factors
from hinge.solvers import Auto
from hinge.training.foreign import LinearModel, final_model, linear_model
from hinge.training.loop import train
from hinge.training.result import Options
from hinge.training.signals import Signals, in_main_thread
from hinge.training.solve import labelled

# The bound is good enough when it could raise the gap of the model by this share only.
_SHARE = 0.1


def certify(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    C: float | None = None,
    loss: LossName | None = None,
    intercept: InterceptKind | None = None,
    intercept_scaling: float | None = None,
    class_weight: Any = "model",
    max_iter: int = 100,
    n_jobs: int | None = None,
) -> Certificate | Certificates:
    """How far a linear model is from the optimum, provably: any linear model, whoever has trained it.

    The problem is ``P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - t_i (w.x_i + b))`` with ``C_i = C s_i``, for each class
    against the rest. The model's objective is the upper bound. A model alone proves nothing about the optimum, so the
    lower bound comes from passes of :class:`hinge.Auto` over the rows, until its own error is at most a tenth of the
    gap: then the model's true distance from the optimum is at least 90 % of ``gap``.

    Parameters
    ----------
    model : fitted classifier, Pipeline, search, or pair (coef, intercept)
        LinearSVC and OnlineSVC, :class:`hinge.Solution`, scikit-learn's LinearSVC, SGDClassifier, SVC with a linear
        kernel for two classes, or whatever else has `coef_`, `intercept_` and `classes_`. For a Pipeline, X is what the
        Pipeline is given: it is transformed as for a prediction. The weights of a bare pair have the shape
        (n_features,) for two classes, (n_classes, n_features) for more.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), default=None
        s_i >= 0; a row of weight zero counts as absent.
    C : float or None, default=None
        None: the model's own `C`, or ``1 / (alpha m)`` on m rows where it has an `alpha`. A model that minimises
        another loss or penalty does not say: then it must be given.
    loss : {"hinge", "squared_hinge"} or None, default=None
        None: the model's own, "hinge" for one that names none.
    intercept : {"none", "free", "penalized"} or None, default=None
        None: the model's own. That is penalized for scikit-learn's LinearSVC.
    intercept_scaling : float or None, default=None
        The constant feature of a penalised intercept; None: the model's own, or 1.
    class_weight : dict, "balanced", None or "model", default="model"
        Factor of C per class; "model": the model's own. Each row has the weight of its own class in all problems;
        liblinear weighs only the class against the rest, so the certificate of a weighted scikit-learn LinearSVC with
        more than two classes is about another problem than the one it has solved.
    max_iter : int, default=100
        Largest number of passes for the lower bound, per class. Fewer passes can make the gap larger, never wrong.
    n_jobs : int or None, default=None
        Threads for evaluations. They change no bit.

    Returns
    -------
    Certificate, or Certificates in the order of the classes

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; or whatever else a signal handler raises.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import hinge
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(X, y)
    >>> certificate = hinge.certify(model, X, y)
    >>> certificate.dual <= certificate.primal, certificate.relative_gap > 0.1
    (True, True)
    """
    found, X = final_model(model, X)
    names = column_names(X)
    X, y = labelled(X, y, "certify")
    max_iter = checks.whole("max_iter", max_iter)
    n_threads = checks.threads(n_jobs)
    with held_still(X):
        rows = as_rows(X, names, n_threads)
        weight = checks.weights(sample_weight, X)
        given = linear_model(found, y[weight > 0])
        wanted = given.class_weight if isinstance(class_weight, str) and class_weight == "model" else class_weight
        weight = without_absent(wanted, y, weight)
        _refuse_unknown(given.classes, y, weight)
        if X.shape[1] != given.coef.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but the model has {given.coef.shape[1]} weights.")
        C = given.cost(int(np.count_nonzero(weight))) if C is None else C
        if given.unit_norm:
            rows = as_rows(scaled(X, unit_factors(rows)), n_threads=n_threads)
        cost = checks.costs(checks.positive("C", C), weight, class_factors(wanted, given.classes, y, weight))
        targets = one_vs_rest(given.classes, y)
        treatment = _treatment(given, intercept, intercept_scaling)
        problem = Problem.make(rows, targets[0], cost, loss=as_loss(_loss(given, loss)), intercept=treatment)
        certificates = [
            bracket(part, *_point(w, b, treatment), max_iter=max_iter, evaluator=LocalEvaluator(part, n_threads))
            for part, w, b in zip(map(problem.with_target, targets), given.coef, given.intercept, strict=True)
        ]
    return certificates[0] if len(certificates) == 1 else Certificates(certificates, given.classes)


def _loss(given: LinearModel, loss: str | None) -> str:
    if loss is not None or given.loss is None:
        return loss or "hinge"
    if given.loss not in LOSSES:
        raise ValueError(
            f"The model minimises loss={given.loss!r}, which has no certificate here. Say what to compare it with: "
            "loss='hinge' or 'squared_hinge', and C=..."
        )
    return given.loss


def _treatment(given: LinearModel, kind: InterceptKind | None, scaling: float | None) -> Intercept:
    own = given.treatment or Intercept("free")
    treatment = Intercept(kind or own.kind, own.scale if scaling is None else scaling)
    if treatment.kind == "none" and np.any(given.intercept):
        raise ValueError("The model has an intercept: certify it with intercept='free' or 'penalized', not 'none'.")
    return treatment


def _point(w: Floats, b: float, treatment: Intercept) -> tuple[Floats, float | None]:
    """The model as an evaluator takes it: a penalised b is the weight of the constant feature."""
    constant = b / treatment.scale if treatment.kind == "penalized" else 0.0
    return np.append(w, constant), float(b) if treatment.kind == "free" else None


def _refuse_unknown(classes: npt.NDArray[Any], y: npt.NDArray[Any], weight: Floats) -> None:
    known = set(classes.tolist())
    for label in distinct(counted(y, weight)):
        if label.item() not in known:
            row = int(np.flatnonzero((y == label) & (weight > 0))[0])
            raise ValueError(
                f"y contains the label {checks.shown(label)} (row {row}), which is not among the classes of this "
                f"model: {classes.tolist()}."
            )


def bracket(
    problem: Problem, w: Floats, b: float | None, *, max_iter: int, evaluator: Evaluator | None = None
) -> Certificate:
    """Bracket the optimum of `problem`: above by the objective of the model (w, b), below by training.

    Parameters
    ----------
    problem : Problem
    w : ndarray of shape (n_features + 1,)
        The last entry belongs to the constant feature of a penalised intercept.
    b : float or None
        A free intercept; None: the best for w. Without a free intercept: None.
    max_iter : int
        Largest number of passes over the rows, besides two for each evaluation.
    evaluator : Evaluator, default=None
        Who evaluates; None: this process, with one thread.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; or whatever else a signal handler raises.
    """
    evaluator = evaluator or LocalEvaluator(problem)
    with Signals() as signals:
        model = evaluator.upper(w, _core.Poll(signals.token, in_main_thread()), b)
        primal = float("inf") if model is None else model.value
        dual = _lower_bound(problem, primal, Options(tol=1.0, max_iter=max_iter, token=signals.token), evaluator)
    if signals.error is not None:
        raise signals.error
    return Certificate(primal, dual)


def _lower_bound(problem: Problem, primal: float, options: Options, evaluator: Evaluator) -> float:
    """A dual value; exact evaluations happen when the run seems to have reached one tolerance after the other."""
    dual = 0.0
    while True:
        options = replace(options, tol=options.tol * _SHARE)
        outcome = train(problem, Auto(), options, evaluator)
        dual = max(dual, outcome.bound.value)
        left = options.max_iter - outcome.n_iter
        close = outcome.certificate.gap <= _SHARE * (primal - dual)
        if close or outcome.status != "converged" or left < 1:
            return dual
        options = replace(options, max_iter=left, state=outcome.state)
