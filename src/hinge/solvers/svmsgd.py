"""SvmSgd (Bottou) and SGD-QN (Bordes, Bottou & Gallinari)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

from hinge import _core
from hinge.order import Order, Permutation
from hinge.problem import InterceptKind, Problem
from hinge.solvers.norma import GradientRun, Output
from hinge.solvers.protocol import Configuration, expect_choice

Precision = Literal["double", "single"]


@dataclass(frozen=True)
class SvmSGD(Configuration):
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

    intercepts: ClassVar[tuple[InterceptKind, ...]] = ("none", "penalized")
    default_order: ClassVar[Order | None] = Permutation()

    def __post_init__(self) -> None:
        if not (isinstance(self.sample_size, Integral) and self.sample_size >= 1):
            raise ValueError(f"sample_size must be an integer of at least 1, got {self.sample_size!r}.")
        expect_choice(self, output=Output, precision=Precision)

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> GradientRun:
        kind: Any = _core.SvmSgd if self.precision == "double" else _core.SvmSgdSingle
        native = kind(
            problem.native,
            int(self.sample_size),
            getattr(_core.Output, self.output),
            (order or Permutation()).native(),
            _core.Rng(list(stream)),
        )
        return GradientRun(native, poll)


@dataclass(frozen=True)
class SGDQN(Configuration):
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

    intercepts: ClassVar[tuple[InterceptKind, ...]] = ("none", "penalized")
    default_order: ClassVar[Order | None] = Permutation()

    def __post_init__(self) -> None:
        expect_choice(self, precision=Precision)

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> GradientRun:
        kind: Any = _core.SgdQn if self.precision == "double" else _core.SgdQnSingle
        native = kind(problem.native, (order or Permutation()).native(), _core.Rng(list(stream)))
        return GradientRun(native, poll)
