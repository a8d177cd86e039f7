"""Figure 2 and Table 3 of Lee & Wright, "ASSET": a stream of digits, shifted and deformed at random (MNIST-E).

The rows are made as they are needed, and all models get the same ones in the same order.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from common import plots
from common.store import Results, markdown
from scipy.ndimage import gaussian_filter, map_coordinates
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier

import hinge
from papers import printed
from papers.bench import Bench
from papers.exhibit import Cells, Claim, Exhibit, Measured, number

Images = npt.NDArray[np.float32]

_ROWS = 100_000
_BATCH = 1000
_SHIFT = 1  # pixels, at most
_SMOOTH, _STRENGTH = 4.0, 20.0  # of the displacements: standard deviation of the filter, and factor
_LAST = 10  # evaluations at the end of the stream that Table 3 is made from
_C, _GAMMA = printed.ASSET_2["MNIST"].C, printed.ASSET_2["MNIST"].gamma
_CLASSES = (-1.0, 1.0)


def deformed(images: Images, rng: np.random.Generator) -> Images:
    """Square images, one a row: each moved by whole pixels, and its pixels by a smooth random field."""
    count, side = len(images), math.isqrt(images.shape[1])
    field = rng.uniform(-1.0, 1.0, (2, count, side, side)).astype(np.float32)
    field = _STRENGTH * gaussian_filter(field, (0.0, 0.0, _SMOOTH, _SMOOTH), mode="constant")
    field += rng.integers(-_SHIFT, _SHIFT + 1, (2, count, 1, 1))
    which, y, x = np.indices((count, side, side), dtype=np.float32)
    moved = map_coordinates(images.reshape(count, side, side), (which, y + field[0], x + field[1]), order=1)
    return np.asarray(moved.reshape(images.shape))


def stream(X: Any, y: npt.NDArray[Any], rows: int, seed: int) -> Iterator[tuple[Images, npt.NDArray[Any]]]:
    """Batches of deformed rows, drawn independently."""
    rng = np.random.default_rng(seed)
    for _ in range(rows // _BATCH):
        chosen = rng.integers(y.size, size=_BATCH)
        yield deformed(X[chosen].toarray().astype(np.float32), rng), y[chosen]


class SampledSGD:
    """scikit-learn's random features and its SGDClassifier, averaged."""

    def __init__(self, alpha: float, d: int) -> None:
        self._features = RBFSampler(gamma=_GAMMA, n_components=d, random_state=0)
        self._model = SGDClassifier(alpha=alpha, average=True, random_state=0)

    def partial_fit(self, X: Images, y: npt.NDArray[Any], classes: tuple[float, ...]) -> None:
        if not hasattr(self._features, "random_weights_"):
            self._features.fit(X)
        self._model.partial_fit(self._features.transform(X), y, classes=np.array(classes))

    def predict(self, X: Images) -> npt.NDArray[Any]:
        return np.asarray(self._model.predict(self._features.transform(X)))


def models(alpha: float, d: int) -> dict[str, Any]:
    """The rivals. The paper averages the last 100 iterates; ours are those of half the stream, all, or the last one."""
    shared = {"alpha": alpha, "gamma": _GAMMA, "n_components": d, "fit_intercept": False}
    return {
        "asset": hinge.OnlineKernelSVC(**shared),
        "asset-star": hinge.OnlineKernelSVC(steps="asset-star", **shared),
        "asset-star, last iterate": hinge.OnlineKernelSVC(steps="asset-star", average=False, **shared),
        "RBFSampler + SGDClassifier": SampledSGD(alpha, d),
    }


def measure(bench: Bench, results: Results) -> None:
    """The test error at 1, 2, 4, ... thousand rows, and ten times over the last ten thousand."""
    rows = max(_BATCH, bench.steps(_ROWS) // _BATCH * _BATCH)
    X, y = bench.load("MNIST")
    test_rows, y_test = bench.load("MNIST test")
    X_test = deformed(test_rows.toarray().astype(np.float32), np.random.default_rng(1))
    looks = {_BATCH << i for i in range(20)} | {rows - _BATCH * i for i in range(_LAST)}
    rivals = {f"{d}|{name}": model for d in printed.ASSET_3 for name, model in models(1.0 / (_C * rows), d).items()}
    cells: dict[str, dict[str, Any]] = {name: {"errors": {}, "train": 0.0, "test": 0.0} for name in rivals}
    for batch, (Xs, ys) in enumerate(stream(X, y, rows, seed=0), 1):
        for name, model in rivals.items():
            cell = cells[name]
            began = time.process_time()
            model.partial_fit(Xs, ys, classes=_CLASSES)
            cell["train"] += time.process_time() - began
            if batch * _BATCH in looks:
                began = time.process_time()
                cell["errors"][str(batch * _BATCH)] = float(np.mean(model.predict(X_test) != y_test))
                cell["test"] = time.process_time() - began
                results.put(name, cell)
                print(f"  {batch * _BATCH} rows, {name}: {cell['errors'][str(batch * _BATCH)]:.2%}", flush=True)


def _errors(cell: Cells) -> dict[int, float]:
    """Rows seen -> test error in percent."""
    return {int(rows): 100.0 * cell["errors"][rows] for rows in sorted(cell["errors"], key=int)}


def _end(cell: Cells) -> tuple[float, float]:
    """Mean and deviation of the last errors."""
    late = list(_errors(cell).values())[-_LAST:]
    return statistics.fmean(late), statistics.pstdev(late)


def table(cells: Cells) -> str:
    """Errors on the way, and Table 3: mean and deviation at the end, and seconds."""
    found = sorted({int(rows) for cell in cells.values() for rows in cell["errors"]})
    shown = [rows for rows in found if (rows // _BATCH).bit_count() == 1][::2]
    lines = []
    for d, paper in printed.ASSET_3.items():
        for name in models(1.0, d):
            if cell := cells.get(f"{d}|{name}"):
                theirs = "{:.1f} ± {:.2f} %".format(*paper[name]) if name in paper else "-"
                errors = _errors(cell)
                speed = f"{max(errors) / cell['train']:,.0f}"
                on_the_way = (f"{errors[rows]:.1f} %" for rows in shown)
                ours = "{:.2f} ± {:.2f} %".format(*_end(cell))
                took = number(cell["train"]), speed, number(cell["test"])
                lines.append((f"{d}", name, theirs, ours, *on_the_way, *took))
    header = ("d", "model", "paper: error, end", "ours: error, end", *(f"at {rows:,} rows" for rows in shown))
    return markdown((*header, "training, CPU s", "rows / s", "test, CPU s"), lines)


def draw(measured: Measured, path: Path) -> None:
    """A panel for each d."""
    cells = measured["asset-figure2"]
    panels = []
    for d in (d for d in printed.ASSET_3 if f"{d}|asset" in cells):
        curves = []
        for name, look in plots.styles(list(models(1.0, d))).items():
            errors = _errors(cells[f"{d}|{name}"])
            curves.append(plots.Curve(name, list(errors), list(errors.values()), look))
        panels.append(plots.Panel(f"d = {d}", "rows seen", "test error, %", curves))
    plots.save(panels, path)


def claims(measured: Measured) -> Iterator[Claim]:
    """ASSET_on before its starred form, and more features before fewer."""
    cells = measured.get("asset-figure2", {})
    ends = {name: _end(cell)[0] for name, cell in cells.items()}
    for d, paper in printed.ASSET_3.items():
        if f"{d}|asset" in ends:
            theirs = " and ".join(f"{paper[name][0]:.1f} %" for name in ("asset", "asset-star"))
            pair = ends[f"{d}|asset"], ends[f"{d}|asset-star"]
            ours = " and ".join(f"{value:.2f} %" for value in pair)
            yield Claim("asset ends with a smaller error than asset-star", f"d = {d}", theirs, ours, pair[0] < pair[1])
    if {"1024|asset", "4096|asset"} <= set(ends):
        pair = ends["1024|asset"], ends["4096|asset"]
        ours = " and ".join(f"{value:.2f} %" for value in pair)
        yield Claim("the error falls as d grows", "d = 1024 and 4096", "11.5 % and 4.8 %", ours, pair[1] < pair[0])


EXHIBITS = (
    Exhibit("asset-figure2", "ASSET, Figure 2 and Table 3: a stream of deformed digits", measure, table, draw, claims),
)
