"""The solver that chooses: which one begins, and whether another one takes over."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from hinge import _core
from hinge.problem import Problem
from hinge.solvers.contract import Configuration, Point, Run, Setup, State, Traits
from hinge.solvers.dcd import DCD
from hinge.solvers.native import NativeSolver
from hinge.solvers.newton import Newton

# Newton begins at once where it is expected to cost no more than so many passes over the rows.
_CHEAP = 50.0
# Passes of the first solver before its progress says anything.
_FIRST_LOOK = 4.0
# A pass in random order costs as much as so many in the order of memory.
_RANDOM = 2.0
# An epoch of dcd over so few of the rows knows little of the gap of all, and costs little: what it has seen is taken to
# be this share of the gap. That saves evaluations that come too early.
_PARTIAL = 0.25
_SEEN = 0.7
# Epochs over few rows go on until they have read this share of all before anybody looks at them.
_AT_ONCE = 1 / 16
# With no more rows than these dcd begins: it is never slow there.
_FEW_ROWS = 1000
# Dense rows do without dcd if newton can begin on a sample, and dcd would crawl: if tol is smaller than _FINE, or no
# larger than _ROUGH while the mean of C_i |x_i|^2 is larger than _HARD. On MNIST and on Nystroem features of Adult,
# ijcnn1 and MNIST, newton was up to four times as fast there as mpu, which takes about as long as dcd; on ijcnn1 with
# tol = _ROUGH it was half as fast.
_FINE = 1e-4
_ROUGH = 1e-2
_HARD = 30.0
# dcd takes a handful of passes as long as the mean of C_i |x_i|^2 is no larger than this, for a tol of at least the
# key: most multipliers reach their bounds in the first pass. Up to there it took 0.5 to 1.1 times as long as newton
# on Adult and ijcnn1, which are sparse, and 0.8 to 1.1 times on 50,000 dense rows of 50 features; beyond, up to 1.6
# times on Adult, and twice on the dense rows. On Covertype newton is faster even there: it begins on samples, and more
# rows than _CACHED in random order do not stay in the cache.
_EASY = {"dense": {1e-3: 0.75}, "csr": {1e-4: 2.0, 0.0: 0.5}}
_CACHED = 100_000
# The first solver may cost so many times what newton would. With 1, both together cost at most twice that.
_PATIENCE = 1.0
# From a gap like this on, newton can begin with narrow zones.
_NEAR = 0.02
# With a larger gap than this, a sample is a better start for newton than what the first solver has found.
_FAR = 1.0


@dataclass(frozen=True)
class Auto(Configuration):
    """Chooses by shape and density, then by what the first passes show; the default.

    With few features :class:`hinge.Newton` does all of it, unless C is so small that a few passes of :class:`hinge.DCD`
    will do. With many, dcd begins; and newton even there if rows are dense, there are many for each feature, and C is
    large or tol small. After each epoch of dcd two numbers are compared: the passes that it still needs if the gap
    keeps falling as it did, and the passes that newton would cost, counted from the numbers of rows, features and
    stored values. When the first is larger, newton takes over the multipliers. With so many features that conjugate
    gradients may be needed, not before dcd has had as many passes. No clock is involved: the same call takes the same
    path everywhere.

    ``history_`` tells for every record which solver it came from.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import hinge
    >>> X, y = load_breast_cancer(return_X_y=True)  # not scaled: coordinates alone would crawl
    >>> solution = hinge.solve(X, y, C=100)
    >>> solution.status, solution.history[-1].solver
    ('converged', 'newton')
    """

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        first = DCD().traits
        return Traits(
            losses=first.losses, intercepts=first.intercepts, order=first.order, refines_tiny=True, transfers=True
        )

    def start(self, problem: Problem, setup: Setup) -> AutoRun:
        """Begin a run."""
        return AutoRun(problem, setup)


@dataclass
class _Progress:
    """How the gap fell with the passes."""

    passes: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def note(self, passes: float, estimate: tuple[float, float] | None) -> None:
        if estimate is None or not estimate[1] > 0 or not estimate[0] > estimate[1]:
            return
        gap = (estimate[0] - estimate[1]) / estimate[1]
        if gap < math.inf:
            self.passes.append(passes)
            self.gaps.append(gap)

    def arrived(self, tol: float) -> bool:
        """Whether the last gap is `tol`, by the estimate."""
        return bool(self.gaps) and self.gaps[-1] <= tol

    def needed(self, tol: float) -> float:
        """Passes until the gap is `tol` if it falls on as in the second half of the passes so far."""
        if not self.gaps:
            return math.inf
        smallest = np.minimum.accumulate(self.gaps)
        if smallest[-1] <= tol:
            return 0.0
        half = int(np.searchsorted(self.passes, 0.5 * self.passes[-1]))
        fallen = math.log(smallest[half] / smallest[-1])
        if half == len(self.gaps) - 1 or fallen <= 0.0:
            return math.inf
        return math.log(smallest[-1] / tol) * (self.passes[-1] - self.passes[half]) / fallen

    def save(self) -> State:
        return {"auto_passes": np.array(self.passes), "auto_gaps": np.array(self.gaps)}

    @classmethod
    def restored(cls, state: State) -> _Progress:
        passes = [float(x) for x in np.asarray(state["auto_passes"])]
        gaps = [float(x) for x in np.asarray(state["auto_gaps"])]
        if len(passes) != len(gaps) or any(not 0 <= x < math.inf for x in passes + gaps) or sorted(passes) != passes:
            raise ValueError("its passes and gaps are not the progress of a run")
        return cls(passes, gaps)


class AutoRun(Run):
    """A run that may go over from one solver to another."""

    _SOLVERS: tuple[tuple[str, NativeSolver], ...] = (("dcd", DCD()), ("newton", Newton()))
    _DCD, _NEWTON = range(2)

    def __init__(self, problem: Problem, setup: Setup) -> None:
        self._problem = problem
        self._setup = setup
        self._newton = _core.newton_passes(problem.rows)
        self._has_matrix = _core.newton_has_matrix(problem.rows)
        self._samples = _core.newton_samples(problem.rows)
        self._read = 0.0  # passes so far
        self._partial = False  # the last epoch has read few rows
        self._progress = _Progress()
        self._at = -1
        self._take(self._first())

    def _first(self) -> int:
        if self._problem.m <= _FEW_ROWS:
            return self._DCD
        if self._newton <= _CHEAP:
            return self._DCD if self._easy() else self._NEWTON
        dense = self._problem.rows.layout == "dense"
        return self._NEWTON if dense and self._samples and self._hard() else self._DCD

    def _hard(self) -> bool:
        tol = self._setup.tol
        return tol < _FINE or (tol <= _ROUGH and self._curvature() > _HARD)

    def _easy(self) -> bool:
        problem = self._problem
        if problem.m > _CACHED or not problem.loss.bounded:
            return False
        curvature = self._curvature()
        limits = _EASY[problem.rows.layout].items()
        return any(self._setup.tol >= tol and curvature <= most for tol, most in limits)

    def _curvature(self) -> float:
        """The mean of C_i |x_i|^2."""
        problem = self._problem
        return float(problem.rows.squared_norms.mean()) * problem.native.total_cost / problem.m

    def _take(self, at: int) -> None:
        if at == self._at:
            return
        self._run = self._SOLVERS[at][1].start(self._problem, self._setup)
        self._at = at

    @property
    def label(self) -> str:
        return self._SOLVERS[self._at][0]

    def advance(self, epochs: int) -> int:
        """An epoch reads as many rows as there are: epochs of a solver that leaves rows out count less."""
        touched = 0
        for _ in range(epochs):
            rest = self._problem.m
            while rest > 0 and not self._setup.poll.stopped:
                read = self._epoch()
                touched += read
                rest -= max(read, 1)
                if self._progress.arrived(self._setup.tol):
                    break
        return touched

    def _epoch(self) -> int:
        """One epoch of the solver at work, or several small ones."""
        if self._at != self._NEWTON and self._crawls():
            self._hand_over()
        read = self._run.advance_by(int(_AT_ONCE * self._problem.m), self._setup.tol)
        self._read += read / self._problem.m
        self._partial = self._at == self._DCD and read <= _PARTIAL * self._problem.m
        if not self._setup.poll.stopped:
            self._progress.note(self._read, self.estimate())
        return read

    def _crawls(self) -> bool:
        """Whether newton would be there earlier.

        With a matrix, its steps are few from anywhere. With conjugate gradients a good start saves most of them: the
        first solver gets as many passes as newton would take, and goes on if it needs no more than that again.
        """
        if self._read < _FIRST_LOOK:
            return False
        spent, needed = _RANDOM * self._read, _RANDOM * self._progress.needed(self._setup.tol)
        if not self._has_matrix:
            return min(spent, needed) > self._newton
        return needed > self._newton or spent > _PATIENCE * self._newton

    def _hand_over(self) -> None:
        point = self._run.point()
        gap = min(self._progress.gaps, default=math.inf)
        self._take(self._NEWTON)
        if gap <= _FAR or not self._samples:
            self._run.begin_at(point, near=gap <= _NEAR)  # type: ignore[attr-defined]

    def point(self) -> Point:
        return self._run.point()

    def estimate(self) -> tuple[float, float] | None:
        found = self._run.estimate()
        if found is None or not self._partial:
            return found
        primal, dual = found
        return dual + (primal - dual) / _SEEN, dual

    def rejected(self) -> None:
        self._run.rejected()

    def save(self) -> State:
        return self._with_progress(self._run.save())

    def surrender(self) -> State:
        return self._with_progress(self._run.surrender())

    def _with_progress(self, state: State | None) -> State:
        own = {"auto_at": self._at, "auto_read": self._read, **self._progress.save()}
        return {**own, **(state or {})}

    def restore(self, state: State, *, same_problem: bool) -> None:
        try:
            at, read, progress = int(state["auto_at"]), float(state["auto_read"]), _Progress.restored(state)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"The saved state does not fit this problem and Auto: {error}.") from error
        if at not in range(len(self._SOLVERS)) or not 0.0 <= read < math.inf:
            raise ValueError("The saved state does not fit this problem and Auto: it names no solver.")
        self._take(at)
        self._run.restore(state, same_problem=same_problem)
        if same_problem:
            self._read, self._progress = read, progress
