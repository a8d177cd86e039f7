"""Bad saved states get a clear Python error; a fit that fails leaves the old model as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loops import solve_quietly, start
from refusals import X, refused, y
from registry import SOLVERS

from hinge import SGDQN, BestOf, LinearSVC, Pegasos, Problem, Run, SvmSGD, _core, solve
from hinge.certificate import LocalEvaluator
from hinge.problem import LOSSES, Intercept, as_rows
from hinge.solvers import State

# States of a Solution are sealed: whatever was changed in one is noticed


def saved(solver: Any) -> State:
    state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-12).state
    assert state is not None, f"{solver} gave no state"
    return state


def resume(solver: Any, state: Any) -> None:
    solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, state=state)


def changed(value: Any) -> Any:
    """The same number or array with one bit changed in one place."""
    array = np.array(value, copy=True)
    array.reshape(-1).view(np.uint8)[0] ^= 1
    return array[()]


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_that_was_changed_anywhere_is_refused(solver) -> None:
    state = saved(SOLVERS[solver])
    for key, value in state.items():
        without = {k: v for k, v in state.items() if k != key}
        with pytest.raises(ValueError, match=r"(?i)state .*(damaged|no seal)"):
            resume(SOLVERS[solver], without)
        if np.size(value):
            with refused("state is damaged", "Start afresh"):
                resume(SOLVERS[solver], {**state, key: changed(value)})
    with refused("state is damaged"):
        resume(SOLVERS[solver], {**state, "another": 1.0})
    resume(SOLVERS[solver], state)


def test_state_with_entries_of_another_type_is_refused() -> None:
    state = saved("dcd")
    for key in state:
        for wrong in ("text", None, [1, "2"], np.array(["a", "b"]), {}, 2**70, float("nan"), object()):
            with pytest.raises(ValueError, match=r"(?i)state"):
                resume("dcd", {**state, key: wrong})


@pytest.mark.parametrize("state", [{}, {"fingerprint": 1}, {"loop_seal": 0}, {"loop_seal": "a"}, [1], "state", 5])
def test_what_is_no_state_is_refused(state) -> None:
    with refused("state"):
        resume("dcd", state)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "dcd"])
def test_state_of_another_solver_is_refused(solver) -> None:
    with refused("state does not fit", type(SOLVERS[solver]).__name__):
        resume(SOLVERS[solver], saved("dcd"))


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_of_more_rows_is_refused(solver) -> None:
    with refused("state does not fit"):
        solve(X[:50], y[:50], solver=SOLVERS[solver], intercept="none", state=saved(SOLVERS[solver]))


# Native code checks every field by itself: it trusts no seal

PROBLEM = Problem.make(as_rows(X), y.astype(float), np.ones(len(y)), loss=LOSSES["hinge"], intercept=Intercept("none"))


def advanced(solver: Any) -> tuple[Run, State]:
    """A run of two epochs, and its state."""
    run = start(solver, PROBLEM, 0)
    run.advance(2)
    state = run.save()
    assert state is not None
    return run, state


def restore(solver: Any, state: State) -> Run:
    run = start(solver, PROBLEM, 0)
    run.restore(state, same_problem=True)
    return run


@pytest.mark.parametrize("solver", SOLVERS)
def test_missing_field_is_refused_by_name(solver) -> None:
    _, state = advanced(SOLVERS[solver])
    for key in state:
        with refused("state", key):
            restore(SOLVERS[solver], {k: v for k, v in state.items() if k != key})


@pytest.mark.parametrize("solver", SOLVERS)
def test_array_of_another_length_is_refused(solver) -> None:
    _, state = advanced(SOLVERS[solver])
    variable = ("active", "places", "u", "e")  # any number of them; none of the last two for the last iterate
    arrays = [key for key, value in state.items() if isinstance(value, np.ndarray) and value.size]
    for key in [key for key in arrays if key not in variable]:
        for wrong in (state[key][:-1], np.r_[state[key], state[key]]):
            with pytest.raises(ValueError, match=r"state.*(length|words|size)"):
                restore(SOLVERS[solver], {**state, key: wrong})


@pytest.mark.parametrize("solver", SOLVERS)
def test_field_of_another_type_is_refused(solver) -> None:
    _, state = advanced(SOLVERS[solver])
    for key in state:
        for wrong in ("text", None, [1, "2"], np.array(["a", "b"]), {}):
            with pytest.raises(ValueError, match=r"(?i)state"):
                restore(SOLVERS[solver], {**state, key: wrong})


@pytest.mark.parametrize("rows", [[0, 60], [-1, 0], [3, 2], [4, 4], [2**62]])
def test_active_rows_out_of_range_or_order_are_refused(rows) -> None:
    for solver in ("dcd", "mpu"):
        _, state = advanced(SOLVERS[solver])
        with refused("active"):
            restore(SOLVERS[solver], {**state, "active": np.array(rows, dtype=np.int64)})


@pytest.mark.parametrize("rows", [[0, 60], [-1, 0], [3, 2], [4, 4], [2**62]])
def test_rows_of_a_gram_matrix_out_of_range_or_order_are_refused(rows) -> None:
    _, state = advanced(SOLVERS["newton"])
    size = X.shape[1] + 1
    forged = {
        "gram": np.eye(size).ravel(),
        "gram_rows": np.array(rows, dtype=np.int64),
        "gram_weights": np.ones(len(rows)),
    }
    restore(SOLVERS["newton"], {**state, **forged, "gram_rows": np.arange(len(rows))})  # nothing else is wrong with it
    with refused("gram_rows"):
        restore(SOLVERS["newton"], {**state, **forged})


@pytest.mark.parametrize("key", ["z", "lengths", "read_at"])
def test_array_of_newton_that_does_not_fit_its_sample_is_refused(key) -> None:
    _, state = advanced(SOLVERS["newton"])
    shorter = {key: np.asarray(state[key])[:-1]}
    with refused("length"):
        restore(SOLVERS["newton"], {**state, **shorter})
    run = restore(SOLVERS["newton"], {**state, **shorter, "stride": 0})  # nothing has begun: it is made anew
    run.advance(2)
    primal, dual = run.estimate()
    assert 0.0 < dual <= primal


def test_random_generator_of_zeros_is_refused_not_run_for_ever() -> None:
    for solver in SOLVERS.values():
        _, state = advanced(solver)
        if "rng" in state:
            with refused("random generator of zeros"):
                restore(solver, {**state, "rng": np.zeros(4, np.uint64)})


@pytest.mark.parametrize("solver", SOLVERS)
def test_garbage_numbers_in_a_state_never_make_a_false_certificate(solver) -> None:
    best = solve(X, y, solver="dcd", intercept="none", tol=1e-6).certificate
    evaluator, poll = LocalEvaluator(PROBLEM), _core.Poll(_core.StopToken())
    _, state = advanced(SOLVERS[solver])
    certified = refusals = 0
    for key, value in state.items():
        if np.asarray(value).dtype != np.float64:
            continue
        for garbage in (np.nan, np.inf, -1e9, 1e9, 0.0, 1e-300):
            try:
                run = restore(SOLVERS[solver], {**state, key: np.full_like(value, garbage)[()]})
            except ValueError as refusal:
                if "state" not in str(refusal):
                    raise
                refusals += 1
                continue
            run.advance(2)
            point = run.point()
            lower = evaluator.lower(point.multipliers, poll)
            assert lower is not None and lower.value <= best.primal, f"{key} = {garbage}: dual above the optimum"
            upper = evaluator.upper(lower.w if point.w is None else point.w, poll)
            assert upper is not None and upper.value >= best.dual, f"{key} = {garbage}: primal below the optimum"
            certified += 1
    assert certified > refusals, "nearly everything was refused"


@pytest.mark.parametrize(
    ("solver", "wrong"),
    [
        ("svmsgd", {"eta0": -1.0}),
        ("svmsgd", {"eta0": np.inf}),
        ("svmsgd", {"eta0": np.nan}),
        ("sgd-qn", {"t0": -1.0}),
        ("sgd-qn", {"t0": np.nan}),
        ("sgd-qn", {"skip": 0}),
        ("sgd-qn", {"d": np.zeros(6)}),
        ("sgd-qn", {"d": np.full(6, np.inf)}),
        ("sgd-qn", {"d": np.full(6, np.nan)}),
        ("norma", {"t": -1}),
        ("asset", {"eta_sum": -1.0}),
        ("asset-star", {"octave_eta": np.nan}),
        ("zhang", {"t": 2**61}),
    ],
)
def test_numbers_out_of_range_are_refused(solver, wrong) -> None:
    _, state = advanced(SOLVERS[solver])
    with refused("state", "range"):
        restore(SOLVERS[solver], {**state, **wrong})


@pytest.mark.parametrize("kind", [SGDQN, SvmSGD])
def test_state_of_another_precision_is_a_warm_start_with_a_true_certificate(kind) -> None:
    best = solve(X, y, intercept="none", tol=1e-6).certificate
    for one, other in (("double", "single"), ("single", "double")):
        state = saved(kind(precision=one))
        options = {"solver": kind(precision=other), "intercept": "none", "max_iter": 2, "state": state}
        found = solve_quietly(X, y, **options).certificate
        assert 0 < found.dual <= best.primal
        assert found.primal >= best.dual


def test_composite_solver_does_not_ignore_a_state() -> None:
    with refused("BestOf", "takes no state"):
        resume(BestOf(Pegasos(), 2), saved("pegasos"))


# Nothing is lost

BAD_REFITS: dict[str, Callable[[LinearSVC], Any]] = {
    "one class": lambda model: model.fit(X, np.zeros(60)),
    "nan, fewer features": lambda model: model.fit(np.full((60, 3), np.nan), y),
    "other labels, overflow": lambda model: model.fit(X[:, :2] * 1e200, np.arange(60) % 4),
    "weights": lambda model: model.fit(X[:, :4], y, sample_weight=-np.ones(60)),
    "unsupported intercept": lambda model: model.set_params(solver="sgd-s", intercept="free").fit(X[:, :2], y),
    "k too large": lambda model: model.set_params(solver=Pegasos(k=99)).fit(X[:, :2], np.arange(60) % 3),
    "class weight": lambda model: model.set_params(class_weight={9: 1.0}).fit(X, np.arange(60) % 3),
}


@pytest.mark.parametrize("kind", BAD_REFITS)
def test_failed_refit_leaves_the_old_model_usable(kind) -> None:
    model = LinearSVC().fit(X, y)
    before, attributes = model.predict(X), dict(vars(model))
    with pytest.raises(ValueError, match=r"."):
        BAD_REFITS[kind](model)
    assert np.array_equal(model.predict(X), before), "the old model no longer predicts as it did"
    for name in ("classes_", "coef_", "intercept_", "n_features_in_", "certificate_", "status_", "n_iter_"):
        assert getattr(model, name) is attributes[name], f"{name} was changed by a fit that failed"
