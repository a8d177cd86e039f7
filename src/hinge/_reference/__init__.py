"""NumPy twins of the native core: readable, slow, the oracle of the tests and the documentation of each algorithm.

A twin consumes the same random stream as its native counterpart, adds in the same order, and carries the same fields
under the same names: after any number of epochs both agree to the bit. Read these files next to the papers, and the
headers in ``cpp/include/hinge`` next to these files. Nothing here is fast, and nothing outside the tests uses it.
"""

from __future__ import annotations

from hinge._reference.cutting_plane import CuttingPlane
from hinge._reference.dcd import Dcd
from hinge._reference.dual_average import DualAverage
from hinge._reference.gradient import ConstantRate, GradientDescent, GradientOptions, NormaRate
from hinge._reference.mpu import Mpu
from hinge._reference.ocas import Ocas
from hinge._reference.online import Online, OnlineOptions, OnlineStream
from hinge._reference.order import Order, draws
from hinge._reference.pegasos import Pegasos, PegasosOptions
from hinge._reference.primal_iterate import PrimalIterate
from hinge._reference.problem import Problem, Sum
from hinge._reference.rng import Rng
from hinge._reference.rows import CsrRows, DenseRows, Rows
from hinge._reference.sgd import Sgd, margin_errors
from hinge._reference.sgdqn import SgdQn
from hinge._reference.svmsgd import BottouRate, SvmSgd

__all__ = [
    "BottouRate",
    "ConstantRate",
    "CsrRows",
    "CuttingPlane",
    "Dcd",
    "DenseRows",
    "DualAverage",
    "GradientDescent",
    "GradientOptions",
    "Mpu",
    "NormaRate",
    "Ocas",
    "Online",
    "OnlineOptions",
    "OnlineStream",
    "Order",
    "Pegasos",
    "PegasosOptions",
    "PrimalIterate",
    "Problem",
    "Rng",
    "Rows",
    "Sgd",
    "SgdQn",
    "Sum",
    "SvmSgd",
    "draws",
    "margin_errors",
]
