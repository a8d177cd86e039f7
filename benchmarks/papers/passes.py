"""Passes of sgd-s and sgd-m beside those printed in their paper.

Panagiotakopoulos & Tsampouka, "The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited", Tables 2
(C = 1), 4 (C = 10) and 6 (C = 0.05): the epsilon with which each algorithm reaches 1 % of the optimum, and the number T
of passes it takes. Here: the same C, epsilon and f = 1.2, no intercept, one run per seed.

    python benchmarks/papers/passes.py                      # everything; Covertype at C = 10 takes most of the time
    python benchmarks/papers/passes.py --quick              # Adult and Web at C = 1, three seeds
    python benchmarks/papers/passes.py --update             # also put the rows into docs/faithfulness.md
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import hinge

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import data

_DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "faithfulness.md"
_BEGIN, _END = "<!-- passes: begin -->\n", "<!-- passes: end -->\n"
_MAX_ITER = 5000


@dataclass(frozen=True)
class Case:
    """A cell of the paper's tables."""

    C: float
    dataset: str
    solver: str
    epsilon: float
    T: int


CASES = (
    Case(0.05, "Adult", "sgd-s", 0.07, 10),
    Case(0.05, "Adult", "sgd-m", 0.15, 6),
    Case(0.05, "Web", "sgd-s", 0.06, 2),
    Case(0.05, "Web", "sgd-m", 0.06, 2),
    Case(0.05, "Covertype", "sgd-s", 0.25, 4),
    Case(0.05, "Covertype", "sgd-m", 0.27, 5),
    Case(1.0, "Adult", "sgd-s", 0.105, 111),
    Case(1.0, "Adult", "sgd-m", 0.33, 50),
    Case(1.0, "Web", "sgd-s", 0.054, 26),
    Case(1.0, "Web", "sgd-m", 0.1, 14),
    Case(1.0, "Covertype", "sgd-s", 0.264, 65),
    Case(1.0, "Covertype", "sgd-m", 1.12, 18),
    Case(10.0, "Adult", "sgd-s", 0.098, 1172),
    Case(10.0, "Adult", "sgd-m", 0.35, 455),
    Case(10.0, "Web", "sgd-s", 0.049, 220),
    Case(10.0, "Web", "sgd-m", 0.105, 99),
    Case(10.0, "Covertype", "sgd-s", 0.343, 462),
    Case(10.0, "Covertype", "sgd-m", 0.77, 269),
)
SOLVERS = {"sgd-s": hinge.SGDs(f=1.2), "sgd-m": hinge.SGDm(f=1.2)}


@dataclass(frozen=True)
class Stop:
    """How a run ended: passes, and the primal objective of the model."""

    passes: int
    primal: float


# The data set at hand; each process works through one after the other.
_load = functools.lru_cache(maxsize=1)(data.load)


def run(case: Case, seed: int) -> Stop:
    """One run; anything but convergence is an error."""
    X, y = _load(case.dataset)
    solution = hinge.solve(
        X,
        y,
        C=case.C,
        tol=case.epsilon,
        intercept="none",
        solver=SOLVERS[case.solver],
        max_iter=_MAX_ITER,
        random_state=seed,
    )
    if solution.status != "converged":
        raise RuntimeError(f"{case} with seed {seed} ended {solution.status}, not converged.")
    return Stop(solution.n_iter, solution.certificate.primal)


#: Measured independently, where certifying them anew would take longer than the runs.
KNOWN_OPTIMA = {("Covertype", 1.0): 340487.9, ("Covertype", 10.0): 3327591.5}


def optimum(dataset: str, C: float) -> float:
    """The optimal objective: known, or certified to 1e-4 by dual coordinate descent."""
    if (dataset, C) in KNOWN_OPTIMA:
        return KNOWN_OPTIMA[dataset, C]
    X, y = _load(dataset)
    solution = hinge.solve(X, y, C=C, tol=1e-4, intercept="none", solver="dcd", max_iter=20_000)
    if solution.status != "converged":
        raise RuntimeError(f"dcd on {dataset} at C = {C:g} ended {solution.status}.")
    return 0.5 * (solution.certificate.primal + solution.certificate.dual)


def name(case: Case) -> str:
    """The first cells of a case's row."""
    return f"| {case.C:g} | {case.dataset} | {case.solver} |"


def line(case: Case, stops: list[Stop], best: float) -> str:
    """A row of the table."""
    passes = [stop.passes for stop in stops]
    excess = [100.0 * (stop.primal / best - 1.0) for stop in stops]
    low, middle, high = min(passes), statistics.median(passes), max(passes)
    if low <= case.T <= high:
        verdict = "inside"
    else:
        nearest = low if low > case.T else high
        verdict = f"{nearest - case.T:+d} ({100 * (nearest / case.T - 1):+.1f} %)"
    return (
        f"{name(case)} {case.epsilon:g} | {case.T} | {low} | {middle:g} | {high} | {len(stops)} | {verdict} "
        f"| {statistics.median(excess):.2f} % |"
    )


HEADER = (
    "| C | data set | solver | epsilon | paper's T | min | median | max | seeds | paper's T in [min, max]? "
    "| primal above optimum (median) |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def update(lines: dict[Case, str]) -> None:
    """Put the rows of the cases that were run into the table of the document, and keep the others."""
    text = _DOCUMENT.read_text()
    before, rest = text.split(_BEGIN)
    table, after = rest.split(_END)
    merged = [HEADER]
    for case in CASES:
        old = [row for row in table.splitlines() if row.startswith(name(case))]
        merged += [lines[case]] if case in lines else old
    _DOCUMENT.write_text(before + _BEGIN + "\n".join(merged) + "\n" + _END + after)


def main() -> None:
    """Run the cases asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = list(dict.fromkeys(case.dataset for case in CASES))
    parser.add_argument("--datasets", nargs="+", default=names, choices=names)
    parser.add_argument("--C", nargs="+", type=float, default=[0.05, 1.0, 10.0])
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=list(SOLVERS))
    parser.add_argument("--seeds", type=int, default=10, help="runs per case")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--quick", action="store_true", help="Adult and Web at C = 1, three seeds")
    parser.add_argument("--update", action="store_true", help="put the rows into the table of docs/faithfulness.md")
    options = parser.parse_args()
    if options.quick:
        options.datasets, options.C, options.seeds = ["Adult", "Web"], [1.0], 3
    chosen = [c for c in CASES if c.dataset in options.datasets and c.C in options.C and c.solver in options.solvers]
    if not chosen:
        parser.error("no case of the tables has these data sets, C and solvers")
    data.data_dir()
    lines: dict[Case, str] = {}
    print(HEADER, flush=True)
    with ProcessPoolExecutor(options.jobs) as pool:
        for dataset in options.datasets:
            cases = [case for case in chosen if case.dataset == dataset]
            best = {C: pool.submit(optimum, dataset, C) for C in dict.fromkeys(case.C for case in cases)}
            stops = {case: [pool.submit(run, case, seed) for seed in range(options.seeds)] for case in cases}
            for case in cases:
                lines[case] = line(case, [stop.result() for stop in stops[case]], best[case.C].result())
                print(lines[case], flush=True)
    if options.update:
        update(lines)


if __name__ == "__main__":
    main()
