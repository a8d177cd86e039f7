"""Norma (Kivinen, Smola & Williamson) and Zhang's method: subgradient descent with other step sizes than Pegasos."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import ClassVar, Literal

from hinge import _core
from hinge.order import Order, Permutation
from hinge.outcome import Options
from hinge.problem import InterceptKind, Problem
from hinge.solvers.pegasos import Sampling
from hinge.solvers.protocol import Configuration, NativeRun, expect_choice

Output = Literal["last", "average"]


@dataclass(frozen=True)
class _Gradient(Configuration):
    """One row a step: ``w <- (1 - eta_t lambda) w``, and ``+ eta_t y_i x_i`` if ``y_i w.x_i < 1``."""

    sampling: Sampling = "iid"
    projection: bool = False
    output: Output = "last"

    intercepts: ClassVar[tuple[InterceptKind, ...]] = ("none", "penalized")

    def __post_init__(self) -> None:
        expect_choice(self, sampling=Sampling, output=Output)

    @property
    def default_order(self) -> Order | None:
        """Only sampling in epochs has an order."""
        return Permutation() if self.sampling == "epoch" else None

    def _options(self) -> _core.GradientOptions:
        return _core.GradientOptions(
            getattr(_core.Sampling, self.sampling), self.projection, getattr(_core.Output, self.output)
        )


@dataclass(frozen=True)
class Norma(_Gradient):
    """Step sizes ``eta_t = p / (lambda sqrt(t))`` with the p that is best for T steps.

    ``p = 0.5 (2 + 0.5 T^(-1/2))^(1/2)``. The rate ``1/sqrt(t)`` is the best for losses that are convex only; the
    objective is strongly convex, which is why Pegasos, with ``1/t``, wins the comparison in its paper.

    Parameters
    ----------
    sampling : {"iid", "epoch"}, default="iid"
        Rows drawn independently, or in permutations.
    projection : bool, default=False
        After every step, scale w back to ``|w| <= 1/sqrt(lambda)``. Norma has none; the Pegasos paper tries both.
    output : {"last", "average"}, default="last"
        The last iterate, or the average of all.
    horizon : int or None, default=None
        T, the number of steps that p is chosen for; None: ``max_iter * m``.

    References
    ----------
    Kivinen, Smola, Williamson: Online Learning with Kernels. IEEE Transactions on Signal Processing 52(8), 2004.
    Shalev-Shwartz, Singer, Srebro: Pegasos: Primal Estimated sub-GrAdient SOlver for SVM. ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import Norma, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=Norma(output="average"), intercept="none", tol=0.5, max_iter=10_000).status
    'converged'
    """

    horizon: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.horizon is not None and not (isinstance(self.horizon, Integral) and self.horizon >= 1):
            raise ValueError(f"horizon must be an integer of at least 1, or None, got {self.horizon!r}.")

    @property
    def p(self) -> float:
        """The factor of the step size."""
        if self.horizon is None:
            raise ValueError("p depends on the number of steps: give horizon, or let a run choose it.")
        return 0.5 * math.sqrt(2.0 + 0.5 / math.sqrt(self.horizon))

    def tailored(self, problem: Problem, options: Options) -> Norma:
        """The horizon of this run, unless it was given."""
        return self if self.horizon is not None else replace(self, horizon=options.max_iter * problem.m)

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> GradientRun:
        native = _core.Norma(
            problem.native,
            _core.NormaRate(self.p),
            self._options(),
            (order or Permutation()).native(),
            _core.Rng(list(stream)),
        )
        return GradientRun(native, poll)


@dataclass(frozen=True)
class Zhang(_Gradient):
    """A constant step size eta.

    It converges to a neighbourhood of the optimum that shrinks with eta, the sooner the larger eta is; the right eta
    depends on the data, on C and on the number of steps. `hinge.search_eta` tries several.

    Parameters
    ----------
    sampling : {"iid", "epoch"}, default="iid"
        Rows drawn independently, or in permutations.
    projection : bool, default=False
        After every step, scale w back to ``|w| <= 1/sqrt(lambda)``.
    output : {"last", "average"}, default="last"
        The last iterate, or the average of all.
    eta : float, default=0.01
        The step size, for the objective ``lambda/2 |w|^2 + mean hinge``. ``eta lambda`` must be below 1.

    References
    ----------
    Zhang: Solving Large Scale Linear Prediction Problems Using Stochastic Gradient Descent Algorithms. ICML 2004.
    Shalev-Shwartz, Singer, Srebro: Pegasos: Primal Estimated sub-GrAdient SOlver for SVM. ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import Zhang, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=Zhang(eta=0.01), intercept="none", tol=0.2, max_iter=10_000).status
    'converged'
    """

    eta: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.eta, Real) and 0 < float(self.eta) < math.inf):
            raise ValueError(f"eta must be a positive number, got {self.eta!r}.")

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> GradientRun:
        if self.eta * problem.lambda_ >= 1.0:
            raise ValueError(
                f"eta={self.eta:g} is too large: a step would turn w around. "
                f"Choose eta below 1/lambda = sum of C_i = {1.0 / problem.lambda_:g}, much below."
            )
        native = _core.Zhang(
            problem.native,
            _core.ConstantRate(float(self.eta)),
            self._options(),
            (order or Permutation()).native(),
            _core.Rng(list(stream)),
        )
        return GradientRun(native, poll)


class GradientRun(NativeRun):
    """A subgradient method at work."""
