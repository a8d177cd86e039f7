"""SGD-QN: its variants are the programs that they are named after, native and in NumPy."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from pairs import BLOCKS, Case, assert_same_run, pair, poll

from hinge import SGDQN, Once
from hinge.solvers.svmsgd import Variant

VARIANTS = get_args(Variant)
PRECISIONS = ["double", "single"]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("scale", [1e-140, 1e-60, 1e60, 1e140])
def test_native_sgdqn_at_the_ends_of_float64_equals_the_twin(scale: float, precision: Any, variant: Any) -> None:
    solver = SGDQN(variant=variant, precision=precision)
    assert_same_run(*pair(solver, Case(scale=scale, m=40), order=BLOCKS), [1, 3])


def prepared(variant: Any, precision: Any, case: Case, t0: float = 100.0, skip: int = 3) -> tuple[Any, Any]:
    """Runs at their first step, with steps so large that many rows cross the margin."""
    runs = pair(SGDQN(variant=variant, precision=precision), case, order=Once())
    for run in runs:
        state = run.state()
        d = np.full_like(state["d"], 1.0 if variant == "published" else t0)
        run.restore({**state, "t0": t0, "skip": skip, "count": skip, "d": d})
    return runs


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_native_sgdqn_equals_the_twin_with_many_lessons(layout: Any, precision: Any, variant: Any) -> None:
    native, slow = prepared(variant, precision, Case(layout, C=3.0, weights=True))
    lessons: list[float] = []
    slow.learn = lambda i, strength, learn=slow.learn: lessons.append(strength) or learn(i, strength)
    assert_same_run(native, slow, [12])
    assert sum(map(bool, lessons)) > 0, "no row has crossed the margin: the test shows nothing"


def program(variant: str, X: Any, y: Any, lambda_: float, t0: float, skip: int, visit: Any) -> tuple[Any, Any]:
    """w and B as the programs have them: B in the steps, and changes of w and of the gradient as they are."""
    folded = variant != "published"
    w, B = np.zeros(X.shape[1]), np.full(X.shape[1], 1.0 / (lambda_ * t0) if folded else 1.0 / lambda_)
    before, watching, count, last = w.copy(), False, skip, 0
    for t, i in enumerate(visit):
        x, rate = X[i], 1.0 if folded else 1.0 / (t + t0)
        slope = float(y[i] * (w @ x) < 1.0)
        if folded and watching:
            change, turned = before - w, slope - float(y[i] * (before @ x) < 1.0)
            with np.errstate(all="ignore"):
                seen = np.clip(lambda_ + y[i] * turned * x / change, 0.1 * lambda_, 100.0 * lambda_)
            seen = np.where(change != 0.0, seen, np.where(turned * x != 0.0, 100.0 * lambda_, lambda_))
            steps = skip if variant != "erratum" else t + 1 - last
            if turned or variant != "erratum":
                B, last = 1.0 / (1.0 / B + steps * seen), t + 1
        due = watching
        watching = False
        if folded or not due:
            count -= 1
            if count <= 0:
                before, watching, count = w.copy(), True, skip
                w = w * np.maximum(0.0, 1.0 - skip * rate * lambda_ * B)  # the programs may turn it around
        step = slope * rate * y[i] * x * B
        w = w + step
        if not folded and due and slope and y[i] * (w @ x) >= 1.0:
            with np.errstate(all="ignore"):
                ratio = np.where(step != 0.0, step / (lambda_ * step + y[i] * x), 1.0 / lambda_)
            now = t + t0
            share = 2.0 * skip / (now + skip) if now > skip else skip / (now + skip)
            B = np.clip((1.0 - share) * B + share * ratio, 0.01 / lambda_, 100.0 / lambda_)
    return w, B


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_variant_is_the_program(layout: Any, variant: Any) -> None:
    spread = []
    for seed in range(6):
        native, slow = prepared(variant, "double", Case(layout, C=1.0, d=4, seed=seed), t0=20.0)
        native_state = _after(native, 6)
        slow.advance(6)
        problem, visit = slow.problem, list(slow.order.kept) * 6
        w, B = program(variant, problem.rows.augmented(), problem.target, problem.lambda_, 20.0, 3, visit)
        np.testing.assert_allclose(native_state["w"], w, rtol=1e-8, atol=1e-12)
        gains = slow.gains(slice(None)) / problem.lambda_
        np.testing.assert_allclose(gains * (slow.now if variant == "published" else 1.0), B, rtol=1e-8)
        spread.append(np.ptp(B) / B.max())
    assert max(spread) > 0.1, "all features have the same gain: the test shows nothing"


def _after(run: Any, epochs: int) -> Any:
    run.advance(epochs, poll())
    return run.state()


def test_t0_of_the_variants() -> None:
    case = Case(C=0.3, m=2000, d=4)
    found = {name: _after(pair(SGDQN(variant=name), case, order=Once())[0], 1)["t0"] for name in VARIANTS}
    slow = pair(SGDQN(variant="erratum"), case, order=Once())[1]
    lambda_, sample = slow.problem.lambda_, slow.order.kept[:1000]
    slow.skip = 16
    assert found["published"] == pytest.approx(lambda_**-0.75)
    powers = [10.0**k for k in range(11)]
    assert found["erratum"] in powers
    assert 0.5 * found["mixed"] in powers, "half of the rows are a thousand: t_0 of all is twice that of the trial"
    assert np.log2(lambda_ * found["sgd2"]) == round(np.log2(lambda_ * found["sgd2"])), "eta_0 is not a power of 2"
    costs = {
        t0: _trial_cost(case, sample, t0) for t0 in (0.1 * found["erratum"], found["erratum"], 10 * found["erratum"])
    }
    assert min(costs, key=lambda t0: costs[t0]) == found["erratum"]


def _trial_cost(case: Case, sample: Any, t0: float) -> float:
    """The objective on the sample after five epochs of the program over it."""
    problem = pair(SGDQN(), case)[1].problem
    X, y, lambda_ = problem.rows.augmented()[list(sample)], np.array(problem.target)[list(sample)], problem.lambda_
    stored = sum(problem.rows.stored(i) for i in range(problem.m)) / problem.m
    w, _ = program("erratum", X, y, lambda_, t0, int(16 * (problem.n_features + 1) / stored), list(range(len(y))) * 5)
    return float(0.5 * lambda_ * w @ w + np.mean(np.maximum(0.0, 1.0 - y * (X @ w))))


def test_unknown_variant_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"variant.*published.*erratum.*sgd2.*mixed"):
        SGDQN(variant="careful")  # type: ignore[arg-type]
