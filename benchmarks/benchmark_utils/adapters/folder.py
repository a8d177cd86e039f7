"""A folder for the files of a program."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class Folder:
    """Deleted with the object, by the process that made it: fits run in forked children, which must leave it alone."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="hinge-lab-"))
        weakref.finalize(self, _delete, self.path, os.getpid())


def _delete(path: Path, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(path, ignore_errors=True)
