"""The link to the documentation in the HTML picture of an estimator, as notebooks show it."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from pathlib import Path
from typing import ClassVar


class Documented:
    """An estimator whose picture links to its page of the documentation."""

    _doc_link_module: ClassVar[str] = "hinge"
    #: Which page of docs/ it is.
    _page: ClassVar[str] = "solvers.md"

    @property
    def _doc_link_template(self) -> str:
        """scikit-learn's hook: an address in which nothing is left to be filled in."""
        return _address(self._page).replace("{", "{{").replace("}", "}}")


@cache
def _address(page: str) -> str:
    """Where a page is: at the project's address if it has one, otherwise in the folder that hinge was built from."""
    for entry in importlib.metadata.metadata("hinge").get_all("Project-URL") or []:
        name, _, address = entry.partition(",")
        if name.strip() == "Documentation":
            return f"{address.strip().rstrip('/')}/{page}"
    local = Path(__file__).parents[3] / "docs" / page
    return local.as_uri() if local.is_file() else ""
