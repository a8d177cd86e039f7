"""The training loop: numbers of passes, callbacks, history and seeds."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from loops import X, assert_same_state, make, solve_quietly, start, y
from registry import VARIANTS, with_losses
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import BestOf, Certificate, LinearSVC, Pegasos, Problem, Record, solve
from hinge.problem import as_rows
from hinge.solvers import SOLVERS
from hinge.training.schedule import Schedule

WITH_LOSSES = with_losses(VARIANTS)

# Passes


def test_unconverged_run_warns_with_gap_and_advice() -> None:
    with pytest.warns(
        ConvergenceWarning, match=r"relative duality gap of .*above tol=.*after 3 passes.*Raise max_iter"
    ):
        solve(X, y, tol=1e-12, max_iter=3)


@pytest.mark.parametrize(("solver", "loss"), WITH_LOSSES)
def test_max_iter_is_respected_exactly(solver, loss) -> None:
    options = {"solver": VARIANTS[solver], "loss": loss, "intercept": "penalized", "tol": 1e-15, "C": 100.0}
    for m, max_iter in ((50, 1), (50, 17), (1500, 3), (5000, 1), (5000, 17)):
        solution = solve_quietly(X[:m], y[:m], max_iter=max_iter, **options)
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
    seen: list[Record] = []
    solution = solve_quietly(X, y, solver="sgd-s", intercept="none", max_iter=12, tol=1e-9, callback=seen.append)
    assert [record.epoch for record in seen] == list(range(1, 13))
    assert all(a.seconds <= b.seconds for a, b in pairwise(seen))
    assert solution.certificate.primal <= seen[-1].certificate.primal


def test_callback_can_stop_the_run() -> None:
    solution = solve_quietly(
        X, y, solver="sgd-s", intercept="none", tol=1e-9, callback=lambda record: record.epoch >= 4
    )
    assert (solution.status, solution.n_iter) == ("callback", 4)
    assert solution.state is not None, "a run that a callback stopped can be resumed"
    assert solution.certificate.dual > 0, "the model is evaluated when the callback stops the run"


@pytest.mark.parametrize("answer", [None, False, 0])
def test_callback_that_does_not_ask_to_stop_does_not(answer) -> None:
    assert solve(X, y, callback=lambda _: answer).status == "converged"


def test_exception_of_a_callback_propagates() -> None:
    def callback(_: Record) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        solve(X, y, callback=callback)


def test_callback_sees_the_records_of_the_history() -> None:
    seen: list[Record] = []
    solution = solve(X, y, callback=seen.append)
    assert all(isinstance(progress, hinge.Progress) for progress in seen)
    assert {(r.primal, r.dual) for r in solution.history} <= {(r.primal, r.dual) for r in [*seen, solution.history[-1]]}
    assert all(record.certificate.relative_gap == record.relative_gap for record in seen)


@pytest.mark.parametrize(("solver", "loss"), WITH_LOSSES)
def test_history_never_gets_worse(solver, loss) -> None:
    options = {"solver": VARIANTS[solver], "loss": loss, "intercept": "penalized", "tol": 1e-5, "random_state": 3}
    solution = solve_quietly(X, y, max_iter=60, **options)
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
    solution = solve(X, y, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["epoch", "seconds", "primal", "dual", "relative", "gap", "solver"]
    assert len(lines) == 1 + len(solution.history), "one line per evaluation"
    epoch, _, primal, dual, gap = map(float, lines[-1].split()[:-1])
    assert epoch == solution.n_iter
    assert (primal, dual) == pytest.approx((solution.certificate.primal, solution.certificate.dual), rel=1e-6)
    assert gap == pytest.approx(solution.certificate.relative_gap, rel=0.01)


def test_verbose_names_the_class(capsys) -> None:
    rows, labels = make(2000, classes=3)
    LinearSVC(verbose=2).fit(rows, np.array(["ant", "bee", "cat"])[labels])
    out = capsys.readouterr().out
    assert all(f"class {k}/3 ({name})" in out for k, name in enumerate(("ant", "bee", "cat"), 1)), out
    assert out.count("relative gap") == 1, "one header is enough"


def test_certificate_reads_as_a_sentence() -> None:
    assert str(Certificate(101.0, 100.0)) == "optimum in [100, 101]: this model is within 1 % of it"
    assert str(Certificate(1.0, 0.0)) == "optimum in [0, 1]: this model is within inf % of it"


def test_nothing_is_printed_unless_asked_for(capsys) -> None:
    solve(X, y)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_evaluations_do_not_depend_on_the_clock() -> None:
    runs = [solve(X, y, intercept="none", callback=lambda _, pause=pause: time.sleep(pause)) for pause in (0.0, 0.01)]
    assert [record.epoch for record in runs[0].history] == [record.epoch for record in runs[1].history]
    assert np.array_equal(runs[0].coef, runs[1].coef)


def test_tiny_problems_are_solved_to_the_limits_of_float64() -> None:
    for seed in range(5):
        rows, labels = make(300, d=12, seed=seed)
        for loss in ("hinge", "squared_hinge"):
            certificate = solve(rows, labels, loss=loss).certificate
            assert certificate.relative_gap < 1e-10, f"seed {seed}, {loss}: {certificate}"


# Seeds


@pytest.mark.parametrize(("solver", "loss"), WITH_LOSSES)
def test_same_seed_same_bits_other_seed_other_bits(solver, loss) -> None:
    def run(seed: int) -> hinge.Solution:
        options = {"solver": VARIANTS[solver], "loss": loss, "intercept": "penalized", "tol": 1e-6}
        return solve_quietly(X, y, max_iter=4, random_state=seed, **options)

    one, again, other = run(1), run(1), run(2)
    assert np.array_equal(one.coef, again.coef), "same seed, other model"
    assert np.array_equal(one.dual, again.dual), "same seed, other multipliers"
    assert one.certificate == again.certificate, "same seed, another certificate"
    assert_same_state(one.state, again.state)
    changed = [key for key, value in one.state.items() if not np.array_equal(value, other.state[key])]
    if "rng" in one.state:
        assert set(changed) - {"rng", "loop_seal"}, "the seed changes nothing"
    else:
        assert not changed, "a solver that draws nothing at random depends on the seed"


def test_an_evaluation_without_a_dual_value_says_how_far_the_estimate_was_off() -> None:
    schedule = Schedule(1000, 1e-2, None)
    schedule.failed((1.009, 1.0), Certificate(primal=1.012, dual=0.0))  # the primal value was enough to disprove it
    assert not schedule.due(1000, (1.0076, 1.0)), (
        "the estimate was three quarters of the gap: it must be within three quarters of tol"
    )
    assert schedule.due(1000, (1.0074, 1.0))


def test_solver_at_work_on_a_handful_of_rows_is_evaluated_in_the_end() -> None:
    """It reads so few rows that they would never pay for an evaluation."""
    schedule = Schedule(1000, 1e-2, None)
    schedule.evaluated(2000)
    assert not schedule.due(1000, (1.008, 1.0)), "too early: the last evaluation has read more rows than training"
    assert schedule.due(1000, (1.0049, 1.0))


@pytest.mark.parametrize("solver", ["dcd", "mpu"])
def test_epochs_over_few_rows_make_one_pass_together(solver: str) -> None:
    rows, labels = make(5000, d=8)
    target, cost = np.where(labels == 1, 1.0, -1.0), np.full(5000, 10.0)
    run = start(SOLVERS[solver], Problem(as_rows(rows), target, cost), tol=1e-6)
    read = [run.advance(1) for _ in range(5)]
    assert min(read) >= 5000, "a pass reads as many rows as there are"
    assert any(passed % 5000 for passed in read), "the test wants epochs that leave rows out"
    found = solve_quietly(rows, labels, C=10.0, tol=1e-6, solver=solver, max_iter=5)
    assert (found.status, found.n_iter) == ("max_iter", 5)
