"""What an installed hinge promises: typed, stubs that match the native module."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hinge

ROOT = Path(__file__).parents[1]
PACKAGE = Path(hinge.__file__).parent


def test_package_is_marked_as_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_stubs_match_the_native_module(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "hinge._core", "-o", str(fresh)]
    subprocess.run(command, check=True)
    committed = PACKAGE / "_core.pyi"
    assert committed.is_file(), "src/hinge/_core.pyi is missing: run `make stubs`"
    assert fresh.read_text() == committed.read_text(), "src/hinge/_core.pyi is out of date: run `make stubs`"


def test_version_is_that_of_the_metadata() -> None:
    assert hinge.__version__ == importlib.metadata.version("hinge")


def test_repository_names_no_place_on_somebodys_machine() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git repository")
    listing = subprocess.run(
        [git, "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    place = re.compile(
        r"(?<![\w.])/(?:" + "|".join(("work", "root", "home", "tmp")) + r")/|(?:index|find)-(?:url|links)"
    )
    found = []
    for name in listing.stdout.splitlines():
        path = ROOT / name
        if not path.is_file() or path == Path(__file__):
            continue
        lines = path.read_text(encoding="utf-8", errors="ignore").splitlines()
        found += [f"{name}:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if place.search(line)]
    assert not found, "\n".join(found)


def test_without_a_compiler_the_build_says_what_to_install(tmp_path: Path) -> None:
    """CMake and ninja alone on the PATH."""
    places = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    tools = {name: shutil.which(name, path=places) for name in ("cmake", "ninja", "uname")}
    if not (ROOT / "CMakeLists.txt").is_file() or None in tools.values():
        pytest.skip("no sources, or no CMake and ninja")
    (tmp_path / "bin").mkdir()
    for name, path in tools.items():
        (tmp_path / "bin" / name).symlink_to(str(path))
    done = subprocess.run(
        [str(tools["cmake"]), "-S", str(ROOT), "-B", str(tmp_path / "build"), "-G", "Ninja"],
        env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    words = " ".join(done.stderr.split())
    assert done.returncode != 0
    assert "needs a C++20 compiler, but there is none" in words, words
    assert "apt install g++" in words and "make wheel" in words
