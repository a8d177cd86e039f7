"""Pictures of a run. They need matplotlib: ``pip install 'hinge[plot]'``."""

from __future__ import annotations

import math
from typing import Any, Literal

from hinge import checks
from hinge.training import Histories, History


def plot_history(model: Any, *, x: Literal["seconds", "epoch"] = "seconds", ax: Any = None, **style: Any) -> Any:
    """Draw how the duality gap closed: the relative gap, on a logarithmic scale, at each evaluation.

    Parameters
    ----------
    model : fitted LinearSVC or LinearSVCCV, Solution, History or Histories
        With several classes there is a line for each.
    x : {"seconds", "epoch"}, default="seconds"
        What the gap is drawn against: the time, or the passes over the rows.
    ax : matplotlib Axes, default=None
        Where to draw; None: in a new figure.
    **style
        Passed on to ``Axes.plot``, for example ``label`` or ``color``.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> import hinge
    >>> ax = hinge.plot_history(hinge.LinearSVC(solver="dcd").fit(*load_iris(return_X_y=True)), x="epoch")
    >>> [line.get_label() for line in ax.lines]
    ['0', '1', '2']
    """
    checks.choice("x", x, ("seconds", "epoch"))
    by_name = _histories(model)
    if ax is None:
        ax = _pyplot().subplots(layout="constrained")[1]
    for name, history in by_name.items():
        records = [record for record in history if math.isfinite(record.relative_gap)]
        at = [getattr(record, x) for record in records]
        gaps = [max(record.relative_gap, 1e-16) for record in records]
        ax.plot(at, gaps, **{"marker": ".", "label": name, **style})
    ax.set_yscale("log")
    ax.set_xlabel("seconds" if x == "seconds" else "passes over the rows")
    ax.set_ylabel("relative duality gap")
    if len(by_name) > 1 and "label" not in style:
        ax.legend(title="class")
    return ax


def _histories(model: Any) -> dict[str, History]:
    """By what a line is to be called."""
    history = getattr(model, "history_", getattr(model, "history", model))
    if isinstance(history, Histories):
        return dict(zip(map(str, history.classes), history, strict=True))
    if isinstance(history, History):
        return {"": history}
    raise TypeError(
        f"plot_history needs a fitted LinearSVC or a Solution, got {type(model).__name__}"
        + (" before it was fitted: call fit first." if hasattr(model, "fit") else ".")
    )


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot_history needs matplotlib: pip install matplotlib, or 'hinge[plot]'.") from error
    return pyplot
