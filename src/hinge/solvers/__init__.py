"""The solvers by name. A solver is a name or a frozen configuration."""

from __future__ import annotations

from typing import Any

from hinge import checks
from hinge.solvers.asset import Asset, AssetStar
from hinge.solvers.auto import Auto
from hinge.solvers.contract import (
    BUDGET,
    Composite,
    Configuration,
    Point,
    Run,
    Setup,
    Solver,
    State,
    Traits,
    as_run,
    point_of,
    rows_read,
)
from hinge.solvers.cutting_planes import OCAS, CuttingPlane
from hinge.solvers.dcd import DCD
from hinge.solvers.kernels import KernelPegasos, Lasvm
from hinge.solvers.mpu import MPU
from hinge.solvers.newton import Newton
from hinge.solvers.norma import Norma, Zhang
from hinge.solvers.online import Online
from hinge.solvers.pegasos import Pegasos
from hinge.solvers.sgd import SGDm, SGDr, SGDs
from hinge.solvers.svmsgd import SGDQN, SvmSGD

__all__ = [
    "BUDGET",
    "DCD",
    "KERNEL_SOLVERS",
    "MPU",
    "OCAS",
    "SGDQN",
    "SOLVERS",
    "Asset",
    "AssetStar",
    "Auto",
    "Composite",
    "Configuration",
    "CuttingPlane",
    "KernelPegasos",
    "Lasvm",
    "Newton",
    "Norma",
    "Online",
    "Pegasos",
    "Point",
    "Run",
    "SGDm",
    "SGDr",
    "SGDs",
    "Setup",
    "Solver",
    "State",
    "SvmSGD",
    "Traits",
    "Zhang",
    "as_run",
    "as_solver",
    "as_typed",
    "name_of",
    "point_of",
    "rows_read",
    "solver_names",
    "supporting",
]

#: The registry: every algorithm by name, with its default options.
SOLVERS: dict[str, Solver] = {
    "asset": Asset(),
    "asset-star": AssetStar(),
    "cutting-plane": CuttingPlane(),
    "dcd": DCD(),
    "mpu": MPU(),
    "newton": Newton(),
    "norma": Norma(),
    "ocas": OCAS(),
    "online": Online(),
    "pegasos": Pegasos(),
    "sgd-m": SGDm(),
    "sgd-qn": SGDQN(),
    "sgd-r": SGDr(),
    "sgd-s": SGDs(),
    "svmsgd": SvmSGD(),
    "zhang": Zhang(),
}

#: Those for exact kernel machines.
KERNEL_SOLVERS: dict[str, Solver] = {
    "kernel-pegasos": KernelPegasos(),
    "lasvm": Lasvm(),
}
_ALL = {**SOLVERS, **KERNEL_SOLVERS}


def solver_names() -> list[str]:
    """The names that ``solver=`` accepts."""
    return sorted(["auto", *SOLVERS])


def name_of(solver: Any) -> str:
    """What the registry calls this kind of solver; the name of its class if it is not there."""
    return next((name for name, known in _ALL.items() if type(known) is type(solver)), type(solver).__name__)


def as_typed(solver: Any) -> str:
    """What the user has probably typed, for messages: the name of a default configuration, otherwise its class."""
    names = (repr(name) for name, known in SOLVERS.items() if known is solver)
    return next(names, "'auto'" if isinstance(solver, Auto) else type(solver).__name__)


def supporting(trait: str, value: str) -> str:
    """The names of the solvers whose trait (``losses``, ``intercepts``, ``space``) has this value, for messages."""
    table = _ALL if trait == "space" else SOLVERS
    return ", ".join(repr(name) for name, solver in table.items() if value in getattr(solver.traits, trait))


def as_solver(solver: Any) -> Any:
    """Turn a name into its default configuration; configurations pass through."""
    if isinstance(solver, str) and solver == "auto":
        return Auto()
    if isinstance(solver, str) and solver in _ALL:
        return _ALL[solver]
    if isinstance(solver, str | type) or not (isinstance(solver, Composite) or hasattr(solver, "start")):
        if isinstance(solver, type) and (hasattr(solver, "start") or issubclass(solver, Composite)):
            raise ValueError(
                f"solver={solver.__name__} is a class: make an object of it, solver={solver.__name__}(), or give one "
                f"of the names {solver_names()}."
            )
        raise ValueError(
            f"Unknown solver {checks.shown(solver)}: choose one of {solver_names()}, or a configuration such as "
            f"Pegasos(k=100).{checks.did_you_mean(solver, solver_names())}"
        )
    if not isinstance(getattr(solver, "traits", None), Traits):
        raise TypeError(
            f"{type(solver).__name__} does not declare what it supports: give it an attribute `traits`, for example "
            "hinge.Traits(intercepts=('none', 'penalized'))."
        )
    return solver
