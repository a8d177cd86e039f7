"""Cutting planes: the native methods and their NumPy twins agree to the bit; the small problem is solved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pairs import EPOCHS, Case, all_of, assert_same, assert_same_run, bits, describe, few_of

from hinge import _core
from hinge import _reference as twin

METHODS = ["cutting-plane", "ocas"]


def pair(name: str, case: Case, mu: float = 0.1, patience: int = 50) -> tuple[Any, Any]:
    problem, slow_problem = case.make()
    if name == "ocas":
        return _core.Ocas(problem.native, mu, patience), twin.Ocas(slow_problem, mu, patience)
    return _core.CuttingPlane(problem.native, patience), twin.CuttingPlane(slow_problem, patience)


def assert_same_result(native: Any, slow: Any) -> None:
    assert [bits(part) for part in native.point()] == [bits(part) for part in slow.point()]
    assert native.estimate() == slow.estimate()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", all_of("none", "penalized"), ids=describe)
def test_native_method_equals_the_twin(case: Case, name: str) -> None:
    native, slow = pair(name, case)
    assert_same_run(native, slow, [*EPOCHS, 20])
    assert_same_result(native, slow)
