"""Measure tables and figures of the papers, and show them beside what is printed there.

    python benchmarks/papers sgd-table2 pegasos-figure3     # measure, print, draw
    python benchmarks/papers --list
    python benchmarks/papers --quick                        # all, in a few minutes, on smaller text and with fewer seeds
    python benchmarks/papers                                # all, at full size: hours
    python benchmarks/papers sgd-table3 --solvers ocas      # some cells of an exhibit; the others stay
    python benchmarks/papers --update                       # measure nothing: draw and write docs/papers.md from results

Results are kept in benchmarks/results/papers, one JSON file per exhibit; those of --quick in build/papers-quick. The page
docs/papers.md is put together from them and from what papers/readings.md says of each exhibit.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from common import optimum
from common.store import RESULTS, ROOT, Results, markdown

from papers import asset, asset_online, overview, pegasos, sgd
from papers.bench import DATASETS, Bench, full_data, quick_data
from papers.exhibit import Claim, Exhibit, Measured

PAGE = ROOT / "docs" / "papers.md"
READINGS = Path(__file__).with_name("readings.md")

EXHIBITS: dict[str, Exhibit] = {
    exhibit.name: exhibit for module in (sgd, pegasos, overview, asset, asset_online) for exhibit in module.EXHIBITS
}


def full_bench(seeds: int | None, datasets: tuple[str, ...], solvers: tuple[str, ...] | None) -> Bench:
    """At the papers' sizes; draws into the documentation."""
    figures = ROOT / "docs" / "figures"
    return Bench(full_data, RESULTS / "papers", figures, optimum.TABLE, seeds or 10, datasets, solvers)


def quick_bench(seeds: int | None, datasets: tuple[str, ...], solvers: tuple[str, ...] | None) -> Bench:
    """To see that everything works."""
    place = ROOT / "build" / "papers-quick"
    return Bench(quick_data, place, place, place / "optima.json", seeds or 2, datasets, solvers, budget=0.02)


def measured(bench: Bench) -> dict[str, Results]:
    """All stored results."""
    return {name: Results(bench.results / f"{name}.json") for name in EXHIBITS}


def run(exhibit: Exhibit, bench: Bench) -> str:
    """Measure an exhibit, draw it, and return what is shown of it."""
    results = Results(bench.results / f"{exhibit.name}.json")
    exhibit.measure(bench, results)
    cells = {name: each.cells for name, each in measured(bench).items()}
    draw(exhibit, cells, bench.figures)
    return shown(exhibit, cells)


def draw(exhibit: Exhibit, cells: Measured, place: Path) -> None:
    """Draw an exhibit from its results, if it has a drawing and any results."""
    if exhibit.draw is not None and cells[exhibit.name]:
        place.mkdir(parents=True, exist_ok=True)
        exhibit.draw(cells, place / f"{exhibit.name}.png")


def shown(exhibit: Exhibit, cells: Measured) -> str:
    """The generated part of a section: table, and what is claimed."""
    claims = list(exhibit.claims(cells))
    rows = [(c.text, c.case, c.paper, c.ours, c.verdict) for c in claims]
    parts = [exhibit.table(cells[exhibit.name])]
    if rows:
        parts.append(f"{_count(claims)}\n\n{markdown(('claim', 'case', 'paper', 'ours', 'verdict'), rows)}")
    return "\n\n".join(parts)


def _count(claims: list[Claim]) -> str:
    theirs, own = ([c for c in claims if c.own is kind] for kind in (False, True))
    passed = [f"**{sum(c.holds for c in theirs)} of {len(theirs)} claims hold**"] if theirs else []
    passed += [f"of our own certificates: {sum(c.holds for c in own)} of {len(own)}"] if own else []
    return ", ".join(passed) + "."


def page(stored: dict[str, Results]) -> str:
    """The whole page: readings written by hand, with generated tables where they say {exhibit}, {claims} and {machines}."""
    sections = re.split(r"^# (\S+)\n", READINGS.read_text(), flags=re.MULTILINE)
    readings = dict(zip(sections[1::2], sections[2::2], strict=True))
    cells = {name: results.cells for name, results in stored.items()}
    machines = sorted({machine for results in stored.values() for machine in results.measured_on})
    parts = [readings["intro"].replace("{machines}", "\n".join(f"- {machine}" for machine in machines))]
    parts[0] = parts[0].replace("{claims}", _summary(cells))
    for name, exhibit in EXHIBITS.items():
        figure = f"![{exhibit.title}](figures/{name}.png)\n\n" if exhibit.draw else ""
        parts.append(f"## {exhibit.title}\n" + readings[name].replace("{exhibit}", figure + shown(exhibit, cells)))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _summary(cells: Measured) -> str:
    """How many claims hold, exhibit by exhibit, and all that do not."""
    found = {exhibit.title: list(exhibit.claims(cells)) for exhibit in EXHIBITS.values()}
    every = [claim for claims in found.values() for claim in claims]
    rows = [
        (title, *(f"{sum(c.holds for c in of)} of {len(of)}" if of else "-" for of in _kinds(claims)))
        for title, claims in found.items()
        if claims
    ]
    failed = [
        (title.partition(":")[0], c.text, c.case, c.paper, c.ours)
        for title, claims in found.items()
        for c in claims
        if not c.holds
    ]
    table = markdown(("exhibit", "claims of the paper that hold", "our certificates that are right"), rows)
    missed = markdown(("exhibit", "claim", "case", "paper", "ours"), failed)
    return f"{_count(every)}\n\n{table}\n\nThose that do not hold:\n\n{missed}"


def _kinds(claims: list[Claim]) -> tuple[list[Claim], list[Claim]]:
    return [c for c in claims if not c.own], [c for c in claims if c.own]


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
    parser.add_argument("--solvers", nargs="+", help="only these lines, where an exhibit compares several")
    parser.add_argument("--update", action="store_true", help="then write docs/papers.md from the results of full runs")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in EXHIBITS]
    if unknown:
        parser.error(f"no exhibit {unknown[0]!r}: choose from {', '.join(EXHIBITS)}")
    if options.list:
        print("\n".join(f"{exhibit.name:18} {exhibit.title}" for exhibit in EXHIBITS.values()))
        return 0
    default = tuple(name for name in DATASETS if name != "Covertype" or not options.quick)
    make = quick_bench if options.quick else full_bench
    bench = make(options.seeds, tuple(options.datasets or default), tuple(options.solvers) if options.solvers else None)
    for name in options.names or ([] if options.update else EXHIBITS):
        print(f"{EXHIBITS[name].title}\n", flush=True)
        print("\n" + run(EXHIBITS[name], bench) + "\n", flush=True)
    if options.update:
        stored = measured(full_bench(None, default, None))
        for exhibit in EXHIBITS.values():
            draw(exhibit, {name: results.cells for name, results in stored.items()}, ROOT / "docs" / "figures")
        PAGE.write_text(page(stored))
    return 0
