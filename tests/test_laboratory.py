"""The laboratory measures what it says, and no competitor can break it. benchopt itself is needed by one test only."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hinge

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from common import data, optimum, sources, text
from common.adapters import COMPETITORS, FREE_INTERCEPT, PROGRAMS
from common.adapters.ours import Ours
from common.adapters.programs import SvmPerf
from common.harness import Adapter, Attempt, Fit, attempt, next_budget
from common.measure import Contestant, arrivals, measure, side_by_side
from common.problem import Bracket, Problem, Split

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
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


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "optima.json"


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

    def test_bracket_holds_the_optimum_and_is_stored(self, problem: Problem, table: Path) -> None:
        first = optimum.bracket(problem, table=table)
        assert first.lower <= first.upper and first.width <= optimum.WIDTH
        assert list(json.loads(table.read_text())["cells"]) == [problem.fingerprint()]
        assert optimum.bracket(problem, table=table) == first
        assert Problem(problem.X, problem.y, 0.8).fingerprint() != problem.fingerprint()

    def test_free_intercept_is_the_best_one_for_the_weights(self, problem: Problem, table: Path) -> None:
        free = replace(problem, intercept="free", y=np.where(np.arange(1200) % 5 == 0, 1.0, -1.0))
        w = np.linspace(-0.5, 0.5, 15)
        z = free.X @ w
        candidates = [free.C * np.maximum(0.0, 1.0 - free.y * (z + b)).sum() for b in free.y - z]
        assert free.primal(w) == pytest.approx(0.5 * w @ w + min(candidates), rel=1e-12)
        best = optimum.bracket(free, table=table)
        assert best.width <= optimum.WIDTH
        assert (
            free.dual(np.full(1200, free.C))
            <= best.upper
            <= optimum.bracket(replace(free, intercept="none"), table=table).upper
        )
        assert len(json.loads(table.read_text())["cells"]) == 2

    def test_bracket_is_certified_anew_if_it_is_too_wide(self, problem: Problem, table: Path) -> None:
        wide = optimum.bracket(problem, 1e-2, table)
        narrow = optimum.bracket(problem, 1e-8, table)
        assert narrow.width <= 1e-8 < wide.width
        assert wide.lower <= narrow.upper and narrow.lower <= wide.upper

    def test_wrong_bracket_is_refuted_by_a_better_model(self, problem: Problem, table: Path) -> None:
        best = optimum.bracket(problem, table=table)
        wrong = Bracket(1.1 * best.lower, 1.1 * best.upper)
        with pytest.raises(ValueError, match="refutes the table"):
            wrong.suboptimality(best.upper)
        assert best.admits(best.lower, best.upper) and not wrong.admits(best.lower, best.upper)

    def test_published_table_agrees_with_what_was_measured_otherwise(self) -> None:
        known = {
            ("Adult", 0.1): (1149.9040, 1149.9051),
            ("Web", 0.1): (755.1134, 755.1136),
            ("Covertype x 0.001", 0.1): (36427.478, 36427.542),
            ("Covertype x 0.001", 1.0): (340487.8, 340488.0),
        }
        entries = json.loads(optimum.TABLE.read_text())["cells"].values()
        plain = [entry for entry in entries if entry["type"] == "float64" and "intercept" not in entry]
        found = {(entry["data"], entry["C"]): entry for entry in plain}
        for key, (low, high) in known.items():
            assert found[key]["lower"] <= high and found[key]["upper"] >= low, key
        assert all(entry["upper"] <= (1.0 + optimum.WIDTH) * entry["lower"] for entry in entries)
        assert {("Covertype x 0.001", 1.0), ("Covertype x 0.001", 10.0)} <= set(found)


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

    @pytest.mark.parametrize("name", list(FREE_INTERCEPT))
    def test_competitors_with_a_free_intercept_minimise_the_same_objective(
        self, problem: Problem, name: str, table: Path
    ) -> None:
        free = replace(problem, intercept="free")
        best = optimum.bracket(free, table=table)
        assert list(arrivals(FREE_INTERCEPT[name], free, best, (1e-2,), limit=20.0)) == [1e-2]

    @pytest.mark.parametrize("name", ["LinearSVC", "SGDClassifier"])
    def test_scikit_learn_minimises_the_same_objective(self, problem: Problem, name: str, table: Path) -> None:
        budget = {"LinearSVC": 1e-4, "SGDClassifier": 300}[name]
        result = attempt(COMPETITORS[name], problem, problem, budget, 0, limit=60.0)
        assert result.fit is not None, result.failure
        assert optimum.bracket(problem, table=table).suboptimality(problem.primal(result.fit.w)) < 1e-2

    def test_arrivals_are_of_the_first_budget_that_is_good_enough(self, problem: Problem, table: Path) -> None:
        best = optimum.bracket(problem, table=table)
        found = arrivals(Ours("dcd"), problem, best, (1e-1, 1e-3), limit=60.0)
        assert set(found) == {1e-1, 1e-3} and all(arrival.seconds > 0.0 for arrival in found.values())
        assert found[1e-1].by.budget >= found[1e-3].by.budget
        assert arrivals(Competitor(raises), problem, best, (1e-1,), limit=60.0) == {}

    def test_programs_take_turns(self, problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[float, int]] = []

        def counted(adapter: Any, prepared: Any, of: Problem, budget: float, seed: int, limit: float) -> Attempt:
            asked.append((budget, seed))
            return Attempt(None, seconds=budget * (1 + seed))

        monkeypatch.setattr("common.measure.attempt", counted)
        adapter = Ours("dcd")
        contestants = {
            f"takes {budget}": Contestant(adapter, None, budget, limit=9.0) for budget in (1.0, 4.0, math.nan)
        }
        found = side_by_side(contestants, problem, repeats=3)
        assert found == {"takes 1.0": 2.0, "takes 4.0": 6.0, "takes nan": 9.0}
        turns = [(1.0, 0), (4.0, 0), (math.nan, 0), (1.0, 1), (4.0, 1), (1.0, 2)]
        assert str(asked) == str(turns), "nobody who has had the limit is asked again"

    def test_budgets_tighten(self) -> None:
        for name, adapter in PROGRAMS.items():
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
        found = sources.payload("Adult")
        assert list(found) == ["reason"] and "HINGE_DATA" in found["reason"]

    def test_missing_and_damaged_files_are_reasons(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HINGE_DATA", str(tmp_path))
        found = sources.payload("Adult")
        assert "a9a.xz" in found["reason"]
        (tmp_path / "a9a.xz").write_bytes(b"not xz at all")
        assert "reason" in sources.payload("Adult")
        monkeypatch.setenv("HINGE_DATA", str(tmp_path / "nowhere"))
        assert "not a directory" in sources.payload("Adult")["reason"]

    def test_data_set_that_fails_to_download_is_a_reason(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def unreachable() -> Split:
            raise OSError("no route to host")

        monkeypatch.delenv("HINGE_DATA", raising=False)
        monkeypatch.setitem(sources.READ, "MNIST", (unreachable, unreachable))
        found = sources.payload("MNIST")
        assert "no route to host" in found["reason"]


class TestData:
    def test_split_survives_the_cache(self) -> None:
        made = [sources.kept_split("text", lambda: text.rcv1_like(300, 30)) for _ in range(2)]
        assert made[1].X.shape == (300, text.FEATURES) and made[1].X_test.shape == (30, text.FEATURES)
        assert (made[0].X != made[1].X).nnz == 0
        np.testing.assert_array_equal(made[0].y_test, made[1].y_test)

    def test_more_test_rows_leave_the_training_rows_alone(self) -> None:
        X, y = data.load("RCV1-like 200")
        split = text.rcv1_like(200, 50)
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
        assert np.sum(data.newsgroups("sci.space")[1] > 0) == 593
        assert np.sum(data.newsgroups("alt.atheism", "test")[1] > 0) == 319
        X, y = data.mnist("t10k")
        assert X.shape == (10_000, 784) and X.max() == 1.0
        assert np.sum(y > 0) == 5139

    def test_name_that_is_no_data_set_is_refused(self) -> None:
        with pytest.raises(ValueError, match="'RCV1-like many' is no data set: choose one of"):
            data.load("RCV1-like many")


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
def benchopt_files(monkeypatch: pytest.MonkeyPatch) -> Any:
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

    def load(path: Path) -> Any:
        spec = importlib.util.spec_from_file_location(f"lab_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


class TestBenchopt:
    def test_every_program_and_data_set_can_be_named(self, benchopt_files: Any) -> None:
        solver = benchopt_files(BENCHMARKS / "solvers" / "named.py").Solver
        assert solver.parameters["program"] == list(PROGRAMS)
        instance = solver()
        for name, adapter in PROGRAMS.items():
            instance.program = name
            assert instance.skip() == (adapter.missing() is not None, adapter.missing())
        dataset = benchopt_files(BENCHMARKS / "datasets" / "named.py").Dataset
        assert dataset.parameters["source"] == list(sources.NAMES)

    def test_every_data_set_gives_a_reason_without_its_files(
        self, benchopt_files: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HINGE_DATA", str(BENCHMARKS))
        instance = benchopt_files(BENCHMARKS / "datasets" / "named.py").Dataset()
        for name in sources.READ:
            instance.source = name
            assert list(instance.get_data()) == ["reason"], name

    def test_objective_measures_failures_without_breaking(
        self, benchopt_files: Any, problem: Problem, table: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = benchopt_files(BENCHMARKS / "objective.py")
        monkeypatch.setattr(module, "bracket", lambda problem, width: optimum.bracket(problem, width, table))
        objective = module.Objective()
        objective.C, objective.accuracy, objective.time_limit = problem.C, 1e-3, 10.0
        assert objective.skip(reason="not here") == (True, "not here")
        assert objective.skip(X=None) == (False, None)
        objective.set_data(problem.X, problem.y, problem.X[:50], problem.y[:50])
        good = objective.evaluate_result(**objective.get_one_result())
        assert good["value"] == pytest.approx(problem.C * 1200) and good["test_error"] == np.mean(problem.y[:50] > 0)
        failed = objective.evaluate_result(attempt=Attempt(None, "crashed"))
        assert failed["failure"] == "crashed" and failed["done"] and math.isnan(failed["value"])

    def test_run_goes_on_past_a_broken_competitor(self, tmp_path: Path) -> None:
        broken = tmp_path / "run.py"
        broken.write_text(
            textwrap.dedent(f"""
                import sys
                sys.path.insert(0, {str(BENCHMARKS)!r})
                from pathlib import Path
                import numpy as np
                import lab
                from common import adapters, optimum, sources
                from common.adapters.packages import ScikitLinearSVC
                from common.harness import Fit

                class Broken(ScikitLinearSVC):
                    def read(self, problem, model):
                        return Fit(np.full(problem.X.shape[1], np.nan))

                adapters.PROGRAMS["LinearSVC"] = Broken()
                sources.MADE["text-200000"] = 2000
                optimum.bracket.__kwdefaults__ = None
                optimum.bracket.__defaults__ = (1e-6, Path({str(tmp_path / "optima.json")!r}))
                lab.SIZES["short"] = {{"text-200000": lab.Plan((1.0,), 1e-3, 10.0, 60.0, 1)}}
                sys.argv[1:] = ["short", "--programs", "LinearSVC", "hinge dcd", "--output", {str(tmp_path / "out")!r}]
                lab.main()
            """)
        )
        done = subprocess.run([sys.executable, str(broken)], capture_output=True, text=True, check=False)
        assert (tmp_path / "out.csv").exists(), done.stdout + done.stderr
        assert "2 programs on 1 data sets: about" in done.stdout and "minutes" in done.stdout
        fits = pd.read_csv(tmp_path / "out.csv")
        failure = fits[fits["program"] == "LinearSVC"]["failure"].dropna()
        assert failure.tolist() == ["returned weights that are not finite numbers of float64"]
        assert fits[fits["program"] == "hinge dcd"]["gap"].min() <= 1e-3
        assert "LinearSVC: returned weights" in (tmp_path / "out.md").read_text()
