"""Programs of the command line: svmocas, svm_perf_learn, svm_learn.

The rows are written to a file before the clock starts; the time is the one that the program prints for training alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.datasets import dump_svmlight_file

from common.harness import Adapter, Fit
from common.problem import Floats, Problem

_ROWS = "rows.svm"


class Folder:
    """Deleted with the object, by the process that made it: fits run in forked children, which must leave it alone."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="hinge-lab-"))
        weakref.finalize(self, _delete, self.path, os.getpid())


def _delete(path: Path, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class Files:
    """A problem on disk."""

    folder: Folder
    C: float
    shape: tuple[int, int]
    writing: float  # seconds

    @property
    def rows(self) -> Path:
        return self.folder.path / _ROWS

    @property
    def model(self) -> Path:
        return self.folder.path / "model"


class Program(Adapter):
    """A program that reads SVM-light rows, writes a model and prints how long it has trained."""

    executable: ClassVar[str]
    source: ClassVar[str]
    clock: ClassVar[re.Pattern[str]]

    def missing(self) -> str | None:
        return None if shutil.which(self.executable) else f"{self.executable} is not on the PATH: {self.source}"

    def prepare(self, problem: Problem) -> Files:
        folder, began = Folder(), time.perf_counter()
        dump_svmlight_file(problem.X, problem.y.astype(int), str(folder.path / _ROWS), zero_based=False)
        return Files(folder, problem.C, problem.X.shape, time.perf_counter() - began)

    def allowance(self, files: Files) -> float:
        return files.writing  # reading takes less

    def options(self, files: Files, budget: float, limit: float) -> list[str]:
        raise NotImplementedError

    def train(self, files: Files, budget: float, seed: int, limit: float) -> str:
        files.model.unlink(missing_ok=True)  # that of an earlier budget
        command = [self.executable, *self.options(files, budget, limit), str(files.rows), str(files.model)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{self.executable} ended with {done.returncode}: {(done.stderr or done.stdout)[-160:]}")
        return done.stdout

    def weights(self, files: Files) -> Floats:
        raise NotImplementedError

    def epochs(self, output: str) -> float | None:
        return None

    def read(self, files: Files, output: str) -> Fit:
        found = self.clock.findall(output)
        if not found:
            raise RuntimeError(f"{self.executable} has not printed its training time")
        return Fit(self.weights(files), epochs=self.epochs(output), seconds=float(found[-1]))


class Svmocas(Program):
    """OCAS by its authors. -r is a relative gap; a line per iteration, each of which reads all rows."""

    executable = "svmocas"
    source = "install Debian's libocas-tools"
    clock = re.compile(r"ocas_time\s*:\s*([\d.]+)")

    def options(self, files: Files, budget: float, limit: float) -> list[str]:
        return ["-b", "0", "-c", repr(files.C), "-r", repr(budget)]

    def weights(self, files: Files) -> Floats:
        w = np.zeros(files.shape[1])
        found = np.loadtxt(files.model)[:-1]  # the last line is the bias
        w[: found.size] = found
        return w

    def epochs(self, output: str) -> float | None:
        return float(len(re.findall(r"^\s*\d+: tim=", output, re.MULTILINE))) or None


class SvmLight(Program):
    """SVM-light: decomposition of the dual."""

    executable = "svm_learn"
    source = "build it from the sources of SVM-light"
    clock = re.compile(r"Runtime in cpu-seconds:\s*([\d.]+)")

    def options(self, files: Files, budget: float, limit: float) -> list[str]:
        return ["-b", "0", "-c", repr(files.C), "-e", repr(budget)]

    def weights(self, files: Files) -> Floats:
        return light_weights(files.model.read_text(), files.shape[1])


class SvmPerf(SvmLight):
    """SVM-perf: cutting planes, one slack. Its C is divided by the number of rows and given in per cent."""

    executable = "svm_perf_learn"
    source = "build it from the sources of SVM-perf"

    def options(self, files: Files, budget: float, limit: float) -> list[str]:
        C = files.C * files.shape[0] / 100.0
        return ["--b", "0", "-c", repr(C), "-l", "2", "-w", "9", "-e", repr(budget)]


def light_weights(model: str, n_features: int) -> Floats:
    """w = sum of coefficient times row over the support vectors of a model of SVM-light or SVM-perf."""
    w = np.zeros(n_features)
    lines = iter(model.splitlines())
    for line in lines:
        if "# threshold b" in line:
            break
    for line in lines:
        coefficient, *pairs = line.split("#")[0].split()
        for pair in pairs:
            feature, value = pair.split(":")
            w[int(feature) - 1] += float(coefficient) * float(value)
    return w
