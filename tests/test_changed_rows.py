"""X that changes while it is read: indices cannot, and values never make a false certificate."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from loops import X, make, solve_quietly, y
from registry import INTERCEPTS, SOLVERS, supporting, with_losses

from hinge import LinearSVC, OnlineSVC, Record, solve
from hinge.problem import LOSSES, held_still


def csr() -> Any:
    """A matrix of its own."""
    return sp.csr_array(X * (np.random.default_rng(0).random(X.shape) < 0.5))


def held(matrix: Any) -> bool:
    flags = {matrix.indices.flags.writeable, matrix.indptr.flags.writeable}
    assert len(flags) == 1
    assert matrix.data.flags.writeable, "values are not held"
    return flags == {False}


@contextmanager
def released_after(matrix: Any) -> Iterator[None]:
    assert not held(matrix)
    yield
    assert not held(matrix), "the indices are still read-only"


# Indices


def test_indices_are_read_only_while_a_model_is_trained() -> None:
    matrix, seen = csr(), []

    def callback(_: Record) -> None:
        seen.append(held(matrix))
        with pytest.raises(ValueError, match="read-only"):
            matrix.indices[0] = 10**6
        with pytest.raises(ValueError, match="read-only"):
            matrix.indptr[1] = 10**6

    with released_after(matrix):
        solve(matrix, y, callback=callback)
    assert seen and all(seen)


def test_indices_are_writable_again_after_an_exception() -> None:
    matrix = csr()

    def callback(_: Record) -> None:
        assert held(matrix)
        raise ZeroDivisionError

    with released_after(matrix), pytest.raises(ZeroDivisionError):
        solve(matrix, y, callback=callback)

    def interrupt(_: Record) -> None:
        raise KeyboardInterrupt

    with released_after(matrix):
        assert solve(matrix, y, callback=interrupt).status == "interrupted"
    with released_after(matrix), pytest.raises(ValueError, match="two classes"):
        solve(matrix, np.zeros(len(y)))
    with released_after(matrix), pytest.raises(ValueError, match="solver"):
        solve(matrix, y, solver="none")


def test_estimators_hold_and_release_the_indices() -> None:
    matrix = csr()
    with released_after(matrix):
        model = LinearSVC().fit(matrix, y)
    with released_after(matrix):
        model.predict(matrix)
    with released_after(matrix):
        stream = OnlineSVC(alpha=0.1).fit(matrix, y)
    with released_after(matrix):
        stream.partial_fit(matrix, y)
    with released_after(matrix):
        stream.certify(matrix, y)
    with released_after(matrix), pytest.raises(ValueError, match="inconsistent"):
        LinearSVC().fit(matrix, y[:-1])


def test_rows_that_were_read_only_stay_so() -> None:
    matrix = csr()
    matrix.indices.flags.writeable = False
    with held_still(matrix):
        assert not matrix.indptr.flags.writeable
    assert matrix.indptr.flags.writeable
    assert not matrix.indices.flags.writeable


def test_two_threads_on_the_same_rows_do_not_release_each_other() -> None:
    matrix = csr()
    first_in, first_out, second_in = threading.Event(), threading.Event(), threading.Event()
    seen: dict[str, bool] = {}

    def first() -> None:
        with held_still(matrix):
            first_in.set()
            second_in.wait(10)
        first_out.set()

    def second() -> None:
        first_in.wait(10)
        with held_still(matrix):
            second_in.set()
            first_out.wait(10)
            seen["after the first has left"] = held(matrix)

    threads = [threading.Thread(target=work) for work in (first, second)]
    with released_after(matrix):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == {"after the first has left": True}


def test_fits_in_threads_on_the_same_rows_have_the_model_of_one() -> None:
    matrix, models = csr(), [LinearSVC(random_state=0) for _ in range(4)]
    threads = [threading.Thread(target=model.fit, args=(matrix, y)) for model in models]
    with released_after(matrix):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({model.coef_.tobytes() for model in models}) == 1


def test_model_that_is_being_fitted_refuses_a_second_thread() -> None:
    rows, labels = make(500)
    solver = Pausing()
    model = LinearSVC(solver=solver)
    first = threading.Thread(target=lambda: model.fit(rows, labels))
    first.start()
    try:
        assert solver.entered.wait(10)
        with pytest.raises(RuntimeError, match="in another thread: give each thread a model of its own"):
            model.fit(rows, labels)
    finally:
        solver.leave.set()
        first.join()
    assert model.status_ == "converged", "the first one goes on"
    assert model.fit(rows, labels).status_ == "converged", "free again"


class Pausing:
    """Waits in `start` until it is let go."""

    traits = SOLVERS["dcd"].traits

    def __init__(self) -> None:
        self.entered, self.leave = threading.Event(), threading.Event()

    def start(self, problem: Any, setup: Any) -> Any:
        self.entered.set()
        self.leave.wait(10)
        return SOLVERS["dcd"].start(problem, setup)


# Values


class Spoiling:
    """Writes `value` into some rows after `after` calls."""

    def __init__(self, rows: Any, value: float, after: int = 1) -> None:
        self.values, self.value, self.after = rows.data if sp.issparse(rows) else rows.reshape(-1), value, after
        self.calls = 0

    def __call__(self, _: Record) -> bool:
        self.calls += 1
        if self.calls == self.after:
            self.values[3::7] = self.value
        return self.calls > self.after + 30


@pytest.mark.parametrize(("solver", "loss"), with_losses())
@pytest.mark.parametrize("layout", [np.array, sp.csr_array], ids=["dense", "csr"])
def test_nan_written_by_a_callback_never_gives_a_small_primal(layout, solver, loss) -> None:
    """The rows are no longer those of a problem. What is certified of them must not be better than the optimum was."""
    options: dict[str, Any] = {"loss": loss, "C": 0.01, "intercept": "none"}
    optimum = solve(X, y, **options).certificate.dual
    for value in (np.nan, np.inf):
        rows = layout(X.copy())
        with np.errstate(all="ignore"):
            found = solve_quietly(
                rows, y, solver=SOLVERS[solver], tol=1e-9, max_iter=100, callback=Spoiling(rows, value), **options
            )
        certificate = found.certificate
        assert not np.isnan([certificate.primal, certificate.dual]).any()
        assert certificate.primal >= optimum or certificate.primal == np.inf, f"{value}: {certificate}"
        assert 0 <= certificate.dual <= certificate.primal
        assert np.isfinite(found.coef).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_certificate_of_rows_that_become_nan_is_that_of_the_model_on_the_rows_before(intercept, loss) -> None:
    """Nothing but w = 0 and what was evaluated before can be certified: not one value is left."""
    for solver in supporting(loss=loss, intercept=intercept):
        rows = X.copy()

        def callback(record: Record, rows: Any = rows) -> bool:
            if record.epoch >= 10:
                rows[:] = np.nan
            return record.epoch >= 40

        options: dict[str, Any] = {"solver": SOLVERS[solver], "loss": loss, "intercept": intercept, "C": 0.01}
        with np.errstate(all="ignore"):
            found = solve_quietly(rows, y, tol=1e-9, max_iter=60, callback=callback, **options)
        slack = 1.0 - (2.0 * y - 1.0) * (X @ found.coef + found.intercept)
        penalty = 0.5 * found.intercept**2 if intercept == "penalized" else 0.0
        true = 0.5 * found.coef @ found.coef + penalty + 0.01 * np.sum(LOSSES[loss].value(slack))
        assert found.certificate.primal >= true * (1 - 1e-9), f"{solver}: {found.certificate}, but P = {true}"
