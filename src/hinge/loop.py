"""The training loop: one for all solvers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, get_args, runtime_checkable

from hinge import _core
from hinge.certificate import Certificate, DualSide, PrimalSide, dual_side, primal_side, trivial
from hinge.outcome import Options, Outcome, Progress, Record, Status
from hinge.problem import InterceptKind, Problem
from hinge.solvers.protocol import Checked, Estimating, Resumable, Run, Solver, Tailored
from hinge.stopping import BUDGET, TINY, TINY_TOLERANCE, UNPROMPTED, Schedule, Stagnation

# A native call should read about this many rows: tiny problems get several epochs per call.
_ROWS_PER_CALL = 4096
# What the loop adds to the state of a solver: which problem it was, and where in the schedule of evaluations.
_OURS: dict[str, type] = {"fingerprint": int, "epochs": int, "touched": int, "evaluated": int, "trust": float}


@runtime_checkable
class Composite(Protocol):
    """A solver that consists of several runs of the loop."""

    def train(self, problem: Problem, options: Options, fit: Callable[[Problem, Solver, Options], Outcome]) -> Outcome:
        """Train with `fit` as often as needed."""
        ...


def train(problem: Problem, solver: Solver | Composite, options: Options) -> Outcome:
    """Run `solver` on `problem` until the gap is within ``options.tol``, or something else ends it."""
    if isinstance(solver, Composite):
        return solver.train(problem, options, train)
    _refuse_unsupported(problem, solver, options)
    if isinstance(solver, Tailored):
        solver = solver.tailored(problem, options)
    try:
        training = _Training(problem, solver, options)
    except KeyboardInterrupt as interrupt:  # before there was anything to lose
        model, bound = trivial(problem)
        certificate = Certificate(model.value, bound.value)
        return Outcome(model.w, model.b, bound.multipliers, certificate, (), "interrupted", 0, None, interrupt)
    return training.run()


def _refuse_unsupported(problem: Problem, solver: Solver, options: Options) -> None:
    name = type(solver).__name__
    if problem.intercept.kind not in getattr(solver, "intercepts", get_args(InterceptKind)):
        raise ValueError(
            f"{name} does not support intercept={problem.intercept.kind!r}. "
            "Use intercept='penalized' or fit_intercept=False (in solve: intercept='none'), "
            "or a solver that supports it: 'auto', 'dcd', 'online' or 'pegasos'."
        )
    if options.order is not None and getattr(solver, "default_order", None) is None:
        raise ValueError(
            f"{name} takes no order, it draws its rows at random or reads all of them in turn: leave order=None."
        )


@dataclass
class _Best:
    """The best primal and the best dual seen."""

    model: PrimalSide
    bound: DualSide

    def update(self, model: PrimalSide, bound: DualSide | None) -> None:
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


class _Training:
    """One run of the loop."""

    def __init__(self, problem: Problem, solver: Solver, options: Options) -> None:
        self.problem = problem
        self.options = options
        self.flag = _core.StopFlag() if options.flag is None else options.flag
        self.poll = _core.Poll(self.flag)
        self.run_: Run = solver.start(problem, order=options.order, stream=options.stream, poll=self.poll)
        if options.time_limit is not None:
            self.poll.set_deadline(options.time_limit)
        refine = getattr(solver, "refines_tiny", False) and problem.m <= TINY
        self.target = min(options.tol, TINY_TOLERANCE) if refine else options.tol
        self.schedule = Schedule(
            problem.m, self.target, getattr(solver, "comparison", None), BUDGET if refine else UNPROMPTED
        )
        self.stagnation = Stagnation(options.tol)
        self.best = _Best(*trivial(problem))
        self.history: list[Record] = []
        self.epoch = 0
        self.earlier = 0  # epochs of the run that this one resumes
        self.touched = 0
        self.error: BaseException | None = None  # what a signal handler raised
        self.fresh = True  # nothing learned since the last evaluation
        self.began = time.perf_counter()

    def run(self) -> Outcome:
        state = None
        try:
            status = self._train()
            if status == "interrupted" and self.error is None:
                self.error = KeyboardInterrupt()
        except KeyboardInterrupt as interrupt:
            status, self.error = "interrupted", interrupt
        if status != "interrupted":
            state = self._state()
        self._finish(status)
        if self.best.certificate.within(self.options.tol) and status in ("stalled", "max_iter", "time_limit"):
            status = "converged"
        model, bound = self.best.model, self.best.bound
        return Outcome(
            w=model.w,
            b=model.b,
            multipliers=bound.multipliers,
            certificate=self.best.certificate,
            history=tuple(self.history),
            status=status,
            n_iter=self.epoch,
            state=state,
            error=self.error,
        )

    def _train(self) -> Status:
        if (stopped := self._stopped()) is not None:
            return stopped
        if self.options.state is not None:
            self._restore()
            if not self._look(self.poll):
                return self._stopped() or "interrupted"
            if self.best.certificate.within(self.target):
                return "converged"
        # Calls end at multiples of `stride`, counted from the very first epoch: a resumed run is evaluated when the
        # whole one would have been.
        stride = max(1, _ROWS_PER_CALL // self.problem.m)
        while True:
            if self.epoch >= self.options.max_iter:
                return "max_iter"
            epochs = min(stride - (self.earlier + self.epoch) % stride, self.options.max_iter - self.epoch)
            self.touched += self.run_.advance(epochs)
            self.fresh = False
            if (stopped := self._stopped()) is not None:
                return stopped
            self.epoch += epochs
            if (self.earlier + self.epoch) % stride == 0 and (ended := self._check()) is not None:
                return ended
            if self.options.callback is not None:
                seen = Progress(self.epoch, time.perf_counter() - self.began, self.best.certificate)
                if self.options.callback(seen):
                    return "callback"

    def _check(self) -> Status | None:
        """Evaluate exactly if that is due, and say whether it ends the run."""
        estimate = self.run_.estimate() if isinstance(self.run_, Estimating) else None
        if not self.schedule.due(self.touched, estimate):
            return None
        if not self._look(self.poll, estimate, count=True):
            return self._stopped()
        certificate = self.best.certificate
        if certificate.within(self.target):
            return "converged"
        if self.stagnation.reached(certificate, self.best.rounding):
            return "stalled"
        self.schedule.failed(estimate, certificate)
        if isinstance(self.run_, Checked):
            self.run_.not_yet()
        return None

    def _stopped(self) -> Status | None:
        self.error = self.error or self.poll.take_error()
        if self.error is not None or self.flag:
            return "interrupted"
        if self.poll.stopped or self.poll.past_deadline:
            return "time_limit" if self.poll.past_deadline else "interrupted"
        return None

    def _restore(self) -> None:
        if not isinstance(self.run_, Resumable):
            raise TypeError(f"{type(self.run_).__name__} cannot be resumed: it has no state() and restore(state).")
        state = dict(self.options.state or {})
        try:
            ours = {key: kind(state.pop(key)) for key, kind in _OURS.items()}
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"This is not the state of a Solution: {error!r}.") from error
        same = not self.options.warm and ours["fingerprint"] == self.problem.fingerprint()
        self.run_.restore(state, same_problem=same)
        if same:
            self.earlier, self.touched = ours["epochs"], ours["touched"]
            self.schedule.evaluated(ours["evaluated"])
            self.schedule.trust = ours["trust"]

    def _state(self) -> dict[str, Any] | None:
        if not isinstance(self.run_, Resumable):
            return None
        schedule = self.schedule
        epochs = self.earlier + self.epoch
        ours = (self.problem.fingerprint(), epochs, self.touched, schedule.rows_evaluated, schedule.trust)
        return {**self.run_.state(), **dict(zip(_OURS, ours, strict=True))}

    def _look(self, poll: _core.Poll, estimate: tuple[float, float] | None = None, count: bool = False) -> bool:
        """Evaluate both sides at the run's point, or only the primal one if that shows that the estimate was wrong.

        Only evaluations of the schedule count. False when stopped by the poll.
        """
        point = self.run_.point()
        bound: DualSide | None = None
        w = point.w
        if w is None:
            if (bound := dual_side(self.problem, point.multipliers, poll)) is None:
                return False
            w = bound.w
        if (model := primal_side(self.problem, w, poll)) is None:
            return False
        rows = self.problem.m
        if bound is None and not _disproved(estimate, model, self.target):
            bound = dual_side(self.problem, point.multipliers, poll)
            if bound is None:
                return False
        if bound is not None:
            rows += int((bound.multipliers > 0).sum())
        if count:
            self.schedule.evaluated(rows)
        self.best.update(model, bound)
        self._record()
        return True

    def _record(self) -> None:
        self.fresh = True
        certificate = self.best.certificate
        seconds = time.perf_counter() - self.began
        record = Record(self.epoch, seconds, certificate.primal, certificate.dual, certificate.gap)
        if self.options.verbose:
            _print(record, self.options.title, first=not self.history)
        self.history.append(record)

    def _finish(self, status: Status) -> None:
        """The final evaluation, of work done since the last one; an interrupt is not kept waiting without need."""
        if self.fresh or (status == "interrupted" and self.history):
            return
        with contextlib.suppress(KeyboardInterrupt):
            self._look(_core.Poll(_core.StopFlag()))


def _disproved(estimate: tuple[float, float] | None, model: PrimalSide, tol: float) -> bool:
    """The exact primal is too far above the estimated dual: the true gap is neither small enough nor rounding."""
    if estimate is None:
        return False
    return model.value - estimate[1] > (1.0 + 1e-6) * tol * estimate[1] + 4.0 * model.rounding


def _print(record: Record, title: str, first: bool) -> None:
    if first:
        print(f"{'':>{len(title)}} {'epoch':>7} {'seconds':>9} {'primal':>16} {'dual':>16} {'relative gap':>13}")
    relative = record.gap / record.dual if record.dual > 0 else float("inf")
    print(f"{title} {record.epoch:7d} {record.seconds:9.2f} {record.primal:16.8g} {record.dual:16.8g} {relative:13.2e}")
