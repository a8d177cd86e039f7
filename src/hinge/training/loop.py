"""The training loop: one for all solvers."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from hinge import _core
from hinge.certificate import Certificate, Evaluator, Lower, Upper, evaluator_of, trivial, unread
from hinge.problem import Problem
from hinge.solvers import (
    BUDGET,
    Composite,
    Point,
    Setup,
    Solver,
    State,
    as_run,
    as_typed,
    name_of,
    point_of,
    rows_read,
    supporting,
)
from hinge.training import saved
from hinge.training.result import Options, Outcome, Progress, Record, Status
from hinge.training.schedule import TINY, TINY_TOLERANCE, UNPROMPTED, Schedule, Stagnation
from hinge.training.signals import in_main_thread

# A native call should read about this many rows: tiny problems get several epochs per call.
_ROWS_PER_CALL = 4096
# Estimates are plain sums in float64: what they say of the gap is worth no more than this share of the dual.
_ESTIMATE_ROUNDING = 1e-12
# After an interrupt, an evaluation of what was trained may take this many seconds.
_AFTER_INTERRUPT = 0.3


# By the space of the solver: what to do about a problem of the other one.
_OTHER_SPACE = {
    "kernel": "{name} is for exact kernel machines: KernelSVC(approximation='none', solver=...). "
    "For linear problems, and for features of a kernel, use one of: 'auto', {solvers}.",
    "linear": "{name} works on rows of features, not on an exact kernel: use one of {solvers}, or the features of a "
    "kernel, KernelSVC(approximation='nystroem').",
}


def train(
    problem: Problem, solver: Solver | Composite, options: Options, evaluator: Evaluator | None = None
) -> Outcome:
    """Run `solver` on `problem` until the gap is within ``options.tol``, or something else ends it.

    A request of ``options.token`` to stop gives the status "interrupted", and so does a KeyboardInterrupt that a
    callback or a solver raises; the model so far comes back. Other exceptions are passed on.
    """
    if isinstance(solver, Composite):
        outcome: Outcome = solver.train(problem, options, train)
        return outcome
    _refuse_unsupported(problem, solver, options)
    return _Training(problem, solver, options, evaluator or evaluator_of(problem, options.n_threads)).outcome()


def _refuse_unsupported(problem: Problem, solver: Solver, options: Options) -> None:
    name, traits = as_typed(solver), solver.traits
    if problem.space != traits.space:
        raise ValueError(_OTHER_SPACE[traits.space].format(name=name, solvers=supporting("space", problem.space)))
    if problem.loss.name not in traits.losses:
        raise ValueError(
            f"{name} does not support loss={problem.loss.name!r}, only {traits.losses}. "
            f"Use a solver that supports it: 'auto', {supporting('losses', problem.loss.name)}."
        )
    if problem.intercept.kind not in traits.intercepts:
        raise ValueError(
            f"{name} does not support intercept={problem.intercept.kind!r}. "
            "Use intercept='penalized' or fit_intercept=False (in solve: intercept='none'), "
            f"or a solver that supports it: 'auto', {supporting('intercepts', problem.intercept.kind)}."
        )
    if options.order is not None and traits.order is None:
        raise ValueError(
            f"{name} takes no order, it draws its rows at random or reads all of them in turn: leave order=None."
        )


@dataclass
class _Bracket:
    """The best primal and the best dual seen."""

    model: Upper
    bound: Lower

    def update(self, model: Upper, bound: Lower | None) -> None:
        if model.value < self.model.value:
            self.model = model
        if bound is not None and bound.value > self.bound.value:
            self.bound = bound

    @property
    def certificate(self) -> Certificate:
        return Certificate(self.model.value, self.bound.value)

    @property
    def rounding(self) -> float:
        return self.model.rounding + self.bound.rounding

    def save(self) -> State:
        model, bound = self.model, self.bound
        return {
            "primal": np.array([model.value, model.rounding, model.b]),
            "w": model.w,
            "dual": np.array([bound.value, bound.rounding]),
            "multipliers": bound.multipliers,
            "w_of_multipliers": bound.w,
        }

    @classmethod
    def restored(cls, state: State) -> _Bracket:
        value, rounding, b = (float(x) for x in state["primal"])
        lower, lowered = (float(x) for x in state["dual"])
        model = Upper(value, rounding, np.array(state["w"]), b)
        return cls(model, Lower(lower, lowered, np.array(state["multipliers"]), np.array(state["w_of_multipliers"])))


class _Training:
    """One run of a solver, with everything that belongs to it."""

    def __init__(self, problem: Problem, solver: Solver, options: Options, evaluator: Evaluator) -> None:
        self.problem = problem
        self.options = options
        self.evaluator = evaluator
        self.traits = solver.traits
        self.name = name_of(solver)
        self.token = _core.StopToken() if options.token is None else options.token
        self.poll = _core.Poll(self.token, in_main_thread())
        order = options.order if options.order is not None else self.traits.order
        setup = Setup(order, options.key, self.poll, options.max_iter, options.tol, options.n_threads)
        self.run = as_run(solver.start(problem, setup))
        refine = self.traits.refines_tiny and problem.m <= TINY
        self.target = min(options.tol, TINY_TOLERANCE) if refine else options.tol
        unprompted = BUDGET if refine else UNPROMPTED
        self.schedule = Schedule(problem.m, self.target, self.traits.comparison, unprompted, self.traits.budget)
        self.stagnation = Stagnation(options.tol)
        self.best = _Bracket(*trivial(problem))
        if options.keep_state:
            _ = problem.fingerprint  # it reads the rows: now, not when an interrupt waits for the state
        self.last_state: State | None = None  # of a run that has ended
        self.history: list[Record] = []
        self.epoch = 0
        self.earlier = 0  # epochs of the run that this one resumes
        self.touched = 0  # rows read by training
        self.partial = False  # the last epoch was cut short
        self.fresh = True  # nothing learned since the last evaluation
        self.began = time.perf_counter()

    def outcome(self) -> Outcome:
        error = None
        try:
            status = self._go()
        except KeyboardInterrupt as interrupt:
            status, error, self.partial = "interrupted", interrupt, True
        state = self._state() if self.options.keep_state and not self.fresh else None  # before the final evaluation
        status = self._finish(status)
        if self.options.keep_state and state is None:
            state = self.last_state = self._sealed(self.run.surrender())
        if self.best.certificate.within(self.options.tol) and status in (
            "stalled",
            "finished",
            "max_iter",
            "time_limit",
        ):
            status = "converged"
        return Outcome(self.best.model, self.best.bound, tuple(self.history), status, self.epoch, state, error)

    def _go(self) -> Status:
        if (stopped := self._stopped()) is not None:
            return stopped
        if self.options.state is not None and (ended := self._resume(self.options.state)) is not None:
            return ended
        # Calls end at multiples of `stride`, counted from the very first epoch: a resumed run is evaluated when the
        # whole one would have been.
        stride = max(1, _ROWS_PER_CALL // self.problem.m)
        while True:
            if self.epoch >= self.options.max_iter:
                return "max_iter"
            epochs = min(stride - (self.earlier + self.epoch) % stride, self.options.max_iter - self.epoch)
            self.touched += rows_read(self.run, epochs)
            self.fresh = False
            if (stopped := self._stopped()) is not None:
                self.partial = self.poll.stopped
                return stopped
            self.epoch += epochs
            finished = self.run.finished()
            ended = self._check() if (self.earlier + self.epoch) % stride == 0 else None
            if self.options.report.live:
                self.options.report.working(self.options.title, self._record(), self.touched)
            enough = self.options.callback is not None and self.options.callback(self._progress())
            if ended is not None or finished or enough:
                return ended or ("finished" if finished else "callback")

    def _check(self) -> Status | None:
        """Evaluate exactly if that is due, and say whether it ends the run."""
        estimate = self.run.estimate()
        if not self.schedule.due(self.touched, estimate):
            return None
        if not self._evaluate(self.poll, estimate, count=True):
            return self._stopped()
        certificate = self.best.certificate
        if certificate.within(self.target):
            return "converged"
        if self.stagnation.reached(certificate, self.best.rounding):
            return "stalled"
        self.schedule.failed(estimate, certificate)
        self.run.rejected()
        return None

    def _stopped(self) -> Status | None:
        self.poll.raise_error()  # outside of a block of Signals, a handler's exception is raised here
        if self.token.stop_requested:
            return "interrupted"
        return "time_limit" if self.token.past_deadline else None

    def _evaluate(self, poll: _core.Poll, estimate: tuple[float, float] | None = None, count: bool = False) -> bool:
        """Evaluate both sides at the run's point, or only the primal one if that shows that the estimate was wrong.

        Only evaluations of the schedule count. False when stopped by the poll.
        """
        sides = self._sides(point_of(self.run), poll, estimate)
        if sides is None:
            return False
        model, bound = sides
        rows = self.problem.m
        if bound is not None:
            rows += int(np.count_nonzero(bound.multipliers))
        if count:
            self.schedule.evaluated(rows)
        self.best.update(model, bound)
        self.fresh = bound is not None
        record = self._record()
        self.options.report.evaluated(self.options.title, record, self.touched)
        self.history.append(record)
        return True

    def _sides(
        self, point: Point, poll: _core.Poll, estimate: tuple[float, float] | None
    ) -> tuple[Upper, Lower | None] | None:
        """Both sides at a point of the run, or only the primal one; None when stopped by the poll."""
        evaluator, w = self.evaluator, None if self.traits.rebuilds else point.w
        if w is None:
            bound = evaluator.lower(point.multipliers, poll)
            model = None if bound is None else evaluator.upper(bound.w, poll)
            return None if model is None else (model, bound)
        if estimate is None or estimate[0] - estimate[1] <= self.target * estimate[1]:
            return evaluator.both(w, point.multipliers, poll)
        if (model := evaluator.upper(w, poll)) is None or _disproved(estimate, model, self.target):
            return None if model is None else (model, None)
        bound = evaluator.lower(point.multipliers, poll)
        return None if bound is None else (model, bound)

    def _record(self) -> Record:
        certificate = self.best.certificate
        seconds = time.perf_counter() - self.began
        solver = self.run.label or self.name
        return Record(self.epoch, seconds, certificate.primal, certificate.dual, solver)

    def _progress(self) -> Progress:
        """For the callback: the record, and the way to a checkpoint."""
        record = self._record()
        return Progress(
            record.epoch, record.seconds, record.primal, record.dual, record.solver, self.options.label, self._state
        )

    def _finish(self, status: Status) -> Status:
        """The final evaluation, of work done since the last one. An interrupt waits for it only with empty hands."""
        if self.fresh or (status == "interrupted" and self.best.model.w.any()):
            return status
        token = self.token
        if status == "interrupted":
            token = _core.StopToken()
            token.set_deadline(_AFTER_INTERRUPT)
        poll = _core.Poll(token, in_main_thread(), overtime=status != "interrupted")
        if self._evaluate(poll):
            return status
        poll.raise_error()
        if not self.history:
            self._keep_unread()
        return "interrupted"

    def _keep_unread(self) -> None:
        """There was no time to evaluate what was trained: it is kept, with a bound that needs no reading."""
        point = point_of(self.run)
        if point.w is not None and np.all(np.isfinite(point.w)):
            self.best.model = unread(self.problem, point.w, float(point.b))

    def _state(self) -> State | None:
        """All that it takes to go on from here; None if the solver cannot be resumed."""
        return self.last_state or self._sealed(self.run.save())

    def _sealed(self, run: State | None) -> State | None:
        if run is None:
            return None
        loop = {
            "fingerprint": self.problem.fingerprint,
            "tol": self.options.tol,
            "partial": int(self.partial),
            "epochs": self.earlier + self.epoch,
            "touched": self.touched,
            **self.schedule.save(),
            **self.stagnation.save(),
            **self.best.save(),
        }
        return saved.sealed(run, loop)

    def _resume(self, state: State) -> Status | None:
        """Go on from a saved state; says so if there is nothing left to do."""
        run, loop = saved.opened(state)
        same = int(loop["fingerprint"]) == self.problem.fingerprint and not int(loop["partial"])
        self.run.restore(run, same_problem=same)
        if not same:  # a warm start
            if not self._evaluate(self.poll):
                return self._stopped() or "interrupted"
            return "converged" if self.best.certificate.within(self.target) else None
        self.earlier, self.touched = int(loop["epochs"]), int(loop["touched"])
        self.schedule.restore(loop)
        self.best = _Bracket.restored(loop)
        self.history.append(self._record())
        same_tol = float(loop["tol"]) == self.options.tol
        if same_tol:
            self.stagnation.restore(loop)
        if self.best.certificate.within(self.target):
            return "converged"
        stalled = same_tol and self.stagnation.over(self.best.certificate, self.best.rounding)
        return "stalled" if stalled else None


def _disproved(estimate: tuple[float, float], model: Upper, tol: float) -> bool:
    """The exact primal is too far above the estimated dual: the true gap is neither small enough nor rounding."""
    leeway = (1.0 + 1e-6) * tol + _ESTIMATE_ROUNDING
    return model.value - estimate[1] > leeway * estimate[1] + 4.0 * model.rounding
