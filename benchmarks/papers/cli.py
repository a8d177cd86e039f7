"""Measure tables and figures of the papers, and show them beside what is printed there.

    python benchmarks/papers sgd-table2 pegasos-figure3     # measure, print, draw
    python benchmarks/papers --list
    python benchmarks/papers --quick                        # all, in a few minutes, on smaller text and with fewer seeds
    python benchmarks/papers                                # all, at full size: hours
    python benchmarks/papers sgd-table3 --solvers ocas      # some cells of an exhibit; the others stay
    python benchmarks/papers --update                       # measure nothing: draw and write docs/papers.md from results

Results are kept in benchmarks/results/papers, one JSON file per exhibit; those of --quick in build/papers-quick.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hinge
from papers import asset, asset_online, claims, overview, pegasos, sgd_table1, sgd_tables
from papers.bench import DATASETS, Bench, full_data, quick_data
from papers.exhibit import Exhibit
from papers.store import Results, fill

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "papers.md"

EXHIBITS: dict[str, Exhibit] = {
    exhibit.name: exhibit
    for module in (sgd_table1, sgd_tables, pegasos, overview, asset, asset_online)
    for exhibit in module.EXHIBITS
}


def full_bench(seeds: int | None, datasets: tuple[str, ...], solvers: tuple[str, ...]) -> Bench:
    """At the papers' sizes; draws into the documentation."""
    return Bench(
        full_data, ROOT / "benchmarks" / "results" / "papers", ROOT / "docs" / "figures", seeds or 10, datasets, solvers
    )


def quick_bench(seeds: int | None, datasets: tuple[str, ...], solvers: tuple[str, ...]) -> Bench:
    """To see that everything works."""
    place = ROOT / "build" / "papers-quick"
    return Bench(quick_data, place, place, seeds or 2, datasets, solvers, budget=0.02)


def run(exhibit: Exhibit, bench: Bench) -> str:
    """Measure an exhibit, draw it, and return its table."""
    results = Results(bench.results / f"{exhibit.name}.json")
    exhibit.measure(bench, results)
    draw(exhibit, results, bench.figures)
    return exhibit.table(results.cells)


def draw(exhibit: Exhibit, results: Results, place: Path) -> None:
    """Draw a figure from its results, if it is one and has any."""
    if exhibit.draw is not None and results.cells:
        place.mkdir(parents=True, exist_ok=True)
        exhibit.draw(results.cells, place / f"{exhibit.name}.png")


def update(page: Path, bench: Bench) -> None:
    """Draw all figures, and write all generated parts of the page, from the stored results."""
    text = page.read_text()
    stored = {name: Results(bench.results / f"{name}.json") for name in EXHIBITS}
    for name, exhibit in EXHIBITS.items():
        draw(exhibit, stored[name], bench.figures)
        text = fill(text, name, exhibit.table(stored[name].cells))
    text = fill(text, "claims", claims.table({name: results.cells for name, results in stored.items()}))
    machines = sorted({results.measured_on for results in stored.values() if results.measured_on})
    page.write_text(fill(text, "machine", "\n".join(f"- {machine}" for machine in machines)))


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python benchmarks/papers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="exhibit", help="which; all of them unless --update is given")
    parser.add_argument("--list", action="store_true", help="list the exhibits and end")
    parser.add_argument("--quick", action="store_true", help="few seeds, small text, no Covertype")
    parser.add_argument("--seeds", type=int, help="runs per cell, where they are affordable (default 10; quick: 2)")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, help="only these")
    parser.add_argument("--solvers", nargs="+", help="only these, where an exhibit compares several")
    parser.add_argument("--update", action="store_true", help="then write docs/papers.md from the results of full runs")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in EXHIBITS]
    if unknown:
        parser.error(f"no exhibit {unknown[0]!r}: choose from {', '.join(EXHIBITS)}")
    if options.list:
        print("\n".join(f"{exhibit.name:18} {exhibit.title}" for exhibit in EXHIBITS.values()))
        return 0
    default = tuple(name for name in DATASETS if name != "Covertype") if options.quick else DATASETS
    make = quick_bench if options.quick else full_bench
    solvers = tuple(options.solvers or hinge.solvers.solver_names())
    bench = make(options.seeds, tuple(options.datasets or default), solvers)
    for name in options.names or ([] if options.update else EXHIBITS):
        print(f"{EXHIBITS[name].title}\n", flush=True)
        print("\n" + run(EXHIBITS[name], bench) + "\n", flush=True)
    if options.update:
        update(PAGE, full_bench(None, DATASETS, solvers))
    return 0
