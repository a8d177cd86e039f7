"""The certificate of an exact kernel machine is true: checked against kernel values and sums to 60 digits."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import CASES, KERNELS, KernelCase, name
from pairs import poll
from sklearn.svm import SVC

from hinge import KernelPegasos, Lasvm, _core
from hinge.certificate import KernelEvaluator, unread
from hinge.certificate.kernel import value_error
from hinge.features import Kernel, KernelProblem
from hinge.problem import Intercept, as_loss, as_rows
from hinge.training import Options, train

DIGITS = 60


def exact_kernel(problem: KernelProblem, X: np.ndarray) -> list[list[Decimal]]:
    """K to DIGITS digits, by the definition, with the constant feature."""
    k = problem.kernel
    gamma, coef0, rho = Decimal(k.gamma), Decimal(k.coef0), Decimal(problem.intercept.rho)
    rows = [[Decimal(float(value)) for value in row] for row in X]

    def dot(x: list[Decimal], z: list[Decimal]) -> Decimal:
        return sum((a * b for a, b in zip(x, z, strict=True)), Decimal(0))

    def value(x: list[Decimal], z: list[Decimal]) -> Decimal:
        if k.function == "rbf":
            return (-gamma * sum(((a - b) ** 2 for a, b in zip(x, z, strict=True)), Decimal(0))).exp()
        if k.function == "laplacian":
            return (-gamma * sum((abs(a - b) for a, b in zip(x, z, strict=True)), Decimal(0))).exp()
        if k.function == "polynomial":
            return (gamma * dot(x, z) + coef0) ** int(k.degree)
        if k.function == "sigmoid":
            e = (2 * (gamma * dot(x, z) + coef0)).exp()
            return (e - 1) / (e + 1)
        if k.function == "cosine":
            lengths = (dot(x, x) * dot(z, z)).sqrt()
            return dot(x, z) / lengths if lengths else Decimal(0)
        return dot(x, z)

    return [[value(x, z) + rho * rho for z in rows] for x in rows]


class Exact:
    """P and D of a problem, to DIGITS digits."""

    def __init__(self, case: KernelCase, problem: KernelProblem) -> None:
        X = case.arrays()[0]
        X = X.toarray() if case.layout == "csr" else X
        self.K = exact_kernel(problem, X if problem.positions is None else X[problem.positions])
        self.problem = problem
        self.target = [Decimal(t) for t in problem.target.tolist()]
        self.cost = [Decimal(c) for c in problem.cost.tolist()]
        self.squared = problem.loss.name == "squared_hinge"

    def decisions(self, v: np.ndarray) -> list[Decimal]:
        exact = [Decimal(x) for x in v.tolist()]
        return [sum((a * b for a, b in zip(row, exact, strict=True)), Decimal(0)) for row in self.K]

    def square(self, v: np.ndarray) -> Decimal:
        return sum((Decimal(a) * z for a, z in zip(v.tolist(), self.decisions(v), strict=True)), Decimal(0))

    def primal(self, v: np.ndarray, b: float) -> Decimal:
        losses = Decimal(0)
        for t, c, z in zip(self.target, self.cost, self.decisions(v), strict=True):
            s = max(Decimal(0), 1 - t * (z + Decimal(b)))
            losses += c * (s * s if self.squared else s)
        return self.square(v) / 2 + losses

    def dual(self, a: np.ndarray) -> Decimal:
        total = sum((Decimal(x) for x in a.tolist()), Decimal(0))
        if self.squared:
            total -= sum((Decimal(x) ** 2 / (4 * c) for x, c in zip(a.tolist(), self.cost, strict=True)), Decimal(0))
        return total - self.square(a * self.problem.target) / 2

    def feasible_dual(self, a: np.ndarray) -> Decimal:
        """D where the residue of sum a t = 0 was taken off one multiplier: the best choice of it."""
        residue = sum((Decimal(x) * t for x, t in zip(a.tolist(), self.target, strict=True)), Decimal(0))
        if self.problem.intercept.kind != "free" or residue == 0:
            return self.dual(a)
        # D as a function of one multiplier is a parabola: its value after a change by -|residue|, exactly.
        z = self.decisions(a * self.problem.target)
        best = None
        for j, (t, x) in enumerate(zip(self.target, a.tolist(), strict=True)):
            if t * residue <= 0 or Decimal(x) < abs(residue):
                continue
            by = -abs(residue)
            slope = 1 - t * z[j] - (Decimal(x) / (2 * self.cost[j]) if self.squared else 0)
            curvature = self.K[j][j] + (1 / (2 * self.cost[j]) if self.squared else 0)
            change = by * slope - by * by * curvature / 2
            best = change if best is None else max(best, change)
        assert best is not None, "no multiplier is large enough"
        return self.dual(a) + best


SMALL = [replace(case, m=14, d=5) for case in CASES]
INDEFINITE = [
    KernelCase(kernel=Kernel("sigmoid", gamma=0.01, coef0=coef0), m=3, d=5, seed=seed, scale=0.1)
    for seed, coef0 in enumerate([0.1, -0.1] * 3)
]
HARD = [
    KernelCase(kernel=Kernel("rbf", gamma=1e-4), m=14, d=5, scale=100.0, C=1e6),
    KernelCase(kernel=Kernel("rbf", gamma=1e-4), m=14, d=5, scale=100.0, C=1e6, layout="csr"),
    KernelCase(kernel=Kernel("rbf", gamma=1e-10), m=14, d=5, C=1e3),
    KernelCase(kernel=Kernel("rbf", gamma=0.1), m=14, d=5, offset=1e7, C=1e3),
    KernelCase(kernel=Kernel("laplacian", gamma=1e3), m=14, d=5, layout="csr"),
    KernelCase(kernel=Kernel("polynomial", gamma=1.0, coef0=0.0, degree=7), m=14, d=5, scale=3.0, C=1e-3),
    KernelCase(kernel=Kernel("linear"), m=14, d=5, scale=1e5, C=1e-8),
]


@pytest.mark.parametrize("case", [*SMALL, *HARD], ids=name)
def test_bounds_hold_at_any_model_and_any_multipliers(case: KernelCase) -> None:
    problem = case.make()
    evaluator = KernelEvaluator(problem)
    random = np.random.default_rng(5)
    with localcontext() as context:
        context.prec = DIGITS
        exact = Exact(case, problem)
        for draw in range(4):
            box = problem.cost if problem.loss.bounded else 3.0 * problem.cost
            a = random.uniform(-0.2, 1.2, problem.m) * box * 10.0 ** -float(draw)
            assert_true(evaluator, exact, a, random.normal(size=problem.m) * problem.cost)


def assert_true(evaluator: KernelEvaluator, exact: Exact, a: np.ndarray, v: np.ndarray) -> None:
    problem = exact.problem
    lower = evaluator.lower(a, poll())
    assert lower is not None
    assert np.all(lower.multipliers >= 0.0)
    assert np.all(lower.multipliers <= problem.box)
    if lower.value > 0.0:
        true = exact.feasible_dual(lower.multipliers)
        assert Decimal(lower.value) <= true, "D is too large"
        assert float(true) - lower.value <= 2.0 * lower.rounding + 1e-12 * lower.value
    for w in (v, lower.w):
        upper = evaluator.upper(w, poll())
        assert upper is not None
        b = upper.b - problem.shift(w)
        assert Decimal(upper.value) >= exact.primal(w, b), "P is too small"
        assert upper.rounding <= 1e-6 * upper.value


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("gamma", [1e-2, 1.0, 1e2, 1e6, 1e12, 1e16])
@pytest.mark.parametrize("function", ["rbf", "laplacian"])
def test_values_are_off_by_no_more_than_the_bound(function: str, gamma: float, layout: str) -> None:
    """Rows in pairs, so close to each other that some exponent is about 1, and at all distances from the first."""
    random = np.random.default_rng(3)
    step = {"rbf": gamma**-0.5, "laplacian": 1.0 / gamma}[function]
    X = random.uniform(0.1, 3.0, size=(8, 3)) * np.array([1e-3, 1.0, 1.0, 30.0] * 2)[:, np.newaxis]
    X = np.concatenate([X, X + step * random.uniform(-1.0, 1.0, size=X.shape)])
    target = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)
    rows = as_rows(sp.csr_array(X) if layout == "csr" else X)
    kernel = Kernel(function, gamma=gamma)
    problem = KernelProblem.of(
        rows, target, np.ones(len(X)), kernel=kernel, loss=as_loss("hinge"), intercept=Intercept("none")
    )
    relative, scales = value_error(problem)
    with localcontext() as context:
        context.prec = DIGITS
        exact = exact_kernel(problem, X)
        for i in range(len(X)):
            found = _core.kernel_row(problem.rows, problem.native_kernel, i)
            for j, value in enumerate(found.tolist()):
                assert abs(Decimal(value) - exact[i][j]) <= Decimal(relative * scales[i] * scales[j])


def test_rows_far_from_zero_cost_no_accuracy() -> None:
    case = KernelCase(kernel=Kernel("rbf", gamma=0.1), offset=1e7)
    outcome = train(case.make(), Lasvm(), Options(tol=1e-6))
    assert outcome.status == "converged"


@pytest.mark.parametrize("case", INDEFINITE, ids=lambda case: str(case.seed))
def test_sigmoid_is_certified_where_its_matrix_is_positive(case: KernelCase) -> None:
    if case.kernel.coef0 < 0.0:
        with pytest.raises(ValueError, match="eigenvalues"):
            case.make()
        return
    problem = case.make()
    assert problem.deficit > 0.0
    found = train(problem, Lasvm(), Options())
    with localcontext() as context:
        context.prec = DIGITS
        exact = Exact(case, problem)
        assert exact.feasible_dual(found.bound.multipliers) >= Decimal(found.bound.value)


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
@pytest.mark.parametrize("case", [*CASES, *HARD], ids=name)
def test_lasvm_reaches_the_tolerance(case: KernelCase, tol: float) -> None:
    found = train(case.make(), Lasvm(online_epochs=case.seed % 2), Options(tol=tol, max_iter=5000))
    reachable = max(tol, 1e-5) if case in HARD else tol  # there rounding, or single precision, sets the limit
    assert found.certificate.relative_gap <= reachable
    assert found.status == "converged" or reachable > tol


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
def test_objective_of_scikit_learn_lies_in_the_bracket(kernel: str) -> None:
    case = KernelCase(kernel=KERNELS[kernel], m=60)
    X, target, _ = case.arrays()
    found = train(case.make(), Lasvm(), Options(tol=1e-8, max_iter=5000))
    k = case.kernel
    kind = {"polynomial": "poly"}.get(kernel, kernel)
    model = SVC(C=1.0, kernel=kind, gamma=k.gamma, coef0=k.coef0, degree=int(k.degree), tol=1e-10).fit(X, target)
    v = np.zeros(60)
    v[model.support_] = model.dual_coef_[0]
    theirs = KernelEvaluator(case.make()).upper(v, poll())
    assert theirs is not None
    assert found.bound.value <= theirs.value <= found.model.value * (1 + 1e-6)
    decisions = case.make().matrix() @ found.model.w + found.model.b
    np.testing.assert_allclose(decisions, model.decision_function(X), atol=1e-3)


def test_pegasos_with_a_kernel_approaches_the_optimum_of_lasvm() -> None:
    problem = KernelCase(intercept="none", m=200, C=0.1).make()
    best = train(problem, Lasvm(), Options(tol=1e-6)).certificate
    found = train(problem, KernelPegasos(), Options(tol=1e-6, max_iter=200)).certificate
    assert found.dual <= best.primal
    assert best.dual <= found.primal <= 1.02 * best.dual
    assert found.relative_gap < 0.1


def test_model_without_time_to_evaluate_has_a_true_bound() -> None:
    problem = KernelCase().make()
    v = np.linspace(-1.0, 1.0, problem.m)
    upper = KernelEvaluator(problem).upper(v, poll(), 0.3)
    assert upper is not None
    assert unread(problem, v, 0.3).value >= upper.value
    penalized = replace(KernelCase(), intercept="penalized").make()
    bound: Any = unread(penalized, v, 0.0)
    upper = KernelEvaluator(penalized).upper(v, poll())
    assert upper is not None and bound.value >= upper.value and bound.b == pytest.approx(upper.b)
