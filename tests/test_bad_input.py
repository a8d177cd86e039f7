"""Bad input gets a clear Python error that says what, where and what to do; nothing is lost by it."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import hinge
from hinge import DCD, BestOf, Blocks, LinearSVC, Pegasos, SGDm, SGDr, SGDs, solve

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1, -1)

LAYOUTS = {"dense": np.ascontiguousarray, "csr": sp.csr_array, "csr_matrix": sp.csr_matrix}
DTYPES = [np.float32, np.float64]


def refused(*parts: str) -> Any:
    """A ValueError whose message contains all parts, in this order."""
    return pytest.raises(ValueError, match=r"(?s)" + ".*".join(map(re.escape, parts)))


def fit(X: Any, y: Any, **params: Any) -> LinearSVC:
    return LinearSVC(**params).fit(X, y)


BOTH: list[Callable[..., Any]] = [solve, fit]


# Values


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_bad_value_is_refused_with_row_and_column(train, dtype, layout, value, word) -> None:
    bad = X.astype(dtype)
    bad[41, 3] = value
    with refused(word, "row 41, column 3"):
        train(LAYOUTS[layout](bad), y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_first_bad_value_in_row_order_is_named(layout) -> None:
    bad = X.copy()
    bad[7, 4], bad[7, 2], bad[50, 0] = np.inf, np.nan, np.nan
    with refused("NaN", "row 7, column 2"):
        solve(LAYOUTS[layout](bad), y)


def test_bad_value_in_a_row_of_zero_weight_is_refused_too() -> None:
    bad, weight = X.copy(), np.ones(60)
    bad[3, 1], weight[3] = np.nan, 0.0
    with refused("NaN", "row 3, column 1"):
        solve(bad, y, sample_weight=weight)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scale", [1e200, 1e160, 1e153])
def test_values_whose_squares_overflow_are_refused(layout, scale) -> None:
    with refused("overflow", "cale the features"):
        solve(LAYOUTS[layout](X * scale), y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_overflowing_row_is_named(layout) -> None:
    bad = X.copy()
    bad[12, 1] = 1e200
    with refused("row 12", "overflow"):
        solve(LAYOUTS[layout](bad), y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_largest_float32_values_are_fine(layout) -> None:
    big = np.where(X > 0, 3e38, -3e38).astype(np.float32)
    solution = solve(LAYOUTS[layout](big), y, C=1e-76)
    assert solution.status == "converged", "float32 values of 3e38 have finite squares in float64"


@pytest.mark.parametrize("train", BOTH)
def test_costs_that_overflow_are_refused(train) -> None:
    with refused("overflow"):
        train(X, y, C=1e300)


@pytest.mark.parametrize("C", [1e-310, 5e-324])
def test_smallest_costs_never_give_a_false_certificate(C) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        certificate = solve(X, y, C=C, max_iter=20).certificate
    bound = 2 * C * min((y == 1).sum(), (y == -1).sum())  # P at w = 0
    assert 0 <= certificate.dual <= bound * 1.001, certificate
    assert certificate.dual <= certificate.primal, certificate


# Labels, shapes, weights


@pytest.mark.parametrize("train", BOTH)
def test_one_class_only_is_refused(train) -> None:
    with refused("class"):
        train(X, np.ones(60))


def test_one_class_error_of_the_estimator_names_the_class() -> None:
    with refused("one class only", "'spam'"):
        LinearSVC().fit(X, ["spam"] * 60)


@pytest.mark.parametrize("train", [solve, LinearSVC().fit])
def test_class_with_weight_zero_does_not_count(train) -> None:
    weight = (y == 1).astype(float)
    with refused("zero weight do not count"):
        train(X, y, sample_weight=weight)


def test_three_classes_in_solve_point_to_the_estimator() -> None:
    with refused("two classes", "got 3", "LinearSVC"):
        solve(X, np.arange(60) % 3)


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_length_mismatch_is_refused(train, layout) -> None:
    with refused("inconsistent numbers of samples", "60", "59"):
        train(LAYOUTS[layout](X), y[:59])


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "what"), [((0, 5), "0 sample"), ((60, 0), "0 feature")])
def test_empty_input_is_refused(train, layout, shape, what) -> None:
    with refused(what):
        train(LAYOUTS[layout](np.zeros(shape)), y[: shape[0]])


@pytest.mark.parametrize("train", BOTH)
def test_one_dimensional_input_is_refused(train) -> None:
    with refused("2D array"):
        train(X[:, 0], y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_labels_that_are_not_finite_are_refused(bad) -> None:
    labels = y.astype(float)
    labels[0] = bad
    with refused("y"):
        solve(X, labels)


def test_continuous_targets_are_refused_by_the_estimator() -> None:
    with refused("continuous"):
        LinearSVC().fit(X, X[:, 0])


WEIGHTS = {
    "negative": (np.r_[np.ones(17), -1.0, np.ones(42)], "row 17"),
    "all zero": (np.zeros(60), "zero"),
    "nan": (np.r_[np.nan, np.ones(59)], "NaN"),
    "infinite": (np.r_[np.inf, np.ones(59)], "infinity"),
    "short": (np.ones(59), "59"),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_bad_weights_are_refused(kind) -> None:
    weight, part = WEIGHTS[kind]
    for train in (solve, LinearSVC().fit):
        with pytest.raises(ValueError, match=f"(?is)sample.?weight.*{part}"):
            train(X, y, sample_weight=weight)


@pytest.mark.parametrize(
    ("class_weight", "part"),
    [*(({1: factor}, "positive") for factor in (-1.0, 0.0, np.nan)), ({7: 1.0}, "7"), ("uniform", "balanced")],
)
def test_bad_class_weights_are_refused(class_weight, part) -> None:
    with refused("class_weight", part):
        fit(X, y, class_weight=class_weight)


# CSR


def csr(kind: type = sp.csr_array) -> Any:
    """A CSR matrix of its own, int32 indices, every row with 5 entries."""
    return kind(X.copy())


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [5, -1, 2**31 - 1])
def test_column_index_out_of_range_is_refused_with_its_place(index, value) -> None:
    bad = csr()
    bad.indices = bad.indices.astype(index)
    bad.indices[4 * 5 + 2] = value
    with refused("index out of range", "row 4"):
        solve(bad, y)


def test_duplicate_entries_are_refused_with_the_remedy() -> None:
    bad = csr()
    bad.indices[9 * 5 + 3] = bad.indices[9 * 5 + 1]
    with refused("row 9, column 1", "sum_duplicates()"):
        solve(bad, y)
    bad.sum_duplicates()
    solve(bad, y)


def test_unsorted_indices_give_the_same_model() -> None:
    flipped = csr()
    flipped.data = np.ascontiguousarray(flipped.data.reshape(60, 5)[:, ::-1]).ravel()
    flipped.indices = np.ascontiguousarray(flipped.indices.reshape(60, 5)[:, ::-1]).ravel()
    flipped.has_sorted_indices = False
    expected, found = solve(csr(), y), solve(flipped, y)
    assert found.status == "converged"
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-7, err_msg="unsorted rows changed the model")
    assert np.array_equal(flipped.indices[:5], [4, 3, 2, 1, 0]), "the caller's matrix was sorted in place"


def corrupted_indptr(change: Callable[[Any], Any]) -> Any:
    bad = csr()
    bad.indptr = change(bad.indptr.copy())
    return bad


def _set(position: int, value: int) -> Callable[[Any], Any]:
    def change(indptr: Any) -> Any:
        indptr[position] = value
        return indptr

    return change


INDPTRS = {
    "decreasing": _set(10, 100),
    "beyond the data": _set(60, 301),
    "far beyond the data": _set(30, 2**31 - 1),
    "negative": _set(5, -5),
    "wrong start": _set(0, 1),
    "too short": lambda indptr: indptr[:-1],
    "too long": lambda indptr: np.r_[indptr, indptr[-1:]],
}


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", INDPTRS)
def test_corrupt_indptr_is_refused(kind, index) -> None:
    bad = corrupted_indptr(INDPTRS[kind])
    bad.indptr = bad.indptr.astype(index)
    with refused("indptr"):
        solve(bad, y)


@pytest.mark.parametrize("short", ["data", "indices"])
def test_indptr_is_checked_against_the_shorter_of_data_and_indices(short) -> None:
    bad = csr()
    setattr(bad, short, getattr(bad, short)[:-1])
    with pytest.raises(ValueError, match=r"indptr|data|indices"):
        solve(bad, y)


# Parameters


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("name", ["C", "tol"])
@pytest.mark.parametrize("value", [0, 0.0, -1.0, np.nan, np.inf, "1", None])
def test_bad_numbers_are_refused_by_name(train, name, value) -> None:
    with refused(name):
        train(X, y, **{name: value})


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize(
    ("name", "value"),
    [*(("max_iter", value) for value in (0, -1, 2.5)), *(("time_limit", value) for value in (0.0, np.nan, -1))],
)
def test_bad_limits_are_refused_by_name(train, name, value) -> None:
    with refused(name):
        train(X, y, **{name: value})


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("seconds", [np.inf, 1e10, 1e300])
def test_time_limit_beyond_reach_is_no_limit(train, seconds) -> None:
    result = train(X, y, time_limit=seconds)
    status = result.status if train is solve else result.status_
    assert status == "converged", f"time_limit={seconds} ended the run with {status!r}"


@pytest.mark.parametrize("train", BOTH)
def test_unknown_solver_is_refused_with_the_names(train) -> None:
    with refused("sgd", "dcd", "pegasos", "sgd-m", "sgd-r", "sgd-s"):
        train(X, y, solver="sgd")


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("solver", [None, 5, Pegasos, object()])
def test_what_is_no_solver_is_refused_with_advice(train, solver) -> None:
    with pytest.raises((TypeError, ValueError), match=r"(?i)solver"):
        train(X, y, solver=solver)


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("order", ["sorted", 5, Blocks])
def test_unknown_order_is_refused_with_advice(train, order) -> None:
    with pytest.raises((TypeError, ValueError), match=r"(?is)order.*(permutation|Blocks)"):
        train(X, y, order=order)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pegasos(k=0),
        lambda: Pegasos(k=-3),
        lambda: Pegasos(k=1.5),
        lambda: Pegasos(sampling="sorted"),
        lambda: Pegasos(start_at="one"),
        lambda: Pegasos(output="first"),
        lambda: Pegasos(bias="median"),
        lambda: SGDs(f=0.0),
        lambda: SGDs(f=np.nan),
        lambda: SGDm(f=-1.0),
        lambda: BestOf(runs=0),
        lambda: BestOf.with_confidence(Pegasos(), delta=1.5),
        lambda: Blocks(rows=0),
        lambda: Blocks(group=0),
    ],
)
def test_bad_solver_options_are_refused_when_made(make) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        make()


@pytest.mark.parametrize("integer", [np.int32, np.int64])
def test_numpy_integers_are_integers(integer) -> None:
    assert Pegasos(k=integer(3)).k == 3
    assert BestOf(runs=integer(2)).runs == 2
    solve(X, y, max_iter=integer(500))


@pytest.mark.parametrize("solver", ["dcd", DCD(), Pegasos(), "sgd-s"])
def test_unknown_solver_option_is_refused_with_the_known_ones(solver) -> None:
    with refused("no option 'kk'"):
        LinearSVC(solver=solver).set_params(solver__kk=3)


def test_unknown_parameter_is_refused() -> None:
    with refused("Invalid parameter 'gamma'"):
        LinearSVC().set_params(gamma=1)
    with pytest.raises(TypeError, match="gamma"):
        solve(X, y, gamma=1)


@pytest.mark.parametrize("train", BOTH)
def test_more_rows_a_step_than_rows_are_refused(train) -> None:
    with refused("k=61", "60 rows", "k <= 60"):
        train(X, y, solver=Pegasos(k=61))


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("solver", ["sgd-r", "sgd-s", "sgd-m", SGDs(f=1.5)])
def test_unsupported_intercept_is_refused_with_the_fix(train, solver) -> None:
    with refused("does not support intercept='free'", "intercept='penalized'", "fit_intercept=False"):
        train(X, y, solver=solver)


@pytest.mark.parametrize("solver", [SGDr(), "sgd-r", "pegasos", Pegasos(k=5)])
def test_order_is_refused_by_solvers_that_draw_their_rows(solver) -> None:
    with refused("takes no order", "order=None"):
        solve(X, y, solver=solver, order="blocks", intercept="none")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("penalty", "l1"),
        ("loss", "squared_hinge"),
        ("dual", False),
        ("multi_class", "crammer_singer"),
        ("intercept", "none"),
        ("intercept", "exact"),
        ("penalty", None),
    ],
)
def test_values_of_sklearn_that_mean_another_problem_are_refused_with_a_reason(name, value) -> None:
    with refused(name, repr(value)):
        fit(X, y, **{name: value})


def test_unknown_intercept_is_refused_by_solve() -> None:
    with refused("intercept", "'none', 'free' or 'penalized'"):
        solve(X, y, intercept="exact")


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, 1e200])
def test_bad_intercept_scaling_is_refused(scale) -> None:
    with pytest.raises(ValueError, match=r"intercept|constant feature|overflow"):
        solve(X, y, intercept="penalized", intercept_scaling=scale)


# Prediction


@pytest.mark.parametrize("layout", LAYOUTS)
def test_prediction_refuses_other_numbers_of_features(layout) -> None:
    model = fit(X, y)
    with refused("4 features", "expecting 5"):
        model.predict(LAYOUTS[layout](X[:, :4]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_prediction_refuses_bad_values_with_row_and_column(layout, dtype) -> None:
    model, bad = fit(X, y), X.astype(dtype)
    bad[33, 2] = np.nan
    for method in (model.predict, model.decision_function):
        with refused("NaN", "row 33, column 2"):
            method(LAYOUTS[layout](bad))


def test_prediction_refuses_corrupt_csr() -> None:
    model, bad = fit(X, y), csr()
    bad.indices[7] = 1_000_000
    with refused("out of range", "row 1"):
        model.predict(bad)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_prediction_before_fit_says_so(method) -> None:
    with pytest.raises(NotFittedError):
        getattr(LinearSVC(), method)(X)


def test_verify_before_fit_says_so() -> None:
    with pytest.raises(NotFittedError):
        hinge.verify(LinearSVC(), X, y)


# Saved states

SOLVERS = ["dcd", "pegasos", "sgd-r", "sgd-s", "sgd-m"]


def saved(solver: str) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        state = solve(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-12).state
    assert state is not None, f"{solver} gave no state"
    return state


def resume(solver: str, state: Any) -> None:
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
    for key in [key for key, value in state.items() if isinstance(value, np.ndarray) and key not in variable]:
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


@pytest.mark.parametrize("solver", ["pegasos", "sgd-s"])
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
    for solver in SOLVERS:
        for key, value in saved(solver).items():
            if isinstance(value, np.ndarray) and value.dtype == np.float64:
                for garbage in (np.nan, np.inf, -1e9, 1e9):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", ConvergenceWarning)
                        state = {**saved(solver), key: np.full_like(value, garbage)}
                        found = solve(X, y, solver=solver, intercept="none", max_iter=2, state=state).certificate
                    assert found.dual <= best.primal, f"{solver}, {key} = {garbage}: dual above the optimum"
                    assert found.primal >= best.dual, f"{solver}, {key} = {garbage}: primal below the optimum"


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


# Badly scaled features


def covertype_like(n_rows: int = 3000) -> tuple[Any, Any]:
    """Metres, degrees and indicators side by side, as in raw Covertype."""
    draw = np.random.default_rng(1)
    metres = draw.normal(2900, 280, size=(n_rows, 3))
    degrees = draw.uniform(0, 360, size=(n_rows, 3))
    flags = (draw.random((n_rows, 30)) < 0.05).astype(float)
    score = (metres[:, 0] - 2900) / 280 + (degrees[:, 0] - 180) / 100 + flags[:, 0] + draw.normal(size=n_rows)
    return np.hstack([metres, degrees, flags]), (score > 0).astype(int)


@pytest.mark.parametrize(("train", "classes"), [(solve, 2), (fit, 2), (fit, 3)])
def test_badly_scaled_features_get_exactly_one_warning_with_the_remedy(train, classes) -> None:
    raw, labels = covertype_like()
    if classes == 3:
        labels = labels + (raw[:, 1] > 3000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train(raw, labels, C=10.0, max_iter=3, tol=1e-6)
    assert [warning.category for warning in caught] == [ConvergenceWarning], [str(w.message) for w in caught]
    message = str(caught[0].message)
    assert all(part in message for part in ("relative duality gap", "max_iter", "differ in scale", "Scaler")), message


def test_well_scaled_features_get_no_advice_on_scaling() -> None:
    raw, labels = covertype_like()
    scaled = (raw - raw.mean(0)) / raw.std(0)
    with pytest.warns(ConvergenceWarning, match="relative duality gap") as caught:
        solve(scaled, labels, C=10.0, max_iter=1, tol=1e-9)
    assert "scale" not in str(caught[0].message)


def test_warning_points_at_the_line_of_the_caller() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solve(*covertype_like(), max_iter=1, tol=1e-9)
        fit(*covertype_like(), max_iter=1, tol=1e-9)
    assert [warning.filename for warning in caught] == [__file__] * 2, "stacklevel: the warning names another file"
