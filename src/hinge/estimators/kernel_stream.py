"""A stream of rows that are mapped to features on their way: what `OnlineKernelSVC` keeps between calls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge import _core
from hinge.estimators.stream import Chunk, Native, Settings, Stream
from hinge.features.fourier_map import FourierMap
from hinge.problem import Floats, Integers, as_rows, decision
from hinge.training.signals import Signals, in_main_thread

# Rows that are mapped at once. The features of a row do not depend on it.
_ROWS = 1024
# |phi(x)|^2 is at most 2, and 1 on average over the random phases.
_LONGEST2 = 2.0
_MEAN2 = 1.0


@dataclass(frozen=True)
class KernelSettings(Settings):
    """What must not change while a stream lasts."""

    alpha: float
    steps: str
    B: float | None
    kernel: str
    gamma: float | str
    n_components: int | None
    frequencies: str

    @property
    def sensitive(self) -> None:
        """Features have norm 1 on average, whatever the rows are."""
        return

    @property
    def kind(self) -> type[Native]:
        """What a stream of these settings is."""
        return _core.OnlineStream if self.steps == "asset-star" else _core.AssetStream

    @property
    def asset_options(self) -> _core.AssetStreamOptions:
        """B and D_G of ASSET: at w = 0 every row has a loss, and its subgradient the length |phi(x)|, with 1 for b."""
        free = self.intercept.kind == "free"
        largest = 1.0 + math.sqrt(_LONGEST2 / self.alpha) if self.B is None else self.B
        return _core.AssetStreamOptions(largest if free else 0.0, math.sqrt(_MEAN2 + (1.0 if free else 0.0)), free)


class KernelStream(Stream):
    """The models of a stream, on the Fourier features of its rows, in float32."""

    settings: KernelSettings

    def __init__(self, settings: KernelSettings, n_models: int, features: FourierMap, n_threads: int) -> None:
        self.features = features
        self.n_threads = n_threads
        super().__init__(settings, n_models, features.n_out)

    def _new_native(self, n_models: int, n_features: int) -> Native:
        if self.settings.steps == "asset-star":
            return super()._new_native(n_models, n_features)
        return _core.AssetStream(n_models, n_features, self.settings.alpha, 0.0, self.settings.asset_options)

    def take(self, chunk: Chunk, visit: Integers) -> None:
        """Learn from the rows of `visit`, in this order; raises what a signal handler has raised on the way."""
        with Signals() as signals:
            poll = _core.Poll(signals.token, in_main_thread())
            for begin in range(0, visit.size, _ROWS):
                some = visit[begin : begin + _ROWS]
                rows = as_rows(self._features_of(chunk.rows, some))
                order = np.arange(some.size)
                self.native.present(rows, None, order, chunk.codes[some], chunk.weights[some], poll)
                if signals.token.stop_requested:
                    break
        if signals.error is not None:
            raise signals.error

    def scores(self, rows: _core.Rows) -> Floats:
        """w.phi(x) + b of all rows and models."""
        model = self.model()
        parts = [np.zeros((0, len(model.coef)))]
        for begin in range(0, len(rows), _ROWS):
            some = np.arange(begin, min(begin + _ROWS, len(rows)))
            parts.append(
                decision(self._features_of(rows, some), model.coef.T, model.intercept, n_threads=self.n_threads)
            )
        return np.concatenate(parts)

    def mapped(self, rows: _core.Rows) -> Any:
        """All features at once."""
        return self._features_of(rows, np.arange(len(rows)))

    def _features_of(self, rows: _core.Rows, chosen: Integers) -> Any:
        out = np.empty((chosen.size, self.features.n_out), dtype=np.float32)
        self.features.write_rows(rows.part(np.ascontiguousarray(chosen)), out, self.n_threads)
        return out
