"""The names of the native core that solvers build their algorithms from, in NumPy."""

from __future__ import annotations

from hinge.reference.adaptive import AdaptiveStream
from hinge.reference.asset import Asset, AssetOptions, AssetStar, RootRate, StarRate
from hinge.reference.cutting_plane import CuttingPlane
from hinge.reference.dcd import Dcd
from hinge.reference.gradient import ConstantRate, GradientOptions, Norma, NormaRate, Zhang
from hinge.reference.kernel import Kernel
from hinge.reference.kernel_pegasos import KernelPegasos, KernelPegasosOptions
from hinge.reference.lasvm import Lasvm, LasvmOptions
from hinge.reference.mpu import Mpu, MpuSingle
from hinge.reference.newton import Newton
from hinge.reference.ocas import Ocas
from hinge.reference.online import Online, OnlineOptions, OnlineStream
from hinge.reference.order import Order, Sampling
from hinge.reference.pegasos import Bias, Pegasos, PegasosOptions
from hinge.reference.primal_iterate import Output
from hinge.reference.rng import Rng
from hinge.reference.sgd import Presentation, Sgd, SgdSingle, margin_errors
from hinge.reference.sgdqn import (
    SgdQnErratum,
    SgdQnErratumSingle,
    SgdQnMixed,
    SgdQnMixedSingle,
    SgdQnPublished,
    SgdQnPublishedSingle,
    SgdQnSgd2,
    SgdQnSgd2Single,
)
from hinge.reference.svmsgd import Calibration, SvmSgd, SvmSgdSingle

__all__ = [
    "AdaptiveStream",
    "Asset",
    "AssetOptions",
    "AssetStar",
    "Bias",
    "Calibration",
    "ConstantRate",
    "CuttingPlane",
    "Dcd",
    "GradientOptions",
    "Kernel",
    "KernelPegasos",
    "KernelPegasosOptions",
    "Lasvm",
    "LasvmOptions",
    "Mpu",
    "MpuSingle",
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
    "RootRate",
    "Sampling",
    "Sgd",
    "SgdQnErratum",
    "SgdQnErratumSingle",
    "SgdQnMixed",
    "SgdQnMixedSingle",
    "SgdQnPublished",
    "SgdQnPublishedSingle",
    "SgdQnSgd2",
    "SgdQnSgd2Single",
    "SgdSingle",
    "StarRate",
    "SvmSgd",
    "SvmSgdSingle",
    "Zhang",
    "margin_errors",
]
