"""Pegasos (Shalev-Shwartz, Singer & Srebro, ICML 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Literal

from hinge import _core
from hinge.order import Order, Permutation
from hinge.problem import InterceptKind, Problem
from hinge.solvers.protocol import Configuration, NativeRun, expect_choice

Sampling = Literal["iid", "epoch"]
Start = Literal["zero", "random"]
Output = Literal["last", "average", "random"]
Bias = Literal["subgradient", "exact"]


@dataclass(frozen=True)
class Pegasos(Configuration):
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

    intercepts: ClassVar[tuple[InterceptKind, ...]] = ("none", "free", "penalized")

    def __post_init__(self) -> None:
        if not (isinstance(self.k, Integral) and self.k >= 1):
            raise ValueError(f"k must be an integer of at least 1, got {self.k!r}.")
        if self.bias == "exact" and self.k == 1:
            raise ValueError(
                "bias='exact' fits b to the k rows of a step: with k=1 there is never a loss. Choose a large k."
            )
        expect_choice(self, sampling=Sampling, start_at=Start, output=Output, bias=Bias)

    @property
    def default_order(self) -> Order | None:
        """Only sampling in epochs has an order."""
        return Permutation() if self.sampling == "epoch" else None

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> PegasosRun:
        if self.k > problem.m:
            raise ValueError(f"k={self.k} rows a step, but there are only {problem.m} rows: choose k <= {problem.m}.")
        free = problem.intercept.kind == "free"
        options = _core.PegasosOptions(
            k=int(self.k),
            sampling=getattr(_core.Sampling, self.sampling),
            projection=self.projection,
            advance_without_loss=self.advance_without_loss,
            bias=getattr(_core.Bias, self.bias) if free else _core.Bias.none,
            output=getattr(_core.Output, self.output),
            random_start=self.start_at == "random",
        )
        native = _core.Pegasos(problem.native, options, (order or Permutation()).native(), _core.Rng(list(stream)))
        return PegasosRun(native, poll)


class PegasosRun(NativeRun):
    """Pegasos at work."""
