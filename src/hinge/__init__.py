"""Support vector machines by stochastic subgradient methods, every model with a duality-gap certificate."""

from importlib import import_module
from types import ModuleType

from hinge.certificate import Certificate, verify
from hinge.estimators import KernelSVC, LinearSVC, LinearSVCCV, OnlineKernelSVC, OnlineSVC
from hinge.problem import Blocks, Permutation, Problem
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
from hinge.training import BestOf, EtaSearch, Path, Record, Solution, path, search_eta, solve

__version__ = "0.1.0"

#: The older name of what a callback sees.
Progress = Record


def __getattr__(name: str) -> ModuleType:
    """``hinge.reference``, the readable NumPy version of every solver, is imported when it is first asked for."""
    if name == "reference":
        return import_module("hinge.reference")
    raise AttributeError(f"module 'hinge' has no attribute {name!r}")


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
    "CuttingPlane",
    "EtaSearch",
    "KernelPegasos",
    "KernelSVC",
    "Lasvm",
    "LinearSVC",
    "LinearSVCCV",
    "Newton",
    "Norma",
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
    "path",
    "search_eta",
    "solve",
    "verify",
]
