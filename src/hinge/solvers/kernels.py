"""Solvers of exact kernel machines: LASVM, and Pegasos with Mercer kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, order_of, rng_of
from hinge.solvers.norma import Sampling

_MEGABYTE = 2**20


@dataclass(frozen=True)
class Lasvm(NativeSolver):
    """LASVM: online steps on pairs of rows, then working sets of all rows until the gap is closed.

    The dual of ``f(x) = sum_s alpha_s k(x_s, x) + b`` with a support set of rows. In an online epoch each row enters
    the support set and moves with the row that violates the conditions of optimality most ("process"), then the most
    violating pair of the set moves, and rows that are not needed leave ("reprocess"). The finishing step looks at all
    rows: it solves the dual on a working set of the most violating ones, whose kernel rows are computed in one block.

    Parameters
    ----------
    online_epochs : int, default=0
        Epochs of process and reprocess before the finishing step. The paper advises 1; the finishing step alone was
        faster wherever we measured.
    tau : float, default=1e-3
        Online steps are for pairs that violate by more than this.
    working_set : int, default=1024
        Rows of a working set of the finishing step, at most: they must fit into the cache.
    cache_size : float, default=512
        Megabytes for kernel rows. Rows that do not fit are computed again.

    References
    ----------
    Bordes, Ertekin, Weston, Bottou: Fast Kernel Classifiers with Online and Active Learning. JMLR 6, 2005.
    Fan, Chen, Lin: Working Set Selection Using Second Order Information for Training SVM. JMLR 6, 2005.
    Joachims: Making Large-Scale SVM Learning Practical. 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import KernelSVC, Lasvm
    >>> X, y = np.array([[-1.0], [0.0], [1.0], [2.0]]), np.array([1, 0, 0, 1])
    >>> model = KernelSVC(C=100.0, gamma=1.0, approximation="none", solver=Lasvm(online_epochs=1)).fit(X, y)
    >>> model.status_, model.predict(X).tolist()
    ('converged', [1, 0, 0, 1])
    """

    online_epochs: int = 0
    tau: float = 1e-3
    working_set: int = 1024
    cache_size: float = 512.0

    def __post_init__(self) -> None:
        checks.whole("online_epochs", self.online_epochs, least=0)
        checks.positive("tau", self.tau)
        checks.whole("working_set", self.working_set, least=2)
        checks.positive("cache_size", self.cache_size)

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits(
            losses=("hinge", "squared_hinge"),
            intercepts=("none", "free", "penalized"),
            order=Permutation(),
            rebuilds=True,
            refines_tiny=True,
            space="kernel",
        )

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        options = core.LasvmOptions(
            online_epochs=int(self.online_epochs),
            tau=float(self.tau),
            working_set=int(self.working_set),
            cache_bytes=_bytes(self.cache_size),
            tol=float(setup.tol),
            n_threads=setup.n_threads,
        )
        return core.Lasvm(
            problem.native, _kernel(core, problem), options, order_of(core, problem, setup), rng_of(core, setup)
        )


@dataclass(frozen=True)
class KernelPegasos(NativeSolver):
    """Pegasos with Mercer kernels: w is the coefficients of the rows that had a loss.

    Step t draws a row i, sets ``w <- (1 - 1/t) w``, adds ``1/(lambda t) y_i phi(x_i)`` if
    ``y_i (<w, phi(x_i)> + b) < 1``, and scales w back to ``|w| <= 1/sqrt(lambda)``.
    It takes one kernel value for each row of the support set.

    Parameters
    ----------
    sampling : {"iid", "epoch"}, default="iid"
        Rows drawn independently, or a permutation of all for each epoch.
    projection : bool, default=True
        Project after every step.
    cache_size : float, default=512
        Megabytes for kernel rows. Rows that do not fit are computed again.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro: Pegasos: Primal Estimated sub-GrAdient SOlver for SVM. ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import KernelPegasos, KernelSVC
    >>> X, y = np.array([[-1.0], [0.0], [1.0], [2.0]]), np.array([1, 0, 0, 1])
    >>> model = KernelSVC(gamma=1.0, approximation="none", solver=KernelPegasos(), tol=0.1, max_iter=10_000)
    >>> model.fit(X, y).status_
    'converged'
    """

    sampling: Sampling = "iid"
    projection: bool = True
    cache_size: float = 512.0

    def __post_init__(self) -> None:
        checks.choice("sampling", self.sampling, get_args(Sampling))
        checks.positive("cache_size", self.cache_size)

    @property
    def traits(self) -> Traits:
        """What the solver supports. Only sampling in epochs has an order."""
        order = Permutation() if self.sampling == "epoch" else None
        return Traits(intercepts=("none", "free", "penalized"), order=order, space="kernel")

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        options = core.KernelPegasosOptions(
            sampling=getattr(core.Sampling, self.sampling),
            projection=bool(self.projection),
            cache_bytes=_bytes(self.cache_size),
        )
        kernel, order, rng = _kernel(core, problem), order_of(core, problem, setup), rng_of(core, setup)
        return core.KernelPegasos(problem.native, kernel, options, order, rng)


def _bytes(megabytes: float) -> int:
    """At least one, and no more than an address can be."""
    return max(1, int(min(float(megabytes), 2.0**40) * _MEGABYTE))


def _kernel(core: Any, problem: Any) -> Any:
    """The kernel of a KernelProblem, for `core`."""
    return problem.native_kernel if core is NativeSolver.core else core.Kernel.read(problem)
