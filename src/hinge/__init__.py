"""Support vector machines by stochastic subgradient methods, every model with a duality-gap certificate."""

from hinge.certificate import Certificate, Point
from hinge.linear import LinearSVC
from hinge.order import Blocks, Permutation
from hinge.outcome import Progress, Record
from hinge.problem import Problem
from hinge.solve import Solution, solve
from hinge.solvers import DCD, OCAS, BestOf, CuttingPlane, Pegasos, SGDm, SGDr, SGDs
from hinge.verify import verify

__version__ = "0.1.0"

__all__ = [
    "DCD",
    "OCAS",
    "BestOf",
    "Blocks",
    "Certificate",
    "CuttingPlane",
    "LinearSVC",
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
    "solve",
    "verify",
]
