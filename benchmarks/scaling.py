"""How the default call scales: with threads, with a free intercept, and with the number of rows (time and peak memory).

    python benchmarks/scaling.py                          # benchmarks/results/scaling.md and scaling.png
    python benchmarks/scaling.py --only threads --output trial.md

Every figure is a median of --repeats default calls at tol = 1e-3 and C = 1, wall-clock time, side by side in one run. A size of the
growth table runs in a process of its own; memory is what the call adds at its peak to the process that holds X and y.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import scale

sys.path.insert(0, str(Path(__file__).resolve().parent))

import data

import hinge

_RESULTS = Path(__file__).resolve().parent / "results"
_COVERTYPE_ROWS = (10_000, 40_000, 160_000, 640_000, 1_600_000, 5_800_000)
_TEXT_ROWS = (25_000, 100_000, 400_000, 1_600_000)


def covertype(rows: int = 0) -> tuple[Any, Any]:
    """Covertype, standardised; `rows` of them drawn with noise, so that no two are the same."""
    X, y = data.covertype_raw(data.data_dir())
    X = scale(X)
    if rows == 0:
        return X, y
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(y), size=rows)
    X = X[drawn]
    for begin in range(0, rows, 100_000):  # in parts: the noise takes as much memory as the rows
        part = X[begin : begin + 100_000]
        part += 0.05 * rng.standard_normal(part.shape)
    return X, y[drawn]


def mnist() -> tuple[Any, Any]:
    """The digits 0 to 4 against 5 to 9, dense, float64."""
    X, y = data.mnist(data.data_dir())
    return np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64), y


GROWING: dict[str, tuple[Callable[[int], tuple[Any, Any]], tuple[int, ...]]] = {
    "Covertype-like": (covertype, _COVERTYPE_ROWS),
    "RCV1-like": (data.text, _TEXT_ROWS),
}


def seconds(X: Any, y: Any, repeats: int, **options: Any) -> float:
    """The median of so many calls."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        solution = hinge.solve(X, y, **options)
        times.append(time.perf_counter() - began)
        assert solution.status == "converged", solution.status
    return statistics.median(times)


def threads(repeats: int, text_rows: int) -> list[str]:
    """One thread and two."""
    sets: dict[str, Callable[[], tuple[Any, Any]]] = {
        "Covertype, standardised": covertype,
        "MNIST 0-4 against 5-9": mnist,
        f"RCV1-like {text_rows:,}": lambda: data.text(text_rows),
    }
    lines = ["| data | one thread (s) | two (s) | ratio |", "|---|---|---|---|"]
    for name, load in sets.items():
        X, y = load()
        one, two = (seconds(X, y, repeats, n_jobs=n_jobs) for n_jobs in (1, 2))
        lines.append(f"| {name} | {one:.2f} | {two:.2f} | {one / two:.2f} |")
        print(lines[-1], flush=True)
    return lines


def intercepts(repeats: int) -> list[str]:
    """A free intercept against none."""
    sets: dict[str, Callable[[], tuple[Any, Any]]] = {
        "Adult": lambda: data.adult(data.data_dir()),
        "Web": lambda: data.web(data.data_dir()),
        "IJCNN1": lambda: data.ijcnn1(data.data_dir()),
        "Covertype, standardised": covertype,
        "20 newsgroups": lambda: data.newsgroups(data.data_dir()),
        "RCV1-like 100,000": lambda: data.text(100_000),
    }
    lines = ["| data | none (s) | free (s) | ratio |", "|---|---|---|---|"]
    for name, load in sets.items():
        X, y = load()
        none, free = (seconds(X, y, repeats, intercept=kind) for kind in ("none", "free"))
        lines.append(f"| {name} | {none:.3f} | {free:.3f} | {free / none:.2f} |")
        print(lines[-1], flush=True)
    return lines


def _memory(field: str) -> int:
    """Bytes, from /proc."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(next(line for line in text.splitlines() if line.startswith(field)).split()[1])


def one_size(name: str, rows: int, repeats: int) -> None:
    """Prints: bytes of the data, seconds, peak bytes beyond them."""
    X, y = GROWING[name][0](rows)
    held = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    hinge.solve(X[:1000], y[:1000])  # what the first call imports does not count
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak begins anew
    taken = seconds(X, y, repeats)
    print(held, taken, _memory("VmHWM") - before)


def growth(repeats: int, largest: float, picture: Path) -> list[str]:
    """Time and memory against the number of rows."""
    lines = [
        "| data | rows | data (MB) | seconds | microseconds a row | peak memory beyond the data |",
        "|---|---|---|---|---|---|",
    ]
    slopes = []
    curves = {}
    for name, (_, sizes) in GROWING.items():
        times = []
        for rows in [rows for rows in sizes if rows <= largest]:
            command = [sys.executable, __file__, "--one-size", name, str(rows), "--repeats", str(repeats)]
            found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            held, taken, peak = (float(x) for x in found)
            times.append((rows, taken))
            lines.append(
                f"| {name} | {rows:,} | {held / 1e6:.0f} | {taken:.3f} | {1e6 * taken / rows:.2f} | {peak / held:.1%} |"
            )
            print(lines[-1], flush=True)
        slope = np.polyfit(*np.log(np.array(times).T), 1)[0]
        slopes.append(f"- {name}: time grows with the power {slope:.2f} of the number of rows")
        curves[name] = times
    _draw(curves, picture)
    return [*lines, "", *slopes, "", f"![Seconds against rows]({picture.name})"]


def _draw(curves: dict[str, list[tuple[int, float]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name, times in curves.items():
        rows, taken = np.array(times).T
        (line,) = axes.loglog(rows, taken, "o-", label=name)
        axes.loglog(rows, taken[-1] * rows / rows[-1], ":", color=line.get_color(), linewidth=1)
    axes.set(
        xlabel="rows", ylabel="seconds of a default call", title="Time against rows (dotted: proportional to rows)"
    )
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=130)


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=["threads", "intercepts", "growth"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--text-rows", type=int, default=804_414)
    parser.add_argument("--largest", type=float, default=1e9)
    parser.add_argument("--output", type=Path, default=_RESULTS / "scaling.md")
    parser.add_argument("--one-size", nargs=2, metavar=("NAME", "ROWS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one_size is not None:
        one_size(given.one_size[0], int(given.one_size[1]), given.repeats)
        return
    sections = {
        "threads": ("Threads", lambda: threads(given.repeats, given.text_rows)),
        "intercepts": ("A free intercept", lambda: intercepts(given.repeats)),
        "growth": ("Growth", lambda: growth(given.repeats, given.largest, given.output.with_suffix(".png"))),
    }
    page = [
        "# Scaling",
        "",
        f"`python benchmarks/scaling.py {' '.join(sys.argv[1:])}`: default calls, C = 1, tol = 1e-3, wall-clock time, medians of "
        f"{given.repeats}, two cores.",
    ]
    for name in given.only or sections:
        title, measure = sections[name]
        page += ["", f"## {title}", "", *measure()]
    given.output.write_text("\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
