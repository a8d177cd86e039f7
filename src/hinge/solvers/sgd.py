"""SGD-r, SGD-s and SGD-m (Panagiotakopoulos & Tsampouka)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

from hinge import _core
from hinge.order import Order, Permutation
from hinge.problem import InterceptKind, Problem
from hinge.solvers.protocol import Configuration, NativeRun


@dataclass(frozen=True)
class _SGD(Configuration):
    """Stochastic gradient descent in threshold form.

    With ``w_t = a_t / (lambda t)`` a step on row k is ``a += y_k x_k`` if ``a . y_k x_k <= lambda t``, else nothing:
    a perceptron whose margin threshold grows with the number t of presentations.
    """

    intercepts: ClassVar[tuple[InterceptKind, ...]] = ("none", "penalized")
    default_order: ClassVar[Order | None] = Permutation()
    presentation: ClassVar[_core.Presentation]

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> SGDRun:
        native = _core.Sgd(
            problem.native, self.presentation, (order or Permutation()).native(), _core.Rng(list(stream))
        )
        return self._run(native, poll)

    def _run(self, native: _core.Sgd, poll: _core.Poll) -> SGDRun:
        return EpochSGDRun(native, poll)


class SGDRun(NativeRun):
    """SGD-r, or what the others share."""


class EpochSGDRun(SGDRun):
    """In complete epochs the paper's running objective values come for nothing."""

    def estimate(self) -> tuple[float, float]:
        primal, dual = self._native.estimate()
        return primal, dual


@dataclass(frozen=True)
class SGDr(_SGD):
    """SGD-r: rows drawn at random, one at a time.

    References
    ----------
    Panagiotakopoulos, Tsampouka: The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import SGDr, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=SGDr(), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    default_order: ClassVar[Order | None] = None
    presentation: ClassVar[_core.Presentation] = _core.Presentation.random

    def _run(self, native: _core.Sgd, poll: _core.Poll) -> SGDRun:
        return SGDRun(native, poll)


@dataclass(frozen=True)
class SGDs(_SGD):
    """SGD-s: complete epochs, each row presented once.

    After T epochs the counts of margin errors are feasible multipliers ``C I_k / T``, so the lower bound
    ``L = C M / T - |w|^2 / 2`` holds and the run stops on the gap. The exact objective is computed only when the
    estimate from the epoch itself is within `f` times the tolerance.

    Parameters
    ----------
    f : float, default=1.2
        The paper's comparison coefficient for the cheap estimate.

    References
    ----------
    Panagiotakopoulos, Tsampouka: The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import SGDs, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=SGDs(), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    f: float = 1.2

    presentation: ClassVar[_core.Presentation] = _core.Presentation.single

    def __post_init__(self) -> None:
        if not (isinstance(self.f, Real) and self.f > 0):
            raise ValueError(f"f must be positive, got {self.f!r}.")

    @property
    def comparison(self) -> float:
        """How far above the tolerance an estimate may lie to be worth an exact evaluation."""
        return self.f


@dataclass(frozen=True)
class SGDm(SGDs):
    """SGD-m: as SGD-s, with each row presented five times in epochs T with ``0 < T mod 9 < 5``.

    The number of margin errors among the five follows from one inner product (Proposition 3 of the paper), so an
    epoch with multiple presentations costs no more than another.

    Parameters
    ----------
    f : float, default=1.2
        The paper's comparison coefficient for the cheap estimate.

    References
    ----------
    Panagiotakopoulos, Tsampouka: The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import SGDm, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=SGDm(), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    presentation: ClassVar[_core.Presentation] = _core.Presentation.multiple
