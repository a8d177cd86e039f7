"""Maps into a space where a kernel machine is linear: transformers for scikit-learn."""

from hinge.features.fourier import Fourier
from hinge.features.kernel import KERNELS, Columns, Kernel
from hinge.features.nystroem import Nystroem
from hinge.features.space import KernelProblem
from hinge.features.support import SupportVectors

__all__ = ["KERNELS", "Columns", "Fourier", "Kernel", "KernelProblem", "Nystroem", "SupportVectors"]
