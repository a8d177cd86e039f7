"""The certificate of a model that came from anywhere."""

from __future__ import annotations

from dataclasses import replace

from hinge import _core
from hinge.certificate import Certificate, Evaluator, LocalEvaluator
from hinge.problem import Floats, Problem
from hinge.solvers import DCD
from hinge.training.loop import train
from hinge.training.result import Options
from hinge.training.signals import Signals, in_main_thread

# The bound is good enough when it could raise the gap of the model by this share only.
_SHARE = 0.1


def certify(
    problem: Problem, w: Floats, b: float | None, *, max_iter: int, evaluator: Evaluator | None = None
) -> Certificate:
    """Bracket the optimum of `problem`: above by the objective of the model (w, b), below by dual coordinate ascent.

    A model alone proves nothing about the optimum: the lower bound needs multipliers. They come from passes of
    :class:`hinge.DCD` over the rows, until its own gap is a tenth of the model's: then the model's gap is at most a
    ninth larger than its true distance from the optimum, and more passes would not say more about it.

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
        outcome = train(problem, DCD(), options, evaluator)
        dual = max(dual, outcome.bound.value)
        left = options.max_iter - outcome.n_iter
        close = outcome.certificate.gap <= _SHARE * (primal - dual)
        if close or outcome.status != "converged" or left < 1:
            return dual
        options = replace(options, max_iter=left, state=outcome.state)
