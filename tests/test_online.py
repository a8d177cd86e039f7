"""The online SVM: native equals twin, cutting a stream in chunks changes no bit, rows without weight are absent."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import solve_quietly
from pairs import BLOCKS, Case, assert_same_run, bits, cases, pair, poll
from problems import share

from hinge import Online, _core
from hinge.problem import as_rows
from hinge.reference import core
from hinge.reference.online import OnlineSteps
from hinge.reference.primal_iterate import PrimalIterate
from hinge.reference.rows import Rows

OPTIONS: dict[str, Online] = {
    "average": Online(output="average"),
    "average, without projection": Online(output="average", projection=False),
    "batch of 7": Online(batch=7),
    "batch of 7, without projection": Online(batch=7, projection=False),
    "batch of 16, average": Online(batch=16, output="average"),
    "many rows": Online(batch=50, output="average"),
}


@pytest.mark.parametrize("solver", OPTIONS.values(), ids=OPTIONS.keys())
def test_native_online_equals_the_twin(solver: Online) -> None:
    for case in cases("none", "penalized", "free", losses=solver.traits.losses):
        assert_same_run(*pair(solver, case, order=BLOCKS if case.seed % 2 else None), [1, 4])


@pytest.mark.parametrize("batch", [1, 3])
def test_tiny_scale_is_folded_as_in_the_twin(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    folds = []
    fold = PrimalIterate.fold_tiny_scale

    def counting(iterate: PrimalIterate) -> None:
        folds.append(iterate.scale < 1e-100)
        fold(iterate)

    monkeypatch.setattr(PrimalIterate, "fold_tiny_scale", counting)
    assert_same_run(*pair(Online(batch=batch), Case(scale=1e12, m=200)), [3])
    assert any(folds)


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_average_is_the_mean_of_all_iterates(
    intercept: Any, batch: int, projection: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    native, slow = pair(Online(batch=batch, output="average", projection=projection), Case(intercept=intercept))
    iterates, multipliers, intercepts = [], [], []
    end_step = OnlineSteps.end_step

    def keeping(steps: OnlineSteps, objective: Any) -> None:
        end_step(steps, objective)
        iterates.append(steps.iterate.scale * steps.iterate.v)
        multipliers.append(steps.iterate.scale * steps.iterate.c)
        intercepts.append(steps.b)

    monkeypatch.setattr(OnlineSteps, "end_step", keeping)
    assert_same_run(native, slow, [10])
    w, b, a = native.point()
    assert len(iterates) == native.state()["t"] > 150
    for found, expected in ((w, np.mean(iterates, axis=0)), (a, np.mean(multipliers, axis=0))):
        assert np.linalg.norm(found - expected) <= 1e-8 * np.linalg.norm(expected)
    assert b == pytest.approx(np.mean(intercepts) if intercept == "free" else 0.0, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("batch", [1, 10])
def test_steps_are_those_of_the_notes(batch: int) -> None:
    """Algorithm 1 with the averaged gradient, written down plainly."""
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 4))
    y = np.where(X[:, 0] + random.normal(size=60) > 0, 1, -1)
    lambda_ = 0.02
    stream = _core.OnlineStream(1, 4, lambda_, 0.0, _core.OnlineOptions(batch, True, False, False))
    present(stream, X, y)
    w = np.zeros(4)
    for t in range(1, 60 // batch + 1):
        rows = slice((t - 1) * batch, t * batch)
        violated = y[rows] * (X[rows] @ w) < 1
        alpha = 1 / (lambda_ * t)
        w = (1 - alpha * lambda_) * w + alpha / batch * (y[rows] * violated) @ X[rows]
        if w @ w > 1 / lambda_:
            w = w / (np.sqrt(w @ w) * np.sqrt(lambda_))
    seen, t, [(found, _)] = stream.models()
    assert np.allclose(found[:-1], w, rtol=1e-10, atol=1e-12)
    assert (t, seen) == (60 // batch, 60)


@pytest.mark.parametrize("batch", [1, 5])
def test_projection_keeps_the_ball_and_the_tracked_norm_is_the_norm(batch: int) -> None:
    for scale in (0.1, 1.0, 100.0):
        case = Case(scale=scale, weights=True, C=0.01)
        native, slow = pair(Online(batch=batch), case)
        free, _ = pair(Online(batch=batch, projection=False), case)
        for run in (native, free):
            run.advance(1, poll())
            state = run.state()
            assert state["norm2"] == pytest.approx(state["scale"] ** 2 * (state["v"] @ state["v"]), rel=1e-9)
        assert native.state()["norm2"] <= slow.problem.total_cost * (1 + 1e-12)


def test_batch_of_the_solver_carries_over_to_the_next_epoch() -> None:
    native, _ = pair(Online(batch=4), Case(m=10))
    for epoch, t, waiting in [(1, 2, 2), (2, 5, 0), (3, 7, 2)]:
        native.advance(1, poll())
        assert (native.state()["t"], native.state()["waiting"]) == (t, waiting), f"after epoch {epoch}"


# The stream


def present(stream: Any, X: Any, y: Any, weights: Any = None, factors: Any = None, visit: Any = None) -> None:
    """All rows of X, or those of `visit`; labels +1 and -1, or class numbers."""
    m = X.shape[0]
    classes = np.asarray(y, dtype=np.int64)
    weights = np.ones(m) if weights is None else weights
    visit = np.arange(m, dtype=np.int64) if visit is None else np.asarray(visit, dtype=np.int64)
    if isinstance(stream, core.OnlineStream | core.AdaptiveStream):
        rows = Rows.csr(X) if sp.issparse(X) else Rows.dense(X)
        stream.present(rows, factors, visit.tolist(), classes.tolist(), weights.tolist())
    else:
        taken = stream.present(as_rows(X), factors, visit, classes, weights, poll())
        assert taken == visit.size


def assert_same_streams(native: Any, other: Any) -> None:
    seen, t, models = native.models()
    other_seen, other_t, other_models = other.models()
    assert (seen, t, len(models)) == (other_seen, other_t, len(other_models))
    for k, (model, other_model) in enumerate(zip(models, other_models, strict=True)):
        assert [bits(part) for part in model] == [bits(part) for part in other_model]
        found, expected = native.fields(k), other.fields(k)
        assert found.keys() == expected.keys()
        for name, value in found.items():
            assert bits(value) == bits(expected[name]), f"{name} of model {k}: {value!r} is not {expected[name]!r}"


@st.composite
def streams(draw: st.DrawFn) -> dict[str, Any]:
    """A stream cut in pieces, each dense or sparse and of one type."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, d, n_classes = draw(st.integers(1, 60)), draw(st.integers(1, 9)), draw(st.sampled_from([2, 2, 3]))
    y = random.integers(0, n_classes, m)
    X = (random.normal(size=(m, d)) + y[:, None]) * (random.random((m, d)) < draw(st.sampled_from([0.3, 1.0])))
    X *= 10.0 ** draw(st.integers(-2, 2))
    pieces, begin = [], 0
    while begin < m:
        end = begin + draw(st.integers(1, m - begin))
        piece = X[begin:end].astype(draw(st.sampled_from([np.float32, np.float64])))
        X[begin:end] = piece
        if draw(st.booleans()):
            piece = sp.csr_array(piece)
            index = draw(st.sampled_from([np.int32, np.int64]))
            piece.indices, piece.indptr = piece.indices.astype(index), piece.indptr.astype(index)
        pieces.append((begin, end, piece))
        begin = end
    unit_norm = draw(st.booleans())
    norms = np.sqrt((X * X).sum(axis=1))
    return {
        "y": y,
        "pieces": pieces,
        "weights": random.choice([1.0, 0.5, 3.0], m) if draw(st.booleans()) else np.ones(m),
        "factors": np.divide(1.0, norms, out=np.zeros(m), where=norms > 0) if unit_norm else None,
        "n_models": 1 if n_classes == 2 else 3,
        "n_features": d,
        "lambda_": 10.0 ** draw(st.integers(-4, 1)),
        "rho": draw(st.sampled_from([0.0, 1.0, 0.3])),
        # batch, projection, free_intercept, average
        "options": (draw(st.sampled_from([1, 1, 2, 7, 100])), *(draw(st.booleans()) for _ in range(3))),
        # None: the steps of the notes; else adaptive ones, with an average or not, and its window
        "adaptive": draw(st.one_of(st.none(), st.tuples(st.booleans(), st.sampled_from([0, 2, 13])))),
        "seed": draw(st.integers(0, 1000)),
    }


def make_stream(case: dict[str, Any], module: Any = _core) -> Any:
    if case["adaptive"] is not None:
        return module.AdaptiveStream(case["n_models"], case["n_features"], case["rho"], *case["adaptive"])
    options = module.OnlineOptions(*case["options"])
    return module.OnlineStream(case["n_models"], case["n_features"], case["lambda_"], case["rho"], options)


def part(case: dict[str, Any], begin: int, end: int) -> tuple[Any, Any, Any]:
    """Labels, weights and factors of some rows."""
    factors = None if case["factors"] is None else case["factors"][begin:end]
    return case["y"][begin:end], case["weights"][begin:end], factors


@settings(max_examples=share(0.05))
@given(streams())
def test_native_stream_equals_the_twin(case: dict[str, Any]) -> None:
    native, slow = make_stream(case), make_stream(case, core)
    for begin, end, piece in case["pieces"]:
        present(native, piece, *part(case, begin, end))
        present(slow, piece, *part(case, begin, end))
        assert_same_streams(native, slow)


@settings(max_examples=share(0.1))
@given(streams())
def test_stream_does_not_depend_on_how_it_is_cut(case: dict[str, Any]) -> None:
    """Each row keeps its layout and type; the cuts are others, and the stream is pickled at some of them."""
    random = np.random.default_rng(case["seed"])
    whole, cut = make_stream(case), make_stream(case)
    for begin, end, piece in case["pieces"]:
        present(whole, piece, *part(case, begin, end))
        first = begin
        while first < end:
            last = min(end, first + int(random.integers(1, 9)))
            present(cut, piece[first - begin : last - begin], *part(case, first, last))
            if random.random() < 0.2:
                cut = pickle.loads(pickle.dumps(cut)) if random.random() < 0.5 else copy.deepcopy(cut)
            first = last
    assert_same_streams(whole, cut)


@settings(max_examples=share(0.05))
@given(streams())
def test_rows_left_out_of_a_stream_are_absent(case: dict[str, Any]) -> None:
    random = np.random.default_rng(case["seed"])
    some, absent = make_stream(case), make_stream(case)
    for begin, end, piece in case["pieces"]:
        kept = np.flatnonzero(random.random(end - begin) < 0.6)
        y, weights, factors = part(case, begin, end)
        present(some, piece, y, weights, factors, visit=kept)
        present(absent, piece[kept], y[kept], weights[kept], None if factors is None else factors[kept])
    assert_same_streams(some, absent)


@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("output", ["last", "average"])
@pytest.mark.parametrize("intercept", ["none", "free", "penalized"])
def test_zero_weight_is_absence_to_the_bit_in_the_solver(intercept: Any, output: Any, batch: int) -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 5))
    y = np.where(X[:, 0] + random.normal(size=80) > 0, 1, -1)
    weight = random.choice([0.0, 0.5, 2.0], 80)
    kept = weight > 0
    how = {"solver": Online(batch=batch, output=output), "intercept": intercept, "max_iter": 20, "tol": 1e-9}
    found = solve_quietly(X, y, sample_weight=weight, **how)
    expected = solve_quietly(X[kept], y[kept], sample_weight=weight[kept], **how)
    assert found.coef.any()
    assert bits(found.coef) == bits(expected.coef)
    assert bits(found.dual[kept]) == bits(expected.dual)
    assert not found.dual[~kept].any()
    assert found.certificate == expected.certificate


def test_unit_norm_factors_are_the_same_as_unit_rows() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(100, 6)) * 10.0 ** random.integers(-3, 4, 100)[:, None]
    X[7] = 0.0
    y = random.integers(0, 2, 100)
    norms = np.sqrt((X * X).sum(axis=1))
    factors = np.divide(1.0, norms, out=np.zeros(100), where=norms > 0)
    for batch in (1, 10):
        options = _core.OnlineOptions(batch, True, True, False)
        scaled, copied = (_core.OnlineStream(1, 6, 0.01, 0.5, options) for _ in range(2))
        present(scaled, X, y, factors=factors)
        present(copied, factors[:, None] * X, y)
        [(w, _)], [(expected, _)] = scaled.models()[2], copied.models()[2]
        assert np.allclose(w, expected, rtol=1e-9, atol=1e-9)
        assert scaled.fields(0)["norm2"] == pytest.approx(np.sum(w**2), rel=1e-9)


def test_weighted_ball_holds_the_optimum() -> None:
    """With weights of 100 the optimum of this stream lies outside |w| <= 1/sqrt(lambda), and is found all the same."""
    X, y = np.tile([[0.01], [-0.01]], (5000, 1)), np.tile([1, 0], 5000)
    stream = _core.OnlineStream(1, 1, 1.0, 0.0, _core.OnlineOptions(1, True, False, False))
    present(stream, X, y, weights=np.full(10_000, 300.0))
    [(w, _)] = stream.models()[2]
    assert w[0] == pytest.approx(3.0, rel=1e-3), "w = mean of s y x = 3, |w| <= sqrt(300)"


# What is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"visit": [0, 5]}, "no such row"),
        ({"visit": [-1]}, "no such row"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "positive"),
        ({"weights": np.array([1.0, np.nan, 1.0])}, "positive"),
        ({"weights": np.ones(2)}, "weights has length 2"),
        ({"factors": np.ones(2)}, "factors has length 2"),
        ({"X": np.ones((3, 3))}, "features"),
    ],
)
def test_stream_refuses_what_would_harm_it(change: dict[str, Any], message: str) -> None:
    stream = _core.OnlineStream(1, 2, 1.0, 0.0, _core.OnlineOptions(1, True, False, False))
    arguments = {"X": np.ones((3, 2)), "y": [0, 1, 0], **change}
    with pytest.raises((ValueError, IndexError), match=message):
        present(stream, **arguments)
    assert stream.progress() == (0, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"g_columns": np.array([0, 9])},
        {"g_columns": np.array([0, 0])},
        {"g_columns": np.array([-1])},
        {"g_columns": np.array([], dtype=np.int64)},
        {"waiting": 4},
        {"waiting": -1},
        {"t": -1},
        {"v": np.zeros(2)},
        {"violators": np.array([1]), "violator_weights": np.ones(1)},
    ],
    ids=str,
)
def test_corrupt_pickle_is_refused(change: dict[str, Any]) -> None:
    stream = _core.OnlineStream(1, 2, 1.0, 0.0, _core.OnlineOptions(4, True, False, False))
    present(stream, np.ones((3, 2)), [0, 1, 0])
    shape, options, seen, weight_sum, [fields] = stream.__getstate__()
    with pytest.raises(ValueError, match=r"saved state|corrupt|length"):
        _core.OnlineStream.__new__(_core.OnlineStream).__setstate__(
            (shape, options, seen, weight_sum, [fields | change])
        )


def test_solver_refuses_unit_norm_and_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"certificate.*normalize.*OnlineSVC"):
        Online(unit_norm=True)


@pytest.mark.parametrize("batch", [0, -1, 2.5, "100"])
def test_solver_refuses_batches_that_make_no_sense(batch: Any) -> None:
    with pytest.raises(ValueError, match="batch must be an integer"):
        Online(batch=batch)


def test_solver_refuses_a_batch_of_more_rows_than_there_are() -> None:
    with pytest.raises(ValueError, match=r"batch=100.*only 4 rows.*batch <= 4"):
        solve_quietly(np.ones((4, 1)), [0, 1, 0, 1], solver=Online(batch=100))
