"""Norma, Zhang, SvmSgd and SGD-QN agree with their NumPy twins to the bit, and keep what their papers say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pairs import (
    BLOCKS,
    EPOCHS,
    PERMUTATION,
    SCALES,
    Case,
    all_of,
    assert_same,
    assert_same_point,
    assert_same_run,
    describe,
    few_of,
)

from hinge import _core
from hinge import _reference as twin

DTYPES: dict[str, Any] = {"double": np.float64, "single": np.float32}

DESCENT: dict[str, dict[str, Any]] = {
    "default": {},
    "epoch": {"sampling": "epoch"},
    "projection": {"projection": True},
    "average": {"output": "average"},
    "average, epoch, projection": {"output": "average", "sampling": "epoch", "projection": True},
}


def rates(lambda_: float) -> dict[str, tuple[Any, Any]]:
    """Native and twin; the constant ones are a good and a far too large one."""
    return {
        "norma": (_core.NormaRate(0.71), twin.NormaRate(0.71)),
        "zhang": (_core.ConstantRate(0.003 / lambda_), twin.ConstantRate(0.003 / lambda_)),
        "zhang, large": (_core.ConstantRate(0.9 / lambda_), twin.ConstantRate(0.9 / lambda_)),
    }


def descent_pair(
    case: Case,
    rate: str,
    options: dict[str, Any],
    order: tuple[int, int] = PERMUTATION,
    kind: type[twin.GradientDescent[Any]] = twin.GradientDescent,
) -> tuple[Any, Any]:
    problem, slow_problem = case.make()
    chosen = twin.GradientOptions(**options)
    native_options = _core.GradientOptions(
        getattr(_core.Sampling, chosen.sampling), chosen.projection, getattr(_core.Output, chosen.output)
    )
    native_rate, slow_rate = rates(slow_problem.lambda_)[rate]
    native_kind: Any = _core.Norma if rate == "norma" else _core.Zhang
    native = native_kind(problem.native, native_rate, native_options, _core.Order(*order), _core.Rng([4, case.seed]))
    return native, kind(slow_problem, slow_rate, chosen, twin.Order(*order), twin.Rng([4, case.seed]))


def svmsgd_pair(
    case: Case, precision: str, output: Any, order: tuple[int, int] = PERMUTATION, sample: int = 1000
) -> tuple[Any, twin.SvmSgd]:
    problem, slow_problem = case.make()
    kind: Any = _core.SvmSgd if precision == "double" else _core.SvmSgdSingle
    native = kind(problem.native, sample, getattr(_core.Output, output), _core.Order(*order), _core.Rng([6, case.seed]))
    return native, twin.SvmSgd(
        slow_problem, sample, output, twin.Order(*order), twin.Rng([6, case.seed]), DTYPES[precision]
    )


def sgdqn_pair(
    case: Case, precision: str, order: tuple[int, int] = PERMUTATION, kind: type[twin.SgdQn] = twin.SgdQn
) -> tuple[Any, twin.SgdQn]:
    problem, slow_problem = case.make()
    native_kind: Any = _core.SgdQn if precision == "double" else _core.SgdQnSingle
    native = native_kind(problem.native, _core.Order(*order), _core.Rng([8, case.seed]))
    return native, kind(slow_problem, twin.Order(*order), twin.Rng([8, case.seed]), DTYPES[precision])


# The same bits


@pytest.mark.parametrize("options", DESCENT.values(), ids=DESCENT.keys())
@pytest.mark.parametrize("rate", ["norma", "zhang", "zhang, large"])
@pytest.mark.parametrize("case", few_of("none", "penalized"), ids=describe)
def test_native_gradient_descent_equals_the_twin(case: Case, rate: str, options: dict[str, Any]) -> None:
    native, slow = descent_pair(case, rate, options)
    assert_same_point(native, slow)
    assert_same_run(native, slow, EPOCHS)
    assert_same_point(native, slow)


@pytest.mark.parametrize("rate", ["norma", "zhang"])
@pytest.mark.parametrize("case", all_of("none", "penalized"), ids=describe)
def test_native_gradient_descent_in_blocks_equals_the_twin(case: Case, rate: str) -> None:
    native, slow = descent_pair(case, rate, {"sampling": "epoch", "projection": True}, BLOCKS)
    assert_same_run(native, slow, [3])
    assert_same_point(native, slow)


@pytest.mark.parametrize("output", ["last", "average"])
@pytest.mark.parametrize(("precision", "order"), [("double", PERMUTATION), ("single", PERMUTATION), ("single", BLOCKS)])
@pytest.mark.parametrize("case", few_of("none", "penalized"), ids=describe)
def test_native_svmsgd_equals_the_twin(case: Case, precision: str, order: tuple[int, int], output: str) -> None:
    native, slow = svmsgd_pair(case, precision, output, order)
    assert_same_run(native, slow, EPOCHS)
    assert_same_point(native, slow)
    assert native.state()["eta0"] > 0.0


@pytest.mark.parametrize("precision", DTYPES)
@pytest.mark.parametrize("sample", [1, 17])
def test_native_svmsgd_on_a_small_sample_equals_the_twin(sample: int, precision: str) -> None:
    native, slow = svmsgd_pair(Case(weights=True), precision, "last", sample=sample)
    assert_same_run(native, slow, [1, 2])


@pytest.mark.parametrize("order", [PERMUTATION, BLOCKS])
@pytest.mark.parametrize("precision", DTYPES)
@pytest.mark.parametrize("case", few_of("none", "penalized"), ids=describe)
def test_native_sgdqn_equals_the_twin(case: Case, precision: str, order: tuple[int, int]) -> None:
    native, slow = sgdqn_pair(case, precision, order)
    assert_same_point(native, slow)
    assert_same_run(native, slow, [*EPOCHS, 15])
    assert_same_point(native, slow)


@pytest.mark.parametrize("precision", DTYPES)
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_native_solvers_rebuild_as_their_twins(layout: Any, precision: str) -> None:
    poll = _core.Poll(_core.StopFlag())
    case = Case(layout, weights=True, intercept="penalized")
    for native, slow in (svmsgd_pair(case, precision, "average"), sgdqn_pair(case, precision)):
        assert_same_run(native, slow, [2])
        for _ in range(2):
            native.rebuild(poll)
            slow.rebuild()
            assert_same(native, slow, "after rebuilding")
            native.advance(1, poll)
            slow.run_epoch()
            assert_same(native, slow, "an epoch after rebuilding")


# PrimalIterate


@pytest.mark.parametrize("options", DESCENT.values(), ids=DESCENT.keys())
@pytest.mark.parametrize("rate", ["norma", "zhang"])
@pytest.mark.parametrize("scale", SCALES)
def test_tracked_norm_equals_recomputed_norm(scale: float, rate: str, options: dict[str, Any]) -> None:
    native, slow = descent_pair(Case(scale=scale, weights=True), rate, options)
    native.advance(20, _core.Poll(_core.StopFlag()))
    state = native.state()
    recomputed = float(np.sum((state["scale"] * state["v"]) ** 2))
    assert state["norm2"] == pytest.approx(recomputed, rel=1e-9)
    if slow.options.projection:
        assert recomputed <= slow.problem.total_cost * (1.0 + 1e-9), "outside the ball"


class Keeping(twin.GradientDescent[Any]):
    """Keeps its iterates."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.iterates: list[Any] = []

    def record(self, rng: twin.Rng) -> None:
        super().record(rng)
        self.iterates.append(self.scale * np.float64(self.v))


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("rate", ["norma", "zhang", "zhang, large"])
@pytest.mark.parametrize("scale", SCALES)
def test_averaged_output_is_the_mean_of_the_iterates(scale: float, rate: str, projection: bool) -> None:
    native, slow = descent_pair(
        Case(scale=scale), rate, {"output": "average", "projection": projection}, PERMUTATION, Keeping
    )
    assert_same_run(native, slow, [20])
    mean = np.mean(slow.iterates, axis=0)
    assert np.linalg.norm(native.point()[0] - mean) <= 1e-7 * np.linalg.norm(mean)


def test_single_precision_is_folded_before_its_range_ends() -> None:
    """Steps that nearly erase w: the scale falls by orders of magnitude a step."""
    native, slow = svmsgd_pair(Case(C=1e-3), "single", "last")
    slow.rate.eta0 = 0.5 / slow.problem.lambda_
    native.restore({**native.state(), "eta0": slow.rate.eta0})
    assert_same_run(native, slow, [40])
    assert slow.smallest_scale <= slow.scale <= 1.0
    assert np.isfinite(slow.v).all()


# DualAverage


class Watched(twin.DualAverage):
    """Remembers all visits."""

    def __init__(self, m: int) -> None:
        super().__init__(m)
        self.visits: list[tuple[int, bool]] = []

    def visited(self, i: int, loss: bool, t: int) -> None:
        assert t == len(self.visits), "a step was not counted"
        super().visited(i, loss, t)
        self.visits.append((i, loss))


@pytest.mark.parametrize("name", ["norma", "zhang", "svmsgd", "sgd-qn"])
def test_multipliers_are_the_weighted_average_of_the_visits_with_loss(name: str) -> None:
    case = Case(weights=True)
    pairs = {
        "norma": lambda: descent_pair(case, "norma", {}),
        "zhang": lambda: descent_pair(case, "zhang", {}),
        "svmsgd": lambda: svmsgd_pair(case, "double", "last"),
        "sgd-qn": lambda: sgdqn_pair(case, "double"),
    }
    native, slow = pairs[name]()
    slow.average = Watched(slow.problem.m)
    assert_same_run(native, slow, [12])
    visits = slow.average.visits
    T, m = len(visits), slow.problem.m
    assert T == 12 * m == native.state()["t"]
    expected = np.zeros(m)
    for t, (i, loss) in enumerate(visits, start=1):
        expected[i] += loss * slow.problem.cost[i] * m * 2.0 * t / (T * (T + 1.0))
    np.testing.assert_allclose(native.point()[1], expected, rtol=1e-10)


def test_multipliers_of_epochs_exceed_their_box_by_the_weight_of_late_steps_only() -> None:
    """A row that is the last one of each of E epochs, always with loss, has a share of 1 + 1/E; here C = 1."""
    epochs = 30
    native, _ = descent_pair(Case(C=1.0), "norma", {"sampling": "epoch"})
    native.advance(epochs, _core.Poll(_core.StopFlag()))
    largest = native.point()[1].max()
    assert 0.9 < largest <= 1.0 + 1.0 / epochs, "the row of zeros has loss at every visit"


# SvmSgd


@pytest.mark.parametrize("precision", DTYPES)
@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1.0, 1e5, 1e12])
def test_eta0_is_the_best_of_its_neighbours(scale: float, precision: str) -> None:
    native, slow = svmsgd_pair(Case(scale=scale, C=100.0), precision, "last")
    sample = twin.draws(slow.problem.m, slow.problem.m, twin.Rng([6, 0]))
    assert_same_run(native, slow, [1])
    eta0 = native.state()["eta0"]
    cost = slow._cost(sample, eta0)
    assert eta0 <= slow.largest
    assert cost <= slow._cost(sample, 0.5 * eta0)
    assert 2.0 * eta0 > slow.largest or cost <= slow._cost(sample, 2.0 * eta0)


@pytest.mark.parametrize(
    ("scale", "precision", "expected"),
    [
        (1e-5, "double", 32.0),  # the largest power of 2 below 0.5/lambda = 35
        (1e-5, "single", 32.0),
        (1e-140, "double", 1.0),  # no step changes the objective by as much as rounding
        (1e-140, "single", 1.0),
        (1e80, "double", 0.5**200),  # the last that is tried
        (1e140, "double", 0.5**200),
        (1e140, "single", 0.5**200),
    ],
)
def test_eta0_at_the_ends_of_its_range(scale: float, precision: str, expected: float) -> None:
    native, slow = svmsgd_pair(Case(scale=scale), precision, "last")
    with np.errstate(all="ignore"):
        assert_same_run(native, slow, [1, 3])
    assert native.state()["eta0"] == expected


# SGD-QN


class Shrinking(twin.SgdQn):
    """Remembers when it shrinks and learns."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.shrunk: list[int] = []
        self.learned: list[int] = []

    def _shrink(self) -> None:
        before = np.float64(self.w)
        super()._shrink()
        assert np.all(np.abs(self.w) <= np.abs(before))
        self.shrunk.append(self.t)

    def _learn_curvature(self, i: int) -> None:
        seen = self.problem.rows.entries(i)[0][self.problem.rows.entries(i)[1] != 0.0]
        before = self.r.copy()
        super()._learn_curvature(i)
        others = np.setdiff1d(np.arange(self.r.size), seen)
        assert np.all(self.r[others] <= before[others]), "a feature that is absent has seen curvature"
        self.learned.append(self.t)


@pytest.mark.parametrize("precision", DTYPES)
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_curvature_is_learned_after_shrinking_and_stays_in_its_range(layout: Any, precision: str) -> None:
    native, slow = sgdqn_pair(Case(layout, C=0.1, m=150), precision, PERMUTATION, Shrinking)
    assert_same_run(native, slow, [40])
    assert isinstance(slow, Shrinking)
    assert slow.skip >= 16
    assert slow.learned, "the test wants some curvature"
    assert {t - 1 for t in slow.learned} <= set(slow.shrunk), "curvature is measured at the step after shrinking"
    r = native.state()["r"]
    assert np.all((r >= 1.0) & (r <= 100.0))
    assert r.max() > 1.0


@pytest.mark.parametrize("precision", DTYPES)
@pytest.mark.parametrize("scale", [1e-140, 1e-60, 1e60, 1e140])
def test_native_sgdqn_at_the_ends_of_float64_equals_the_twin(scale: float, precision: str) -> None:
    native, slow = sgdqn_pair(Case(scale=scale, m=40), precision)
    with np.errstate(all="ignore"):
        assert_same_run(native, slow, [1, 3])
