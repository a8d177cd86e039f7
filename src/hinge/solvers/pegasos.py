"""Pegasos (Shalev-Shwartz, Singer & Srebro, ICML 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, order_of, rng_of

Sampling = Literal["iid", "subset", "epoch"]
Start = Literal["zero", "random"]
Output = Literal["last", "average", "random"]
Bias = Literal["subgradient", "exact"]


@dataclass(frozen=True)
class Pegasos(NativeSolver):
    """Stochastic subgradient steps of size ``1 / (lambda t)``, and projection onto a ball that holds the optimum.

    Step t draws k rows, takes those with ``y (w.x + b) < 1`` and sets
    ``w <- (1 - 1/t) w + 1/(lambda t k) sum y_i x_i``, then scales w back to ``|w| <= 1/sqrt(lambda)``.

    Parameters
    ----------
    k : int, default=1
        Rows per step, 1 to m. With k = m the method is deterministic.
    sampling : {"iid", "subset", "epoch"}, default="iid"
        Rows drawn independently; a set of k different rows drawn anew at every step (the overview's form); or
        consecutive pieces of a permutation.
    projection : bool, default=True
        Project after every step.
    start_at : {"zero", "random"} or array of shape (n_features,), default="zero"
        w_1: zero, random in the ball, or your own, which must lie in the ball ``|w| <= 1/sqrt(lambda)`` with
        `projection`. The first step, of size 1/lambda, forgets it, but for the choice of its violators.
    output : {"last", "average", "random"}, default="last"
        The last iterate, the average of all iterates, or the iterate of a uniformly random step. These are over
        ``w_2 .. w_{T+1}``, what steps 1 to T have made; the theorems have ``w_1 .. w_T``.
    advance_without_loss : bool, default=True
        False: a step without loss changes nothing, t included (the overview's variant for small k).
    bias : {"subgradient", "exact"}, default="subgradient"
        For ``intercept="free"``: b by subgradient steps, or set to the best value for the k rows at every step
        (a weighted median; meant for large k). ``intercept="penalized"`` is the paper's third way, a constant feature.
    steps : int or None, default=None
        T: the run ends after so many steps, unless ``max_iter`` passes or `tol` end it sooner. None: no such limit.
        With ``advance_without_loss=False`` steps without loss are not counted.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro: Pegasos: Primal Estimated sub-GrAdient SOlver for SVM. ICML 2007.
    Rupnik: Stochastic subgradient approach for solving linear support vector machines: an overview.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import Pegasos, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=Pegasos(k=2), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    k: int = 1
    sampling: Sampling = "iid"
    projection: bool = True
    start_at: Start | tuple[float, ...] = "zero"
    output: Output = "last"
    advance_without_loss: bool = True
    bias: Bias = "subgradient"
    steps: int | None = None

    def __post_init__(self) -> None:
        checks.whole("k", self.k)
        if self.bias == "exact" and self.k == 1:
            raise ValueError(
                "bias='exact' fits b to the k rows of a step: with k=1 there is never a loss. Choose a large k."
            )
        for name, kind in (("sampling", Sampling), ("output", Output), ("bias", Bias)):
            checks.choice(name, getattr(self, name), get_args(kind))
        if self.steps is not None:
            checks.whole("steps (or None)", self.steps)
        if isinstance(self.start_at, str):
            checks.choice("start_at", self.start_at, get_args(Start))
        else:
            object.__setattr__(self, "start_at", _numbers(self.start_at))

    @property
    def traits(self) -> Traits:
        """What the solver supports. Only sampling in epochs has an order.

        Not the squared hinge: the first steps, of size 1/lambda on a loss whose slope grows with the slack, explode.
        """
        order = Permutation() if self.sampling == "epoch" else None
        return Traits(intercepts=("none", "free", "penalized"), order=order)

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        if self.k > problem.m:
            raise ValueError(f"k={self.k} rows a step, but there are only {problem.m} rows: choose k <= {problem.m}.")
        free = problem.intercept.kind == "free"
        options = core.PegasosOptions(
            k=int(self.k),
            sampling=getattr(core.Sampling, self.sampling),
            projection=bool(self.projection),
            advance_without_loss=bool(self.advance_without_loss),
            bias=getattr(core.Bias, self.bias) if free else core.Bias.none,
            output=getattr(core.Output, self.output),
            random_start=self.start_at == "random",
            start=[] if isinstance(self.start_at, str) else self._start(problem),
            steps=int(self.steps or 0),
        )
        return core.Pegasos(problem.native, options, order_of(core, problem, setup), rng_of(core, setup))

    def _start(self, problem: Problem) -> list[float]:
        """The user's w_1, if it fits the problem."""
        w = np.asarray(self.start_at)
        if w.size != problem.n_features:
            raise ValueError(f"start_at has {w.size} numbers, but there are {problem.n_features} features.")
        if self.projection and not w @ w <= 1.0 / problem.lambda_:
            raise ValueError(
                f"start_at has norm {np.sqrt(w @ w):.3g}, outside of the ball of radius 1/sqrt(lambda) = "
                f"{problem.lambda_**-0.5:.3g}: scale it, or set projection=False."
            )
        return list(map(float, w))


def _numbers(start: Any) -> tuple[float, ...]:
    """An array of weights as numbers that can be compared and hashed."""
    try:
        w = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        w = np.array(np.nan)
    if w.ndim != 1 or not w.size or not np.isfinite(w).all():
        raise ValueError(
            f"start_at must be 'zero', 'random' or a vector of finite numbers, one per feature, "
            f"got {checks.shown(start)}."
        )
    return tuple(w.tolist())
