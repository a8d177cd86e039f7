"""What a new user expects to find: containers, plots, predictions, progress, checkpoints, plain messages."""

from __future__ import annotations

import copy
import io
import pickle
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp
from loops import make, unconverged
from sklearn.base import clone
from streams import CANCER, IRIS, IS_BENIGN, SPECIES

import hinge
from hinge import LinearSVC, OnlineSVC, solve

mpl.use("Agg")
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
FITTED = LinearSVC(solver="dcd", store_dual=True).fit(IRIS, NAMES)


# Containers


@pytest.mark.parametrize("name", ["certificate_", "history_"])
def test_results_of_several_classes_are_a_tuple_that_knows_the_classes(name: str) -> None:
    found = getattr(FITTED, name)
    assert isinstance(found, tuple)
    assert len(found) == 3
    for k, label in enumerate(FITTED.classes_):
        assert found[k] is found[label] is found.of(label)
    assert found.worst is max(found, key=lambda one: one.relative_gap)
    assert found.relative_gap == found.worst.relative_gap
    lines = repr(found).splitlines()
    assert [line.split()[0] for line in lines] == ["class", *FITTED.classes_]
    with pytest.raises(KeyError, match="Did you mean 'setosa'"):
        found["Setosa"]
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again == found and again["setosa"] == found["setosa"] and type(again) is type(found)


def test_numbers_are_positions_unless_asked_for_a_class() -> None:
    certificates = LinearSVC().fit(IRIS, SPECIES + 1).certificate_
    assert certificates[1] is certificates.of(2)
    with pytest.raises(KeyError, match=r"no class 0; the classes are \[1, 2, 3\]"):
        certificates.of(0)


def test_code_for_several_classes_works_for_two() -> None:
    model = LinearSVC().fit(CANCER, IS_BENIGN)
    assert model.certificate_.worst is model.certificate_
    assert model.history_.worst.relative_gap == model.certificate_.relative_gap
    assert "relative gap" in repr(model.history_)


def test_long_histories_are_shown_without_their_middle() -> None:
    history = hinge.History(hinge.Record(k, 0.1 * k, 2.0, 1.0) for k in range(100))
    assert len(repr(history).splitlines()) == 22 and "80 more" in repr(history)


# Pictures


def test_plot_has_a_line_for_each_class() -> None:
    ax = hinge.plot_history(FITTED, x="epoch")
    assert [line.get_label() for line in ax.lines] == FITTED.classes_.tolist()
    epochs, gaps = ax.lines[0].get_data()
    finite = [record for record in FITTED.history_[0] if np.isfinite(record.relative_gap)]
    assert list(epochs) == [record.epoch for record in finite]
    assert list(gaps) == [max(record.relative_gap, 1e-16) for record in finite]
    assert ax.get_yscale() == "log"
    solution = solve(CANCER, IS_BENIGN)
    assert hinge.plot_history(solution, ax=ax, label="cancer") is ax
    assert ax.lines[-1].get_label() == "cancer"


def test_plot_refuses_what_has_no_history() -> None:
    with pytest.raises(TypeError, match="call fit first"):
        hinge.plot_history(LinearSVC())
    with pytest.raises(ValueError, match="x must be one of"):
        hinge.plot_history(FITTED, x="rows")


# Solutions


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_solution_predicts_like_the_estimator(layout: Any) -> None:
    labels = np.array(["malignant", "benign"])[IS_BENIGN]
    solution, model = solve(CANCER, labels, C=0.1), LinearSVC(C=0.1).fit(CANCER, labels)
    assert np.array_equal(solution.decision_function(layout(CANCER)), model.decision_function(layout(CANCER)))
    assert np.array_equal(solution.predict(layout(CANCER)), model.predict(CANCER))
    weight = np.arange(len(labels)) % 3
    assert solution.score(CANCER, labels) == model.score(CANCER, labels)
    assert solution.score(CANCER, labels, weight) == pytest.approx(model.score(CANCER, labels, weight))
    with pytest.raises(ValueError, match="trained on 30"):
        solution.predict(CANCER[:, :3])


def test_a_solution_is_shown_in_a_line() -> None:
    text = repr(solve(CANCER, IS_BENIGN, C=0.5))
    assert "\n" not in text and len(text) < 150
    assert text.startswith("Solution(converged, relative gap ") and "C=0.5" in text


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 1: 0.5}])
def test_solve_takes_class_weights_as_the_estimator_does(class_weight: Any) -> None:
    solution = solve(CANCER, IS_BENIGN, class_weight=class_weight)
    model = LinearSVC(class_weight=class_weight).fit(CANCER, IS_BENIGN)
    assert np.array_equal(solution.coef, model.coef_[0])
    assert hinge.verify(solution, CANCER, IS_BENIGN).primal == pytest.approx(solution.certificate.primal, rel=1e-9)


def test_a_class_of_weight_zero_counts_as_absent() -> None:
    model = LinearSVC(class_weight={0: 0}, store_dual=True).fit(IRIS, SPECIES)
    without = LinearSVC().fit(IRIS[SPECIES > 0], SPECIES[SPECIES > 0])
    assert model.classes_.tolist() == [1, 2]
    assert np.array_equal(model.coef_, without.coef_)
    assert hinge.verify(model, IRIS, SPECIES).relative_gap < 1e-9
    three = solve(IRIS, SPECIES, class_weight={0: 0})
    assert np.array_equal(three.coef, without.coef_[0])
    assert LinearSVC(class_weight={0: 0, 1: 2, 2: 1}).fit(IRIS, SPECIES).classes_.tolist() == [1, 2]


# States and callbacks


@pytest.mark.parametrize("solver", ["auto", "dcd", "newton", "pegasos", "ocas", "mpu", "sgd-s", "svmsgd", "online"])
def test_a_state_from_a_file_goes_on_to_the_same_bits(solver: str, tmp_path: Path) -> None:
    X, y = make(3000)
    options = {"solver": solver, "tol": 1e-12, "intercept": "penalized"}
    with unconverged():
        whole = solve(X, y, max_iter=8, **options)
        first = solve(X, y, max_iter=4, **options)
        np.savez(tmp_path / "state.npz", **first.state)
        with np.load(tmp_path / "state.npz") as state:
            rest = solve(X, y, max_iter=4, state=state, **options)
    assert np.array_equal(rest.coef, whole.coef)


def test_a_callback_can_take_checkpoints(tmp_path: Path) -> None:
    X, y = make(3000)
    taken: list[dict[str, Any]] = []

    def checkpoint(progress: hinge.Progress) -> bool:
        if progress.epoch == 3:
            state = progress.state()
            assert state is not None
            taken.append(state)
        return progress.epoch == 6

    options = {"solver": "dcd", "tol": 1e-12, "intercept": "none"}
    six = solve(X, y, callback=checkpoint, **options)
    assert six.status == "callback"
    with unconverged():
        assert np.array_equal(solve(X, y, state=taken[0], max_iter=3, **options).coef, six.coef)


def test_the_estimator_has_a_callback_that_hears_of_every_class() -> None:
    seen: list[hinge.Progress] = []
    model = LinearSVC(solver="dcd", callback=seen.append)
    assert clone(model).callback == model.callback
    model.fit(IRIS, NAMES)
    assert {progress.label for progress in seen} == set(NAMES.tolist())
    X, y = make(3000, classes=3)
    stopped = LinearSVC(solver="dcd", tol=1e-12, callback=lambda progress: True).fit(X, y)
    assert stopped.status_ == "callback"
    with pytest.raises(ValueError, match="callback"):
        LinearSVC(callback=3).fit(IRIS, NAMES)


# What is printed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_progress_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    LinearSVC(solver="dcd", verbose=1).fit(IRIS, NAMES)
    text = terminal.getvalue()
    assert text.count("\n") == 1 and text.endswith("\n")
    assert text.count("\r") >= 3
    assert all(f"class {k}/3" in text for k in (1, 2, 3)) and "rows/s" in text and "relative gap" in text


def test_elsewhere_the_progress_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    solution = solve(*make(3000), verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(solution.history)
    assert all("rows/s" in line and "\r" not in line for line in lines)
    with pytest.raises(ValueError, match="verbose"):
        solve(*make(30), verbose=-1)


def test_a_search_tells_the_fold(capsys: pytest.CaptureFixture[str]) -> None:
    hinge.LinearSVCCV([0.1, 1.0], cv=2, verbose=1).fit(IRIS, NAMES)
    out = capsys.readouterr().out
    assert "fold 1/2, class 3/3 (virginica)" in out and "\nclass 1/3 (setosa)" in out


# Arguments


def test_dual_changes_nothing_and_l1_says_where_to_go() -> None:
    auto = LinearSVC().fit(IRIS, SPECIES)
    for dual in (True, False):
        assert np.array_equal(LinearSVC(dual=dual).fit(IRIS, SPECIES).coef_, auto.coef_)
    with pytest.raises(ValueError, match=r"penalty='l1' is not supported.*LinearSVC\(penalty='l1', dual=False\)"):
        LinearSVC(penalty="l1").fit(IRIS, SPECIES)


def test_sparse_weights_predict_the_same() -> None:
    model = copy.deepcopy(FITTED).sparsify()
    assert sp.issparse(model.coef_)
    assert np.array_equal(model.decision_function(IRIS), FITTED.decision_function(IRIS))
    assert hinge.verify(model, IRIS, NAMES) == hinge.verify(FITTED, IRIS, NAMES)
    assert np.array_equal(model.densify().coef_, FITTED.coef_)


def test_a_generator_is_a_random_state() -> None:
    options = {"solver": "pegasos", "max_iter": 5, "tol": 100.0}
    for train in (
        lambda state: solve(CANCER, IS_BENIGN, random_state=state, **options).coef,
        lambda state: LinearSVC(random_state=state, **options).fit(CANCER, IS_BENIGN).coef_,
        lambda state: OnlineSVC(random_state=state, shuffle=True).fit(CANCER, IS_BENIGN).coef_,
    ):
        one, same, other = (train(np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert np.array_equal(one, same) and not np.array_equal(one, other)


def test_html_picture_links_to_the_documentation() -> None:
    for model, page in (
        (LinearSVC(), "solvers.md"),
        (OnlineSVC(), "online.md"),
        (hinge.LinearSVCCV(), "choosing_c.md"),
    ):
        link = model._get_doc_link()
        if link:  # an installed hinge has no address yet, and no folder docs beside it
            assert link.endswith(page) and link in model._repr_html_()
            assert link.startswith(("https://", "file://"))


# Messages


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("DCD", "dcd"), ("cutting_plane", "cutting-plane"), ("pegasus", "pegasos"), ("SGD-QN", "sgd-qn")],
)
def test_solver_names_are_guessed(typed: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        solve(CANCER, IS_BENIGN, solver=typed)


def test_options_and_other_words_are_guessed() -> None:
    for wrong, right in (
        (lambda: solve(CANCER, IS_BENIGN, loss="squared-hinge"), "squared_hinge"),
        (lambda: solve(CANCER, IS_BENIGN, order="permutaton"), "permutation"),
        (lambda: solve(CANCER, IS_BENIGN, intercept="penalised"), "penalized"),
        (lambda: LinearSVC(intercept="Free").fit(CANCER, IS_BENIGN), "free"),
        (lambda: LinearSVC(class_weight="balance").fit(CANCER, IS_BENIGN), "balanced"),
        (lambda: LinearSVC(solver="pegasos").set_params(solver__projecton=True), "projection"),
    ):
        with pytest.raises(ValueError, match=f"Did you mean '{right}'"):
            wrong()


def test_a_class_instead_of_an_object_is_named() -> None:
    with pytest.raises(ValueError, match=r"solver=Pegasos is a class.*solver=Pegasos\(\)"):
        LinearSVC(solver=hinge.Pegasos).fit(CANCER, IS_BENIGN)


def test_a_solver_is_called_as_typed() -> None:
    with pytest.raises(ValueError, match="'mpu' does not support"):
        solve(CANCER, IS_BENIGN, solver="mpu", loss="squared_hinge")
    with pytest.raises(ValueError, match="MPU does not support"):
        solve(CANCER, IS_BENIGN, solver=hinge.MPU(), loss="squared_hinge")


def test_numbers_in_messages_are_plain() -> None:
    for wrong in (
        lambda: solve(CANCER, IS_BENIGN, C=np.float64(-1)),
        lambda: solve(CANCER, IS_BENIGN, tol=np.float64(-1)),
        lambda: solve(CANCER, IS_BENIGN, max_iter=np.int64(0)),
        lambda: LinearSVC(class_weight={np.int64(7): 1.0}).fit(CANCER, IS_BENIGN),
        lambda: LinearSVC(class_weight={np.int64(0): np.float64(-1)}).fit(CANCER, IS_BENIGN),
        lambda: LinearSVC().fit(CANCER, np.zeros(len(CANCER), dtype=np.int64)),
        lambda: OnlineSVC().partial_fit(CANCER, IS_BENIGN + 1, classes=[0, 1]),
        lambda: OnlineSVC().partial_fit(CANCER, IS_BENIGN, classes=np.zeros(2, dtype=np.int64)),
    ):
        with pytest.raises(ValueError, match=r"\w") as refusal:
            wrong()
        assert "np." not in str(refusal.value), refusal.value


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_column_is_named(library: str) -> None:
    frames = pytest.importorskip(library)
    spoilt = IRIS.copy()
    spoilt[7, 2] = np.nan
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    bad, good = (frames.DataFrame(dict(zip(names, X.T, strict=True))) for X in (spoilt, IRIS))
    fitted, stream = LinearSVC().fit(good, SPECIES), OnlineSVC().fit(good, SPECIES)
    for wrong in (
        lambda: LinearSVC().fit(bad, SPECIES),
        lambda: fitted.predict(bad),
        lambda: solve(bad, SPECIES > 0),
        lambda: hinge.path(bad, SPECIES > 0),
        lambda: OnlineSVC().fit(bad, SPECIES),
        lambda: stream.predict(bad),
    ):
        with pytest.raises(ValueError, match=r"NaN \(row 7, column 2 \('petal length'\)\)"):
            wrong()


def test_masked_arrays_are_refused() -> None:
    masked = np.ma.masked_array(CANCER, mask=CANCER > 3)
    some = np.ma.masked_array(IS_BENIGN, mask=IS_BENIGN > 3)
    weight = np.ma.masked_array(np.ones(len(CANCER)), mask=False)
    for train in (solve, hinge.path, LinearSVC().fit, OnlineSVC().fit):
        for name, X, y, options in (
            ("X", masked, IS_BENIGN, {}),
            ("y", CANCER, some, {}),
            ("sample_weight", CANCER, IS_BENIGN, {"sample_weight": weight}),
        ):
            with pytest.raises(ValueError, match=f"{name} is a masked array"):
                train(X, y, **options)


class Forgetful(hinge.Run):
    def __init__(self, m: int, read: Any, point: Any) -> None:
        self.m, self.read, self.offered = m, read, point

    def advance(self, epochs: int) -> Any:
        return self.read

    def point(self) -> Any:
        return self.offered


@pytest.mark.parametrize(
    ("read", "point", "message"),
    [
        (None, hinge.Point(np.zeros(569)), r"Forgetful.advance returned None.*number of rows"),
        (1.5, hinge.Point(np.zeros(569)), r"Forgetful.advance returned 1.5"),
        (569, np.zeros(569), r"Forgetful.point returned an object of type ndarray.*Point\(a\)"),
    ],
)
def test_mistakes_of_own_solvers_are_named(read: Any, point: Any, message: str) -> None:
    class Own:
        traits = hinge.Traits()

        def start(self, problem: Any, setup: Any) -> Any:
            return Forgetful(problem.m, read, point)

    with pytest.raises(TypeError, match=message):
        solve(CANCER, IS_BENIGN, solver=Own())
