"""Bad saved states get a clear Python error; a fit that fails leaves the old model as it was."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refusals import X, refused, y
from sklearn.exceptions import ConvergenceWarning

from hinge import SGDQN, BestOf, LinearSVC, Pegasos, SvmSGD, solve

# Saved states

SOLVERS = [
    "cutting-plane",
    "dcd",
    "mpu",
    "norma",
    "ocas",
    "pegasos",
    "sgd-m",
    "sgd-qn",
    "sgd-r",
    "sgd-s",
    "svmsgd",
    "zhang",
]


def saved(solver: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        state = solve(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-12).state
    assert state is not None, f"{solver} gave no state"
    return state


def resume(solver: Any, state: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solve(X, y, solver=solver, intercept="none", max_iter=2, state=state)


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_with_a_missing_entry_is_refused_by_name(solver) -> None:
    state = saved(solver)
    for key in [key for key in state if key != "fingerprint"]:
        with refused("state", key):
            resume(solver, {k: v for k, v in state.items() if k != key})


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_with_arrays_of_another_length_is_refused(solver) -> None:
    state = saved(solver)
    variable = ("active", "u", "e")  # any number of active rows; none of the others for the last iterate
    arrays = [key for key, value in state.items() if isinstance(value, np.ndarray) and value.size]
    for key in [key for key in arrays if key not in variable]:
        for wrong in (state[key][:-1], np.r_[state[key], state[key]]):
            with refused("length"):
                resume(solver, {**state, key: wrong})


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_with_entries_of_another_type_is_refused(solver) -> None:
    state = saved(solver)
    for key in [key for key in state if key != "fingerprint"]:
        for wrong in ("text", None, [1, "2"], np.array(["a", "b"]), {}):
            with pytest.raises((ValueError, TypeError), match=r"(?i)state|length"):
                resume(solver, {**state, key: wrong})


@pytest.mark.parametrize("state", [{}, {"fingerprint": 1}, [1], "state"])
def test_what_is_no_state_is_refused(state) -> None:
    with pytest.raises((ValueError, TypeError), match="state"):
        resume("dcd", state)


@pytest.mark.parametrize("rows", [[0, 60], [-1, 0], [3, 2], [4, 4], [2**62]])
def test_active_rows_out_of_range_or_order_are_refused(rows) -> None:
    with refused("active"):
        resume("dcd", {**saved("dcd"), "active": np.array(rows, dtype=np.int64)})


@pytest.mark.parametrize("solver", ["norma", "pegasos", "sgd-qn", "sgd-s", "svmsgd"])
def test_state_of_another_solver_is_refused(solver) -> None:
    with refused("state"):
        resume(solver, saved("dcd"))


def test_random_generator_of_zeros_is_refused_not_run_for_ever() -> None:
    code = (
        "import numpy as np, hinge, warnings; warnings.simplefilter('ignore');"
        "X = np.random.default_rng(0).normal(size=(60, 5)); y = np.sign(X[:, 0]);"
        "s = hinge.solve(X, y, solver='sgd-s', intercept='none', max_iter=2).state;"
        "s['rng'] = np.zeros(4, np.uint64); hinge.solve(X, y, solver='sgd-s', intercept='none', max_iter=2, state=s)"
    )
    try:
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=10, check=False)
    except subprocess.TimeoutExpired:
        pytest.fail("a state whose random words are all zero makes the native code loop for ever")
    assert "ValueError" in run.stderr, run.stderr


def test_garbage_numbers_in_a_state_never_make_a_false_certificate() -> None:
    best = solve(X, y, solver="dcd", intercept="none", tol=1e-6).certificate
    certified = 0
    for solver in SOLVERS:
        for key, value in saved(solver).items():
            if np.asarray(value).dtype == np.float64:
                for garbage in (np.nan, np.inf, -1e9, 1e9, 0.0, 1e-300):
                    state = {**saved(solver), key: np.full_like(value, garbage)[()]}
                    with warnings.catch_warnings(), contextlib.suppress(ValueError):  # or refused
                        warnings.simplefilter("ignore", ConvergenceWarning)
                        found = solve(X, y, solver=solver, intercept="none", max_iter=2, state=state).certificate
                        assert found.dual <= best.primal, f"{solver}, {key} = {garbage}: dual above the optimum"
                        assert found.primal >= best.dual, f"{solver}, {key} = {garbage}: primal below the optimum"
                        certified += 1
    assert certified > 100, "nearly everything was refused"


@pytest.mark.parametrize(
    ("solver", "wrong"),
    [
        ("svmsgd", {"eta0": -1.0}),
        ("svmsgd", {"eta0": np.inf}),
        ("svmsgd", {"eta0": np.nan}),
        ("sgd-qn", {"t0": -1.0}),
        ("sgd-qn", {"t0": np.nan}),
        ("sgd-qn", {"skip": 0}),
        ("sgd-qn", {"r": np.full(6, 0.5)}),
        ("sgd-qn", {"r": np.full(6, 101.0)}),
        ("sgd-qn", {"r": np.full(6, np.nan)}),
        ("norma", {"t": -1}),
        ("zhang", {"t": 2**61}),
    ],
)
def test_state_with_numbers_out_of_range_is_refused(solver, wrong) -> None:
    with refused("state", "range"):
        resume(solver, {**saved(solver), **wrong})


@pytest.mark.parametrize("kind", [SGDQN, SvmSGD])
def test_state_of_another_precision_is_refused_or_certified(kind) -> None:
    best = solve(X, y, intercept="none", tol=1e-6).certificate
    for one, other in (("double", "single"), ("single", "double")):
        with warnings.catch_warnings(), contextlib.suppress(ValueError):
            warnings.simplefilter("ignore", ConvergenceWarning)
            state = saved(kind(precision=one))
            options = {"solver": kind(precision=other), "intercept": "none", "max_iter": 2, "state": state}
            assert solve(X, y, **options).certificate.dual <= best.primal


def test_composite_solver_does_not_ignore_a_state() -> None:
    with pytest.raises((ValueError, TypeError), match=r"state|resume"):
        resume(BestOf(Pegasos(), 2), saved("pegasos"))


# Nothing is lost

BAD_REFITS: dict[str, Callable[[LinearSVC], Any]] = {
    "one class": lambda model: model.fit(X, np.zeros(60)),
    "nan, fewer features": lambda model: model.fit(np.full((60, 3), np.nan), y),
    "other labels, overflow": lambda model: model.fit(X[:, :2] * 1e200, np.arange(60) % 4),
    "weights": lambda model: model.fit(X[:, :4], y, sample_weight=-np.ones(60)),
    "unsupported intercept": lambda model: model.set_params(solver="sgd-s").fit(X[:, :2], np.arange(60) % 3),
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
