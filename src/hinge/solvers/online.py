"""The online support vector machine (Bagnell's notes, 2010) on a data set; for streams see `hinge.OnlineSVC`."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Literal

from hinge import _core
from hinge.order import Order, Permutation
from hinge.problem import InterceptKind, Problem
from hinge.solvers.protocol import Configuration, NativeRun, expect_choice

Output = Literal["last", "average"]


@dataclass(frozen=True)
class Online(Configuration):
    """Subgradient steps of size ``1 / (lambda t)`` on one row, or on the averaged gradient of a small batch.

    Step t takes the next `batch` rows, those of them with ``y (w.x + b) < 1``, and sets
    ``w <- (1 - 1/t) w + 1/(lambda t batch) sum y_i x_i``, then perhaps scales w back to ``|w| <= 1/sqrt(lambda)``.
    Epochs are permutations; a batch that an epoch leaves unfinished is filled by the next one. A free intercept moves
    by subgradient steps.

    Parameters
    ----------
    batch : int, default=1
        Rows per step; the notes suggest about 100.
    projection : bool, default=True
        Project after every step.
    output : {"last", "average"}, default="last"
        The last iterate, or the average of all.
    unit_norm : bool, default=False
        :class:`hinge.OnlineSVC` scales rows to unit norm on the fly. Here True is refused: the certificate is of the
        rows as they were handed over, so scale those.

    References
    ----------
    Bagnell: Notes on efficient online SVM implementation. 2010.
    Ratliff, Bagnell, Zinkevich: (Online) Subgradient Methods for Structured Prediction. AISTATS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import Online, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=Online(batch=2), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    batch: int = 1
    projection: bool = True
    output: Output = "last"
    unit_norm: bool = False

    intercepts: ClassVar[tuple[InterceptKind, ...]] = ("none", "free", "penalized")
    default_order: ClassVar[Order | None] = Permutation()

    def __post_init__(self) -> None:
        if not (isinstance(self.batch, Integral) and self.batch >= 1):
            raise ValueError(f"batch must be an integer of at least 1, got {self.batch!r}.")
        expect_choice(self, output=Output)
        if self.unit_norm:
            raise ValueError(
                "unit_norm=True would train on other rows than those that the certificate is about. "
                "Scale X itself, for example with sklearn.preprocessing.normalize, or use hinge.OnlineSVC."
            )

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> OnlineRun:
        if self.batch > problem.m:
            raise ValueError(f"batch={self.batch}, but there are only {problem.m} rows: choose batch <= {problem.m}.")
        options = _core.OnlineOptions(
            batch=int(self.batch),
            projection=self.projection,
            free_intercept=problem.intercept.kind == "free",
            average=self.output == "average",
        )
        native = _core.Online(problem.native, options, (order or Permutation()).native(), _core.Rng(list(stream)))
        return OnlineRun(native, poll)


class OnlineRun(NativeRun):
    """The online SVM at work."""
