"""A stream at work: what `OnlineSVC` keeps between calls."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from hinge import _core
from hinge.problem import Floats, Integers, Intercept
from hinge.problem.labels import class_factors
from hinge.problem.rows import side_by_side, unit_factors
from hinge.training.signals import Signals, in_main_thread

#: The streams of the core.
Native: TypeAlias = _core.AdaptiveStream | _core.OnlineStream | _core.AssetStream

# After |x|^2 / alpha rows the steps 1/(alpha t) have become so short that a row moves its own score by less than 1.
_PATIENCE = 1e6
# The first steps have the length s_i |x_i| / alpha: beyond this, squares could overflow.
_LONGEST_STEP = 1e150


@dataclass(frozen=True)
class Settings:
    """What must not change while a stream lasts. Without `alpha` the steps are adaptive."""

    alpha: float | None
    batch_size: int
    projection: bool
    average: bool
    window: int | None
    unit_norm: bool
    intercept: Intercept
    class_weight: dict[Any, float] | None

    def __post_init__(self) -> None:
        if self.alpha is not None and not 1.0 / _LONGEST_STEP < self.alpha < _LONGEST_STEP:
            raise ValueError(
                f"alpha must lie between {1.0 / _LONGEST_STEP:g} and {_LONGEST_STEP:g}, got {self.alpha!r}."
            )
        if self.window is not None and not (self.average and self.alpha is None):
            raise ValueError(
                f"window={self.window} is that of the average of adaptive steps: leave out alpha, and average=False."
            )
        if self.alpha is None and self.batch_size > 1:
            raise ValueError(
                f"batch_size={self.batch_size} needs alpha: adaptive steps take one row at a time. Give alpha for the "
                "steps of the notes (1e-4 is a common one), or leave out batch_size."
            )
        if self.alpha is None and self.intercept.kind == "penalized":
            raise ValueError(
                "intercept='penalized' needs alpha: adaptive steps penalise nothing. Leave it out (b is then scaled "
                "like any other weight), or give alpha."
            )

    @property
    def rho(self) -> float:
        """The constant feature of the stream: adaptive steps treat b as the weight of one."""
        return self.intercept.rho if self.alpha is not None else float(self.intercept.kind != "none")

    @property
    def sensitive(self) -> float | None:
        """The alpha for which rows can be huge; None where their size does not matter."""
        return self.alpha

    @property
    def kind(self) -> type[Native]:
        """What a stream of these settings is."""
        return _core.AdaptiveStream if self.alpha is None else _core.OnlineStream

    def native(self, n_models: int, n_features: int) -> Native:
        """A new stream."""
        if self.alpha is None:
            return _core.AdaptiveStream(n_models, n_features, self.rho, self.average, self.window or 0)
        options = _core.OnlineOptions(
            batch=self.batch_size,
            projection=self.projection,
            free_intercept=self.intercept.kind == "free",
            average=self.average,
        )
        return _core.OnlineStream(n_models, n_features, self.alpha, self.rho, options)

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
            steps = weights[kept] * np.sqrt(norms[kept] + settings.rho**2) / (settings.alpha or 1.0)
        if not np.all(steps < _LONGEST_STEP):
            row = int(kept[np.argmax(steps)])
            raise ValueError(
                f"Row {row} is so large that squares overflow: its weight times its norm over alpha is "
                f"{steps.max():.1e}. Raise alpha, or scale the features."
            )
        return cls(rows, factors, codes, weights, kept)

    def warn_of_huge_rows(self, alpha: float | None) -> None:
        """A ConvergenceWarning where steps of size 1/(alpha t) would stay wild for more rows than most streams have."""
        if alpha is None or self.kept.size == 0:
            return
        norms = self.rows.squared_norms if self.factors is None else np.ones(self.weights.size)
        wild = float(np.median(norms[self.kept])) / alpha
        if wild > _PATIENCE:
            warnings.warn(
                f"The rows are huge against alpha={alpha:g}: steps of 1/(alpha t) are wild for about |x|^2 / alpha "
                f"= {wild:.1e} rows. Leave out alpha (adaptive steps do not care), scale the features, or raise alpha.",
                ConvergenceWarning,
                stacklevel=7,
            )


class Stream:
    """The models of a stream: of each class against the rest, or one model of two classes."""

    def __init__(self, settings: Settings, n_models: int, n_features: int) -> None:
        self.settings = settings
        self.native = self._new_native(n_models, n_features)
        self._model: Model | None = None  # as of the last rows that were asked for

    def _new_native(self, n_models: int, n_features: int) -> Native:
        return self.settings.native(n_models, n_features)

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
            self._model = kept = Model(seen, steps, tuple(models), self.settings.rho)
        return kept

    def scores(self, rows: _core.Rows) -> Floats:
        """w.x + b of all rows (scaled if the stream scales them) and models."""
        model = self.model()
        if not self.settings.unit_norm:
            return rows.decision(model.coef.T, model.intercept)
        products: Floats = rows.decision(model.coef.T, np.zeros(len(model.coef)))
        return unit_factors(rows)[:, np.newaxis] * products + model.intercept

    def __getstate__(self) -> dict[str, Any]:
        """Plain numbers and arrays, which skops can store as well as pickle; the model follows from them."""
        return {**self.__dict__, "native": self.native.__getstate__(), "_model": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kind = state["settings"].kind
        native = kind.__new__(kind)
        native.__setstate__(state["native"])
        self.__dict__.update(state, native=native)


class Model:
    """(w, b) of every class after so many rows; the last entry of w belongs to the constant feature."""

    def __init__(self, seen: int, steps: int, models: tuple[tuple[Floats, float], ...], rho: float) -> None:
        self.seen = seen
        self.steps = steps
        self.models = models
        self.coef = _read_only(side_by_side([w[:-1] for w, _ in models]))  # as predictions read it
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
