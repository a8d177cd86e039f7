"""benchmarks/papers: the printed figures are read rightly, and each exhibit yields a table and its files."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import hinge

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from papers import claims, cli, printed, store, topics
from papers.bench import Bench
from papers.exhibit import MISSING, median, spread
from papers.task import Task
from papers.watch import after_one_pass, drawn, reach


def small_rows(name: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows that stand for any data set; MNIST has images."""
    rng = np.random.default_rng(len(name))
    X = rng.standard_normal((240, 64 if name.startswith("MNIST") else 6))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(240) > 0, 1.0, -1.0)
    return sp.csr_matrix(X), y


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    datasets = ("Adult", "CCAT", "topics", "astro-ph", "ijcnn1")
    solvers = tuple(hinge.solvers.solver_names())
    return Bench(small_rows, tmp_path / "results", tmp_path / "figures", 1, datasets, solvers, budget=0.01)


@pytest.fixture
def task() -> Task:
    X, y = small_rows("Adult")
    return Task("Adult", X, y, C=1.0)


@pytest.mark.parametrize("name", cli.EXHIBITS)
def test_exhibit_yields_a_table_and_its_files(name: str, bench: Bench) -> None:
    exhibit = cli.EXHIBITS[name]
    table = cli.run(exhibit, bench)
    header, rule, *rows = [line for line in table.splitlines() if line.startswith("|")]
    assert set(rule) <= set("|- ") and rows, f"{name} has no table:\n{table}"
    assert header.count("|") == rows[0].count("|")
    stored = json.loads((bench.results / f"{name}.json").read_text())
    assert stored["cells"] and stored["measured_on"]
    if exhibit.draw is not None:
        assert (bench.figures / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("table", "dataset", "solver", "figures"),
    [
        (printed.SGD_2, "Adult", "pegasos", printed.Figures(None, 181, 2.4)),
        (printed.SGD_2, "CCAT", "sgd-m", printed.Figures(0.163, 7, 4.0)),
        (printed.SGD_2, "Covertype", "pegasos", printed.Figures(None, None, None)),
        (printed.SGD_4, "Web", "sgd-s", printed.Figures(0.049, 220, 1.5)),
        (printed.SGD_6, "Covertype", "sgd-m", printed.Figures(0.27, 5, 0.75)),
        (printed.SGD_3, "Web", "ocas", printed.Figures(None, None, 0.27)),
        (printed.SGD_5, "Covertype", "dcd", printed.Figures(6.1, None, 90.8)),
        (printed.SGD_7, "CCAT", "cutting-plane", printed.Figures(0.25, None, 7.1)),
        (printed.SGD_8, "Adult", "sgd-qn", printed.Figures(None, 39, 0.06)),
        (printed.SGD_8, "News20", "sgd-qn", printed.Figures(None, None, None)),
    ],
)
def test_printed_figures_are_read_by_column(
    table: printed.Table, dataset: str, solver: str, figures: printed.Figures
) -> None:
    assert table[dataset][solver] == figures


def test_tables_of_the_sgd_paper_have_all_nine_data_sets() -> None:
    for number in range(2, 9):
        assert len(getattr(printed, f"SGD_{number}")) == 9


def test_printed_row_with_a_figure_missing_is_refused() -> None:
    with pytest.raises(ValueError, match="Adult has 1 figures, not 2"):
        printed.parse("Adult 181", (("pegasos", "Ts"),))


def test_reach_counts_passes_to_the_goal_and_certifies(task: Task, bench: Bench) -> None:
    best = bench.optimum(task)
    run = reach(task, hinge.SGDs(), best, goal=0.01, seed=0, max_passes=3000)
    assert run.passes is not None and run.excess <= 0.01 and run.certified
    with pytest.warns(ConvergenceWarning):
        solution = task.solve(hinge.SGDs(), tol=1e-12, max_iter=run.passes, random_state=0)
    assert best.excess(solution.certificate.primal) <= 0.01, "that many passes do not reach the goal"


def test_reach_says_when_the_goal_was_not_reached(task: Task, bench: Bench) -> None:
    run = reach(task, hinge.SGDr(), bench.optimum(task), goal=1e-9, seed=0, max_passes=3)
    assert run.passes is None and run.excess > 1e-9


def test_iterate_is_the_last_one_even_if_worse_than_zero(task: Task) -> None:
    few = drawn(task, 16, seed=0)
    hard = replace(few, C=1e4)
    w = after_one_pass(hard, hinge.Pegasos(sampling="epoch", projection=False), seed=0)
    assert hard.primal(w) > hard.primal(np.zeros_like(w)), "solve would have returned w = 0"


def test_drawn_rows_keep_lambda(task: Task) -> None:
    few = drawn(task, 50, seed=3)
    assert few.X.shape[0] == 50
    assert few.lam == pytest.approx(task.lam)


def test_topical_text_has_unit_rows_and_separable_classes() -> None:
    X, y = topics.topical_text(600)
    assert np.allclose(sp.linalg.norm(X, axis=1), 1.0)
    w = hinge.solve(X[:400], y[:400], C=10.0, intercept="none").coef
    assert np.mean(y[400:] * (X[400:] @ w) <= 0) < 0.25


def test_solver_that_is_absent_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.sgd_tables.solver_named", lambda name: None)
    assert MISSING in cli.EXHIBITS["sgd-table2"].table({})


def test_results_keep_the_cells_that_are_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "exhibit.json"
    store.Results(path).put("old", 1)
    store.Results(path).put("new", 2)
    assert store.Results(path).cells == {"old": 1, "new": 2}


def test_page_without_markers_is_refused() -> None:
    assert store.fill("a\n<!-- t: begin -->\nx\n<!-- t: end -->\nb\n", "t", "y") == (
        "a\n<!-- t: begin -->\ny\n<!-- t: end -->\nb\n"
    )
    with pytest.raises(ValueError, match="t: begin"):
        store.fill("nothing here", "t", "y")


def test_page_has_markers_for_every_exhibit(bench: Bench, tmp_path: Path) -> None:
    page = tmp_path / "papers.md"
    page.write_text(cli.PAGE.read_text())
    cli.update(page, bench)
    assert "not measured" in page.read_text()


@pytest.mark.parametrize(
    ("first", "second", "verdict"), [([5, 5], [9, None], "PASS"), ([9, 9], [5, 6], "FAIL"), (None, [5], "not measured")]
)
def test_claims_are_judged_by_medians(first: Any, second: Any, verdict: str) -> None:
    passes = {"sgd-m": first, "sgd-s": second}
    cells = {
        f"Web|{solver}": {"rows": 1, "runs": [{"passes": count, "certified": True} for count in counts]}
        for solver, counts in passes.items()
        if counts is not None
    }
    lines = [
        line
        for line in claims.table({"sgd-table2": cells}).splitlines()
        if line.startswith("| sgd-m needs fewer passes than sgd-s | Web, C = 1 |")
    ]
    assert len(lines) == 1 and lines[0].endswith(f"{verdict} |")


def test_median_counts_a_run_that_never_got_there_as_the_slowest() -> None:
    assert median([3, None, 1]) == 3
    assert median([3, None, None]) is None
    assert spread([4, None, 2]) == "2 / 4 / -"
