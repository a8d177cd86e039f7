"""Linear support vector machines, every model with a proof of how far it is from the best one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hinge.certificate import Certificate, Certificates, verify
from hinge.estimators import KernelSVC, LinearSVC, LinearSVCCV, OnlineKernelSVC, OnlineSVC
from hinge.problem import Blocks, Once, Permutation, Problem
from hinge.solvers import (
    DCD,
    MPU,
    OCAS,
    SGDQN,
    Asset,
    AssetStar,
    Auto,
    CuttingPlane,
    KernelPegasos,
    Lasvm,
    Newton,
    Norma,
    Online,
    Pegasos,
    Point,
    Run,
    SGDm,
    SGDr,
    SGDs,
    SvmSGD,
    Traits,
    Zhang,
)
from hinge.training import (
    BestOf,
    Histories,
    History,
    Path,
    Progress,
    Record,
    Solution,
    certify,
    path,
    solve,
)

__version__ = "0.1.0"


if TYPE_CHECKING:
    from hinge.plotting import plot_history
    from hinge.versions import show_versions

# What is imported when it is first asked for: the readable NumPy version of every solver, pictures, versions.
_LATER = {"reference": "hinge.reference", "plot_history": "hinge.plotting", "show_versions": "hinge.versions"}


def __getattr__(name: str) -> Any:
    """What takes long to import, and few need."""
    if name not in _LATER:
        raise AttributeError(f"module 'hinge' has no attribute {name!r}")
    module = import_module(_LATER[name])
    return module if _LATER[name] == f"hinge.{name}" else getattr(module, name)


__all__ = [
    "DCD",
    "MPU",
    "OCAS",
    "SGDQN",
    "Asset",
    "AssetStar",
    "Auto",
    "BestOf",
    "Blocks",
    "Certificate",
    "Certificates",
    "CuttingPlane",
    "Histories",
    "History",
    "KernelPegasos",
    "KernelSVC",
    "Lasvm",
    "LinearSVC",
    "LinearSVCCV",
    "Newton",
    "Norma",
    "Once",
    "Online",
    "OnlineKernelSVC",
    "OnlineSVC",
    "Path",
    "Pegasos",
    "Permutation",
    "Point",
    "Problem",
    "Progress",
    "Record",
    "Run",
    "SGDm",
    "SGDr",
    "SGDs",
    "Solution",
    "SvmSGD",
    "Traits",
    "Zhang",
    "certify",
    "path",
    "plot_history",
    "show_versions",
    "solve",
    "verify",
]
