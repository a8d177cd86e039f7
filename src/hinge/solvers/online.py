"""The online support vector machine (Bagnell's notes, 2010) on a data set; for streams see `hinge.OnlineSVC`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, order_of, rng_of
from hinge.solvers.norma import Output


@dataclass(frozen=True)
class Online(NativeSolver):
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

    def __post_init__(self) -> None:
        checks.whole("batch", self.batch)
        checks.choice("output", self.output, get_args(Output))
        if self.unit_norm:
            raise ValueError(
                "unit_norm=True would train on other rows than those that the certificate is about. "
                "Scale X itself, for example with sklearn.preprocessing.normalize, or use hinge.OnlineSVC."
            )

    @property
    def traits(self) -> Traits:
        """What the solver supports. Not the squared hinge, on which the first steps explode (as those of Pegasos)."""
        return Traits(intercepts=("none", "free", "penalized"), order=Permutation())

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        if self.batch > problem.m:
            raise ValueError(f"batch={self.batch}, but there are only {problem.m} rows: choose batch <= {problem.m}.")
        options = core.OnlineOptions(
            batch=int(self.batch),
            projection=bool(self.projection),
            free_intercept=problem.intercept.kind == "free",
            average=self.output == "average",
        )
        return core.Online(problem.native, options, order_of(core, problem, setup), rng_of(core, setup))
