"""Norma (Kivinen, Smola & Williamson) and Zhang's method: subgradient descent with other step sizes than Pegasos."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, order_of, rng_of

Sampling = Literal["iid", "epoch"]
Output = Literal["last", "average"]


@dataclass(frozen=True)
class _Gradient(NativeSolver):
    """One row a step: ``w <- (1 - eta_t lambda) w``, and ``+ eta_t t_i x_i`` (hinge) if ``t_i w.x_i < 1``."""

    sampling: Sampling = "iid"
    projection: bool = False
    output: Output = "last"

    def __post_init__(self) -> None:
        checks.choice("sampling", self.sampling, get_args(Sampling))
        checks.choice("output", self.output, get_args(Output))

    @property
    def traits(self) -> Traits:
        """What the solver supports. Only sampling in epochs has an order."""
        return Traits(order=Permutation() if self.sampling == "epoch" else None)

    def _options(self, core: Any) -> Any:
        sampling, output = getattr(core.Sampling, self.sampling), getattr(core.Output, self.output)
        return core.GradientOptions(sampling, bool(self.projection), output)


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
        if self.horizon is not None:
            checks.whole("horizon (or None)", self.horizon)

    @staticmethod
    def p(steps: int) -> float:
        """The factor of the step size that is best for so many steps."""
        return 0.5 * math.sqrt(2.0 + 0.5 / math.sqrt(steps))

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        rate = core.NormaRate(self.p(setup.max_iter * problem.m if self.horizon is None else self.horizon))
        options = self._options(core)
        return core.Norma(problem.native, rate, options, order_of(core, problem, setup), rng_of(core, setup))


@dataclass(frozen=True)
class Zhang(_Gradient):
    """A constant step size eta.

    It converges to a neighbourhood of the optimum. A smaller eta ends closer to the optimum but takes longer; the right
    one depends on the data, on C and on the number of steps: try several in short runs.

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
        checks.positive("eta", self.eta)

    @property
    def traits(self) -> Traits:
        """What the solver supports. With a small enough eta the squared hinge too, whose slope grows with the slack."""
        return dataclasses.replace(super().traits, losses=("hinge", "squared_hinge"))

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        if self.eta * problem.lambda_ >= 1.0:
            raise ValueError(
                f"eta={self.eta:g} is too large: a step would turn w around. "
                f"Choose eta below 1/lambda = sum of C_i = {1.0 / problem.lambda_:g}, much below."
            )
        rate, options = core.ConstantRate(float(self.eta)), self._options(core)
        return core.Zhang(problem.native, rate, options, order_of(core, problem, setup), rng_of(core, setup))
