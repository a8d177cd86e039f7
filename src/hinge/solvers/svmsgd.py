"""SvmSgd (Bottou) and SGD-QN (Bordes, Bottou & Gallinari)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, Precision, order_of, rng_of
from hinge.solvers.norma import Output

Calibration = Literal["sampled", "first"]
Variant = Literal["published", "erratum", "sgd2", "mixed"]


@dataclass(frozen=True)
class SvmSGD(NativeSolver):
    """Step sizes ``eta_t = eta_0 / (1 + lambda eta_0 t)``, with eta_0 chosen on a sample of rows.

    ``eta_t = 1/(lambda (t + t_0))`` with ``t_0 = 1/(lambda eta_0)``: the first steps are as large as the data bear, the
    late ones those of Pegasos. eta_0 is a power of 2, chosen by single passes over the sample: by the objective on it
    at their ends. Shrinking is lazy: w is a number times a vector.

    Parameters
    ----------
    sample_size : int, default=1000
        Rows in the sample.
    calibration : {"sampled", "first"}, default="sampled"
        "sampled" (ours): rows drawn at random, trials with rates that fall as in training, and the best eta_0. "first"
        (Bottou's program): the first rows of an epoch, trials with a constant rate, and the lower one of the best two
        neighbours among the powers of 2. With ``order="once"`` these are the first rows of the shuffled data, as there.
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
    calibration: Calibration = "sampled"
    output: Output = "last"
    precision: Precision = "double"

    def __post_init__(self) -> None:
        checks.whole("sample_size", self.sample_size)
        checks.choice("calibration", self.calibration, get_args(Calibration))
        checks.choice("output", self.output, get_args(Output))
        checks.choice("precision", self.precision, get_args(Precision))

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits(losses=("hinge", "squared_hinge"), order=Permutation())

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        kind = core.SvmSgd if self.precision == "double" else core.SvmSgdSingle
        how, output = getattr(core.Calibration, self.calibration), getattr(core.Output, self.output)
        order, rng = order_of(core, problem, setup), rng_of(core, setup)
        return kind(problem.native, int(self.sample_size), how, output, order, rng)


@dataclass(frozen=True)
class SGDQN(NativeSolver):
    """Steps of a size of its own for each feature, by the curvature that steps have met: diagonal quasi-Newton.

    Every `skip` steps w shrinks, and a row after that tells something of the curvature: the ratio h_j of the change of
    the gradient and the change of w, relative to lambda. The step size of feature j is ``gain_j / lambda``, so that
    frequent features take small steps. The variants differ in how the gains follow from the h, and in the first ones.

    Parameters
    ----------
    variant : {"published", "erratum", "sgd2", "mixed"}, default="mixed"
        "published", the program of 2008: ``gain_j = d_j / (t + t_0)`` with a mean d_j of 1/h_j, at least 1/100, over
        steps that have brought their own row over the margin; ``t_0 = lambda^(-3/4)``.
        "erratum", the program after the erratum: ``gain_j = 1 / (t_0 + sum of the h_j over the steps)``. h_j, between
        0.1 and 100, is taken where the row after a shrinking has crossed the margin, for all steps since the last
        crossing. t_0 is the best of 1, 10, ..., 10^10 in trials of five epochs on a tenth of the rows.
        "sgd2", Bottou's later program: as "erratum", but each of these rows counts, for `skip` steps; t_0 by the
        doubling and halving of ``SvmSGD(calibration="first")``.
        "mixed" (ours): the gains of "sgd2", and t_0 as in "erratum", with trials at the same C: lambda is that of a
        problem of a tenth of the rows, and the t_0 of the best trial grows in proportion to the rows.
    precision : {"double", "single"}, default="double"
        Type of w and of the gains while training (the programs: single). The certificate is computed in float64 either
        way.

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

    variant: Variant = "mixed"
    precision: Precision = "double"

    def __post_init__(self) -> None:
        checks.choice("variant", self.variant, get_args(Variant))
        checks.choice("precision", self.precision, get_args(Precision))

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits(order=Permutation())

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        name = f"SgdQn{self.variant.capitalize()}"
        kind = getattr(core, name if self.precision == "double" else f"{name}Single")
        return kind(problem.native, order_of(core, problem, setup), rng_of(core, setup))
