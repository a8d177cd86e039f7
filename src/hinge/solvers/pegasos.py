"""Pegasos (Shalev-Shwartz, Singer & Srebro, ICML 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, order_of, rng_of

Sampling = Literal["iid", "epoch"]
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
    sampling : {"iid", "epoch"}, default="iid"
        Rows drawn independently, or as consecutive pieces of a permutation.
    projection : bool, default=True
        Project after every step.
    start_at : {"zero", "random"}, default="zero"
        First iterate: zero, or random in the ball. The first step forgets it, but for the choice of its violators.
    output : {"last", "average", "random"}, default="last"
        The last iterate, the average of all iterates, or the iterate of a uniformly random step.
    advance_without_loss : bool, default=True
        False: a step without loss changes nothing, t included (the overview's variant for small k).
    bias : {"subgradient", "exact"}, default="subgradient"
        For ``intercept="free"``: b by subgradient steps, or set to the best value for the k rows at every step
        (a weighted median; meant for large k). ``intercept="penalized"`` is the paper's third way, a constant feature.

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
    start_at: Start = "zero"
    output: Output = "last"
    advance_without_loss: bool = True
    bias: Bias = "subgradient"

    def __post_init__(self) -> None:
        checks.whole("k", self.k)
        if self.bias == "exact" and self.k == 1:
            raise ValueError(
                "bias='exact' fits b to the k rows of a step: with k=1 there is never a loss. Choose a large k."
            )
        for name, kind in (("sampling", Sampling), ("start_at", Start), ("output", Output), ("bias", Bias)):
            checks.choice(name, getattr(self, name), get_args(kind))

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
        )
        return core.Pegasos(problem.native, options, order_of(core, setup), rng_of(core, setup))
