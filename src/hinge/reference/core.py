"""The names of the native core that solvers build their algorithms from, in NumPy."""

from __future__ import annotations

from hinge.reference.adaptive import AdaptiveStream
from hinge.reference.cutting_plane import CuttingPlane
from hinge.reference.dcd import Dcd
from hinge.reference.gradient import ConstantRate, GradientOptions, Norma, NormaRate, Zhang
from hinge.reference.mpu import Mpu
from hinge.reference.newton import Newton
from hinge.reference.ocas import Ocas
from hinge.reference.online import Online, OnlineOptions, OnlineStream
from hinge.reference.order import Order, Sampling
from hinge.reference.pegasos import Bias, Pegasos, PegasosOptions
from hinge.reference.primal_iterate import Output
from hinge.reference.rng import Rng
from hinge.reference.sgd import Presentation, Sgd, margin_errors
from hinge.reference.sgdqn import SgdQn, SgdQnSingle
from hinge.reference.svmsgd import SvmSgd, SvmSgdSingle

__all__ = [
    "AdaptiveStream",
    "Bias",
    "ConstantRate",
    "CuttingPlane",
    "Dcd",
    "GradientOptions",
    "Mpu",
    "Newton",
    "Norma",
    "NormaRate",
    "Ocas",
    "Online",
    "OnlineOptions",
    "OnlineStream",
    "Order",
    "Output",
    "Pegasos",
    "PegasosOptions",
    "Presentation",
    "Rng",
    "Sampling",
    "Sgd",
    "SgdQn",
    "SgdQnSingle",
    "SvmSgd",
    "SvmSgdSingle",
    "Zhang",
    "margin_errors",
]
