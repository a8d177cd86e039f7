"""The solvers that tests run over: the registry, with the options that tests need, and variants of them.

What each supports comes from its traits. A new solver is tested by being in the registry.
"""

from __future__ import annotations

import math
from typing import Any

from hinge import DCD, MPU, OCAS, SGDQN, Asset, AssetStar, Norma, Online, Pegasos, SGDm, SGDr, SvmSGD, Zhang
from hinge.problem import LOSSES
from hinge.solvers import SOLVERS as REGISTRY

INTERCEPTS = ("none", "penalized", "free")

# Of runs that are compared: Norma's steps would follow from max_iter.
_HORIZON = 100_000

#: Every solver of the registry.
SOLVERS: dict[str, Any] = {**REGISTRY, "norma": Norma(horizon=_HORIZON)}

#: And options that take another way through the code.
VARIANTS: dict[str, Any] = {
    **SOLVERS,
    "asset of the last steps": Asset(average_last=10, B=2.0, sampling="epoch"),
    "asset-star of the last steps": AssetStar(average_last=1),
    "dcd without shrinking": DCD(shrinking=False),
    "dcd without polish": DCD(polish=False),
    "dcd as published": DCD(polish=False, eps=0.1),
    "mpu with delta": MPU(delta=0.1),
    "mpu of a fixed step": MPU(delta=0.1, refine=False, precision="single"),
    "ocas that forgets": OCAS(keep_unused=2, mu=0.5),
    "online in batches": Online(batch=16),
    "online average": Online(batch=7, output="average", projection=False),
    "pegasos k": Pegasos(k=7, sampling="epoch"),
    "pegasos average": Pegasos(output="average", start_at="random"),
    "pegasos random": Pegasos(output="random", projection=False),
    "pegasos lazy": Pegasos(advance_without_loss=False),
    "pegasos subset": Pegasos(k=5, sampling="subset"),
    "pegasos exact": Pegasos(k=20, bias="exact"),
    "norma average": Norma(output="average", projection=True, horizon=_HORIZON),
    "zhang epoch": Zhang(output="average", sampling="epoch", eta=0.1),
    "svmsgd single": SvmSGD(precision="single"),
    "svmsgd average": SvmSGD(output="average", sample_size=100),
    "svmsgd of Bottou": SvmSGD(calibration="first", sample_size=30),
    "sgd-qn single": SGDQN(precision="single"),
    "sgd-qn published": SGDQN(variant="published"),
    "sgd-qn published, single": SGDQN(variant="published", precision="single"),
    "sgd-qn erratum": SGDQN(variant="erratum"),
    "sgd-qn sgd2": SGDQN(variant="sgd2", precision="single"),
    "sgd-r single": SGDr(precision="single"),
    "sgd-m single": SGDm(precision="single", budget=math.inf),
}


def with_losses(table: dict[str, Any] = SOLVERS) -> list[tuple[str, str]]:
    """(solver, loss): all that the solvers say they support."""
    return [(name, loss) for name, solver in table.items() for loss in solver.traits.losses]


def with_all(table: dict[str, Any] = SOLVERS) -> list[tuple[str, str, str]]:
    """(solver, loss, intercept): all that the solvers say they support."""
    return [(name, loss, kind) for name, loss in with_losses(table) for kind in table[name].traits.intercepts]


def supporting(table: dict[str, Any] = SOLVERS, *, loss: str = "hinge", intercept: str = "none") -> list[str]:
    """The names of those that support both."""
    return [
        name for name, solver in table.items() if loss in solver.traits.losses and intercept in solver.traits.intercepts
    ]


def without(table: dict[str, Any] = SOLVERS, *, loss: str = "hinge", intercept: str = "none") -> list[str]:
    """The names of those that refuse one of them."""
    return [name for name in table if name not in supporting(table, loss=loss, intercept=intercept)]


def fitted(name: str, m: int, total_cost: float) -> Any:
    """This variant for a problem of m rows: no batch is larger than that, and no step longer than it bears."""
    solver = VARIANTS[name]
    options = {key: min(getattr(solver, key), m) for key in ("k", "batch") if hasattr(solver, key)}
    if hasattr(solver, "eta"):
        options["eta"] = 0.01 * total_cost
    return solver.replace(**options) if options else solver


assert set(LOSSES) == {loss for _, loss in with_losses()}, "a loss without a solver"
