"""The training loop: limits, callbacks, history, budget and seeds."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from loops import VARIANTS, Signalled, X, assert_same_state, make, solve_quietly, unconverged, y
from sklearn.exceptions import ConvergenceWarning

import hinge.loop
from hinge import BestOf, LinearSVC, Pegasos, Problem, Progress, solve

# Limits


@pytest.mark.parametrize("limit", [0.3, 1.0])
def test_time_limit_holds_inside_a_long_epoch(limit) -> None:
    began = time.perf_counter()
    solution = solve_quietly(X, y, solver=Signalled(), time_limit=limit)
    seconds = time.perf_counter() - began
    assert solution.status == "time_limit"
    assert limit * 0.9 <= seconds < limit + 0.7, f"{seconds:.2f} s with a limit of {limit} s"
    assert solution.certificate.dual <= solution.certificate.primal


@pytest.mark.parametrize("solver", ["norma", "zhang", "svmsgd", "sgd-qn"])
def test_time_limit_holds_inside_a_long_epoch_of_every_descent(solver) -> None:
    began = time.perf_counter()
    solution = solve_quietly(
        X, y, solver=Signalled(solver=VARIANTS[solver]), tol=1e-12, intercept="none", time_limit=0.2
    )
    seconds = time.perf_counter() - began
    assert solution.status == "time_limit"
    assert seconds < 0.9, f"{seconds:.2f} s with a limit of 0.2 s"
    assert 0.0 < solution.certificate.dual <= solution.certificate.primal


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

    def tailored(self, problem: Problem, options: Any) -> Any:
        return self  # the solver's own would not be counted

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
    if "rng" in one.state:
        assert set(changed) > {"rng"}, "the seed changes nothing"
    else:
        assert not changed, "a solver that draws nothing at random depends on the seed"
