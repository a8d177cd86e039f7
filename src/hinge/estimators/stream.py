"""A stream at work: what `OnlineSVC` keeps between calls."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge import _core
from hinge.problem import Floats, Integers, Intercept
from hinge.problem.labels import class_factors
from hinge.problem.rows import unit_factors
from hinge.training.signals import Signals, in_main_thread

# The first steps have the length s_i |x_i| / alpha: beyond this, squares could overflow.
_LONGEST_STEP = 1e150


@dataclass(frozen=True)
class Settings:
    """What must not change while a stream lasts."""

    alpha: float
    batch_size: int
    projection: bool
    average: bool
    unit_norm: bool
    intercept: Intercept
    class_weight: dict[Any, float] | None

    def __post_init__(self) -> None:
        if not 1.0 / _LONGEST_STEP < self.alpha < _LONGEST_STEP:
            raise ValueError(
                f"alpha must lie between {1.0 / _LONGEST_STEP:g} and {_LONGEST_STEP:g}, got {self.alpha!r}."
            )

    def expect(self, now: Settings) -> None:
        """Refuse a parameter that was changed on the way."""
        for field in fields(self):
            was, given = getattr(self, field.name), getattr(now, field.name)
            if was != given:
                raise ValueError(
                    f"{field.name} was {was!r} when this stream began and is {given!r} now: set it back, or begin anew "
                    "with fit or a clone."
                )


@dataclass(frozen=True)
class Chunk:
    """Rows of a stream, checked: their classes by number, their weights, and which rows count."""

    rows: _core.Rows
    factors: Floats | None
    codes: Integers
    weights: Floats
    kept: Integers

    @classmethod
    def make(
        cls, rows: _core.Rows, classes: npt.NDArray[Any], y: npt.NDArray[Any], weight: Floats, settings: Settings
    ) -> Chunk:
        """Refuse unknown labels, and what could overflow."""
        weights = weight * class_factors(settings.class_weight, classes, y, weight)
        kept = np.flatnonzero(weights > 0)
        codes = class_numbers(classes, y, kept)
        factors = unit_factors(rows) if settings.unit_norm else None
        norms = rows.squared_norms if factors is None else np.ones(y.size)
        with np.errstate(over="ignore"):
            steps = weights[kept] * np.sqrt(norms[kept] + settings.intercept.rho**2) / settings.alpha
        if not np.all(steps < _LONGEST_STEP):
            row = int(kept[np.argmax(steps)])
            raise ValueError(
                f"Row {row} is so large that squares overflow: its weight times its norm over alpha is "
                f"{steps.max():.1e}. Raise alpha, or scale the features."
            )
        return cls(rows, factors, codes, weights, kept)


class Stream:
    """The models of a stream: of each class against the rest, or one model of two classes."""

    def __init__(self, settings: Settings, n_models: int, n_features: int) -> None:
        self.settings = settings
        options = _core.OnlineOptions(
            batch=settings.batch_size,
            projection=settings.projection,
            free_intercept=settings.intercept.kind == "free",
            average=settings.average,
        )
        self.native = _core.OnlineStream(n_models, n_features, settings.alpha, settings.intercept.rho, options)
        self._model: Model | None = None  # as of the last rows that were asked for

    def take(self, chunk: Chunk, visit: Integers) -> None:
        """Learn from the rows of `visit`, in this order; raises what a signal handler has raised on the way."""
        with Signals() as signals:
            poll = _core.Poll(signals.token, in_main_thread())
            self.native.present(chunk.rows, chunk.factors, visit, chunk.codes, chunk.weights, poll)
        if signals.error is not None:
            raise signals.error

    def model(self) -> Model:
        """The model as of now; the same object while no rows come."""
        kept = self._model
        if kept is None or (kept.seen, kept.steps) != self.native.progress():
            seen, steps, models = self.native.models()
            self._model = kept = Model(seen, steps, tuple(models), self.settings.intercept.rho)
        return kept

    def scores(self, rows: _core.Rows) -> Floats:
        """w.x + b of all rows (scaled if the stream scales them) and models."""
        model = self.model()
        if not self.settings.unit_norm:
            return rows.decision(model.coef.T, model.intercept)
        products: Floats = rows.decision(model.coef.T, np.zeros(len(model.coef)))
        return unit_factors(rows)[:, np.newaxis] * products + model.intercept

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": None}  # it follows from the rest


class Model:
    """(w, b) of every class after so many rows; the last entry of w belongs to the constant feature."""

    def __init__(self, seen: int, steps: int, models: tuple[tuple[Floats, float], ...], rho: float) -> None:
        self.seen = seen
        self.steps = steps
        self.models = models
        self.coef = _read_only(np.asfortranarray([w[:-1] for w, _ in models]))  # as predictions read it
        self.intercept = _read_only(np.array([b + rho * w[-1] for w, b in models]))


def _read_only(array: Floats) -> Floats:
    """A change to a copy would be lost without a word."""
    array.setflags(write=False)
    return array


def class_numbers(classes: npt.NDArray[Any], y: npt.NDArray[Any], kept: Integers) -> Integers:
    """The position of each label in `classes`; labels of rows that do not count may be anything."""
    codes = np.zeros(y.size, dtype=np.int64)
    labels = y[kept]
    codes[kept] = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    unknown = kept[classes[codes[kept]] != labels]
    if unknown.size:
        row = int(unknown[0])
        raise ValueError(
            f"y contains the label {y[[row]].tolist()[0]!r} (row {row}), which is not among the classes of this model: "
            f"{classes.tolist()}. Name all classes in the first call of partial_fit."
        )
    return codes
