"""Single promises that an attack found broken; `python -m attack` looks for more."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import X, refused, y

from hinge import DCD, LinearSVC, OnlineSVC, solve, verify

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from attack.rational import ExactProblem
from attack.spoil import Spoiler

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def run_apart(code: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: what is tested here may crash."""
    head = "import warnings; warnings.simplefilter('ignore')\nimport numpy as np, scipy.sparse as sp, hinge\n"
    command = [sys.executable, "-c", head + textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def attempt(call: Callable[[], Any]) -> tuple[Any, str]:
    """What a call returns, or the words of its error; an error without words fails."""
    try:
        return call(), ""
    except Exception as error:
        words = str(error)
        failed = error
    assert words, f"{failed!r} does not say what is wrong"
    return None, words


# Rows that change under the run


@pytest.mark.parametrize("solver", ["mpu", "norma", "pegasos", "sgd-m", "sgd-qn", "sgd-s"])
def test_rows_that_turn_into_nan_never_make_a_false_certificate(solver) -> None:
    best = solve(X, y, intercept="none", tol=1e-6).certificate
    rows = X.copy()
    behind = rows.view()  # where no flag of `rows` reaches

    def spoil(_: Any) -> None:
        behind[:] = np.nan

    options = {"solver": solver, "intercept": "none", "callback": spoil, "max_iter": 200, "tol": 1e-9}
    solution, refusal = attempt(lambda: solve(rows, y, **options))
    if solution is None:
        assert "X" in refusal or "NaN" in refusal, f"no clear error: {refusal}"
        return
    found = solution.certificate
    assert found.primal >= best.dual, f"NaN counted as no loss: {found!r}"
    assert found.dual <= best.primal, found


def test_csr_indices_that_change_under_the_run_do_not_crash() -> None:
    done = run_apart("""
        X = sp.random_array((2000, 50), density=0.2, format="csr", rng=np.random.default_rng(0))
        def spoil(_):
            X.indices[:] = 2**30
        try:
            hinge.solve(X, np.arange(2000) % 2, callback=spoil, tol=1e-9)
        except (ValueError, RuntimeError) as error:
            print("refused", error)
    """)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-500:]}"


def test_arrays_of_a_problem_handed_to_a_solver_are_read_only() -> None:
    seen = []

    class Spy(DCD):
        def start(self, problem: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append(problem)
            return super().start(problem, *args, **kwargs)

    solve(X, y, solver=Spy())
    for name in ("cost", "target"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(seen[0], name)[0] = -1.0


# Costs that differ by orders of magnitude


def test_intercept_is_the_best_one_when_costs_differ_by_fifteen_orders() -> None:
    rows, labels, weight = np.array([[0.0], [-1e6], [-2e6]]), np.array([1, -1, -1]), np.array([1e12, 1e-3, 1e-3])
    solution = solve(rows, labels, sample_weight=weight)
    exact = ExactProblem(rows, labels, weight, "hinge", "free", 1.0)
    primal = float(exact.primal(solution.coef, solution.intercept))
    assert primal < 1e-11, f"P = {primal}, where 2e-12 is possible"


@pytest.mark.parametrize("seed", [201, 262, 445, 506, 522, 591, 642, 775])
def test_dcd_with_a_free_intercept_proves_something_when_classes_differ_in_weight(seed) -> None:
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(2, 30)), int(rng.integers(1, 4))
    rows = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-4, 4)
    labels = np.where(rng.random(m) < 0.5, 1, -1)
    labels[:2] = 1, -1
    weight = np.where(labels == 1, 10.0 ** rng.uniform(4, 8), 1.0) * 10.0 ** rng.uniform(-6, 6)
    assert solve(rows, labels, solver="dcd", sample_weight=weight).certificate.dual > 0


# Bad input


def test_corrupt_csr_matrix_of_integers_is_refused_before_scipy_converts_it() -> None:
    done = run_apart("""
        y, good = np.arange(60) % 2, np.random.default_rng(0).integers(-3, 4, size=(60, 5))
        uses = (
            lambda X: hinge.solve(X, y),
            lambda X: hinge.LinearSVC().fit(X, y),
            lambda X: hinge.OnlineSVC().partial_fit(X, y, classes=[0, 1]),
            hinge.LinearSVC().fit(good, y).predict,
        )
        for use in uses:
            for dtype in (np.int64, np.int8, np.bool_):
                for name, place, value in (("indptr", 5, -2**30), ("indptr", 30, 2**31 - 1), ("indices", 7, 2**30)):
                    X = sp.csr_array(good.astype(dtype))
                    getattr(X, name)[place] = value
                    try:
                        use(X)
                    except ValueError:
                        print("refused")
    """)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-500:]}"
    assert done.stdout.count("refused") == 36, "accepted"


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16])
def test_small_numpy_integers_are_integers(kind) -> None:
    for solver in ("dcd", "norma"):
        expected = solve(X, y, solver=solver, intercept="none", max_iter=3)
        found = solve(X, y, solver=solver, intercept="none", max_iter=kind(3))
        assert np.array_equal(found.coef, expected.coef)
        assert type(found.n_iter) is int, f"n_iter is a {type(found.n_iter).__name__}"


@pytest.mark.parametrize(
    ("train", "name"),
    [
        (lambda value: solve(X, y, C=value), "C"),
        (lambda value: solve(X, y, tol=value), "tol"),
        (lambda value: solve(X, y, intercept="penalized", intercept_scaling=value), "intercept"),
        (lambda value: LinearSVC(C=value).fit(X, y), "C"),
        (lambda value: LinearSVC(intercept="penalized", intercept_scaling=value).fit(X, y), "intercept"),
        (lambda value: OnlineSVC(alpha=value).fit(X, y), "alpha"),
    ],
)
def test_integers_beyond_float64_are_refused_by_name(train, name) -> None:
    with refused(name):
        train(10**400)


def test_time_limit_beyond_float64_is_refused_or_no_limit() -> None:
    solution, refusal = attempt(lambda: solve(X, y, time_limit=10**400))
    assert refusal.startswith("time_limit") if solution is None else solution.status == "converged", refusal


def test_empty_list_of_classes_is_refused() -> None:
    with refused("class"):
        OnlineSVC().partial_fit(X, y, classes=[])


@pytest.mark.filterwarnings("ignore:nanobind:RuntimeWarning")  # its word on a stream without any state
def test_damaged_pickles_get_an_error_in_words() -> None:
    models = OnlineSVC(alpha=1e-3, batch_size=7).fit(X, y), OnlineSVC().fit(X, y)
    damaged = 0
    for seed in range(400):
        model = models[seed % 2]
        file = io.BytesIO()
        spoiler = Spoiler(file, np.random.default_rng(seed), model)
        try:
            spoiler.dump(model)
        except (TypeError, AttributeError):  # what replaced a part cannot be pickled
            continue
        model_again, refusal = attempt(lambda file=file: pickle.loads(file.getvalue()).partial_fit(X, y))
        damaged += model_again is None
        assert "std::" not in refusal, f"{spoiler.change}: {refusal}"
    assert damaged > 100, "nearly everything was accepted"


def test_verify_says_that_it_is_not_rounded_to_the_safe_side() -> None:
    words = " ".join(str(verify.__doc__).split())
    assert "may lie above the exact D or below the exact P" in words


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory as Linux does")
def test_ocas_on_millions_of_features_stays_in_memory_or_refuses_early() -> None:
    done = run_apart("""
        import os, resource
        used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)
        rng, m, d = np.random.default_rng(0), 100, 10_000_000
        columns = np.sort(rng.integers(0, d, (m, 20)), axis=1).ravel()
        X = sp.csr_array((rng.normal(size=m * 20), columns, np.arange(0, m * 20 + 1, 20)), shape=(m, d))
        try:
            print(hinge.solve(X, np.arange(m) % 2, solver="ocas", intercept="none").status)
        except ValueError as error:
            assert "features" in str(error), error
            print("refused")
    """)
    assert done.stdout.strip() in ("converged", "refused"), done.stdout + done.stderr[-500:]


# Warm starts


@pytest.mark.parametrize("m", [20, 60])
def test_warm_refit_of_a_solved_tiny_problem_takes_no_time(m) -> None:
    model = LinearSVC(warm_start=True).fit(X[:m], y[:m])
    coef = model.coef_
    assert model.fit(X[:m], y[:m]).n_iter_ <= 1, f"{model.n_iter_} passes for a problem that is solved"
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-9)
