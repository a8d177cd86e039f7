"""Table 2 and Figure 1 of Lee & Wright, "ASSET": kernel machines on low-dimensional features, without intercept.

The test rows are the published test set where there is one, else a tenth of the rows, drawn with a fixed seed. Text is generated:
as many rows as the paper has, sparse.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from common import data, plots
from common.problem import Problem, Split
from common.store import Results, markdown
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import hinge
from papers import printed
from papers.bench import Bench
from papers.exhibit import Cells, Claim, Exhibit, Measured, at, label, number, percent, points
from papers.watch import Watched, silently, solve, weights

_SEEDS = 3
_ASSET = ("asset", "asset-star")
_QUICK = ("KernelSVC()", "cutting-plane", *_ASSET)  # on Adult they have several seeds, all else has one
_PUBLISHED = ("Adult", "MNIST")  # have a test set
_PASSES = 300  # at most, for ASSET
_LINEAR_PASSES = 100  # at most, for scikit-learn's LinearSVC, which takes minutes for more
_SECONDS = 120.0  # of a run that has no other end
_TOL = 1e-3  # relative gap of all but KernelSVC() as it comes
#: Rows for the exact kernel, which takes time with their square.
_EXACT_ROWS = {
    "Adult": 40_000,
    "MNIST": 20_000,
    "ijcnn1": 50_000,
    "Covertype": 20_000,
    "CCAT": 10_000,
    "topics": 10_000,
}
#: Stand-ins for the paper's CCAT, which has so many rows for training and testing. Their errors are not the paper's.
_TEXT = ("CCAT", "topics")
_TEXT_ROWS = (78_127, 11_574)


@dataclass(frozen=True)
class Case:
    """A data set with the paper's parameters, in float32; `goal` is the error at which ASSET may stop."""

    rows: Split
    paper: printed.Kernelised
    passes: int
    goal: float = 0.0

    @property
    def s(self) -> int:
        return min(self.paper.s, self.rows.y.size)

    def first(self, count: int) -> Case:
        """The same with fewer rows to train on, drawn at random."""
        chosen = np.random.default_rng(0).permutation(self.rows.y.size)[:count]
        return replace(self, rows=replace(self.rows, X=self.rows.X[chosen], y=self.rows.y[chosen]))

    def error(self, predicted: np.ndarray) -> float:
        return float(np.mean(np.where(predicted > 0, 1.0, -1.0) != self.rows.y_test))


def case(bench: Bench, name: str) -> Case:
    """The rows of a data set: dense, those of text sparse."""
    X, y = bench.load(name)
    if name in _TEXT:
        rows = _text(X, y)
    elif name in _PUBLISHED:
        X_test, y_test = bench.load(f"{name} test")
        rows = Split(_dense(X), y, _dense(X_test), y_test)
    else:
        rows = data.held_out(_dense(X), y)
    return Case(rows, _paper(name), bench.steps(_PASSES))


def _paper(name: str) -> printed.Kernelised:
    return printed.ASSET_2["CCAT" if name in _TEXT else name]


def _text(X: Any, y: np.ndarray) -> Split:
    """The first rows are for training, at most seven eighths, and the next ones for testing."""
    cut = min(_TEXT_ROWS[0], y.size * 7 // 8)
    end = min(cut + _TEXT_ROWS[1], y.size)
    X = X[:end].astype(np.float32)
    return Split(X[:cut], y[:cut], X[cut:], y[cut:end])


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
        problem = Problem(V, case.rows.y, case.paper.C)
        errors: list[float] = []
        solver = hinge.solvers.as_solver(name).replace(average_last=100)
        watched = Watched(
            solver, lambda point: errors.append(case.error(V_test @ weights(problem, point).astype(V.dtype)))
        )

        def enough(_: Any) -> bool:
            return min(errors) <= case.goal or watched.seconds > _SECONDS

        solve(problem, watched, tol=1e-12, max_iter=case.passes, random_state=seed, callback=enough)
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


def _intelex(case: Case, seed: int) -> Any:
    """scikit-learn-intelex's SVC, on one thread."""
    import daal4py
    from sklearnex.svm import SVC as SVC_intelex

    daal4py.daalinit(1)
    return SVC_intelex(C=case.paper.C, gamma=case.paper.gamma, cache_size=1000)


#: The order matters: ASSET stops at the error of the cutting planes.
PROGRAMS: dict[str, Program] = {
    "KernelSVC()": fitted(lambda case, seed: _ours(case, seed, n_components=case.s)),
    "cutting-plane": fitted(
        lambda case, seed: _ours(case, seed, n_components=case.s, fit_intercept=False, solver="cutting-plane", tol=_TOL)
    ),
    "asset": asset("asset"),
    "asset-star": asset("asset-star"),
    "Nystroem + LinearSVC": fitted(_linear_svc),
    "Nystroem + SGDClassifier": fitted(_sgd),
}
#: On fewer rows.
EXACT: dict[str, Program] = {
    "lasvm": fitted(
        lambda case, seed: _ours(case, seed, approximation="none", solver="lasvm", fit_intercept=False, tol=_TOL)
    ),
    "SVC": fitted(lambda case, seed: SVC(C=case.paper.C, gamma=case.paper.gamma, cache_size=1000)),
}
if importlib.util.find_spec("sklearnex"):
    EXACT["SVC, intelex"] = fitted(_intelex)
#: liblinear would copy the features of Covertype to 16 bytes a value.
_TOO_LARGE = {("Covertype", "Nystroem + LinearSVC")}


def measure_table2(bench: Bench, results: Results) -> None:
    """Test error and CPU seconds of training, the features included."""
    for dataset in _EXACT_ROWS:
        if dataset not in bench.datasets:
            continue
        whole = case(bench, dataset)
        few = whole.first(_EXACT_ROWS[dataset])
        for name, program in (PROGRAMS | EXACT).items():
            if (dataset, name) in _TOO_LARGE or not bench.wants(name):
                continue
            goals = _goals(dataset, results.cells) if name in _ASSET else []
            on = few if name in EXACT else whole
            seeds = range(min(bench.seeds, _SEEDS) if dataset == "Adult" and name in _QUICK else 1)
            runs = [program(replace(on, goal=goals[seed] if goals else 0.0), seed) for seed in seeds]
            results.put(f"{dataset}|{name}", {"rows": on.rows.y.size, "tested": on.rows.y_test.size, "runs": runs})
            print(f"  {dataset} {name}: {runs}", flush=True)


def _goals(dataset: str, cells: Cells) -> list[float]:
    """The errors of the cutting planes by seed; the paper's where the clock ended them, if the rows are the paper's."""
    paper = _paper(dataset).errors["cutting-plane"] / 100.0
    runs = cells[f"{dataset}|cutting-plane"]["runs"]
    return [paper if run["status"] == "time_limit" and dataset not in _TEXT else run["error"] for run in runs]


def show_table2(cells: Cells) -> str:
    """Ours beside the paper's."""
    rows = []
    for dataset in _EXACT_ROWS:
        paper = _paper(dataset)
        for name in (*PROGRAMS, "lasvm", "SVC", "SVC, intelex"):
            cell = cells.get(f"{dataset}|{name}")
            if cell is None:
                continue
            runs = cell["runs"]
            found = [100.0 * run["error"] for run in runs]
            error = f"{statistics.fmean(found):.2f}" + (f" ± {statistics.stdev(found):.2f}" if len(found) > 1 else "")
            took = number(statistics.median(run["seconds"] for run in runs))
            ended = "" if all(run.get("status", "converged") == "converged" for run in runs) else ", not converged"
            passes = number(statistics.median(run["passes"] for run in runs)) if name in _ASSET else "-"
            title = f"{label(dataset)}, " + (f"s = {paper.s}" if name in PROGRAMS else "exact kernel")
            theirs = (
                ("-", "-") if name not in paper.errors else (f"{paper.errors[name]:.2f}", number(paper.seconds[name]))
            )
            rows.append((title, name, *theirs, error, took + ended, passes, str(len(runs)), f"{cell['rows']:,}"))
    header = ("data set", "program", "paper: error, %", "paper: s", "ours: error, %", "ours: CPU s", "passes", "seeds")
    return markdown((*header, "training rows"), rows)


_AS_GOOD = 1.05  # times the paper's test error


def claims_table2(measured: Measured) -> Iterator[Claim]:
    """The printed errors, but of generated rows; ASSET and ASSET* alike, and faster than the others at that error."""
    cells = measured.get("asset-table2", {})
    for dataset in _EXACT_ROWS:
        found = {
            name: cells[f"{dataset}|{name}"]["runs"] for name in (*PROGRAMS, *EXACT) if f"{dataset}|{name}" in cells
        }
        if not set(_ASSET) <= set(found):
            continue
        error = {name: statistics.fmean(run["error"] for run in runs) for name, runs in found.items()}
        took = {name: statistics.median(run["seconds"] for run in runs) for name, runs in found.items()}
        paper = _paper(dataset)
        judged = (*_ASSET, "cutting-plane", *(("SVC",) if dataset in _WHOLE else ()))
        for name in () if dataset in _TEXT else judged:
            text = f"{name}: the paper's test error, within a factor {_AS_GOOD:g}"
            theirs = paper.errors[name] / 100.0
            yield Claim(text, label(dataset), percent(theirs), percent(error[name]), error[name] <= _AS_GOOD * theirs)
        both = [error[name] for name in _ASSET]
        ours = " and ".join(map(percent, both))
        theirs = " and ".join(f"{paper.errors[name]:.2f} %" for name in _ASSET)
        yield Claim(
            "asset and asset-star have similar errors", label(dataset), theirs, ours, max(both) <= _AS_GOOD * min(both)
        )
        for other in ("cutting-plane", *(("lasvm", "SVC") if dataset in _WHOLE else ())):
            shown = (f"{values['asset']:.3g} and {values[other]:.3g} s" for values in (paper.seconds, took))
            holds = (took["asset"] < took[other]) == (paper.seconds["asset"] < paper.seconds[other])
            faster = paper.seconds["asset"] < paper.seconds[other]
            text = f"asset is faster than {other}" if faster else f"{other} is faster than asset"
            yield Claim(text, label(dataset), *shown, holds)


#: All rows are given to the exact kernel.
_WHOLE = ("Adult", "ijcnn1")
_FIGURE1 = ("Adult", "MNIST", "ijcnn1")
_SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
_MAPS = ("nystroem", "fourier")


def measure_figure1(bench: Bench, results: Results) -> None:
    """The error of the certified optimum in the space of s features, which the paper's 1000 passes come close to."""
    for dataset in _FIGURE1:
        if dataset not in bench.datasets:
            continue
        whole = case(bench, dataset)
        for approximation in filter(bench.wants, _MAPS):
            cell: dict[str, Any] = {}
            for s in (s for s in _SIZES if s < whole.rows.y.size):
                for seed in range(min(bench.seeds, _SEEDS if s < 512 else 1)):
                    options = {"n_components": s, "approximation": approximation, "fit_intercept": False, "tol": _TOL}
                    model = _ours(whole, seed, **options)
                    model.fit(whole.rows.X, whole.rows.y)  # warns if it does not converge
                    errors = cell.setdefault(str(s), {"error": {}})["error"]
                    errors[str(seed)] = whole.error(model.predict(whole.rows.X_test))
                results.put(f"{dataset}|{approximation}", cell)
            print(f"  {dataset} {approximation}", flush=True)


def show_figure1(cells: Cells) -> str:
    """Median errors."""
    rows = []
    for name in sorted(cells, key=lambda name: (_FIGURE1.index(name.partition("|")[0]), name.endswith("fourier"))):
        found = at(cells[name], "error")
        rows.append((*name.split("|"), *(percent(found[s]) if s in found else "-" for s in _SIZES)))
    return markdown(("data set", "features", *(f"s = {s}" for s in _SIZES)), rows)


def draw_figure1(measured: Measured, path: Path) -> None:
    """A panel for each data set, with the paper's error of the exact kernel."""
    cells = measured["asset-figure1"]
    panels = []
    for dataset in (name for name in _FIGURE1 if f"{name}|fourier" in cells):
        curves = []
        for name, look in plots.styles(_MAPS).items():
            xs, *values = points(cells[f"{dataset}|{name}"], "error")
            middle, low, high = ([100.0 * value for value in each] for each in values)
            curves.append(plots.Curve(name, xs, middle, look, low, high))
        level = (("SVM-light (paper)", printed.ASSET_2[dataset].errors["SVC"]),)
        panels.append(plots.Panel(dataset, "features s", "test error, %", curves, level))
    plots.save(panels, path, columns=3)


_FEW_FEATURES, _SAME = 64, 0.003


def claims_figure1(measured: Measured) -> Iterator[Claim]:
    """Few features are enough for Adult; elsewhere more help; Fourier features are worse at the same s."""
    cells = measured.get("asset-figure1", {})
    for dataset in _FIGURE1:
        found = {name: at(cells[f"{dataset}|{name}"], "error") for name in _MAPS if f"{dataset}|{name}" in cells}
        if len(found) < len(_MAPS):
            continue
        nystroem, fourier = (found[name] for name in _MAPS)
        last = max(nystroem)
        if dataset == "Adult" and _FEW_FEATURES in nystroem:
            ours = f"{percent(nystroem[_FEW_FEATURES])} with {_FEW_FEATURES} features, {percent(nystroem[last])} with {last}"
            holds = nystroem[_FEW_FEATURES] <= nystroem[last] + _SAME
            yield Claim("small s is good enough, the kernel being nearly linear", dataset, "yes", ours, holds)
        elif dataset != "Adult":
            ours = f"{percent(nystroem[last // 2])} with {last // 2}, {percent(nystroem[last])} with {last}"
            holds = nystroem[last] < nystroem[last // 2]
            yield Claim("the error still falls at the largest s", dataset, "yes", ours, holds)
        worse = [s for s in fourier if fourier[s] > nystroem[s]]
        ours = f"at {len(worse)} of {len(fourier)} s"
        yield Claim("Fourier features are worse at the same s", dataset, "yes", ours, 2 * len(worse) > len(fourier))


EXHIBITS = (
    Exhibit(
        "asset-table2",
        "ASSET, Table 2: test error and CPU seconds",
        measure_table2,
        show_table2,
        claims=claims_table2,
    ),
    Exhibit(
        "asset-figure1",
        "ASSET, Figure 1: test error against s",
        measure_figure1,
        show_figure1,
        draw_figure1,
        claims_figure1,
    ),
)
