"""SvmSgd (Bottou) and SGD-QN (Bordes, Bottou & Gallinari)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, order_of, rng_of
from hinge.solvers.norma import Output

Precision = Literal["double", "single"]


@dataclass(frozen=True)
class SvmSGD(NativeSolver):
    """Step sizes ``eta_t = eta_0 / (1 + lambda eta_0 t)``, with eta_0 chosen on a sample of rows.

    ``eta_t = 1/(lambda (t + t_0))`` with ``t_0 = 1/(lambda eta_0)``: the first steps are as large as the data bear, the
    late ones those of Pegasos. Of the powers of 2, eta_0 is the one whose single pass over the sample ends with the
    lowest objective on it. Shrinking is lazy: w is a number times a vector.

    Parameters
    ----------
    sample_size : int, default=1000
        Rows in the sample.
    output : {"last", "average"}, default="last"
        The last iterate, or the average of all.
    precision : {"double", "single"}, default="double"
        Type of the weights while training. The certificate is computed in float64 either way.

    References
    ----------
    Bottou: Stochastic gradient descent examples, version 2 (svmsgd2).

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import SvmSGD, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=SvmSGD(), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    sample_size: int = 1000
    output: Output = "last"
    precision: Precision = "double"

    def __post_init__(self) -> None:
        checks.whole("sample_size", self.sample_size)
        checks.choice("output", self.output, get_args(Output))
        checks.choice("precision", self.precision, get_args(Precision))

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits(losses=("hinge", "squared_hinge"), order=Permutation())

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        kind = core.SvmSgd if self.precision == "double" else core.SvmSgdSingle
        output = getattr(core.Output, self.output)
        return kind(problem.native, int(self.sample_size), output, order_of(core, setup), rng_of(core, setup))


@dataclass(frozen=True)
class SGDQN(NativeSolver):
    """Diagonal quasi-Newton steps ``w <- w + y_i B x_i / (t + t_0)``.

    B is 1/lambda at first. Every few steps w shrinks by B, and the next step measures the curvature: the ratio of the
    change of the gradient and the change of w, between lambda and 100 lambda. B is the inverse of its mean, so that
    frequent features take small steps.

    Parameters
    ----------
    precision : {"double", "single"}, default="double"
        Type of w and B while training (the paper: single). The certificate is computed in float64 either way.

    References
    ----------
    Bordes, Bottou, Gallinari: SGD-QN: Careful Quasi-Newton Stochastic Gradient Descent. JMLR 10, 2009.
    Bordes, Bottou, Gallinari, Chang, Smith: Erratum: SGDQN is Less Careful than Expected. JMLR 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import SGDQN, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=SGDQN(), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    precision: Precision = "double"

    def __post_init__(self) -> None:
        checks.choice("precision", self.precision, get_args(Precision))

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits(order=Permutation())

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        kind = core.SgdQn if self.precision == "double" else core.SgdQnSingle
        return kind(problem.native, order_of(core, setup), rng_of(core, setup))
