"""How a configuration of :mod:`hinge.solvers` becomes one whose algorithm is written in NumPy."""

from __future__ import annotations

import copy
import inspect
from typing import Any, ClassVar, cast

from hinge import problem as native
from hinge.reference import core
from hinge.reference.loss import LOSSES
from hinge.reference.problem import Problem
from hinge.reference.rows import Rows
from hinge.solvers import Setup
from hinge.solvers.native import NativeRun, NativeSolver


class Twin(NativeSolver):
    """The first base of a twin, the second being the native configuration, whose options and documentation it has."""

    core: ClassVar[Any] = core

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__bases__[0] is Twin:
            cls.__doc__ = _documentation(cls.__name__, str(cls.__doc__), str(cls.__bases__[1].__doc__))

    def start(self, problem: native.Problem, setup: Setup) -> NativeRun:
        """Begin a run."""
        return super().start(in_numpy(problem), setup)


def in_numpy(problem: native.Problem) -> native.Problem:
    """The same problem, with the one that algorithms of `core` work on where the native one was."""
    rho = problem.intercept.rho if problem.space == "linear" else 0.0  # a kernel has the constant feature itself
    rows, loss = Rows.read(problem.rows, rho), LOSSES[problem.loss.name]
    twin = copy.copy(problem)
    twin.native = cast(Any, Problem(rows, problem.target, problem.cost, loss, problem.intercept.kind == "free"))
    return twin


def _documentation(name: str, own: str, of_native: str) -> str:
    """The twin's own first line, then the native text; its example imports the twin."""
    text = inspect.cleandoc(of_native)
    imports = f"from hinge import solve\n>>> from hinge.reference import {name}"
    return f"{own}\n\n" + text.replace(f"from hinge import {name}, solve", imports)
