"""Time to a true relative accuracy: the default of hinge, not tuned, beside competitors tuned to just reach it.

    python benchmarks/accuracy.py                            # benchmarks/results/accuracy.md
    python benchmarks/accuracy.py --data Adult Web --limit 5 --output trial.md
    python benchmarks/accuracy.py --intercept free           # benchmarks/results/accuracy-free.md
    python benchmarks/accuracy.py --data Web --Cs 100 --update  # only these; what the page has of others stays

Without an intercept or with a free one, one thread, CPU seconds. Ours is asked for tol = accuracy and proves it. A competitor's own
tolerance is made tighter, a third of a power of ten at a time, until its objective is within the accuracy of the optimum. Then all
programs take turns, and their medians count. A competitor that does not arrive within --limit seconds counts with these seconds.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common import plots
from common.adapters import COMPETITORS, FREE_INTERCEPT
from common.adapters.ours import Ours
from common.data import problem as load
from common.harness import attempt
from common.measure import Contestant, arrivals, geometric, side_by_side
from common.optimum import bracket
from common.problem import Bracket, Problem
from common.store import RESULTS, markdown

ACCURACIES = (1e-2, 1e-3, 1e-6)
CS = (0.05, 1.0, 10.0, 100.0)
_PLAIN = ("liblinear", "LinearSVC", "Snap ML", "lightning SDCA", "svmocas", "SGDClassifier")
#: By kind of intercept.
PEERS = {"none": {name: COMPETITORS[name] for name in _PLAIN}, "free": FREE_INTERCEPT}
SETS = (
    "Adult",
    "Web",
    "IJCNN1",
    "made 50,000 x 50",
    "Covertype x 0.001",
    "20 newsgroups",
    "RCV1-like 100,000",
)
_WORDS = {"none": "no intercept", "free": "free intercept"}
_WIDTH = 1e-8  # of the bracket of the optimum: well below the finest accuracy


def ours(problem: Problem, best: Bracket, limit: float) -> dict[float, Contestant]:
    """The default call for each accuracy; what it claims is checked."""
    adapter = Ours("auto")
    found = {}
    for accuracy in ACCURACIES:
        once = attempt(adapter, problem, problem, accuracy, 0, limit)
        if once.fit is None or once.fit.exhausted:
            continue
        if best.suboptimality(problem.primal(once.fit.w)) <= accuracy * (1.0 + 1e-9):
            found[accuracy] = Contestant(adapter, problem, accuracy, limit)
    return found


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=list(SETS), metavar="NAME")
    parser.add_argument("--Cs", nargs="+", type=float, default=list(CS), metavar="C")
    parser.add_argument("--peers", nargs="+", metavar="NAME")
    parser.add_argument("--intercept", default="none", choices=list(PEERS))
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--update", action="store_true", help="keep what the output has of others")
    given = parser.parse_args()
    if given.output is None:
        given.output = RESULTS / ("accuracy.md" if given.intercept == "none" else "accuracy-free.md")
    known = PEERS[given.intercept]
    if unknown := set(given.peers or ()) - set(known):
        parser.error(f"--peers {sorted(unknown)}: with --intercept {given.intercept} choose among {list(known)}")
    peers = {name: known[name] for name in given.peers or known if known[name].missing() is None}
    pages = Pages(given.output, given.intercept, list(peers), given.update)
    for name in given.data:
        for C in given.Cs:
            pages.forget(name, C)
            problem = replace(load(name, C), intercept=given.intercept)
            best = bracket(problem, _WIDTH)
            found = {"hinge": ours(problem, best, 6 * given.limit)}
            for peer, adapter in peers.items():
                arrived = arrivals(adapter, problem, best, ACCURACIES, given.limit)
                found[peer] = {accuracy: arrival.by for accuracy, arrival in arrived.items()}
            for accuracy in ACCURACIES:
                contestants = {program: of[accuracy] for program, of in found.items() if accuracy in of}
                took = side_by_side(contestants, problem, given.repeats)
                seconds = {program: took.get(program) for program in found}
                pages.figures.append({"data": name, "C": C, "accuracy": accuracy, "limit": given.limit, **seconds})
                print(*pages.row(pages.figures[-1]), sep=" | ", flush=True)
        pages.write()  # what is there so far: the next data set takes minutes
    print(pages.summary())


class Pages:
    """The table, the figures in it and the plot."""

    def __init__(self, path: Path, intercept: str, peers: list[str], update: bool) -> None:
        self.path, self.intercept, self.peers = path, intercept, peers
        known = path.with_suffix(".json")
        self.figures: list[dict[str, Any]] = json.loads(known.read_text(encoding="utf-8")) if update else []

    def forget(self, name: str, C: float) -> None:
        """What is measured anew."""
        self.figures = [figure for figure in self.figures if (figure["data"], figure["C"]) != (name, C)]

    def write(self) -> None:
        """All that is known, in the order of the data sets, of C and of the accuracies."""
        self.figures.sort(key=lambda figure: (SETS.index(figure["data"]), figure["C"], -figure["accuracy"]))
        header = ("data", "C", "accuracy", "limit", "hinge", *self.peers, "best of them / hinge")
        table = markdown(header, [self.row(figure) for figure in self.figures])
        command = shlex.join(["python", "benchmarks/accuracy.py", *sys.argv[1:]])
        self.path.write_text(
            f"# Time to a true relative accuracy\n\n`{command}`: CPU seconds, one thread, {_WORDS[self.intercept]}. hinge is the default "
            f"call with tol = accuracy; the others are tuned to just reach it, within the limit (seconds).\n\n{table}\n\nTime / hinge's, "
            f"geometric means, the limit where a program does not arrive:\n\n{self.summary()}\n\n"
            f"![Seconds against C]({self.path.with_suffix('.png').name})\n",
            encoding="utf-8",
        )
        self.path.with_suffix(".json").write_text(json.dumps(self.figures, indent=1), encoding="utf-8")
        draw(self.figures, ("hinge", *self.peers), self.path.with_suffix(".png"))

    def row(self, figure: dict[str, Any]) -> list[str]:
        """A line of the table."""
        seconds = [figure[program] for program in ("hinge", *self.peers)]
        shown = ["never" if value is None else f"{value:.3f}" for value in seconds]
        ratio = f"{self._ratio(figure, self.peers):.1f}"
        return [figure["data"], f"{figure['C']:g}", f"{figure['accuracy']:g}", f"{figure['limit']:g}", *shown, ratio]

    def summary(self) -> str:
        """Geometric means of the ratios, for each program and for the best of them."""
        lines = []
        for name, of in [*((peer, [peer]) for peer in self.peers), ("best", self.peers)]:
            ratios = [(figure["C"], self._ratio(figure, of)) for figure in self.figures]
            hard = [ratio for C, ratio in ratios if C >= 10] or [1.0]
            lines.append(
                f"- {name}: {geometric(ratio for _, ratio in ratios):.1f}x over all cells, {geometric(hard):.1f}x over those with "
                f"C >= 10, behind in {sum(ratio < 1 for _, ratio in ratios)} of {len(ratios)}"
            )
        return "\n".join(lines)

    @staticmethod
    def _ratio(figure: dict[str, Any], peers: list[str]) -> float:
        """Seconds of the fastest of these over ours; the limit counts where a program does not arrive."""
        fastest, own = (min(known(figure, program) for program in of) for of in (peers, ["hinge"]))
        return fastest / own


def known(figure: dict[str, Any], program: str) -> float:
    """The seconds of a program, or the limit if it did not arrive."""
    return float(figure["limit"] if figure[program] is None else figure[program])


def draw(figures: list[dict[str, Any]], programs: tuple[str, ...], path: Path) -> None:
    """Seconds against C, a panel for each data set and accuracy; at the dotted limit a program that does not arrive."""
    ours, *peers = programs
    black = plots.COLOURS.index("#000000")  # ours alone
    looks = plots.styles([*peers[:black], ours, *peers[black:]]) | {ours: plots.Style("#000000", width=2.5)}
    panels = []
    for name in dict.fromkeys(figure["data"] for figure in figures):
        for accuracy in ACCURACIES:
            cells = [cell for cell in figures if (cell["data"], cell["accuracy"]) == (name, accuracy)]
            curves = [
                plots.Curve(p, [c["C"] for c in cells], [known(c, p) for c in cells], looks[p])
                for p in programs
                if cells
            ]
            limits = tuple(sorted({cell["limit"] for cell in cells}))
            panels.append(plots.Panel(f"{name}, to {accuracy:g}", "C", "seconds", curves, marks=limits))
    plots.save(panels, path, columns=len(ACCURACIES))


if __name__ == "__main__":
    main()
