"""Every Python block in the documentation runs, and prints what the page says."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hinge.solvers import SOLVERS, as_solver, solver_names

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.exists()
]
# A block that must not run has the line <!-- not run --> before it.
BLOCK = re.compile(
    r"^(?P<skip><!-- not run -->\n\n?)?```(?:python|pycon)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
PROMPT = re.compile(r"^>>> ", re.MULTILINE)  # not one within a docstring
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path) -> Iterator[tuple[int, str]]:
    """Line number (from 0) and text of each block to run."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if not match["skip"]:
            yield text.count("\n", 0, match.start("code")), match["code"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_documentation_runs(page: Path) -> None:
    """Blocks of a page share their names; one with prompts is a doctest, another one a script."""
    names: dict[str, Any] = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report: list[str] = []
    for line, code in blocks(page):
        if PROMPT.search(code):
            test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
            runner.run(test, out=report.append, clear_globs=False)
            names.update(test.globs)
        else:
            exec(compile("\n" * line + code, str(page), "exec", dont_inherit=True), names)
    assert not runner.failures, "".join(report)


def supported() -> dict[str, list[str]]:
    """The table of docs/solvers.md by name: configuration, losses, intercepts, order, essentials."""
    page = ROOT / "docs" / "solvers.md"
    if not page.exists():
        pytest.skip("a source distribution has no docs")
    lines = page.read_text(encoding="utf-8").splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith("| name | configuration |"))
    table: dict[str, list[str]] = {}
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        table[name.strip("`")] = cells
    return table


def test_table_of_solvers_has_no_other() -> None:
    assert set(supported()) <= set(solver_names())


@pytest.mark.parametrize("name", ["auto", *SOLVERS])
def test_table_of_solvers_says_what_each_supports(name: str) -> None:
    solver: Any = as_solver(name)
    assert name in supported(), f"the table of docs/solvers.md has no line for {name}"
    configuration, losses, intercepts, order, _ = supported()[name]
    options = ", ".join(solver.get_params())
    assert configuration == f"`{type(solver).__name__}({options})`"
    assert losses == ", ".join(solver.traits.losses)
    auto = solver.traits.treatment("auto")
    assert intercepts == ", ".join(f"**{kind}**" if kind == auto else kind for kind in solver.traits.intercepts)
    default = "none:" if solver.traits.order is None else type(solver.traits.order).__name__.lower()
    assert order.startswith(default), f"{name}: the default order is {solver.traits.order}"


def test_header_of_the_contributing_page_satisfies_the_contract(tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("no C++ compiler")
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (header,) = re.findall(r"^```cpp\n(#pragma once\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "frank_wolfe.hpp").write_text(header, encoding="utf-8")
    source = tmp_path / "check.cpp"
    source.write_text(
        """#include "frank_wolfe.hpp"
        using namespace hinge;
        static_assert(Solver<FrankWolfe>);
        template bool FrankWolfe::run_epoch(const CsrRows<float, int>&, const Problem&, Poll&);
        template void FrankWolfe::rebuild(const CsrRows<float, int>&, const Problem&, Poll&);
        """,
        encoding="utf-8",
    )
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", str(ROOT / "cpp/include")]
    checked = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
