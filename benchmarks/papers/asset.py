"""Table 2 and Figure 1 of Lee & Wright, "ASSET": kernel machines on low-dimensional features, without intercept.

The rows are the published test set where there is one, else a tenth of the rows, drawn with a fixed seed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import data
import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import hinge
from papers import printed
from papers.bench import Bench
from papers.exhibit import UNMEASURED, Cells, Exhibit, label, number
from papers.pegasos import points
from papers.plots import COLOURS, Curve, Panel, save
from papers.store import Results, markdown
from papers.task import Task
from papers.watch import Watched, silently

_SEEDS = 3
_ASSET = ("asset", "asset-star")
_QUICK = ("KernelSVC()", "cutting-plane", *_ASSET)  # on Adult they have several seeds, all else has one
_PUBLISHED = ("Adult", "MNIST")  # have a test set
_PASSES = 300  # at most, for ASSET
_LINEAR_PASSES = 100  # at most, for scikit-learn's LinearSVC, which takes minutes for more
_SECONDS = 120.0  # of a run that has no other end
#: Rows for the exact kernel, which takes time with their square.
_EXACT_ROWS = {"Adult": 40_000, "MNIST": 20_000, "ijcnn1": 50_000, "Covertype": 20_000, "CCAT": 10_000}
#: Rows of CCAT, training and test.
_CCAT_ROWS = 78_127 + 11_574


@dataclass(frozen=True)
class Case:
    """A data set with the paper's parameters, in float32; `goal` is the error at which ASSET may stop."""

    rows: data.Split
    paper: printed.Kernelised
    passes: int
    goal: float = 0.0

    @property
    def s(self) -> int:
        return min(self.paper.s, self.rows.y.size)

    def first(self, count: int) -> Case:
        """The same with fewer rows to train on, drawn at random."""
        chosen = np.random.default_rng(0).permutation(self.rows.y.size)[:count]
        rows = data.Split(self.rows.X[chosen], self.rows.y[chosen], self.rows.X_test, self.rows.y_test)
        return Case(rows, self.paper, self.passes)

    def error(self, predicted: np.ndarray) -> float:
        return float(np.mean(np.where(predicted > 0, 1.0, -1.0) != self.rows.y_test))


def case(bench: Bench, name: str) -> Case:
    """The rows of a data set: dense, but for text."""
    X, y = bench.load(name)
    if name == "CCAT":
        rows = data.held_out(X[:_CCAT_ROWS].astype(np.float32), y[:_CCAT_ROWS])
    elif name in _PUBLISHED:
        X_test, y_test = bench.load(f"{name} test")
        rows = data.Split(_dense(X), y, _dense(X_test), y_test)
    else:
        rows = data.held_out(_dense(X), y)
    return Case(rows, printed.ASSET_2[name], bench.steps(_PASSES))


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray(), dtype=np.float32)


#: (case, seed) -> {"error": share of the test rows, "seconds": CPU seconds of training, ...}
Program: TypeAlias = Callable[[Case, int], Cells]


def asset(name: str) -> Program:
    """The paper's run: the average of the last 100 steps after each pass, until its error is that of CPNY.

    `hinge.solve` would return the best point of the run, which may be w = 0; this is the run's own.
    """

    def run(case: Case, seed: int) -> Cells:
        began = time.process_time()
        features = hinge.features.Nystroem("rbf", gamma=case.paper.gamma, n_components=case.s, random_state=seed)
        V = features.fit_transform(case.rows.X)
        spent = time.process_time() - began
        V_test = features.transform(case.rows.X_test)
        task = Task("", V, case.rows.y, case.paper.C)
        errors: list[float] = []
        solver = hinge.solvers.as_solver(name).replace(average_last=100)
        watched = Watched(solver, lambda point: errors.append(case.error(V_test @ task.weights(point).astype(V.dtype))))

        def enough(_: Any) -> bool:
            return min(errors) <= case.goal or watched.seconds > _SECONDS

        silently(lambda: task.solve(watched, tol=1e-12, max_iter=case.passes, random_state=seed, callback=enough))
        # Callbacks come at the loop's own intervals: what counts is the first pass at the goal.
        passes = next((i for i, error in enumerate(errors, 1) if error <= case.goal), len(errors))
        training = watched.seconds * passes / len(errors)
        return {"error": errors[passes - 1], "seconds": spent + training, "passes": passes, "best": min(errors)}

    return run


def fitted(make: Callable[[Case, int], Any]) -> Program:
    """An estimator of scikit-learn's kind."""

    def run(case: Case, seed: int) -> Cells:
        model = make(case, seed)
        began = time.process_time()
        silently(lambda: model.fit(case.rows.X, case.rows.y))
        seconds = time.process_time() - began
        cell = {"error": case.error(model.predict(case.rows.X_test)), "seconds": seconds}
        return cell | ({"status": model.status_} if hasattr(model, "status_") else {})

    return run


def _ours(case: Case, seed: int, **options: Any) -> hinge.KernelSVC:
    return hinge.KernelSVC(
        case.paper.C, gamma=case.paper.gamma, random_state=seed, time_limit=_SECONDS, store_dual=False, **options
    )


def _nystroem(case: Case, seed: int) -> Nystroem:
    return Nystroem(gamma=case.paper.gamma, n_components=case.s, random_state=seed)


def _linear_svc(case: Case, seed: int) -> Any:
    linear = LinearSVC(loss="hinge", C=case.paper.C, fit_intercept=False, max_iter=_LINEAR_PASSES, random_state=seed)
    return make_pipeline(_nystroem(case, seed), linear)


def _sgd(case: Case, seed: int) -> Any:
    alpha = 1.0 / (case.paper.C * case.rows.y.size)
    return make_pipeline(_nystroem(case, seed), SGDClassifier(alpha=alpha, fit_intercept=False, random_state=seed))


#: The order matters: ASSET stops at the error of the cutting planes.
PROGRAMS: dict[str, Program] = {
    "KernelSVC()": fitted(lambda case, seed: _ours(case, seed, n_components=case.s)),
    "cutting-plane": fitted(
        lambda case, seed: _ours(case, seed, n_components=case.s, fit_intercept=False, solver="cutting-plane")
    ),
    "asset": asset("asset"),
    "asset-star": asset("asset-star"),
    "Nystroem + LinearSVC": fitted(_linear_svc),
    "Nystroem + SGDClassifier": fitted(_sgd),
}
#: On fewer rows.
EXACT: dict[str, Program] = {
    "lasvm": fitted(lambda case, seed: _ours(case, seed, approximation="none", solver="lasvm", fit_intercept=False)),
    "SVC": fitted(lambda case, seed: SVC(C=case.paper.C, gamma=case.paper.gamma, cache_size=1000)),
}
#: liblinear would copy the features of Covertype to 16 bytes a value.
_TOO_LARGE = {("Covertype", "Nystroem + LinearSVC")}


def measure_table2(bench: Bench, results: Results) -> None:
    """Test error and CPU seconds of training, the features included."""
    for dataset in printed.ASSET_2:
        if dataset not in bench.datasets:
            continue
        whole = case(bench, dataset)
        for name, program in PROGRAMS.items():
            seeds = range(min(bench.seeds, _SEEDS) if dataset == "Adult" and name in _QUICK else 1)
            if (dataset, name) not in _TOO_LARGE:
                goals = _goals(dataset, results.cells) if name in _ASSET else []
                _keep(results, dataset, name, whole, program, seeds, goals)
        few = whole.first(_EXACT_ROWS[dataset])
        for name, program in EXACT.items():
            _keep(results, dataset, name, few, program, range(1), [])


def _goals(dataset: str, cells: Cells) -> list[float]:
    """The errors of the cutting planes by seed; the paper's where the clock ended them."""
    paper = printed.ASSET_2[dataset].errors["cutting-plane"] / 100.0
    runs = cells[f"{dataset}|cutting-plane"]["runs"]
    return [paper if run["status"] == "time_limit" else run["error"] for run in runs]


def _keep(
    results: Results, dataset: str, name: str, case: Case, program: Program, seeds: range, goals: list[float]
) -> None:
    runs = []
    for seed in seeds:
        goal = goals[seed] if goals else 0.0
        runs.append(program(Case(case.rows, case.paper, case.passes, goal), seed))
    results.put(f"{dataset}|{name}", {"rows": case.rows.y.size, "tested": case.rows.y_test.size, "runs": runs})
    print(f"  {dataset} {name}: {runs}", flush=True)


def show_table2(cells: Cells) -> str:
    """Ours beside the paper's."""
    rows = []
    for dataset, paper in printed.ASSET_2.items():
        for name in (*PROGRAMS, *EXACT):
            theirs = (_percent(paper.errors.get(name)), number(paper.seconds.get(name)))
            cell = cells.get(f"{dataset}|{name}")
            title = f"{label(dataset)}, " + ("exact kernel" if name in EXACT else f"s = {paper.s}")
            if cell is None:
                rows.append((title, name, *theirs, UNMEASURED, "-", "-", "-", "-"))
                continue
            runs = cell["runs"]
            found = [100.0 * run["error"] for run in runs]
            error = _percent(statistics.fmean(found)) + (f" ± {statistics.stdev(found):.2f}" if len(found) > 1 else "")
            seconds = number(statistics.median(run["seconds"] for run in runs))
            ended = "" if all(run.get("status", "converged") == "converged" for run in runs) else ", not converged"
            passes = number(statistics.median(run["passes"] for run in runs)) if name in _ASSET else "-"
            rows.append((title, name, *theirs, error, seconds + ended, passes, str(len(runs)), f"{cell['rows']:,}"))
    header = ("data set", "program", "paper: error", "paper: s", "ours: error", "ours: CPU s", "passes", "seeds")
    return markdown((*header, "training rows"), rows)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} %"


_FIGURE1 = ("Adult", "MNIST", "ijcnn1")
_SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
_MAPS = ("nystroem", "fourier")


def measure_figure1(bench: Bench, results: Results) -> None:
    """The error of the certified optimum in the space of s features, which the paper's 1000 passes come close to."""
    for dataset in _FIGURE1:
        if dataset not in bench.datasets:
            continue
        whole = case(bench, dataset)
        for approximation in _MAPS:
            cell: Cells = {}
            for s in (s for s in _SIZES if s < whole.rows.y.size):
                for seed in range(min(bench.seeds, _SEEDS if s < 512 else 1)):
                    model = _ours(whole, seed, n_components=s, approximation=approximation, fit_intercept=False)
                    model.fit(whole.rows.X, whole.rows.y)  # warns if it does not converge
                    errors = cell.setdefault(str(s), {"error": {}})["error"]
                    errors[str(seed)] = whole.error(model.predict(whole.rows.X_test))
                results.put(f"{dataset}|{approximation}", cell)
            print(f"  {dataset} {approximation}", flush=True)


def show_figure1(cells: Cells) -> str:
    """Median errors."""
    rows = []
    for dataset in _FIGURE1:
        for approximation in _MAPS:
            at = dict(zip(*points(cells.get(f"{dataset}|{approximation}", {}), "error")[:2], strict=True))
            found = tuple(_percent(100.0 * at[s]) if s in at else UNMEASURED for s in _SIZES)
            rows.append((dataset, approximation, *found))
    return markdown(("data set", "features", *(f"s = {s}" for s in _SIZES)), rows)


def draw_figure1(cells: Cells, path: Path) -> None:
    """A panel for each data set, with the paper's error of the exact kernel."""
    panels = []
    for dataset in (name for name in _FIGURE1 if f"{name}|fourier" in cells):
        curves = [
            Curve(name, *_in_percent(points(cells[f"{dataset}|{name}"], "error")), colour)
            for name, colour in zip(_MAPS, COLOURS, strict=False)
        ]
        level = (("SVM-light (paper)", printed.ASSET_2[dataset].errors["SVC"]),)
        panels.append(Panel(dataset, "features s", "test error, %", curves, level))
    save(panels, path)


def _in_percent(found: tuple[list[int], list[float], list[float], list[float]]) -> list[list[float]]:
    xs, *values = found
    return [list(map(float, xs)), *([100.0 * value for value in each] for each in values)]


EXHIBITS = (
    Exhibit("asset-table2", "ASSET, Table 2: test error and CPU seconds", measure_table2, show_table2),
    Exhibit("asset-figure1", "ASSET, Figure 1: test error against s", measure_figure1, show_figure1, draw_figure1),
)
