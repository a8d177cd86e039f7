"""The laboratory measures what it says, and no competitor can break it. benchopt itself is needed by one test only."""

from __future__ import annotations

import importlib.util
import math
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hinge

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import data
from benchmark_utils import optimum, sources
from benchmark_utils.adapters.ours import Ours
from benchmark_utils.adapters.programs import SvmPerf
from benchmark_utils.adapters.registry import COMPETITORS, programs
from benchmark_utils.harness import Adapter, Attempt, Fit, attempt, next_budget
from benchmark_utils.measure import measure
from benchmark_utils.problem import Bracket, Problem

BENCHMARKS = Path(data.__file__).parent
LIMITS = {"accuracy": 1e-3, "time_limit": 10.0}


@pytest.fixture
def problem() -> Problem:
    rng = np.random.default_rng(0)
    X = sp.random(1200, 15, density=0.4, format="csr", random_state=rng)
    y = np.where(X @ rng.standard_normal(15) + 0.5 * rng.standard_normal(1200) > 0, 1.0, -1.0)
    return Problem(X, y, 0.7)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HINGE_LAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class TestMeasures:
    def test_value_and_gap_are_those_of_the_definition_and_of_the_certificate(self, problem: Problem) -> None:
        solution = hinge.solve(problem.X, problem.y, C=problem.C, intercept="none", tol=1e-2)
        rows, y, w, a = problem.X.toarray(), problem.y, solution.coef, solution.dual
        P = 0.5 * math.fsum(v * v for v in w)
        P += problem.C * math.fsum(max(0.0, 1.0 - y[i] * math.fsum(rows[i] * w)) for i in range(y.size))
        v = [math.fsum(a * y * rows[:, j]) for j in range(w.size)]
        D = math.fsum(a) - 0.5 * math.fsum(x * x for x in v)
        found = measure(problem, Bracket(D, P), Attempt(Fit(w, a, epochs=3), seconds=0.1, wall=0.1), **LIMITS)
        assert found["value"] == pytest.approx(P, rel=1e-12)
        assert found["gap"] == pytest.approx((P - D) / D, rel=1e-8)
        assert found["gap"] == pytest.approx(solution.certificate.relative_gap, rel=1e-6)
        assert found["suboptimality"] == pytest.approx(P / D - 1.0, rel=1e-8)
        assert found["epochs"] == 3

    def test_without_multipliers_there_is_no_gap(self, problem: Problem) -> None:
        found = measure(problem, Bracket(1.0, 2.0), Attempt(Fit(np.zeros(15)), seconds=0.0, wall=0.0), **LIMITS)
        assert math.isnan(found["gap"])
        assert found["value"] == pytest.approx(problem.C * 1200)
        assert not found["done"]

    def test_bracket_holds_the_optimum_and_is_stored(self, problem: Problem, cache: Path) -> None:
        first = optimum.bracket(problem)
        assert first.lower <= first.upper
        assert first.width < 1e-6
        assert [path.name for path in cache.iterdir()] == [f"optimum-{optimum.fingerprint(problem)}.npz"]
        assert optimum.bracket(problem) == first
        assert optimum.fingerprint(Problem(problem.X, problem.y, 0.8)) != optimum.fingerprint(problem)

    def test_stored_vectors_are_checked_not_believed(self, problem: Problem, cache: Path) -> None:
        exact = optimum.bracket(problem)
        path = next(cache.iterdir())
        np.savez(path, w=np.zeros(15), a=np.zeros(1200))
        poor = optimum.bracket(problem)
        assert poor.lower == 0.0 and poor.upper == pytest.approx(problem.C * 1200)
        assert poor.lower <= exact.lower <= exact.upper <= poor.upper
        np.savez(path, w=np.zeros(15), a=np.full(1200, 2.0 * problem.C))
        with pytest.raises(ValueError, match="outside"):
            optimum.bracket(problem)


class Competitor(Adapter):
    """An adapter that misbehaves as told."""

    def __init__(self, fit: Any) -> None:
        self.fit = fit

    def train(self, problem: Problem, budget: float, seed: int, limit: float) -> Fit:
        return self.fit(problem) if problem.y.size > 20 else Fit(np.zeros(15))

    def read(self, prepared: Problem, trained: Fit) -> Fit:
        return trained


def raises(problem: Problem) -> Fit:
    raise ZeroDivisionError("no luck\nat all")


BROKEN = {
    "exception": (raises, "ZeroDivisionError: no luck"),
    "NaN": (lambda problem: Fit(np.full(15, np.nan)), "not finite"),
    "shape": (lambda problem: Fit(np.zeros((1, 15))), r"shape \(1, 15\) instead of \(15,\)"),
    "multipliers": (lambda problem: Fit(np.zeros(15), np.full(1200, -1.0)), r"outside \[0, 0.7\]"),
    "multiplier shape": (lambda problem: Fit(np.zeros(15), np.zeros(3)), r"multipliers of shape \(3,\)"),
    "crash": (lambda problem: os.kill(os.getpid(), signal.SIGKILL), "crashed: signal SIGKILL"),
    "exit": (lambda problem: os._exit(3), "crashed: exit code 3"),
    "no end": (lambda problem: time.sleep(60), "no result within 0.5 s"),
    "no end of a program": (lambda problem: subprocess.run(["sleep", "60"], check=True), "no result within 0.5 s"),
    "nothing": (lambda problem: None, "AttributeError"),
}


class TestHarness:
    @pytest.mark.parametrize("name", BROKEN)
    def test_broken_competitor_is_a_failure_with_a_reason(self, problem: Problem, name: str) -> None:
        fit, reason = BROKEN[name]
        began = time.monotonic()
        result = attempt(Competitor(fit), problem, problem, 1.0, 0, limit=0.5 if "no end" in name else 30.0)
        assert time.monotonic() - began < 20.0
        assert result.fit is None
        assert result.failure is not None
        assert re.search(reason, result.failure), result.failure
        assert measure(problem, Bracket(1.0, 2.0), result, **LIMITS)["done"]

    def test_fit_comes_back_with_its_time(self, problem: Problem) -> None:
        result = attempt(Ours("dcd"), problem, problem, 1e-3, 0, limit=60.0)
        assert result.failure is None and result.fit is not None
        assert result.seconds > 0.0 and result.wall > 0.0
        again = hinge.solve(problem.X, problem.y, C=problem.C, tol=1e-3, intercept="none", solver="dcd", max_iter=10**6)
        np.testing.assert_array_equal(result.fit.w, again.coef)
        assert problem.primal(result.fit.w) <= (1.0 + 1e-3) * problem.dual(result.fit.a)

    @pytest.mark.parametrize("name", ["LinearSVC", "SGDClassifier"])
    def test_scikit_learn_minimises_the_same_objective(self, problem: Problem, name: str) -> None:
        budget = {"LinearSVC": 1e-4, "SGDClassifier": 300}[name]
        result = attempt(COMPETITORS[name], problem, problem, budget, 0, limit=60.0)
        assert result.fit is not None, result.failure
        assert optimum.bracket(problem).suboptimality(problem.primal(result.fit.w)) < 1e-2

    def test_budgets_tighten(self) -> None:
        for name, adapter in programs().items():
            assert adapter.knob in ("tol", "epochs"), name
            budgets = [next_budget(adapter, None)]
            for _ in range(9):
                budgets.append(next_budget(adapter, budgets[-1]))
            steps = np.diff(np.log(budgets))
            assert np.all(steps < 0 if adapter.knob == "tol" else steps > 0), name
        assert any(math.isclose(budget, 1e-3) for budget in _ladder(Ours("dcd"), 12))


def _ladder(adapter: Any, length: int) -> list[float]:
    budgets = [next_budget(adapter, None)]
    while len(budgets) < length:
        budgets.append(next_budget(adapter, budgets[-1]))
    return budgets


MODULES = {
    "liblinear": "liblinear.liblinearutil",
    "Snap ML": "snapml",
    "lightning SDCA": "lightning.classification",
    "lightning SGD": "lightning.classification",
    "skglm": "skglm",
    "Vowpal Wabbit": "vowpalwabbit",
}


class TestAvailability:
    @pytest.mark.parametrize("name", MODULES)
    def test_missing_package_is_a_reason(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, MODULES[name], None)  # what Python does for "cannot be imported"
        monkeypatch.setitem(sys.modules, MODULES[name].partition(".")[0], None)
        assert "pip install" in (COMPETITORS[name].missing() or "")

    @pytest.mark.parametrize("name", ["svmocas", "SVM-perf", "SVM-light"])
    def test_missing_program_is_a_reason(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert "not on the PATH" in (COMPETITORS[name].missing() or "")

    def test_solver_that_this_hinge_lacks_is_a_reason(self) -> None:
        assert Ours("dcd").missing() is None
        assert "has no solver 'simplex'" in (Ours("simplex").missing() or "")

    def test_data_set_without_a_folder_is_a_reason(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("HINGE_DATA", raising=False)
        found = sources.payload(lambda: sources.from_files("adult", data.adult_split))
        assert list(found) == ["reason"] and "HINGE_DATA" in found["reason"]

    def test_missing_and_damaged_files_are_reasons(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HINGE_DATA", str(tmp_path))
        found = sources.payload(lambda: sources.from_files("adult", data.adult_split))
        assert "a9a.xz" in found["reason"]
        (tmp_path / "a9a.xz").write_bytes(b"not xz at all")
        assert "reason" in sources.payload(lambda: sources.from_files("adult", data.adult_split))

    def test_data_set_that_fails_to_download_is_a_reason(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def unreachable() -> data.Split:
            raise OSError("no route to host")

        monkeypatch.delenv("HINGE_DATA", raising=False)
        found = sources.payload(lambda: sources.from_files("mnist", data.mnist_split, fetch=unreachable))
        assert "no route to host" in found["reason"]


class TestData:
    def test_split_survives_the_cache(self) -> None:
        made = [sources.kept_split("text", lambda: data.text_split(300, 30)) for _ in range(2)]
        assert made[1].X.shape == (300, data.TEXT_FEATURES) and made[1].X_test.shape == (30, data.TEXT_FEATURES)
        assert (made[0].X != made[1].X).nnz == 0
        np.testing.assert_array_equal(made[0].y_test, made[1].y_test)

    def test_more_test_rows_leave_the_training_rows_alone(self) -> None:
        X, y = data.text(200)
        split = data.text_split(200, 50)
        assert (X != split.X).nnz == 0
        np.testing.assert_array_equal(y, split.y)

    def test_held_out_rows_are_always_the_same(self) -> None:
        X, y = sp.csr_matrix(np.arange(1.0, 8.0)[:, None]), np.arange(7.0)
        split = data.held_out(X, y, 3)
        assert split.y_test.size == 2 and sorted([*split.y, *split.y_test]) == y.tolist()
        np.testing.assert_array_equal(split.X_test.toarray().ravel(), split.y_test + 1.0)
        np.testing.assert_array_equal(split.y_test, data.held_out(X, y, 3).y_test)
        assert data.held_out(X, y, 0).y.size == 7 and data.held_out(X, y, 0).y_test.size == 0

    def test_newsgroup_and_digits_are_those_asked_for(self, data_dir: Path) -> None:
        assert np.sum(data.newsgroups(data_dir, "sci.space")[1] > 0) == 593
        assert np.sum(data.newsgroups(data_dir, "alt.atheism", "test")[1] > 0) == 319
        X, y = data.mnist(data_dir, "t10k")
        assert X.shape == (10_000, 784) and X.max() == 1.0
        assert np.sum(y > 0) == 5139


class TestPrograms:
    def test_weights_and_time_are_read_from_the_program(
        self, problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = "SVM-light Version V6.20\\n0 # kernel type\\n0 # threshold b, each following line is a SV\\n"
        model += "1 1:0.5 15:-2 #\\n-0.5 1:1 #\\n"
        program = tmp_path / "svm_perf_learn"
        program.write_text(
            "#!/bin/sh\n"
            'for last; do :; done; head -c 1 "$(dirname "$last")/rows.svm" > /dev/null || exit 4\n'
            f"printf '{model}' > \"$last\"\n"
            'echo "$@" > "$last.arguments"\n'
            "echo 'Runtime in cpu-seconds: 0.25'\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        files = SvmPerf().prepare(problem)
        result = attempt(SvmPerf(), files, problem, 0.1, 0, limit=30.0)
        assert result.fit is not None, result.failure
        assert result.seconds == 0.25
        expected = np.zeros(15)
        expected[[0, 14]] = 0.0, -2.0
        np.testing.assert_array_equal(result.fit.w, expected)
        arguments = Path(f"{files.model}.arguments").read_text().split()
        assert float(arguments[arguments.index("-c") + 1]) == pytest.approx(problem.C * 1200 / 100)

    def test_program_that_fails_is_reported(
        self, problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = tmp_path / "svm_perf_learn"
        program.write_text("#!/bin/sh\necho 'out of planes' >&2\nexit 2\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        result = attempt(SvmPerf(), SvmPerf().prepare(problem), problem, 0.1, 0, limit=30.0)
        assert "ended with 2: out of planes" in (result.failure or "")


@pytest.fixture
def benchopt_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Loads a file of the benchmark with bare base classes in the place of benchopt's."""

    class Base:
        def __init__(self, **parameters: Any) -> None:
            pass

    class Criterion:
        def __init__(self, **options: Any) -> None:
            pass

    benchopt, stopping = types.ModuleType("benchopt"), types.ModuleType("benchopt.stopping_criterion")
    benchopt.BaseSolver = benchopt.BaseDataset = benchopt.BaseObjective = Base  # type: ignore[attr-defined]
    stopping.StoppingCriterion = Criterion  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "benchopt", benchopt)
    monkeypatch.setitem(sys.modules, "benchopt.stopping_criterion", stopping)
    monkeypatch.delitem(sys.modules, "benchmark_utils.bench", raising=False)

    def load(path: Path) -> Any:
        spec = importlib.util.spec_from_file_location(f"lab_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield load
    sys.modules.pop("benchmark_utils.bench", None)  # it was made with the bare classes


class TestBenchopt:
    def test_every_competitor_has_a_solver_file(self, benchopt_files: Any) -> None:
        solvers = [benchopt_files(path).Solver for path in sorted((BENCHMARKS / "solvers").glob("*.py"))]
        named = {solver.name: type(solver.adapter) for solver in solvers if solver.name != "hinge"}
        assert named == {name: type(adapter) for name, adapter in COMPETITORS.items()}

    def test_every_data_set_gives_a_reason_without_its_files(
        self, benchopt_files: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HINGE_DATA", str(BENCHMARKS))
        names = []
        for path in sorted((BENCHMARKS / "datasets").glob("*.py")):
            dataset = benchopt_files(path).Dataset
            instance = dataset()
            for parameter, values in getattr(dataset, "parameters", {}).items():
                setattr(instance, parameter, values[0])
            names.append(dataset.name)
            if dataset.name != "RCV1-like":  # made, not read
                assert list(instance.get_data()) == ["reason"], dataset.name
        assert sorted(names) == ["20news", "Adult", "Covertype", "MNIST", "RCV1-like", "Web", "ijcnn1"]

    def test_objective_measures_failures_without_breaking(self, benchopt_files: Any, problem: Problem) -> None:
        objective = benchopt_files(BENCHMARKS / "objective.py").Objective()
        objective.C, objective.accuracy, objective.time_limit = problem.C, 1e-3, 10.0
        assert objective.skip(reason="not here") == (True, "not here")
        assert objective.skip(X=None) == (False, None)
        objective.set_data(problem.X, problem.y, problem.X[:50], problem.y[:50])
        good = objective.evaluate_result(**objective.get_one_result())
        assert good["value"] == pytest.approx(problem.C * 1200) and good["test_error"] == np.mean(problem.y[:50] > 0)
        failed = objective.evaluate_result(attempt=Attempt(None, "crashed"))
        assert failed["failure"] == "crashed" and failed["done"] and math.isnan(failed["value"])

    def test_run_goes_on_past_a_broken_competitor(self, tmp_path: Path) -> None:
        broken = tmp_path / "broken.py"
        broken.write_text(
            textwrap.dedent("""
                import numpy as np
                from benchmark_utils.adapters.scikit import ScikitLinearSVC
                from benchmark_utils.bench import LabSolver
                from benchmark_utils.harness import Fit

                class Broken(ScikitLinearSVC):
                    def read(self, problem, model):
                        return Fit(np.full(problem.X.shape[1], np.nan))

                class Solver(LabSolver):
                    name = "broken"
                    adapter = Broken()
            """)
        )
        output = tmp_path / "out" / "fits.parquet"
        command = [sys.executable, "-m", "benchopt", "run", str(BENCHMARKS), "-d", "RCV1-like[rows=2000]"]
        command += ["-s", str(broken), "-s", "hinge[solver=dcd]", "--no-cache", "--no-plot", "--no-html"]
        command += ["-n", "12", "--output", str(output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert output.exists(), done.stdout + done.stderr
        frame = pd.read_parquet(output)
        failure = frame[frame["solver_name"] == "broken"]["objective_failure"].dropna()
        assert failure.tolist() == ["returned weights that are not finite numbers of float64"]
        ours = frame[frame["solver_name"] == "hinge[dcd]"]
        assert ours["objective_gap"].min() <= 1e-3
