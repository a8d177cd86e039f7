"""benchmarks/papers: the printed figures are read rightly, and each exhibit yields a table and its files."""

from __future__ import annotations

import itertools
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hinge

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from common import text
from common.problem import Problem
from common.store import Results
from papers import cli, printed
from papers.bench import ENOUGH_SEEDS, Bench
from papers.exhibit import Claim, judged, median, spread
from papers.watch import after_one_pass, reach, solve


def small_rows(name: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows that stand for any data set; MNIST has images."""
    rng = np.random.default_rng(len(name))
    X = rng.standard_normal((240, 64 if name.startswith("MNIST") else 6))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(240) > 0, 1.0, -1.0)
    return sp.csr_matrix(X), y


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    datasets = ("Adult", "CCAT", "topics", "astro-ph", "ijcnn1")
    optima = tmp_path / "optima.json"
    return Bench(small_rows, tmp_path / "results", tmp_path / "figures", optima, 1, datasets, budget=0.01)


@pytest.fixture
def problem() -> Problem:
    return Problem(*small_rows("Adult"), C=1.0, name="Adult")


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


def test_reach_counts_passes_to_the_goal_and_certifies(problem: Problem, bench: Bench) -> None:
    best = bench.optimum(problem)
    run = reach(problem, hinge.SGDs(), best, goal=0.01, seed=0, max_passes=3000)
    assert run["passes"] is not None and run["excess"] <= 0.01 and run["certified"]
    solution = solve(problem, hinge.SGDs(), tol=1e-12, max_iter=run["passes"], random_state=0)
    assert best.suboptimality(solution.certificate.primal) <= 0.01, "that many passes do not reach the goal"


def test_reach_says_when_the_goal_was_not_reached(problem: Problem, bench: Bench) -> None:
    run = reach(problem, hinge.SGDr(), bench.optimum(problem), goal=1e-9, seed=0, max_passes=3)
    assert run["passes"] is None and run["excess"] > 1e-9


def test_iterate_is_the_last_one_even_if_worse_than_zero(problem: Problem) -> None:
    hard = replace(problem.drawn(16, seed=0), C=1e4)
    w = after_one_pass(hard, hinge.Pegasos(sampling="epoch", projection=False), seed=0)
    assert hard.primal(w) > hard.primal(np.zeros_like(w)), "solve would have returned w = 0"


def test_drawn_rows_keep_lambda(problem: Problem) -> None:
    few = problem.drawn(50, seed=3)
    assert few.X.shape[0] == 50
    assert few.lam == pytest.approx(problem.lam)


def test_topical_text_has_unit_rows_and_separable_classes() -> None:
    X, y = text.topical(600)
    assert np.allclose(sp.linalg.norm(X, axis=1), 1.0)
    w = hinge.solve(X[:400], y[:400], C=10.0, intercept="none").coef
    assert np.mean(y[400:] * (X[400:] @ w) <= 0) < 0.25


def test_results_keep_the_cells_that_are_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "exhibit.json"
    Results(path).put("old", 1)
    Results(path).put("new", 2)
    Results(path).part("part").put("inner", 3)
    assert Results(path).cells == {"old": 1, "new": 2, "part": {"inner": 3}}


def test_page_is_what_the_results_and_the_readings_say() -> None:
    stored = cli.measured(cli.full_bench(None, (), None))
    page = cli.page(stored)
    assert cli.PAGE.read_text() == page, "python benchmarks/papers --update has not been run"
    assert not re.search(r"\{(exhibit|claims|machines)\}", page)
    assert [name for name, exhibit in cli.EXHIBITS.items() if exhibit.draw and f"figures/{name}.png" not in page] == []


def claims(name: str, cells: dict[str, Any]) -> list[Claim]:
    return list(cli.EXHIBITS[name].claims({name: cells}))


def runs(*passes: int | None, took: float = 1.0) -> dict[str, Any]:
    """As many runs as a claim needs: these again and again."""
    counts = itertools.islice(itertools.cycle(passes), max(len(passes), ENOUGH_SEEDS))
    return {"rows": 1, "runs": [{"passes": count, "seconds": took, "certified": True} for count in counts]}


@pytest.mark.parametrize(
    ("table", "dataset", "first", "second", "text", "holds"),
    [
        ("sgd-table2", "Web", [5, 5], [9, 9, None], "sgd-m needs fewer passes than sgd-s", True),
        ("sgd-table2", "Web", [9, 9], [5, 6], "sgd-m needs fewer passes than sgd-s", False),
        ("sgd-table6", "Web", [3, 3], [3, 3], "sgd-m needs not more passes than sgd-s", True),
        ("sgd-table6", "Web", [4, 4], [3, 3], "sgd-m needs not more passes than sgd-s", False),
        ("sgd-table6", "Covertype", [4], [5], "sgd-s needs fewer passes than sgd-m", False),
    ],
)
def test_claims_of_order_follow_the_paper_and_are_judged_by_medians(
    table: str, dataset: str, first: list[int | None], second: list[int | None], text: str, holds: bool
) -> None:
    cells = {f"{dataset}|sgd-m": runs(*first), f"{dataset}|sgd-s": runs(*second)}
    assert [claim.holds for claim in claims(table, cells) if claim.text == text] == [holds]


@pytest.mark.parametrize(("passes", "holds"), [(271, True), (272, False), (None, False)])
def test_budgets_are_half_as_much_again_as_printed(passes: int | None, holds: bool) -> None:
    found = claims("sgd-table2", {"Adult|pegasos": runs(passes)})
    assert [claim.holds for claim in found if "1.5 times" in claim.text] == [holds]


def test_every_printed_number_of_passes_that_was_measured_is_judged() -> None:
    stored = cli.measured(cli.full_bench(None, (), None))
    cells = stored["sgd-table2"].cells
    found = [claim for claim in claims("sgd-table2", cells) if claim.text.startswith("within 1 %")]
    assert len(found) == len(cells) - 1, "the paper prints passes for all but Pegasos on Covertype"


def test_nothing_is_claimed_from_few_seeds() -> None:
    few = runs(100)
    few["runs"].pop()
    found = claims("sgd-table2", {"Adult|pegasos": few, "Adult|sgd-r": runs(100)})
    assert {claim.case for claim in found if not claim.own} == {"sgd-r, Adult, C = 1"}
    assert judged({"Adult|ocas": {"runs": [{}]}, "Adult|mpu": {"runs": [{}]}}).keys() == {"Adult|ocas"}


@pytest.mark.parametrize(("took", "holds"), [(0.8, True), (0.99, False)])
def test_scaling_better_means_by_more_than_scatter(took: float, holds: bool) -> None:
    small, large = ({"Adult|sgd-m": runs(1), "Adult|dcd": runs(1, took=each)} for each in (1.0, took))
    found = cli.EXHIBITS["sgd-table5"].claims({"sgd-table3": small, "sgd-table5": large})
    assert [claim.holds for claim in found if claim.text.startswith("dcd scales better")] == [holds]


def test_solver_that_never_gets_there_is_the_slower_one() -> None:
    cells = {"Adult|sgd-m": runs(1), "Adult|mpu": runs(1), "Adult|sgd-qn, erratum": runs(None)}
    found = {claim.text: claim for claim in claims("sgd-table8", cells)}
    assert found["mpu is statistically faster than sgd-qn, erratum"].ours == "1 won, 0 lost"


def test_claims_about_our_certificates_are_counted_apart() -> None:
    wrong = runs(5)
    wrong["runs"][0]["certified"] = False
    own = [claim for claim in claims("sgd-table2", {"Adult|sgd-r": wrong}) if claim.own]
    assert [claim.holds for claim in own] == [False]


def test_statistically_faster_means_on_more_data_sets_than_not() -> None:
    cells = {f"{name}|sgd-m": runs(1, took=1.0) for name in ("Adult", "Web", "Covertype")}
    cells |= {"Adult|mpu": runs(1, took=0.9), "Web|mpu": runs(1, took=9.0), "Covertype|mpu": runs(1, took=0.9)}
    found = next(claim for claim in claims("sgd-table3", cells) if claim.text.startswith("mpu is statistically faster"))
    assert found.holds and found.ours.startswith("2 won, 1 lost")
    assert found.paper.startswith("7 won, 2 lost of nine")


def test_median_counts_a_run_that_never_got_there_as_the_slowest() -> None:
    assert median([3, None, 1]) == 3
    assert median([3, None, None]) is None
    assert spread([4, None, 2]) == "2 / 4 / -"
    assert spread([3, 3]) == "3"
