"""The solvers by name. A solver is a name or a frozen configuration."""

from __future__ import annotations

from hinge.solvers.best_of import BestOf
from hinge.solvers.cutting_planes import OCAS, CuttingPlane
from hinge.solvers.dcd import DCD
from hinge.solvers.mpu import MPU
from hinge.solvers.norma import Norma, Zhang
from hinge.solvers.online import Online
from hinge.solvers.pegasos import Pegasos
from hinge.solvers.protocol import Configuration, Solver
from hinge.solvers.sgd import SGDm, SGDr, SGDs
from hinge.solvers.svmsgd import SGDQN, SvmSGD

__all__ = [
    "DCD",
    "MPU",
    "OCAS",
    "SGDQN",
    "BestOf",
    "Configuration",
    "CuttingPlane",
    "Norma",
    "Online",
    "Pegasos",
    "SGDm",
    "SGDr",
    "SGDs",
    "Solver",
    "SvmSGD",
    "Zhang",
    "as_solver",
    "solver_names",
]

# "auto" will choose by shape, density, C and tol; of the solvers that exist, dcd is the fastest one for any intercept.
_BY_NAME: dict[str, Solver] = {
    "auto": DCD(),
    "cutting-plane": CuttingPlane(),
    "dcd": DCD(),
    "mpu": MPU(),
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


def solver_names() -> list[str]:
    """The names that ``solver=`` accepts."""
    return sorted(_BY_NAME)


def as_solver(solver: Solver | str) -> Solver:
    """Turn a name into its default configuration; configurations pass through."""
    if isinstance(solver, str) and solver in _BY_NAME:
        return _BY_NAME[solver]
    if isinstance(solver, str | type) or not (hasattr(solver, "start") or hasattr(solver, "train")):
        raise ValueError(
            f"Unknown solver {solver!r}: choose one of {solver_names()}, or a configuration such as Pegasos(k=100)."
        )
    return solver
