"""The certificate of a model that came from anywhere."""

from __future__ import annotations

from hinge import _core
from hinge.certificate import Certificate, primal_side
from hinge.loop import train
from hinge.outcome import Options
from hinge.problem import Floats, Problem
from hinge.solvers import DCD

# The bound is good enough when it could raise the gap of the model by this share only.
_SHARE = 0.1


def certify(problem: Problem, w: Floats, b: float | None, *, max_iter: int) -> Certificate:
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

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; or whatever else a signal handler raises.
    """
    poll = _core.Poll(_core.StopFlag())
    model = primal_side(problem, w, poll, b)
    if model is None:
        raise poll.take_error() or KeyboardInterrupt
    return Certificate(model.value, _lower_bound(problem, model.value, max_iter))


def _lower_bound(problem: Problem, primal: float, max_iter: int) -> float:
    """A dual value; exact evaluations happen when the run seems to have reached one tolerance after the other."""
    state, tol, dual = None, 1.0, 0.0
    while True:
        tol *= _SHARE
        outcome = train(problem, DCD(), Options(tol=tol, max_iter=max_iter, state=state))
        if outcome.error is not None:
            raise outcome.error
        dual = max(dual, outcome.certificate.dual)
        max_iter -= outcome.n_iter
        close = outcome.certificate.gap <= _SHARE * (primal - dual)
        if close or outcome.status != "converged" or max_iter < 1:
            return dual
        state = outcome.state
