"""Every solver in readable NumPy: for students, for researchers, and for places without a compiler.

The configurations here have the names, the options and the documentation of those in :mod:`hinge`, and run on the same
training loop, with the same certificate. Only the algorithm inside is another one: instead of C++ a page or two of
NumPy, which reads like the paper. Nothing here is fast: a thousand times slower than native code is usual.

- *To learn how a solver works*, read its module: `sgd`, `pegasos`, `asset`, `gradient` (Norma and Zhang's method),
  `svmsgd`, `sgdqn`, `online`, `dcd` with `face`, `mpu`, `newton` with `zone`, `cutting_plane` and `ocas` with `planes`;
  for exact kernels `kernel_pegasos`, and `lasvm` with `decomposition`.
- *To try an idea*, subclass an algorithm, change a step, and let the training loop judge it.
- *To test native code*: a twin draws the same random numbers, adds in the same order, and carries the same fields under
  the same names. After any number of epochs both agree to the bit. Linear algebra (the Newton steps of
  ``Newton()`` and ``DCD(polish=True)``, the small problems of the cutting-plane methods) is left to NumPy and SciPy,
  and agrees to rounding.

Examples
--------
Native code and NumPy take the same steps, to the last bit:

>>> import numpy as np
>>> import hinge
>>> import hinge.reference
>>> X = np.random.default_rng(0).normal(size=(100, 4))
>>> y = X[:, 0] + 0.5 * X[:, 1] > 0.2
>>> options = {"C": 0.1, "intercept": "penalized", "tol": 0.05}
>>> fast = hinge.solve(X, y, solver=hinge.SGDs(), **options)
>>> readable = hinge.solve(X, y, solver=hinge.reference.SGDs(), **options)
>>> readable.status, bool(np.all(readable.coef == fast.coef)), readable.certificate == fast.certificate
('converged', True, True)

An idea: Zhang's method, with a step size that falls.

>>> class Falling(hinge.reference.Zhang):
...     def build(self, core, problem, setup):
...         run = super().build(core, problem, setup)
...         run.rate = lambda lambda_, t: self.eta / (1.0 + 0.001 * t)
...         return run
>>> found = hinge.solve(X, y, solver=Falling(eta=0.1), max_iter=2000, **options)
>>> found.status, found.certificate.relative_gap < 0.05
('converged', True)
"""

from __future__ import annotations

from hinge import solvers
from hinge.reference import core
from hinge.reference.twin import Twin

__all__ = [
    "DCD",
    "MPU",
    "OCAS",
    "SGDQN",
    "Asset",
    "AssetStar",
    "CuttingPlane",
    "KernelPegasos",
    "Lasvm",
    "Newton",
    "Norma",
    "Online",
    "Pegasos",
    "SGDm",
    "SGDr",
    "SGDs",
    "SvmSGD",
    "Zhang",
    "core",
]


class Asset(Twin, solvers.Asset):
    """:class:`hinge.Asset` in readable NumPy, `hinge.reference.asset`."""


class AssetStar(Twin, solvers.AssetStar):
    """:class:`hinge.AssetStar` in readable NumPy, `hinge.reference.asset`."""


class CuttingPlane(Twin, solvers.CuttingPlane):
    """:class:`hinge.CuttingPlane` in readable NumPy, `hinge.reference.cutting_plane`."""


class DCD(Twin, solvers.DCD):
    """:class:`hinge.DCD` in readable NumPy, `hinge.reference.dcd`."""


class KernelPegasos(Twin, solvers.KernelPegasos):
    """:class:`hinge.KernelPegasos` in readable NumPy, `hinge.reference.kernel_pegasos`."""


class Lasvm(Twin, solvers.Lasvm):
    """:class:`hinge.Lasvm` in readable NumPy, `hinge.reference.lasvm`."""


class MPU(Twin, solvers.MPU):
    """:class:`hinge.MPU` in readable NumPy, `hinge.reference.mpu`."""


class Newton(Twin, solvers.Newton):
    """:class:`hinge.Newton` in readable NumPy, `hinge.reference.newton`."""


class Norma(Twin, solvers.Norma):
    """:class:`hinge.Norma` in readable NumPy, `hinge.reference.gradient`."""


class OCAS(Twin, solvers.OCAS):
    """:class:`hinge.OCAS` in readable NumPy, `hinge.reference.ocas`."""


class Online(Twin, solvers.Online):
    """:class:`hinge.Online` in readable NumPy, `hinge.reference.online`."""


class Pegasos(Twin, solvers.Pegasos):
    """:class:`hinge.Pegasos` in readable NumPy, `hinge.reference.pegasos`."""


class SGDm(Twin, solvers.SGDm):
    """:class:`hinge.SGDm` in readable NumPy, `hinge.reference.sgd`."""


class SGDQN(Twin, solvers.SGDQN):
    """:class:`hinge.SGDQN` in readable NumPy, `hinge.reference.sgdqn`."""


class SGDr(Twin, solvers.SGDr):
    """:class:`hinge.SGDr` in readable NumPy, `hinge.reference.sgd`."""


class SGDs(Twin, solvers.SGDs):
    """:class:`hinge.SGDs` in readable NumPy, `hinge.reference.sgd`."""


class SvmSGD(Twin, solvers.SvmSGD):
    """:class:`hinge.SvmSGD` in readable NumPy, `hinge.reference.svmsgd`."""


class Zhang(Twin, solvers.Zhang):
    """:class:`hinge.Zhang` in readable NumPy, `hinge.reference.gradient`."""
