"""The solvers of exact kernels have twins in NumPy that take the same steps, to the bit."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from kernel_cases import CASES, KERNELS, KernelCase, kernel_pair, name
from pairs import assert_same, assert_same_run, poll, twin_of

from hinge import KernelPegasos, Lasvm, _core
from hinge.problem import as_rows
from hinge.reference import core
from hinge.reference import kernel as kernel_twin
from hinge.reference.twin import in_numpy
from hinge.training import Options, train

SOLVERS: dict[str, Any] = {
    "lasvm": Lasvm(working_set=10),
    "lasvm in pairs": Lasvm(working_set=2),
    "lasvm online": Lasvm(online_epochs=2, working_set=128),
    "lasvm with a tiny cache": Lasvm(online_epochs=1, working_set=4, cache_size=1e-6),
    "kernel-pegasos": KernelPegasos(),
    "kernel-pegasos epoch": KernelPegasos(sampling="epoch", projection=False, cache_size=1e-6),
}


@pytest.mark.parametrize("case", CASES, ids=name)
@pytest.mark.parametrize("solver", SOLVERS)
def test_native_solver_equals_the_twin(solver: str, case: KernelCase) -> None:
    native, slow = kernel_pair(SOLVERS[solver], case)
    assert_same_run(native, slow, [1, 3])
    native.rebuild(poll())
    slow.rebuild(poll())
    assert_same(native, slow, "after rebuilding")
    assert native.advance(1, poll()) == slow.advance(1, poll())
    assert_same(native, slow, "an epoch after rebuilding")


def test_exponential_is_right_to_two_units_in_the_last_place() -> None:
    random = np.random.default_rng(0)
    special = [0.0, 5e-324, 1e-17, 0.3466, 707.9]
    q = np.concatenate((special, random.uniform(0.0, 1.0, 500), random.uniform(0.0, 708.0, 500)))
    rows = as_rows(q[:, np.newaxis])
    kernel = _core.Kernel(_core.KernelKind.laplacian, 1.0, 1, 0.0, 0.0)
    found = _core.kernel_row(rows, kernel, 0)  # exp(-|q - 0|)
    assert found[0] == 1.0
    for value, exponent in zip(found.tolist(), q.tolist(), strict=True):
        with localcontext() as context:
            context.prec = 40
            exact = (-Decimal(exponent)).exp()
            assert abs(Decimal(value) / exact - 1) < 2 * Decimal(2.0**-53)
        assert value == kernel_twin.exponential(-exponent)
    beyond = _core.kernel_row(as_rows(np.array([[0.0], [709.0], [1e100]])), kernel, 0)
    assert beyond.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("case", CASES, ids=name)
def test_kernel_values_are_those_of_the_twin_and_of_the_definition(case: KernelCase) -> None:
    problem = case.make()
    rows, kernel = in_numpy(problem).native.rows, core.Kernel.read(problem)
    X = case.arrays()[0]
    kept = X if problem.positions is None else X[problem.positions]
    dense = np.asarray(kept.toarray() if case.layout == "csr" else kept, dtype=np.float64)
    expected = case.kernel.block(dense, dense) + kernel.constant
    for i in range(problem.m):
        found = _core.kernel_row(problem.rows, problem.native_kernel, i)
        assert found.tolist() == [kernel.value(rows, i, j) for j in range(problem.m)]
        np.testing.assert_allclose(found, expected[i], rtol=1e-12, atol=1e-12)
    diagonal = _core.kernel_diagonal(problem.rows, problem.native_kernel)
    np.testing.assert_allclose(diagonal, np.diagonal(expected), rtol=1e-12, atol=1e-12)
    beta = np.linspace(-1.0, 1.0, problem.m) * (np.arange(problem.m) % 3 > 0)
    for n_threads in (1, 3):
        sums = _core.kernel_sums(problem.rows, problem.native_kernel, beta, poll(), n_threads)
        assert sums.tolist() == kernel_twin.kernel_sums(kernel, rows, beta).tolist()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_run_may_change_hands_between_native_code_and_twin(solver: str) -> None:
    native, slow = kernel_pair(SOLVERS[solver], KernelCase())
    other_native, other_slow = kernel_pair(SOLVERS[solver], KernelCase())
    native.advance(2, poll())
    slow.advance(2, poll())
    other_slow.restore(native.state())
    other_native.restore(slow.state())
    for run in (native, other_native, other_slow):
        run.advance(2, poll())
    assert_same(native, other_slow, "begun natively, ended in NumPy")
    assert_same(other_native, other_slow, "and the reverse")


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_of_other_costs_is_rebuilt_as_in_the_twin(solver: str) -> None:
    before, _ = kernel_pair(SOLVERS[solver], KernelCase(C=3.0))
    native, slow = kernel_pair(SOLVERS[solver], KernelCase(C=0.1))
    before.advance(3, poll())
    for run in (native, slow):
        run.restore(before.state())
        run.rebuild(poll())
    assert_same(native, slow, "after rebuilding")
    native.advance(2, poll())
    slow.advance(2, poll())
    assert_same(native, slow, "two epochs later")


@pytest.mark.parametrize("solver", ["lasvm", "lasvm online", "kernel-pegasos"])
def test_training_gives_the_same_certificate_with_the_twin(solver: str) -> None:
    problem = replace(CASES[0], kernel=KERNELS["rbf"]).make()
    options = Options(tol=0.05, max_iter=30, key=(3,))
    fast, slow = (train(problem, how, options) for how in (SOLVERS[solver], twin_of(SOLVERS[solver])))
    assert slow.certificate == fast.certificate
    assert slow.status == fast.status
    assert slow.model.w.tobytes() == fast.model.w.tobytes() and slow.model.b == fast.model.b
    assert slow.state is not None and fast.state is not None
    assert slow.state["loop_seal"] == fast.state["loop_seal"]
