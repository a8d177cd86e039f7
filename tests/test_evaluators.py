"""The loop asks an evaluator, whoever it is. Evaluations cost little, and threads change none of their bits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import X, make, y
from registry import INTERCEPTS, VARIANTS, with_losses

from hinge import LinearSVC, Problem, _core, solve
from hinge.certificate import Evaluator, LocalEvaluator, Lower, Upper
from hinge.problem import LOSSES, Floats, Intercept, as_loss, as_rows
from hinge.solvers import SOLVERS, Setup
from hinge.training import Options, train
from hinge.training.certify import bracket


def problem_of(X: Any, y: Any, *, C: float = 1.0, loss: str = "hinge", intercept: Any = "penalized") -> Problem:
    target = np.where(y == 1, 1.0, -1.0)
    cost = np.full(len(target), C)
    return Problem.make(as_rows(X), target, cost, loss=as_loss(loss), intercept=Intercept(intercept))


def never() -> _core.Poll:
    return _core.Poll(_core.StopToken())


@dataclass
class Watching(Evaluator):
    """Passes questions on, and keeps count of the rows that answering takes."""

    evaluator: Evaluator
    m: int
    rows: int = 0
    asked: list[str] = field(default_factory=list)

    def upper(self, w: Floats, poll: _core.Poll, b: float | None = None) -> Upper | None:
        self.rows += self.m
        self.asked.append("upper")
        return self.evaluator.upper(w, poll, b)

    def lower(self, multipliers: Floats, poll: _core.Poll) -> Lower | None:
        self.rows += int(np.count_nonzero(multipliers))
        self.asked.append("lower")
        return self.evaluator.lower(multipliers, poll)


def watching(problem: Problem) -> Watching:
    return Watching(LocalEvaluator(problem), problem.m)


# Who is asked


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_given_evaluator_is_asked_and_changes_nothing(loss, intercept) -> None:
    problem = problem_of(X, y, loss=loss, intercept=intercept)
    evaluator = watching(problem)
    watched = train(problem, SOLVERS["dcd"], Options(), evaluator)
    assert set(evaluator.asked) == {"upper", "lower"}
    assert evaluator.asked.count("upper") == len(watched.history), "one record per evaluation"
    alone = train(problem, SOLVERS["dcd"], Options())
    assert watched.certificate == alone.certificate
    assert np.array_equal(watched.model.w, alone.model.w)


def test_certificate_is_what_the_evaluator_says() -> None:
    problem = problem_of(X, y)

    class Pessimist(Watching):
        """Valid bounds, a tenth worse than they need be."""

        def upper(self, w: Floats, poll: _core.Poll, b: float | None = None) -> Upper | None:
            found = super().upper(w, poll, b)
            return None if found is None else replace(found, value=1.1 * found.value)

    outcome = train(
        problem, SOLVERS["dcd"], Options(tol=0.01, max_iter=50), Pessimist(LocalEvaluator(problem), problem.m)
    )
    assert outcome.status == "max_iter", "the evaluator's values decide, not the solver's estimates"
    assert outcome.certificate.relative_gap > 0.09


def test_evaluator_that_was_stopped_ends_the_run() -> None:
    problem = problem_of(X, y)
    token = _core.StopToken()

    class Stopped(Watching):
        """Does not answer in time, `silent` times."""

        silent = 1

        def lower(self, multipliers: Floats, poll: _core.Poll) -> Lower | None:
            token.stop()
            self.silent -= 1
            return super().lower(multipliers, poll) if self.silent < 0 else None

    evaluator = Stopped(LocalEvaluator(problem), problem.m)
    outcome = train(problem, SOLVERS["dcd"], Options(token=token), evaluator)
    assert outcome.status == "interrupted"
    assert 0.0 < outcome.certificate.dual <= outcome.certificate.primal, "what was trained is evaluated once more"
    evaluator.silent = 10**6
    outcome = train(problem, SOLVERS["dcd"], Options(token=_core.StopToken(), max_iter=3), evaluator)
    assert outcome.status == "interrupted"
    assert outcome.model.w.any(), "what was trained is kept although nobody could evaluate it"
    exact = LocalEvaluator(problem).upper(outcome.model.w, never())
    assert exact is not None and outcome.certificate.primal >= exact.value, "the loose bound is no bound"


def test_exception_of_an_evaluator_propagates() -> None:
    problem = problem_of(X, y)

    class Broken(Watching):
        def upper(self, w: Floats, poll: _core.Poll, b: float | None = None) -> Upper | None:
            raise ConnectionError("a worker is gone")

    with pytest.raises(ConnectionError, match="a worker is gone"):
        train(problem, SOLVERS["dcd"], Options(), Broken(LocalEvaluator(problem), problem.m))


def test_certify_asks_the_given_evaluator() -> None:
    problem = problem_of(X, y, intercept="free")
    evaluator = watching(problem)
    w = np.zeros(problem.n_features + 1)
    found = bracket(problem, w, None, max_iter=20, evaluator=evaluator)
    assert evaluator.asked[0] == "upper" and "lower" in evaluator.asked
    assert found == bracket(problem, w, None, max_iter=20)


# What is asked


@pytest.mark.parametrize("loss", LOSSES)
def test_given_intercept_is_a_bound_and_the_best_one_is_the_lowest(loss) -> None:
    problem = problem_of(X, y, loss=loss, intercept="free")
    w = np.zeros(problem.n_features + 1)
    w[0] = 0.7
    evaluator = LocalEvaluator(problem)
    best = evaluator.upper(w, never())
    assert best is not None
    for b in (-3.0, 0.0, best.b - 0.01, best.b + 0.01, 2.0):
        given = evaluator.upper(w, never(), b)
        assert given is not None and given.b == b
        slack = 1.0 - problem.target * (X @ w[:-1] + b)
        expected = 0.5 * w @ w + problem.cost @ problem.loss.value(slack)
        assert given.value == pytest.approx(expected, rel=1e-12)
        assert given.value >= best.value, f"b = {b} is better than the best one"


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_evaluation_never_takes_nan_for_a_row_without_loss(loss, intercept) -> None:
    """Of weights or multipliers that went wrong: no bound, never a small one."""
    problem = problem_of(X, y, loss=loss, intercept=intercept)
    best = train(problem, SOLVERS["dcd"], Options()).certificate
    evaluator = LocalEvaluator(problem)
    for value in (math.nan, math.inf, -math.inf, 1e200):
        w = np.full(problem.n_features + 1, value)
        upper = evaluator.upper(w, never())
        assert upper is not None and upper.value >= best.dual, f"w = {value}: primal {upper.value}"
        a = np.full(problem.m, value)
        lower = evaluator.lower(a, never())
        assert lower is not None and lower.value <= best.primal, f"a = {value}: dual {lower.value}"
        assert np.all(np.isfinite(lower.multipliers)) and np.all(lower.multipliers <= problem.box)


# How much is asked


class Counting:
    """Counts the rows that a solver reads."""

    def __init__(self, solver: Any) -> None:
        self.solver, self.traits, self.touched = solver, solver.traits, 0

    def start(self, problem: Problem, setup: Setup) -> Any:
        run = self.solver.start(problem, setup)
        advance = run.advance

        def counted(epochs: int) -> int:
            rows = advance(epochs)
            self.touched += rows
            return rows

        run.advance = counted
        return run


@pytest.mark.parametrize(("solver", "loss"), with_losses(VARIANTS))
def test_evaluations_read_at_most_a_fifth_of_the_rows_and_one_final_look(solver, loss) -> None:
    problem = problem_of(X, y, loss=loss)
    for tol, max_iter in ((1e-1, 7), (1e-1, 60), (1e-2, 1), (1e-2, 25), (1e-4, 23), (1e-4, 24), (1e-4, 60)):
        counting, evaluator = Counting(VARIANTS[solver]), watching(problem)
        train(problem, counting, Options(tol=tol, max_iter=max_iter), evaluator)
        beyond = evaluator.rows - 2 * problem.m
        assert beyond <= 0.2 * counting.touched, (
            f"tol={tol}, max_iter={max_iter}: {evaluator.rows} rows evaluated, {counting.touched} trained on: "
            f"{100 * beyond / counting.touched:.0f} % beyond the final evaluation"
        )


# The same bits for any number of threads

#: Evaluation is cut into parts of 4096 rows: enough for several, the last one uneven.
LARGE, LABELS = make(5 * 4096 + 123, classes=3, seed=1)
SPARSE = sp.csr_array(LARGE * (np.random.default_rng(0).random(LARGE.shape) < 0.5))
ROWS = {"dense": LARGE, "float32": LARGE.astype(np.float32), "csr": SPARSE}


@pytest.mark.parametrize("layout", ROWS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_number_of_threads_does_not_change_a_bit_of_an_evaluation(layout, loss, intercept) -> None:
    problem = problem_of(ROWS[layout], LABELS, loss=loss, intercept=intercept, C=0.01)
    some = np.flatnonzero(np.random.default_rng(2).random(problem.m) < 0.9)
    for part in (problem, problem.part(some)):
        random = np.random.default_rng(3)
        w, a = random.normal(size=part.n_features + 1), 0.02 * random.random(part.m)
        one = LocalEvaluator(part, 1)
        upper, lower = one.upper(w, never()), one.lower(a, never())
        assert upper is not None and lower is not None
        for n_threads in (2, 3, 8):
            several = LocalEvaluator(part, n_threads)
            again, below = several.upper(w, never()), several.lower(a, never())
            assert again is not None and below is not None
            assert (again.value, again.rounding, again.b) == (upper.value, upper.rounding, upper.b), n_threads
            assert (below.value, below.rounding) == (lower.value, lower.rounding), n_threads
            assert np.array_equal(below.multipliers, lower.multipliers)
            assert np.array_equal(below.w, lower.w)


@pytest.mark.parametrize("layout", ROWS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_both_sides_at_once_have_the_bits_of_one_after_the_other(layout, loss, intercept) -> None:
    problem = problem_of(ROWS[layout], LABELS, loss=loss, intercept=intercept, C=0.01)
    random = np.random.default_rng(4)
    for part in (problem, problem.part(np.flatnonzero(random.random(problem.m) < 0.9))):
        w, a = random.normal(size=part.n_features + 1), np.maximum(0.0, random.normal(size=part.m))
        for evaluator in (LocalEvaluator(part, 1), LocalEvaluator(part, 3)):
            at_once, in_turn = evaluator.both(w, a, never()), Evaluator.both(evaluator, w, a, never())
            assert at_once is not None and in_turn is not None
            for mine, expected in zip(at_once, in_turn, strict=True):
                for name in (f.name for f in fields(expected)):
                    assert np.array_equal(getattr(mine, name), getattr(expected, name)), name


def test_multipliers_that_somebody_can_change_are_copied_before_they_are_read(monkeypatch) -> None:
    """In one pass they are read more than once: if they changed in between, the certificate could be false."""
    problem = problem_of(X, y)
    read: list[Floats] = []
    both_sides = _core.both_sides

    def watched(native: Any, w: Floats, a: Floats, *rest: Any) -> Any:
        read.append(a)
        return both_sides(native, w, a, *rest)

    monkeypatch.setattr(_core, "both_sides", watched)
    w, a = np.zeros(problem.n_features + 1), np.full(problem.m, 0.5)
    frozen_view = a.view()
    frozen_view.flags.writeable = False
    buffer = np.frombuffer(bytearray(a.tobytes()))
    buffer.flags.writeable = False
    for given in (a, frozen_view, buffer, a.astype(np.float32), np.broadcast_to(0.5, problem.m)):
        LocalEvaluator(problem).both(w, given, never())
        assert not np.shares_memory(read[-1], given)
    run = SOLVERS["newton"].start(problem, Setup(None, (0, 0), never(), 10, 1e-3, 1))
    run.advance(1)
    point = run.point()
    assert LocalEvaluator(problem).both(w, point.multipliers, never()) is not None
    assert read[-1] is point.multipliers, "nobody else has this array: a copy would be in vain"
    with pytest.raises(ValueError, match="read-only"):
        point.multipliers[0] = 1.0


@pytest.mark.parametrize("layout", ROWS)
@pytest.mark.parametrize("loss", LOSSES)
def test_number_of_jobs_does_not_change_a_bit_of_a_model_or_its_scores(layout, loss) -> None:
    params: dict[str, Any] = {"C": 0.01, "loss": loss, "store_dual": True, "tol": 1e-2}
    models = [LinearSVC(n_jobs=n_jobs, **params).fit(ROWS[layout], LABELS) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        assert np.array_equal(model.coef_, models[0].coef_), f"n_jobs={model.n_jobs}: other coefficients"
        assert np.array_equal(model.intercept_, models[0].intercept_)
        assert np.array_equal(model.dual_coef_, models[0].dual_coef_)
        assert model.certificate_ == models[0].certificate_
        scores, expected = model.decision_function(ROWS[layout]), models[0].decision_function(ROWS[layout])
        assert scores.tobytes() == expected.tobytes(), f"n_jobs={model.n_jobs}: other scores"
        assert np.array_equal(model.predict(ROWS[layout]), models[0].predict(ROWS[layout]))
    binary = [solve(ROWS[layout], LABELS > 0, C=0.01, loss=loss, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    assert {found.certificate for found in binary} == {binary[0].certificate}
    assert all(np.array_equal(found.coef, binary[0].coef) for found in binary)
