"""Support vector machines by stochastic subgradient methods, every model with a duality-gap certificate."""

from hinge.certificate import Certificate, Point
from hinge.linear import LinearSVC
from hinge.online import OnlineSVC
from hinge.order import Blocks, Permutation
from hinge.outcome import Progress, Record
from hinge.problem import Problem
from hinge.search import EtaSearch, search_eta
from hinge.solve import Solution, solve
from hinge.solvers import (
    DCD,
    MPU,
    OCAS,
    SGDQN,
    BestOf,
    CuttingPlane,
    Norma,
    Online,
    Pegasos,
    SGDm,
    SGDr,
    SGDs,
    SvmSGD,
    Zhang,
)
from hinge.verify import verify

__version__ = "0.1.0"

__all__ = [
    "DCD",
    "MPU",
    "OCAS",
    "SGDQN",
    "BestOf",
    "Blocks",
    "Certificate",
    "CuttingPlane",
    "EtaSearch",
    "LinearSVC",
    "Norma",
    "Online",
    "OnlineSVC",
    "Pegasos",
    "Permutation",
    "Point",
    "Problem",
    "Progress",
    "Record",
    "SGDm",
    "SGDr",
    "SGDs",
    "Solution",
    "SvmSGD",
    "Zhang",
    "search_eta",
    "solve",
    "verify",
]
