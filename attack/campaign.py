"""Run the cases of an attack in child processes, past crashes and hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from attack.table import Finding, Row

# Crashes after which a process gives up: the point is made.
_ENOUGH = 10


def campaign(name: str, count: int, seed: int, *, processes: int = 2, patience: float = 60.0) -> Row:
    """Run cases of ``attack.<name>`` until `count` attempts are made.

    Parameters
    ----------
    name : str
        Module in this package with a function ``case(rng) -> Finding``.
    count : int
        Attempts, over all processes.
    seed : int
        Case i draws from ``default_rng([seed, i])``: the same in every run, whatever else happens.
    processes : int, default=2
    patience : float, default=60.0
        Seconds after which a case counts as hung.
    """
    began = time.perf_counter()
    shares = [count * (k + 1) // processes - count * k // processes for k in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        parts = pool.map(lambda k: _Share(name, seed, k, processes, patience).run(shares[k]), range(processes))
        findings = [finding for part in parts for finding in part]
    return Row(
        attack=name,
        tried=sum(finding.tried for finding in findings),
        failures=[text for finding in findings for text in finding.failures],
        times=[seconds for finding in findings for seconds in finding.times],
        notes=[note for finding in findings for note in finding.notes],
        seconds=time.perf_counter() - began,
    )


class _Share:
    """The cases ``first, first + step, ...``, one child after another."""

    def __init__(self, name: str, seed: int, first: int, step: int, patience: float) -> None:
        self.name, self.seed, self.index, self.step, self.patience = name, seed, first, step, patience

    def run(self, count: int) -> list[Finding]:
        findings: list[Finding] = []
        crashes = 0
        while (left := count - sum(finding.tried for finding in findings)) > 0:
            died = self._child(left, findings)
            if died is not None:
                findings.append(Finding(failures=[f"case {self.index}: {died}"]))
                self.index += self.step
                crashes += 1
            if crashes == _ENOUGH:
                findings.append(Finding(tried=0, notes=["gave up"]))
                break
        return findings

    def _child(self, count: int, findings: list[Finding]) -> str | None:
        """Add the findings of one child; how it died, or None."""
        where = [str(value) for value in (self.seed, self.index, self.step, count)]
        command = [sys.executable, "-X", "faulthandler", "-m", "attack.child", self.name, *where]
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, env=_environment(), text=True
            )
            watch = _Watch(child, self.patience)
            try:
                for line in child.stdout or ():
                    watch.pat()
                    findings.append(_read(self.index, json.loads(line)))
                    self.index += self.step
                child.wait()
            finally:
                watch.end()
                child.kill()
            if watch.hung:
                return f"no answer within {self.patience:g} s"
            if child.returncode == 0:
                return None
            errors.seek(0)
            text = errors.read().decode(errors="replace").split("Extension modules")[0].strip()
            return f"exit code {child.returncode}: ... {text[:600]}"


class _Watch:
    """Kills a child that says nothing for too long."""

    def __init__(self, child: subprocess.Popen[str], patience: float) -> None:
        self._child, self._patience = child, patience
        self.hung = False
        self._timer: threading.Timer | None = None
        self.pat()

    def pat(self) -> None:
        self.end()
        self._timer = threading.Timer(self._patience, self._kill)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _kill(self) -> None:
        self.hung = True
        self._child.kill()


def _read(index: int, found: dict[str, Any]) -> Finding:
    finding = Finding(**found)
    return Finding(finding.tried, [f"case {index}: {text}" for text in finding.failures], finding.times, finding.notes)


def _environment() -> dict[str, str]:
    """One thread for BLAS: its own threads would disturb what is measured."""
    return {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")}
