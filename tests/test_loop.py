"""The training loop: interrupts, limits, callbacks, history, budget, seeds, saved states and warm starts."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import hinge.loop
from hinge import DCD, BestOf, LinearSVC, Pegasos, Point, Problem, Progress, SGDm, SGDr, SGDs, solve, verify

SOLVERS = {"dcd": DCD(), "pegasos": Pegasos(), "sgd-r": SGDr(), "sgd-s": SGDs(), "sgd-m": SGDm()}
VARIANTS = {
    **SOLVERS,
    "dcd without shrinking": DCD(shrinking=False),
    "dcd without polish": DCD(polish=False),
    "pegasos k": Pegasos(k=7, sampling="epoch"),
    "pegasos average": Pegasos(output="average", start_at="random"),
    "pegasos random": Pegasos(output="random", projection=False),
    "pegasos lazy": Pegasos(advance_without_loss=False),
}


def make(m: int, d: int = 10, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Noisy rows that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=m)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


X, y = make(5000)


@contextmanager
def unconverged() -> Iterator[None]:
    """For runs that are meant to end early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def solve_quietly(X: Any, y: Any, **options: Any) -> hinge.Solution:
    with unconverged():
        return solve(X, y, **options)


class Signalled:
    """Pegasos in native calls of many seconds; `signum` is sent to this process soon after the first one begins."""

    intercepts = ("none", "free", "penalized")
    default_order = None

    def __init__(self, signum: signal.Signals | None = None, delay: float = 0.3, length: int = 10_000) -> None:
        self.signum, self.delay, self.length = signum, delay, length
        self.sent = float("nan")
        self._lock = threading.Lock()
        self._armed = False

    def start(self, problem: Problem, *, order: Any, stream: Any, poll: Any) -> Any:
        with self._lock:
            if self.signum is not None and not self._armed:
                self._armed = True
                threading.Timer(self.delay, self._send).start()
        run, length = Pegasos().start(problem, order=None, stream=stream, poll=poll), self.length

        class Run:
            point = run.point

            def advance(self, epochs: int) -> int:
                return run.advance(epochs * length)

        return Run()

    def _send(self) -> None:
        self.sent = time.perf_counter()
        os.kill(os.getpid(), self.signum)

    @property
    def waited(self) -> float:
        return time.perf_counter() - self.sent


# Seconds: a run that misses its signal fails soon, not in an hour.
SAFETY_NET = 6.0


class OutOfTime(Exception):
    pass


@contextmanager
def handler(signum: signal.Signals, function: Callable[..., Any]) -> Iterator[None]:
    before = signal.signal(signum, function)
    try:
        yield
    finally:
        signal.signal(signum, before)


def raise_out_of_time(*_: Any) -> None:
    raise OutOfTime


# Interrupts


def test_interrupt_is_noticed_inside_a_long_epoch() -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((6_000_000, 6), dtype=np.float32) - np.float32(0.5)
    labels = (rows[:, 0] + 0.3 * rows[:, 1] > 0.1).astype(np.int8)
    solver = Signalled(signal.SIGINT, delay=0.2, length=1)
    solution = solve(rows, labels, solver=solver, intercept="none")
    waited = solver.waited
    assert solution.status == "interrupted"
    assert solution.n_iter == 0, "the interrupt was only noticed after the epoch"
    assert waited < 1.5, f"solve returned {waited:.1f} s after Ctrl-C"


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_solve_returns_a_certified_model_after_an_interrupt(intercept) -> None:
    solver = Signalled(signal.SIGINT)
    solution = solve(X, y, solver=solver, intercept=intercept, C=0.1)
    assert solver.waited < 1.5, f"solve returned {solver.waited:.1f} s after Ctrl-C"
    assert solution.status == "interrupted"
    assert solution.state is None
    checked = verify(solution, X, y)
    assert solution.certificate.dual <= checked.dual * (1 + 1e-9), "the dual of the interrupted model is false"
    assert solution.certificate.primal >= checked.primal * (1 - 1e-9), "the primal of the interrupted model is false"
    best = solve(X, y, intercept=intercept, C=0.1).certificate
    assert solution.certificate.dual <= best.primal
    assert solution.certificate.primal >= best.dual
    assert solution.certificate.relative_gap < 0.5, "the work done until Ctrl-C was thrown away"


@pytest.mark.parametrize(("classes", "n_jobs"), [(2, None), (3, None), (3, 2), (4, 2), (3, -1)])
def test_fit_stores_the_model_and_raises_again(classes, n_jobs) -> None:
    rows, labels = make(5000, classes=classes)
    solver = Signalled(signal.SIGINT)
    model = LinearSVC(solver=solver, n_jobs=n_jobs, store_dual=True, time_limit=SAFETY_NET)
    with unconverged(), pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    assert solver.waited < 1.5, f"fit returned {solver.waited:.1f} s after Ctrl-C"
    assert model.status_ == "interrupted"
    assert model.coef_.shape == (1 if classes == 2 else classes, 10)
    assert np.isfinite(model.decision_function(rows)).all()
    assert set(model.predict(rows)) <= set(range(classes))
    verify(model, rows, labels)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_interrupt_is_noticed_where_signals_do_not_end_system_calls(n_jobs) -> None:
    # Some libraries (polars) set SA_RESTART for SIGINT: a blocking wait in Python then sleeps through Ctrl-C.
    signal.siginterrupt(signal.SIGINT, False)
    try:
        test_fit_stores_the_model_and_raises_again(3, n_jobs)
    finally:
        signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.parametrize(("classes", "n_jobs"), [(2, None), (3, None), (3, 2)])
def test_exception_of_another_signal_handler_ends_the_run_and_propagates(classes, n_jobs) -> None:
    rows, labels = make(5000, classes=classes)
    solver = Signalled(signal.SIGALRM)
    model = LinearSVC(solver=solver, n_jobs=n_jobs, time_limit=SAFETY_NET)
    with handler(signal.SIGALRM, raise_out_of_time), unconverged(), pytest.raises(OutOfTime):
        model.fit(rows, labels)
    assert solver.waited < 1.5, f"fit returned {solver.waited:.1f} s after the alarm"
    assert np.isfinite(model.decision_function(rows)).all(), "the model so far was not stored"


def test_solve_raises_what_a_signal_handler_raised() -> None:
    solver = Signalled(signal.SIGALRM)
    with handler(signal.SIGALRM, raise_out_of_time), unconverged(), pytest.raises(OutOfTime):
        solve(X, y, solver=solver, time_limit=SAFETY_NET)
    assert solver.waited < 1.5


def test_signal_handler_that_returns_does_not_end_the_run() -> None:
    seen = []
    with handler(signal.SIGALRM, lambda *_: seen.append(1)):
        solution = solve_quietly(X, y, solver=Signalled(signal.SIGALRM, delay=0.2), time_limit=0.8)
    assert seen == [1]
    assert solution.status == "time_limit"


def test_a_new_fit_after_an_interrupt_is_not_affected() -> None:
    model = LinearSVC(solver=Signalled(signal.SIGINT), warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model.set_params(solver="dcd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # starts afresh, and says so
        model.fit(X, y)
    assert model.status_ == "converged"
    assert np.array_equal(model.coef_, LinearSVC().fit(X, y).coef_)


def test_interrupt_from_a_callback_is_an_interrupt() -> None:
    def callback(_: Progress) -> None:
        raise KeyboardInterrupt

    assert solve(X, y, callback=callback).status == "interrupted"


# Limits


@pytest.mark.parametrize("limit", [0.3, 1.0])
def test_time_limit_holds_inside_a_long_epoch(limit) -> None:
    began = time.perf_counter()
    solution = solve_quietly(X, y, solver=Signalled(), time_limit=limit)
    seconds = time.perf_counter() - began
    assert solution.status == "time_limit"
    assert limit * 0.9 <= seconds < limit + 0.7, f"{seconds:.2f} s with a limit of {limit} s"
    assert solution.certificate.dual <= solution.certificate.primal


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_time_limit_is_for_all_classes_together(n_jobs) -> None:
    rows, labels = make(5000, classes=4)
    began = time.perf_counter()
    with unconverged():
        model = LinearSVC(solver=Signalled(), time_limit=0.6, n_jobs=n_jobs).fit(rows, labels)
    seconds = time.perf_counter() - began
    assert model.status_ == "time_limit"
    assert seconds < 1.6, f"{seconds:.2f} s for four classes with a limit of 0.6 s"


def test_time_limit_is_for_all_runs_of_a_composite_together() -> None:
    began = time.perf_counter()
    # Runs that end before the limit, one after the other.
    solve_quietly(X, y, solver=BestOf(Pegasos(), runs=40), tol=1e-9, max_iter=40 * 300, time_limit=0.5)
    seconds = time.perf_counter() - began
    assert seconds < 1.5, f"{seconds:.1f} s with a limit of 0.5 s"


def test_unconverged_run_warns_with_gap_and_advice() -> None:
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of .*above tol=.*Raise time_limit"):
        solve(X, y, solver=Signalled(), time_limit=0.2)
    with pytest.warns(ConvergenceWarning, match=r"after 3 passes.*Raise max_iter"):
        solve(X, y, tol=1e-12, max_iter=3)


@pytest.mark.parametrize("m", [50, 1500, 5000])
@pytest.mark.parametrize("solver", VARIANTS)
def test_max_iter_is_respected_exactly(solver, m) -> None:
    for max_iter in (1, 3, 17):
        solution = solve_quietly(
            X[:m], y[:m], solver=VARIANTS[solver], intercept="penalized", tol=1e-15, max_iter=max_iter, C=100.0
        )
        assert solution.n_iter <= max_iter, f"{solution.n_iter} passes with max_iter={max_iter}"
        if solution.status == "max_iter":
            assert solution.n_iter == max_iter, f"{solution.n_iter} passes, but max_iter={max_iter} ended the run"


@pytest.mark.parametrize("max_iter", [3, 10])
def test_composite_solver_shares_max_iter(max_iter) -> None:
    solution = solve_quietly(X, y, solver=BestOf(Pegasos(), runs=3), tol=1e-9, max_iter=max_iter)
    assert solution.n_iter <= max_iter, f"{solution.n_iter} passes with max_iter={max_iter}"


def test_composite_solver_refuses_fewer_passes_than_runs() -> None:
    with pytest.raises(ValueError, match="max_iter"):
        solve(X, y, solver=BestOf(Pegasos(), runs=3), max_iter=2)


# Callbacks, history, table


def test_callback_sees_every_epoch() -> None:
    seen: list[Progress] = []
    solution = solve_quietly(X, y, solver="sgd-s", intercept="none", max_iter=12, tol=1e-9, callback=seen.append)
    assert [progress.epoch for progress in seen] == list(range(1, 13))
    assert all(a.seconds <= b.seconds for a, b in pairwise(seen))
    assert solution.certificate.primal <= seen[-1].certificate.primal


def test_callback_can_stop_the_run() -> None:
    solution = solve_quietly(
        X, y, solver="sgd-s", intercept="none", tol=1e-9, callback=lambda progress: progress.epoch >= 4
    )
    assert (solution.status, solution.n_iter) == ("callback", 4)
    assert solution.state is not None, "a run that a callback stopped can be resumed"
    assert solution.certificate.dual > 0, "the model is evaluated when the callback stops the run"


@pytest.mark.parametrize("answer", [None, False, 0])
def test_callback_that_does_not_ask_to_stop_does_not(answer) -> None:
    assert solve(X, y, callback=lambda _: answer).status == "converged"


def test_exception_of_a_callback_propagates() -> None:
    def callback(_: Progress) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        solve(X, y, callback=callback)


@pytest.mark.parametrize("solver", VARIANTS)
def test_history_never_gets_worse(solver) -> None:
    solution = solve_quietly(
        X, y, solver=VARIANTS[solver], intercept="penalized", tol=1e-5, max_iter=60, random_state=3
    )
    history = solution.history
    assert history, "no evaluation was recorded"
    for before, after in pairwise(history):
        assert after.epoch >= before.epoch
        assert after.seconds >= before.seconds
        assert after.primal <= before.primal, "the best primal went up"
        assert after.dual >= before.dual, "the best dual went down"
    assert all(record.gap == record.primal - record.dual for record in history)
    last = (history[-1].primal, history[-1].dual)
    assert last == (solution.certificate.primal, solution.certificate.dual), "the last record is not the certificate"
    assert history[-1].epoch == solution.n_iter


def test_verbose_prints_a_table(capsys) -> None:
    solution = solve(X, y, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["epoch", "seconds", "primal", "dual", "relative", "gap"]
    assert len(lines) == 1 + len(solution.history), "one line per evaluation"
    epoch, _, primal, dual, gap = map(float, lines[-1].split())
    assert epoch == solution.n_iter
    assert (primal, dual) == pytest.approx((solution.certificate.primal, solution.certificate.dual), rel=1e-6)
    assert gap == pytest.approx(solution.certificate.relative_gap, rel=0.01)


def test_verbose_names_the_class(capsys) -> None:
    rows, labels = make(2000, classes=3)
    LinearSVC(verbose=1).fit(rows, np.array(["ant", "bee", "cat"])[labels])
    out = capsys.readouterr().out
    assert all(f"[{name}]" in out for name in ("ant", "bee", "cat")), out


def test_nothing_is_printed_unless_asked_for(capsys) -> None:
    solve(X, y)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


# Evaluation budget


class Counting:
    """Counts the rows that a solver reads."""

    def __init__(self, solver: Any) -> None:
        self.solver, self.touched = solver, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solver, name)

    def start(self, problem: Problem, **options: Any) -> Any:
        run = self.solver.start(problem, **options)
        advance = run.advance

        def counted(epochs: int) -> int:
            rows = advance(epochs)
            self.touched += rows
            return rows

        run.advance = counted
        return run


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("solver", VARIANTS)
def test_evaluations_read_at_most_a_fifth_of_the_rows_and_one_final_look(solver, tol, monkeypatch) -> None:
    rows = 0

    def primal_side(problem: Problem, *args: Any, _original: Any = hinge.loop.primal_side) -> Any:
        nonlocal rows
        rows += problem.m
        return _original(problem, *args)

    def dual_side(problem: Problem, a: Any, *args: Any, _original: Any = hinge.loop.dual_side) -> Any:
        nonlocal rows
        rows += int(np.count_nonzero(a))
        return _original(problem, a, *args)

    monkeypatch.setattr(hinge.loop, "primal_side", primal_side)
    monkeypatch.setattr(hinge.loop, "dual_side", dual_side)
    for max_iter in (1, 7, 23, 24, 25, 60):
        counting, rows = Counting(VARIANTS[solver]), 0
        solve_quietly(X, y, solver=counting, intercept="penalized", tol=tol, max_iter=max_iter)
        beyond = rows - 2 * len(y)
        assert beyond <= 0.2 * counting.touched, (
            f"max_iter={max_iter}: {rows} rows evaluated, {counting.touched} trained on: "
            f"{100 * beyond / counting.touched:.0f} % beyond the final evaluation"
        )


def test_evaluations_do_not_depend_on_the_clock() -> None:
    runs = [solve(X, y, intercept="none", callback=lambda _, pause=pause: time.sleep(pause)) for pause in (0.0, 0.01)]
    assert [record.epoch for record in runs[0].history] == [record.epoch for record in runs[1].history]
    assert np.array_equal(runs[0].coef, runs[1].coef)


def test_tiny_problems_are_solved_to_the_limits_of_float64() -> None:
    for seed in range(5):
        rows, labels = make(300, d=12, seed=seed)
        certificate = solve(rows, labels).certificate
        assert certificate.relative_gap < 1e-10, f"seed {seed}: {certificate}"


# Seeds


@pytest.mark.parametrize("solver", VARIANTS)
def test_same_seed_same_bits_other_seed_other_bits(solver) -> None:
    def run(seed: int) -> hinge.Solution:
        return solve_quietly(
            X, y, solver=VARIANTS[solver], intercept="penalized", tol=1e-6, max_iter=4, random_state=seed
        )

    one, again, other = run(1), run(1), run(2)
    assert np.array_equal(one.coef, again.coef), "same seed, other model"
    assert np.array_equal(one.dual, again.dual), "same seed, other multipliers"
    assert one.certificate == again.certificate, "same seed, another certificate"
    assert_same_state(one.state, again.state)
    changed = [key for key, value in one.state.items() if not np.array_equal(value, other.state[key])]
    assert set(changed) > {"rng"}, "the seed changes nothing"


# Saved states


def roundtrip(state: dict[str, Any]) -> dict[str, Any]:
    """Through a file, without pickle."""
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        return dict(saved)


def assert_same_state(found: Any, expected: Any) -> None:
    assert found.keys() == expected.keys()
    for key in expected:
        assert np.array_equal(found[key], expected[key], equal_nan=True), f"state[{key!r}] differs"


@pytest.mark.parametrize("m", [1500, 5000])
@pytest.mark.parametrize(
    ("solver", "intercept"), [(name, kind) for name, solver in VARIANTS.items() for kind in solver.intercepts]
)
def test_two_half_runs_are_one_run(solver, intercept, m) -> None:
    configuration = VARIANTS[solver]

    def run(max_iter: int, state: Any = None) -> Any:
        options = {"solver": configuration, "intercept": intercept, "tol": 1e-9, "C": 10.0}
        solution = solve_quietly(X[:m], y[:m], max_iter=max_iter, state=state, **options)
        assert solution.status == "max_iter", "the test wants a run that is not finished"
        return solution.state

    for first, second in ((5, 5), (4, 16)):
        half = run(first)
        whole = run(first + second)
        assert_same_state(run(second, half), whole)
        assert_same_state(run(second, roundtrip(half)), whole)


def test_state_holds_arrays_and_plain_numbers_only() -> None:
    for solver in VARIANTS.values():
        state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9).state
        for key, value in state.items():
            assert isinstance(value, int | float | np.ndarray), f"{solver}: state[{key!r}] is a {type(value).__name__}"
            assert np.asarray(value).dtype.kind in "iuf", f"{solver}: state[{key!r}] is not numeric"


def test_resuming_does_not_change_the_saved_state() -> None:
    for solver in VARIANTS.values():
        state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9).state
        copy = {key: np.copy(value) for key, value in state.items()}
        solve_quietly(X, y, solver=solver, intercept="none", max_iter=2, tol=1e-9, state=state)
        assert_same_state(state, copy)


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_of_a_finished_run_is_finished(solver) -> None:
    tol = {"dcd": 1e-3}.get(solver, 0.2)
    options = {"solver": solver, "intercept": "none", "tol": tol, "C": 0.01}
    first = solve(X, y, **options)
    again = solve(X, y, state=first.state, **options)
    assert again.status == "converged"
    assert again.n_iter <= first.n_iter // 4, f"{again.n_iter} passes to finish a finished run of {first.n_iter}"


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_on_another_problem_is_still_certified(solver) -> None:
    state = solve_quietly(X, y, solver=solver, intercept="none", max_iter=5, tol=1e-9).state
    for labels, C in ((1 - y, 1.0), (y, 0.01), (y, 100.0), (np.roll(y, 1), 1.0)):
        best = solve_quietly(X, labels, intercept="none", C=C, tol=1e-3).certificate
        found = solve_quietly(X, labels, solver=solver, intercept="none", C=C, max_iter=3, state=state)
        assert found.certificate.dual <= best.primal, f"{solver}: dual above the optimum after another problem's state"
        assert found.certificate.primal >= best.dual
        checked = verify(found, X, labels)
        np.testing.assert_allclose(checked.primal, found.certificate.primal, rtol=1e-9)
        np.testing.assert_allclose(checked.dual, found.certificate.dual, rtol=1e-9)


# Warm start


@pytest.mark.parametrize(
    ("solver", "tol"), [("dcd", 1e-4), ("pegasos", 0.1), ("sgd-s", 0.05), ("sgd-m", 0.05), ("sgd-r", 0.1)]
)
def test_warm_start_saves_epochs(solver, tol) -> None:
    params = {"solver": solver, "tol": tol, "C": 0.1, "fit_intercept": False}
    model = LinearSVC(warm_start=True, **params).fit(X, y)
    cold = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ <= max(1, cold // 4), f"{model.n_iter_} passes again after {cold}"
    assert model.status_ == "converged"


@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_warm_start_saves_epochs_after_a_small_change_of_C(intercept) -> None:
    model = LinearSVC(warm_start=True, C=1.0, tol=1e-5, intercept=intercept).fit(X, y)
    warm = model.set_params(C=1.02).fit(X, y).n_iter_
    cold = LinearSVC(C=1.02, tol=1e-5, intercept=intercept).fit(X, y).n_iter_
    assert warm <= 0.7 * cold, f"{warm} passes from C=1, {cold} from nothing"
    assert model.certificate_.relative_gap <= 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
def test_warm_start_on_permuted_rows_is_still_certified(solver) -> None:
    model = LinearSVC(solver=solver, warm_start=True, tol=0.2, C=0.01, fit_intercept=False, store_dual=True).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    with unconverged():
        model.fit(X[order], y[order])
    checked, found = verify(model, X[order], y[order]), model.certificate_
    np.testing.assert_allclose([found.primal, found.dual], [checked.primal, checked.dual], rtol=1e-9)


def test_warm_start_on_another_shape_starts_afresh_and_says_so() -> None:
    model = LinearSVC(warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="starting afresh"):
        model.fit(X[:4000, :7], y[:4000])
    assert np.array_equal(model.coef_, LinearSVC().fit(X[:4000, :7], y[:4000]).coef_)


def test_warm_start_with_other_solver_options_starts_afresh_or_goes_on() -> None:
    model = LinearSVC(warm_start=True, solver=Pegasos(), tol=0.5, C=0.01).fit(X, y)
    model.set_params(solver=Pegasos(output="average"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, y)
    assert model.status_ == "converged"


def test_warm_start_works_for_every_class() -> None:
    rows, labels = make(5000, classes=3)
    model = LinearSVC(warm_start=True, tol=1e-4).fit(rows, labels)
    cold = model.n_iter_
    assert model.fit(rows, labels).n_iter_ <= max(1, cold // 4)


def test_without_warm_start_a_second_fit_is_the_first() -> None:
    model = LinearSVC().fit(X, y)
    coef, passes = model.coef_, model.n_iter_
    model.fit(X, y)
    assert np.array_equal(model.coef_, coef)
    assert model.n_iter_ == passes


# A user's own solver


class MyRun:
    """Dual coordinate ascent in NumPy: nothing but advance and point."""

    def __init__(self, problem: Problem, stream: tuple[int, ...]) -> None:
        self.problem = problem
        self.random = np.random.default_rng(stream)
        self.a = np.zeros(problem.m)
        self.w = np.zeros(problem.n_features + 1)

    def advance(self, epochs: int) -> int:
        rows, norms = self.problem.rows, self.problem.rows.squared_norms
        for _ in range(epochs):
            for i in self.random.permutation(self.problem.m):
                sign = self.problem.y[i]
                wanted = self.a[i] + (1 - sign * rows.dot(i, self.w)) / norms[i]
                a = min(max(wanted, 0.0), self.problem.cost[i])
                rows.add(i, float((a - self.a[i]) * sign), self.w)
                self.a[i] = a
        return epochs * self.problem.m

    def point(self) -> Point:
        return Point(self.a)


class MySolver:
    """Only `start`: everything else is optional."""

    def start(self, problem: Problem, *, order: Any, stream: tuple[int, ...], poll: Any) -> MyRun:
        return MyRun(problem, stream)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_own_solver_gets_loop_and_certificate(layout) -> None:
    rows, labels = layout(X[:1200]), y[:1200]
    solution = solve(rows, labels, solver=MySolver(), intercept="penalized", C=0.1)
    assert solution.status == "converged"
    assert solution.certificate.relative_gap <= 1e-3
    assert solution.history
    assert solution.state is None
    native = solve(rows, labels, intercept="penalized", C=0.1).certificate
    assert solution.certificate.dual <= native.primal
    assert native.dual <= solution.certificate.primal


def test_own_solver_works_in_the_estimator() -> None:
    model = LinearSVC(solver=MySolver(), intercept="penalized", C=0.1, warm_start=True).fit(X[:1200], y[:1200])
    assert model.status_ == "converged"
    with pytest.warns(UserWarning, match="starting afresh"):
        model.fit(X[:1200], y[:1200])
    assert model.status_ == "converged"


def test_own_solver_that_cannot_be_resumed_says_so() -> None:
    with pytest.raises((TypeError, ValueError), match="cannot be resumed"):
        solve(X, y, solver=MySolver(), intercept="penalized", state={"a": 1})


def test_own_solver_with_wild_multipliers_never_gets_a_false_certificate() -> None:
    best = solve(X, y).certificate

    class Wild(MyRun):
        def advance(self, epochs: int) -> int:
            self.a = self.random.standard_cauchy(self.problem.m) * 10
            self.a[:5] = [np.nan, np.inf, -np.inf, 1e308, -1e308]
            return self.problem.m * epochs

    class WildSolver(MySolver):
        def start(self, problem: Problem, *, order: Any, stream: tuple[int, ...], poll: Any) -> MyRun:
            return Wild(problem, stream)

    for intercept in ("none", "free", "penalized"):
        best = solve(X, y, intercept=intercept).certificate
        found = solve_quietly(X, y, solver=WildSolver(), intercept=intercept, max_iter=30).certificate
        assert found.dual <= best.primal, f"{intercept}: dual {found.dual} above the optimum"
        assert found.primal >= best.dual, f"{intercept}: primal {found.primal} below the optimum"
