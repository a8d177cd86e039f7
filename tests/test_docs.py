"""Every Python block in the documentation runs, and prints what the page says."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
            runner.run(test, out=report.append, clear_globs=False)
            names.update(test.globs)
        else:
            exec(compile("\n" * line + code, str(page), "exec", dont_inherit=True), names)
    assert not runner.failures, "".join(report)
