"""Signals at random moments: obeyed within a second, reported, and the model so far is kept.

One case is one call (solve, LinearSVC.fit, OnlineSVC.partial_fit or fit) that is timed and then shot at several times.
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from typing import Any, Protocol

import numpy as np

import hinge
from attack.library import Counted, draw_setting
from attack.problems import noisy
from attack.shots import SIGNALS, Shot, shoot
from attack.table import Finding

_SHOTS = 8
_LONGEST = 1.0  # seconds: no longer runs than that
_REACTION = 1.0  # seconds: the promise
_SAFETY_NET = 6.0  # seconds: a signal that goes unnoticed is found out

warnings.simplefilter("ignore")


class Target(Protocol):
    """A call to shoot at, and what must be true afterwards."""

    def call(self, time_limit: float) -> Any:
        """Begin anew, and train."""
        ...

    def judge(self, shot: Shot, signum: signal.Signals) -> list[str]:
        """Broken promises."""
        ...


def case(rng: np.random.Generator) -> Finding:
    """Time a call, and shoot at it."""
    target: Target = [SolveTarget, FitTarget, StreamTarget][rng.choice(3, p=[0.4, 0.4, 0.2])](rng)
    try:
        target.call(_LONGEST)
    except ValueError:  # a batch larger than the rows, a step too long
        return Finding(0, notes=["refused"])
    return fire(rng, target, _LONGEST, _SHOTS)


def fire(rng: np.random.Generator, target: Target, longest: float, shots: int) -> Finding:
    """Time a call that has been made before, and shoot at it."""
    began = time.perf_counter()
    target.call(longest)
    duration = time.perf_counter() - began
    finding = Finding(0)
    for _ in range(shots):
        signum = list(SIGNALS)[rng.choice(3, p=[0.6, 0.2, 0.2])]
        first = float(_moment(rng, duration))
        delays = [first, first + rng.uniform(0, 0.03)] if rng.random() < 0.15 else [first]
        shot = shoot(lambda: target.call(_SAFETY_NET), signum, delays)
        if not shot.sent:
            finding.notes.append("too late")
            continue
        when = f"{signum.name} after {first:.4f} of {duration:.4f} s"
        finding.failures.extend(f"{when}, {target}: {text}" for text in _judge(shot, target, signum))
        finding.times.append(shot.reaction)
        finding.notes.append(signum.name)
    return Finding(len(finding.times), finding.failures, finding.times, finding.notes)


def _moment(rng: np.random.Generator, duration: float) -> float:
    """At the beginning, near the end, or anywhere."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.uniform(0, min(duration, 0.02))
    return duration * (rng.uniform(0.8, 1.02) if kind == 1 else rng.uniform(0, 1))


def _judge(shot: Shot, target: Target, signum: signal.Signals) -> list[str]:
    failures = []
    if shot.reaction > _REACTION:
        failures.append(f"obeyed after {shot.reaction:.2f} s")
    if not shot.restored:
        failures.append("the signal has another handler than before")
    if shot.raised is not None and not isinstance(shot.raised, SIGNALS[signum][1]):
        failures.append(f"{type(shot.raised).__name__}: {shot.raised} ({shot.place})")
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and thread.ident is not None:
            thread.join(_REACTION)
            if thread.is_alive():
                failures.append(f"{thread.name} is still at work")
    if shot.raised is None and shot.late:
        return failures  # it came out behind the call
    return failures + target.judge(shot, signum)


def _false(found: Any, checked: Any, best: Any) -> list[str]:
    """A certificate that NumPy, or that of another model of the same problem, contradicts."""
    if not (found.dual <= checked.dual * (1 + 1e-9) and found.primal >= checked.primal * (1 - 1e-9)):
        return [f"the certificate is false: {found}, verified as {checked}"]
    if not (found.dual <= best.primal and best.dual <= found.primal):
        return [f"the certificate is false: {found}, another model has {best}"]
    return []


def _draw_rows(rng: np.random.Generator, classes: int) -> tuple[Any, Any]:
    m, d = int(rng.choice([20, 1000, 20_000, 100_000])), int(rng.choice([2, 10, 50]))
    return noisy(min(m, 2_000_000 // d), d, classes, single=bool(rng.random() < 0.5), sparse=bool(rng.random() < 0.3))


def _draw_options(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "C": float(rng.choice([0.01, 1.0])),
        "max_iter": int(rng.choice([1, 3, 30, 1000])),
        "tol": float(rng.choice([1e-3, 1e-9])),
        "random_state": int(rng.integers(1000)),
    }


class SolveTarget:
    """hinge.solve: an interrupted Solution after Ctrl-C; what another handler raises is raised."""

    def __init__(self, rng: np.random.Generator, rows: tuple[Any, Any] | None = None) -> None:
        self.X, self.y = rows or _draw_rows(rng, 2)
        self.setting, self.given = draw_setting(rng), _draw_options(rng)
        self.best: Any = None

    def __str__(self) -> str:
        return f"solve on {self.X.shape}, {self.setting}, {self.given}"

    def call(self, time_limit: float) -> Any:
        self.counted = Counted(self.setting.solver)
        options = {**self.setting.options(), **self.given, "solver": self.counted, "time_limit": time_limit}
        solution = hinge.solve(self.X, self.y, **options)
        if self.best is None:
            self.best = solution.certificate
        return solution

    def judge(self, shot: Shot, signum: signal.Signals) -> list[str]:
        passes, solution = self.counted.passes(np.where(self.y == 1, 1.0, -1.0)), shot.result
        if shot.raised is not None:
            lost = passes > 0 and signum == signal.SIGINT
            return [f"the exception escaped, and the model is lost ({shot.place})"] if lost else []
        if signum != signal.SIGINT or solution.status != "interrupted":
            return [f"swallowed: the status is {solution.status!r}"]
        failures = _false(solution.certificate, hinge.verify(solution, self.X, self.y), self.best)
        if passes > 0 and not solution.coef.any() and self._learned(passes):
            failures.append(f"the model is all zeros after {passes} passes")
        if passes > 0 and solution.state is None:
            failures.append("there is no state to go on from")
        elif solution.state is not None:
            options = {**self.setting.options(), **self.given, "max_iter": 1, "state": solution.state}
            again = hinge.solve(self.X, self.y, **options)
            failures += [f"resumed: {text}" for text in _false(again.certificate, again.certificate, self.best)]
        return failures

    def _learned(self, passes: int) -> bool:
        """Whether so many passes end with a model that is better than nothing."""
        options = {**self.setting.options(), **self.given, "max_iter": passes}
        return bool(hinge.solve(self.X, self.y, **options).coef.any())


class FitTarget:
    """LinearSVC.fit: the model is stored and the exception raised, one and two threads, two and three classes."""

    def __init__(self, rng: np.random.Generator, rows: tuple[Any, Any] | None = None) -> None:
        self.X, self.y = rows or _draw_rows(rng, int(rng.choice([2, 3])))
        self.setting, self.given = draw_setting(rng), {**_draw_options(rng), "n_jobs": [None, 2][rng.integers(2)]}
        self.best: Any = None

    def __str__(self) -> str:
        return f"fit on {self.X.shape}, {self.y.max() + 1} classes, {self.setting}, {self.given}"

    def call(self, time_limit: float) -> Any:
        self.counted = Counted(self.setting.solver)
        options = {**self.setting.fit_options(), **self.given, "solver": self.counted, "time_limit": time_limit}
        self.model = hinge.LinearSVC(store_dual=True, **options)
        self.model.fit(self.X, self.y)
        if self.best is None:
            self.best = np.atleast_1d(np.array(self.model.certificate_, dtype=object))
        return self.model

    def judge(self, shot: Shot, signum: signal.Signals) -> list[str]:
        if shot.raised is None:
            return [f"swallowed: the status is {self.model.status_!r}"]
        positive = [1] if self.y.max() == 1 else [0, 1, 2]
        passes = [self.counted.passes(np.where(self.y == k, 1.0, -1.0)) for k in positive]
        if not hasattr(self.model, "coef_"):
            return [f"the model was not stored ({shot.place})"] if any(passes) else []
        found = np.atleast_1d(np.array(self.model.certificate_, dtype=object))
        checked = np.atleast_1d(np.array(hinge.verify(self.model, self.X, self.y), dtype=object))
        failures = []
        for k in range(len(positive)):
            failures += _false(found[k], checked[k], self.best[k])
            if passes[k] > 0 and not self.model.coef_[k].any() and self._learned(k, passes[k]):
                failures.append(f"the model of class {positive[k]} is all zeros after {passes[k]} passes")
        return failures

    def _learned(self, k: int, passes: int) -> bool:
        """Whether so many passes end with a model that is better than nothing."""
        options = {**self.setting.fit_options(), **self.given, "max_iter": passes}
        return bool(hinge.LinearSVC(**options).fit(self.X, self.y).coef_[k].any())


class StreamTarget:
    """OnlineSVC.partial_fit and fit: the rows before the signal count, no others, to the bit."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.X, self.y = _draw_rows(rng, int(rng.choice([2, 3])))
        self.whole = bool(rng.random() < 0.5)
        self.params: dict[str, Any] = {
            "average": bool(rng.random() < 0.5),
            "max_iter": int(rng.choice([1, 5])) if self.whole else 1,
        }
        if rng.random() < 0.6:  # the steps of the notes
            self.params |= {"alpha": 0.01, "batch_size": int(rng.choice([1, 7]))}
            self.params |= {"intercept": str(rng.choice(["free", "penalized"]))}

    def __str__(self) -> str:
        return f"OnlineSVC.{'fit' if self.whole else 'partial_fit'} on {self.X.shape}, {self.params}"

    def call(self, time_limit: float) -> Any:
        self.model = hinge.OnlineSVC(**self.params)
        if self.whole:
            return self.model.fit(self.X, self.y)
        return self.model.partial_fit(self.X, self.y, classes=np.arange(self.y.max() + 1))

    def judge(self, shot: Shot, signum: signal.Signals) -> list[str]:
        if shot.raised is None:
            return ["swallowed"]
        seen = getattr(self.model, "n_samples_seen_", 0)
        if seen == 0:
            return []
        expected = hinge.OnlineSVC(**self.params)
        passes, rest = divmod(seen, len(self.y))
        for rows in [len(self.y)] * passes + [rest] * (rest > 0):
            expected.partial_fit(self.X[:rows], self.y[:rows], classes=np.arange(self.y.max() + 1))
        if not np.array_equal(self.model.coef_, expected.coef_):
            return [f"the model is not that of the {seen} rows before the signal"]
        return []
