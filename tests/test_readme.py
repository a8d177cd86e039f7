"""What the README says in words is true as well: names, links, commands, defaults, and a test behind every promise."""

from __future__ import annotations

import inspect
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sklearn.svm

import hinge
from hinge.solvers import solver_names
from hinge.versions import versions

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
#: The promises of "What you can rely on", and the tests that keep them.
KEPT_BY = {
    "The certificate is never false": ["test_promises.py", "test_certify.py"],
    "Rows are read in place": ["test_rows_in_place.py"],
    "A scikit-learn estimator": ["test_estimator.py", "test_integrations.py"],
    "Ctrl-C keeps the best model so far": ["test_interrupts.py"],
    "Runs can be saved and resumed": ["test_resuming.py"],
    "Same seed, same bits": ["test_many.py", "test_twins.py"],
}
PROSE = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    return README.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_promise_has_its_tests() -> None:
    promises = re.findall(r"^- \*\*(.*?)\*\*", section("What you can rely on"), re.MULTILINE)
    assert promises == list(KEPT_BY)
    missing = [name for names in KEPT_BY.values() for name in names if not (ROOT / "tests" / name).is_file()]
    assert not missing


@pytest.mark.parametrize("name", sorted(set(re.findall(r"hinge\.([a-zA-Z_]\w*)", PROSE))))
def test_names_in_the_text_exist(name: str) -> None:
    assert hasattr(hinge, name)


def test_links_and_pictures_are_there() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def test_commands_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:\$ |`)make ([a-z-]+)", README))
    assert {"demo", "test", "help", "wheel"} <= named <= targets


def test_solvers_of_the_table_are_those_of_the_registry() -> None:
    cells = re.findall(r"^\|.*\|(.*)\|$", section("Solvers"), re.MULTILINE)
    assert set(re.findall(r"`([a-z-]+)`", "\n".join(cells))) == set(solver_names())


def test_differences_from_scikit_learn_are_those_of_the_signatures() -> None:
    table = section("How it differs from scikit-learn's LinearSVC")
    ours = {name: p.default for name, p in inspect.signature(hinge.LinearSVC).parameters.items()}
    theirs = {name: p.default for name, p in inspect.signature(sklearn.svm.LinearSVC).parameters.items()}
    new = re.search(r"^\| new \| \| (.*?) \|", table, re.MULTILINE)
    assert new is not None
    assert set(re.findall(r"`(\w+)`", new[1])) == set(ours) - set(theirs)
    assert set(theirs) <= set(ours), "a parameter of scikit-learn's is missing"
    assert (ours["loss"], theirs["loss"]) == ("hinge", "squared_hinge")
    assert (ours["tol"], theirs["tol"]) == (1e-3, 1e-4)
    assert (ours["random_state"], theirs["random_state"]) == (0, None)
    assert ours["max_iter"] == theirs["max_iter"] == 1000


def measured() -> list[dict[str, Any]]:
    """The cells of benchmarks/accuracy.py as it has written them."""
    found: list[dict[str, Any]] = json.loads((ROOT / "benchmarks/results/accuracy.json").read_text(encoding="utf-8"))
    return found


def test_seconds_of_the_default_call_are_those_measured() -> None:
    lines = [line.strip("|").split("|") for line in section("Measured").splitlines() if line.startswith("|")]
    header = [cell.strip() for cell in lines[0]]
    of_cell = {(cell["data"], cell["C"]): cell for cell in measured() if cell["accuracy"] == 1e-3}
    rows = [[cell.strip() for cell in line] for line in lines[2:] if (line[0].strip(), _number(line[1])) in of_cell]
    assert len(rows) == 12
    for row in rows:
        cell = of_cell[row[0], float(row[1])]
        seconds = {name: cell[name] for name in header[2:]}
        fastest = min(seconds, key=lambda name: seconds[name] or math.inf)
        for name, shown in zip(header[2:], row[2:], strict=True):
            expected = "never" if seconds[name] is None else f"{seconds[name]:.3f}"
            assert shown == (f"**{expected}**" if name == fastest else expected), f"{row[:2]}, {name}"


def test_ratios_to_the_others_are_those_measured() -> None:
    cells = measured()
    text = " ".join(section("Measured").split())

    def ratio(peer: str, least_C: float) -> float:
        logs = [math.log((cell[peer] or cell["limit"]) / cell["hinge"]) for cell in cells if cell["C"] >= least_C]
        return math.exp(sum(logs) / len(logs))

    peers = ("liblinear", "LinearSVC", "Snap ML", "svmocas", "lightning SDCA", "SGDClassifier")
    all_cells, hard = ([ratio(peer, least) for peer in peers] for least in (0.0, 10.0))
    behind = sum(any((cell[peer] or cell["limit"]) < cell["hinge"] for peer in peers) for cell in cells)
    assert f"{len(cells)} cells" in text and f"faster in {behind} of the {len(cells)} cells" in text
    liblinear, *others = all_cells
    assert f"takes {liblinear:.1f} times as long" in text
    assert ", ".join(f"{peer} {times:.1f}" for peer, times in zip(peers[1:], others, strict=True)) in text
    *shown, last = (f"{times:.0f}" for times in hard)
    assert f"for C >= 10 it is {', '.join(shown)} and {last} times" in text


def test_cells_that_converge_are_those_measured() -> None:
    page = (ROOT / "benchmarks/results/converges.md").read_text(encoding="utf-8")
    cells = [tuple(map(int, found)) for found in re.findall(r"^\|[^|]*\| (\d+) of (\d+) \|", page, re.MULTILINE)]
    converged, tried = (sum(column) for column in zip(*cells, strict=True))
    assert converged == tried and f"all {tried} cells" in " ".join(section("Measured").split())
    assert f"on {len(cells)} data sets" in " ".join(section("Measured").split())


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def test_module_tells_what_it_runs_on() -> None:
    done = subprocess.run([sys.executable, "-m", "hinge"], capture_output=True, text=True, check=True)
    found = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("compiler"))
    assert found["hinge"] == hinge.__version__
    assert {"hinge", "numpy", "threads", "compiler of the core"} <= set(versions())
    assert any(name.startswith("blas") for name in versions()), "the BLAS of NumPy is told"


def test_first_hour_is_a_page_that_runs() -> None:
    page = ROOT / "docs" / "first_hour.md"
    assert page.read_text(encoding="utf-8").count(">>> ") > 20
