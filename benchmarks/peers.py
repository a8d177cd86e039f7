"""hinge beside scikit-learn's LinearSVC and liblinear: CPU seconds to the same true accuracy.

    python benchmarks/peers.py                                  # writes benchmarks/results/peers.md
    python benchmarks/peers.py --datasets Adult Web --output -

Objective: 1/2 |w|^2 + C sum_i hinge_i, no intercept. Accuracy: P(w)/P* - 1, P* certified to 1e-5 by dcd. Each peer gets
the loosest tolerance of a grid with which it reaches the accuracy, which a user cannot know beforehand; so does
"hinge, tuned". "hinge, certified" is what a user asks for: tol = accuracy, proven by the gap. Medians of five fits with
different seeds. liblinear (PyPI: liblinear-official) is measured if installed; the conversion of the data to its own
format is not counted, that of LinearSVC is (it happens in `fit`).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.svm import LinearSVC

import hinge

sys.path.insert(0, str(Path(__file__).resolve().parent))
import data
from micro import machine

_RESULTS = Path(__file__).resolve().parent / "results" / "peers.md"
_TOLERANCES = [10.0 ** (-k / 4) for k in range(-4, 21)]  # 10 to 1e-5
_TOO_LONG = 60.0  # seconds of one fit: the search ends

#: (tolerance, seed) -> weights
Fit: TypeAlias = Callable[[float, int], np.ndarray[Any, np.dtype[np.float64]]]


def primal(X: Any, y: Any, C: float, w: Any) -> float:
    """P(w)."""
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w)).sum())


def hinge_fit(X: Any, y: Any, C: float) -> Fit:
    """hinge, the default solver."""
    return lambda tol, seed: hinge.solve(X, y, C=C, tol=tol, intercept="none", random_state=seed).coef


def sklearn_fit(X: Any, y: Any, C: float) -> Fit:
    """LinearSVC with the same objective."""

    def fit(tol: float, seed: int) -> Any:
        model = LinearSVC(
            loss="hinge", dual=True, fit_intercept=False, C=C, tol=tol, max_iter=100_000, random_state=seed
        )
        return model.fit(X, y).coef_.ravel()

    return fit


def liblinear_fit(X: Any, y: Any, C: float) -> Fit | None:
    """liblinear through its own Python interface; None if not installed. It takes no seed."""
    try:
        from liblinear.liblinearutil import parameter, problem, train
    except ImportError:
        return None
    converted = problem(y, X)

    def fit(tol: float, seed: int) -> Any:
        model = train(converted, parameter(f"-s 3 -c {C} -e {tol} -q"))
        w = np.array(model.w[: model.nr_feature])
        return w if model.get_labels()[0] == 1 else -w

    return fit


def seconds_of(fit: Fit, tol: float, repetitions: int) -> float:
    """Median CPU time."""
    times = []
    for seed in range(repetitions):
        began = time.process_time()
        fit(tol, seed)
        times.append(time.process_time() - began)
    return statistics.median(times)


def loosest(fit: Fit, reaches: Callable[[Any], bool], tolerances: list[float]) -> float | None:
    """The first tolerance with which the accuracy is reached for three seeds; None if that takes too long."""
    for tol in tolerances:
        began = time.process_time()
        if all(reaches(fit(tol, seed)) for seed in range(3)):
            return tol
        if time.process_time() - began > _TOO_LONG:
            return None
    return None


HEADER = (
    "| data set | C | accuracy | hinge, certified | hinge, tuned | LinearSVC | liblinear "
    "| LinearSVC / certified | liblinear / certified |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def compare(name: str, X: Any, y: Any, C: float, accuracy: float, best: float, repetitions: int) -> str:
    """A row of the table."""

    def reaches(w: Any) -> bool:
        return primal(X, y, C, w) <= (1.0 + accuracy) * best

    ours = hinge_fit(X, y, C)
    certified = seconds_of(ours, accuracy, repetitions)
    cells: dict[str, float | None] = {}
    fits = {"hinge": ours, "LinearSVC": sklearn_fit(X, y, C), "liblinear": liblinear_fit(X, y, C)}
    for peer, fit in fits.items():
        tol = None if fit is None else loosest(fit, reaches, [t for t in _TOLERANCES if peer != "hinge" or t <= 1.0])
        cells[peer] = None if fit is None or tol is None else seconds_of(fit, tol, repetitions)
    text = {peer: "-" if cell is None else f"{cell:.3f} s" for peer, cell in cells.items()}
    ratio = {peer: "-" if cell is None else f"{cell / certified:.1f}" for peer, cell in cells.items()}
    return (
        f"| {name} | {C:g} | {100 * accuracy:g} % | {certified:.3f} s | {text['hinge']} | {text['LinearSVC']} "
        f"| {text['liblinear']} | {ratio['LinearSVC']} | {ratio['liblinear']} |"
    )


def losses(lines: list[str]) -> str:
    """Where a peer is faster than a certified fit."""
    lost = []
    for row in lines:
        name, C, accuracy, *_, by_sklearn, by_liblinear = [cell.strip() for cell in row.strip("|").split("|")]
        if any(ratio != "-" and float(ratio) < 1.0 for ratio in (by_sklearn, by_liblinear)):
            lost.append(f"{name} (C = {C}, {accuracy})")
    return f"hinge, certified, loses to a peer in {len(lost)} of {len(lines)} cases: {', '.join(lost) or 'none'}."


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*data.LOADERS, "text"]
    parser.add_argument("--datasets", nargs="+", default=["Adult", "Web", "ijcnn1", "text"], choices=names)
    parser.add_argument("--C", nargs="+", type=float, default=[1.0])
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the text data")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--output", default=str(_RESULTS), help="file for the report; - for none")
    options = parser.parse_args()
    lines = [HEADER]
    print(HEADER)
    for name in options.datasets:
        X, y = data.text(options.rows) if name == "text" else data.load(name)
        for C in options.C:
            reference = hinge.solve(X, y, C=C, tol=1e-5, intercept="none", max_iter=20_000)
            if reference.status != "converged":
                raise RuntimeError(f"The optimum of {name} at C = {C:g} is not known: ended {reference.status}.")
            best = reference.certificate.primal
            for accuracy in (0.01, 0.001):
                lines.append(compare(name, X, y, C, accuracy, best, options.repetitions))
                print(lines[-1], flush=True)
    if options.output != "-":
        Path(options.output).write_text(
            "# hinge beside LinearSVC and liblinear\n\n"
            f"Made by `{' '.join(['python benchmarks/peers.py', *sys.argv[1:]])}` on: {machine()}.\n\n"
            f"CPU seconds to P(w)/P* - 1 within the accuracy, medians of {options.repetitions}; no intercept, `text` "
            f"is {options.rows:,} x {data.TEXT_FEATURES:,}. *Certified*: tol = accuracy, proven by the gap. *Tuned* "
            "and the peers: the loosest tolerance that happens to reach the accuracy. `-`: not installed, or not "
            "reached in a minute. "
            "Ratios above 1: hinge is faster.\n\n" + "\n".join(lines) + "\n\n" + losses(lines[1:]) + "\n"
        )


if __name__ == "__main__":
    main()
