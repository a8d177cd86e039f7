"""Norma, Zhang and SvmSgd: what their papers say, and their ends of float64, native and in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pairs import PERMUTATION, SCALES, Case, assert_same_run, cases, pair, poll
from registry import SOLVERS

from hinge import Norma, Once, SvmSGD, Zhang
from hinge.reference import core
from hinge.reference.dual_average import DualAverage
from hinge.reference.order import draws
from hinge.reference.primal_iterate import PrimalIterate
from hinge.reference.svmsgd import BottouRate, lower_of_best_pair

PRECISIONS = ["double", "single"]


def descents(total_cost: float, **options: Any) -> dict[str, Any]:
    """The constant step sizes are a good and a far too large one."""
    return {
        "norma": Norma(horizon=1000, **options),
        "zhang": Zhang(eta=0.003 * total_cost, **options),
        "zhang, large": Zhang(eta=0.9 * total_cost, **options),
    }


def descent_pair(name: str, case: Case, **options: Any) -> tuple[Any, Any]:
    return pair(descents(case.make()[1].total_cost, **options)[name], case, order=PERMUTATION)


# The same bits, beyond what every solver is tested for


@pytest.mark.parametrize("name", ["norma", "zhang", "zhang, large"])
@pytest.mark.parametrize("output", ["last", "average"])
def test_native_gradient_descent_equals_the_twin(name: str, output: Any) -> None:
    for case in cases("none", "penalized"):
        projection = case.seed % 2 == 1
        assert_same_run(*descent_pair(name, case, output=output, sampling="epoch", projection=projection), [1, 4])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("sample_size", [1, 17])
def test_native_svmsgd_on_a_small_sample_equals_the_twin(sample_size: int, precision: Any) -> None:
    native, slow = pair(SvmSGD(sample_size=sample_size, precision=precision), Case(weights=True))
    assert_same_run(native, slow, [1, 2])
    assert native.state()["eta0"] > 0.0


# PrimalIterate


@pytest.mark.parametrize("options", [{}, {"projection": True}, {"output": "average", "sampling": "epoch"}], ids=str)
@pytest.mark.parametrize("name", ["norma", "zhang"])
@pytest.mark.parametrize("scale", SCALES)
def test_tracked_norm_equals_recomputed_norm(scale: float, name: str, options: dict[str, Any]) -> None:
    native, slow = descent_pair(name, Case(scale=scale, weights=True), **options)
    native.advance(20, poll())
    state = native.state()
    recomputed = float(np.sum((state["scale"] * state["v"]) ** 2))
    assert state["norm2"] == pytest.approx(recomputed, rel=1e-9)
    if options.get("projection"):
        assert recomputed <= slow.problem.total_cost * (1.0 + 1e-9), "outside the ball"


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("name", ["norma", "zhang", "zhang, large"])
def test_averaged_output_is_the_mean_of_the_iterates(
    name: str, projection: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    iterates: list[Any] = []
    record = PrimalIterate.record

    def keeping(iterate: PrimalIterate, rng: core.Rng) -> None:
        record(iterate, rng)
        iterates.append(iterate.scale * np.float64(iterate.v))

    monkeypatch.setattr(PrimalIterate, "record", keeping)
    for scale in SCALES:
        iterates.clear()
        native, slow = descent_pair(name, Case(scale=scale), output="average", projection=projection)
        assert_same_run(native, slow, [10])
        mean = np.mean(iterates, axis=0)
        assert np.linalg.norm(native.point()[0] - mean) <= 1e-7 * np.linalg.norm(mean)


def test_single_precision_is_folded_before_its_range_ends() -> None:
    """Steps that nearly erase w: the scale falls by orders of magnitude a step."""
    native, slow = pair(SvmSGD(precision="single"), Case(C=1e-3))
    state = {**native.state(), "eta0": 0.5 / slow.problem.lambda_}
    native.restore(state)
    slow.restore(state)
    assert_same_run(native, slow, [40])
    assert slow.iterate.smallest_scale <= slow.iterate.scale <= 1.0
    assert np.isfinite(slow.iterate.v).all()


# DualAverage


class Watched(DualAverage):
    """Remembers all visits."""

    def __init__(self, m: int) -> None:
        super().__init__(m)
        self.visits: list[tuple[int, float]] = []

    def visited(self, i: int, slope: float, t: int) -> None:
        assert t == len(self.visits), "a step was not counted"
        super().visited(i, slope, t)
        self.visits.append((i, slope))


@pytest.mark.parametrize(
    ("name", "loss"),
    [(name, loss) for name in ("norma", "zhang", "svmsgd", "sgd-qn") for loss in SOLVERS[name].traits.losses],
)
def test_multipliers_are_the_weighted_average_of_the_slopes_seen(name: str, loss: str) -> None:
    native, slow = pair(name, Case(weights=True, loss=loss))
    slow.average = Watched(slow.problem.m)
    assert_same_run(native, slow, [6])
    visits = slow.average.visits
    T, m = len(visits), slow.problem.m
    assert T == 6 * m == native.state()["t"]
    expected = np.zeros(m)
    for t, (i, slope) in enumerate(visits, start=1):
        expected[i] += slope * slow.problem.cost[i] * m * 2.0 * t / (T * (T + 1.0))
    np.testing.assert_allclose(native.point()[2], expected, rtol=1e-10)


def test_multipliers_of_epochs_exceed_their_box_by_the_weight_of_late_steps_only() -> None:
    """A row that is the last one of each of E epochs, always with loss, has a share of 1 + 1/E; here C = 1."""
    epochs = 30
    native, _ = pair(Norma(sampling="epoch", horizon=1000), Case(C=1.0))
    native.advance(epochs, poll())
    largest = native.point()[2].max()
    assert 0.9 < largest <= 1.0 + 1.0 / epochs, "the row of zeros has loss at every visit"


# SvmSgd


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1.0, 1e5, 1e12])
def test_eta0_is_the_best_of_its_neighbours(scale: float, precision: Any) -> None:
    native, slow = pair(SvmSGD(precision=precision), Case(scale=scale, C=100.0))
    sample = draws(slow.problem.m, slow.problem.m, core.Rng([4]))
    assert_same_run(native, slow, [1])
    eta0 = native.state()["eta0"]
    with np.errstate(all="ignore"):
        cost = slow.cost(sample, BottouRate(eta0))
        assert eta0 <= slow.largest
        assert cost <= slow.cost(sample, BottouRate(0.5 * eta0))
        assert 2.0 * eta0 > slow.largest or cost <= slow.cost(sample, BottouRate(2.0 * eta0))


@pytest.mark.parametrize(
    ("scale", "precision", "expected"),
    [
        (1e-5, "double", 32.0),  # the largest power of 2 below 0.5/lambda = 35
        (1e-5, "single", 32.0),
        (1e-140, "double", 1.0),  # no step changes the objective by as much as rounding
        (1e80, "double", 0.5**200),  # the last that is tried
        (1e140, "single", 0.5**200),
    ],
)
def test_eta0_at_the_ends_of_its_range(scale: float, precision: Any, expected: float) -> None:
    native, slow = pair(SvmSGD(precision=precision), Case(scale=scale))
    assert_same_run(native, slow, [1, 2])
    assert native.state()["eta0"] == expected


# Bottou's calibration


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1.0, 1e5, 1e12, 1e140])
def test_calibration_of_the_program_equals_the_twin_and_uses_the_first_rows(scale: float, precision: Any) -> None:
    solver = SvmSGD(calibration="first", sample_size=20, precision=precision)
    native, slow = pair(solver, Case(scale=scale, C=10.0), order=Once())
    tried: list[Any] = []
    slow.cost = lambda sample, rate, cost=slow.cost: tried.append((tuple(sample), rate)) or cost(sample, rate)
    assert_same_run(native, slow, [1, 2])
    assert {sample for sample, _ in tried} == {slow.order.kept[:20]}, "other rows than the first of the shuffled ones"
    assert native.state()["eta0"] in {rate.eta for _, rate in tried}, (
        "another eta_0 than those tried, at a constant rate"
    )


@pytest.mark.parametrize("largest", [0.01, 3.0, 1e9])
@pytest.mark.parametrize("best", [1e-6, 0.3, 1.0, 1.7, 40.0, 1e6])
def test_lower_one_of_the_best_pair(best: float, largest: float) -> None:
    """The cost has one minimum: the pair around it, or the one at the end of the range; the lower one is taken."""
    found = lower_of_best_pair(largest, lambda eta: abs(np.log(eta / best)))
    first = min(1.0, 0.5 * largest)
    assert found <= largest
    assert np.log2(found / first) == round(np.log2(found / first)), "not a power of 2 times the first one"
    if best >= 0.5 * largest:
        assert 0.25 * largest <= found <= 0.5 * largest, "the lower one of the last pair below the limit"
    else:
        assert 0.25 * best <= found <= 2.0 * best
