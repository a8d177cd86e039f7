"""SGD-r, SGD-s and SGD-m (Panagiotakopoulos & Tsampouka)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import BUDGET, Setup, Traits
from hinge.solvers.native import NativeSolver, Precision, order_of, rng_of


@dataclass(frozen=True)
class _SGD(NativeSolver):
    """Stochastic gradient descent in threshold form.

    With ``w_t = a_t / (lambda t)`` a step on row k is ``a += y_k x_k`` if ``a . y_k x_k <= lambda t``, else nothing:
    a perceptron whose margin threshold grows with the number t of presentations.
    """

    precision: Precision = "double"

    presentation: ClassVar[str]

    def __post_init__(self) -> None:
        checks.choice("precision", self.precision, get_args(Precision))

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits()

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        presentation = getattr(core.Presentation, self.presentation)
        kind = core.Sgd if self.precision == "double" else core.SgdSingle
        return kind(problem.native, presentation, order_of(core, problem, setup), rng_of(core, setup))


@dataclass(frozen=True)
class SGDr(_SGD):
    """SGD-r: rows drawn at random, one at a time.

    Parameters
    ----------
    precision : {"double", "single"}, default="double"
        Type of the weights while training. The certificate is computed in float64 either way.

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

    presentation: ClassVar[str] = "random"


@dataclass(frozen=True)
class SGDs(_SGD):
    """SGD-s: complete epochs, each row presented once.

    After T epochs the counts of margin errors are feasible multipliers ``C I_k / T``, so the lower bound
    ``L = C M / T - |w|^2 / 2`` holds and the run stops on the gap. The exact objective is computed only when the
    estimate from the epoch itself is within `f` times the tolerance.

    Parameters
    ----------
    precision : {"double", "single"}, default="double"
        Type of the weights while training (Table 8 of the paper: single). The certificate is computed in float64
        either way.
    f : float, default=1.2
        The paper's comparison coefficient for the cheap estimate.
    budget : float, default=0.2
        Rows that exact evaluations may read for each row that training reads, the final evaluation apart. The paper
        has no such limit: ``float("inf")`` is its rule, an exact evaluation whenever the estimate passes.

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
    budget: float = BUDGET

    presentation: ClassVar[str] = "single"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.positive("f", self.f)
        if self.budget != math.inf:
            checks.positive("budget (a number or infinity)", self.budget)

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits(order=Permutation(), comparison=self.f, budget=self.budget)


@dataclass(frozen=True)
class SGDm(SGDs):
    """SGD-m: as SGD-s, with each row presented five times in epochs T with ``0 < T mod 9 < 5``.

    The number of margin errors among the five follows from one inner product (Proposition 3 of the paper), so an
    epoch with multiple presentations costs no more than another.

    Parameters
    ----------
    precision : {"double", "single"}, default="double"
        Type of the weights while training (Table 8 of the paper: single). The certificate is computed in float64
        either way.
    f : float, default=1.2
        The paper's comparison coefficient for the cheap estimate.
    budget : float, default=0.2
        Rows that exact evaluations may read for each row that training reads, the final evaluation apart. The paper
        has no such limit: ``float("inf")`` is its rule, an exact evaluation whenever the estimate passes.

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

    presentation: ClassVar[str] = "multiple"
