"""What Panagiotakopoulos & Tsampouka print and say, judged by what was measured.

"Statistically faster" is: on more data sets than not, which is the reading that makes the paper's own figures agree with its words.
Where those figures tie, the claim is "not more". Cells of too few seeds are not judged.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from common.measure import geometric

from papers import printed
from papers.exhibit import Cells, Claim, Measured, judged, label, median, number, percent, ratio, seconds, spread

if TYPE_CHECKING:
    from papers.sgd import Race

SLACK = 1.5  # times the paper's passes
_EQUAL = 1.1
_SUBSTANTIAL = 2.0
_DATASETS = ("Adult", "Web", "Covertype", "CCAT", "topics")
LINEAR = ("cutting-plane", "ocas", "dcd", "mpu")
_SGD = ("sgd-r", "sgd-s", "sgd-m")
_NEVER = math.inf
Find = Callable[[Measured], Iterator[Claim]]


def of(name: str, race: Race) -> Find:
    """All claims about one table."""

    def claims(measured: Measured) -> Iterator[Claim]:
        every, measured = measured.get(name, {}), {table: judged(measured.get(table, {})) for table in printed.SGD}
        cells = measured[name]
        yield from _budgets(race, cells)
        if name in ("sgd-table2", "sgd-table4", "sgd-table6"):
            for first, second in (("sgd-m", "sgd-s"), ("sgd-s", "sgd-r")):
                yield from _passes(race, cells, first, second)
            yield from _accuracy(race, cells)
        yield from _WORDS[name](measured)
        yield from _certificates(every)

    return claims


def table1(measured: Measured) -> Iterator[Claim]:
    """The printed P and D, and the passes to them."""
    for dataset, cell in measured.get("sgd-table1", {}).items():
        passes, primal, dual = printed.SGD_1[dataset]
        low, high = cell["optimum"]
        last_digit = 10.0 ** (math.floor(math.log10(primal)) - 6)
        encloses = dual - last_digit <= high and primal + last_digit >= low
        bracket = f"[{low:.8g}, {high:.8g}]"
        yield Claim("D and P enclose the optimum", dataset, f"[{dual:.7g}, {primal:.7g}]", bracket, encloses)
        if "passes" in cell:
            within = cell["status"] == "converged" and cell["passes"] <= SLACK * passes
            text = f"sgd-s gets to a gap of 1e-5, in {SLACK:g} times the paper's passes"
            yield Claim(text, dataset, f"{passes}", f"{cell['passes']}", within)
            yield Claim("the certificate is right", dataset, "-", bracket, cell["dual"] <= high, own=True)


def _case(race: Race, dataset: str, cell: Cells, what: str = "") -> str:
    return f"{what}{label(dataset, cell['rows'])}, C = {race.C:g}"


def _budgets(race: Race, cells: Cells) -> Iterator[Claim]:
    """Every printed number of passes."""
    for entrant in race.entrants:
        for dataset in _DATASETS:
            cell = cells.get(f"{dataset}|{entrant.name}")
            budget = race.printed(dataset, entrant.column).passes
            if cell is None or budget is None or not entrant.judged:
                continue
            for key, text in (("passes", "within 1 %"), ("stop", "ended by the paper's epsilon")):
                again = key == "passes" and "budget" in entrant.options  # the same iterates, looked at by another rule
                if key in cell["runs"][0] and not again:
                    found = [run[key] for run in cell["runs"]]
                    yield Claim(
                        f"{text} in {SLACK:g} times the paper's passes",
                        _case(race, dataset, cell, f"{entrant.name}, "),
                        number(budget),
                        f"{spread(found)}, {len(found)} seeds",
                        (median(found) or _NEVER) <= SLACK * budget,
                    )


def _passes(race: Race, cells: Cells, first: str, second: str) -> Iterator[Claim]:
    """The order of two solvers in passes, as the paper's figures have it."""
    for dataset in _DATASETS:
        if not {f"{dataset}|{first}", f"{dataset}|{second}"} <= set(cells):
            continue
        theirs = [race.printed(dataset, solver).passes or 0 for solver in (first, second)]
        runs = [[run["passes"] for run in cells[f"{dataset}|{solver}"]["runs"]] for solver in (first, second)]
        a, b = ((median(each) or _NEVER) for each in runs)
        if theirs[0] == theirs[1]:
            text, holds = f"{first} needs not more passes than {second}", a <= b
        elif max(theirs) <= _EQUAL * min(theirs):
            ranges = [[_NEVER if x is None else x for x in each] for each in runs]
            text = f"{first} and {second} need the same passes within scatter"
            holds = min(ranges[0]) <= max(ranges[1]) and min(ranges[1]) <= max(ranges[0])
        elif theirs[0] < theirs[1]:
            text, holds = f"{first} needs fewer passes than {second}", a < b
        else:
            text, holds = f"{second} needs fewer passes than {first}", b < a
        ours = " and ".join(spread(each) for each in runs)
        case = _case(race, dataset, cells[f"{dataset}|{first}"])
        yield Claim(text, case, f"{theirs[0]} and {theirs[1]}", ours, holds)


def _accuracy(race: Race, cells: Cells) -> Iterator[Claim]:
    """What sgd-s reaches is closer to epsilon than what sgd-m reaches."""
    for dataset in _DATASETS:
        pair = [cells.get(f"{dataset}|{solver}") for solver in ("sgd-s", "sgd-m")]
        if None in pair or any("stop_excess" not in cell["runs"][0] for cell in pair):
            continue
        epsilons = [race.printed(dataset, solver).epsilon for solver in ("sgd-s", "sgd-m")]
        excesses = [median(run["stop_excess"] for run in cell["runs"]) for cell in pair]
        shares = [excess / epsilon for excess, epsilon in zip(excesses, epsilons, strict=True)]
        tie = epsilons[0] == epsilons[1]
        yield Claim(
            "sgd-s ends closer to epsilon than sgd-m" if not tie else "sgd-s ends not farther from epsilon than sgd-m",
            _case(race, dataset, pair[0]),
            " and ".join(f"1 % at {epsilon:g}" for epsilon in epsilons),
            " and ".join(f"{percent(x)} at {e:g}" for x, e in zip(excesses, epsilons, strict=True)),
            shares[0] > shares[1] if not tie else _EQUAL * shares[0] >= shares[1],
        )


def _certificates(cells: Cells) -> Iterator[Claim]:
    """dual <= optimum <= primal, recomputed, in every run of the table."""
    runs = [run for cell in cells.values() for run in cell["runs"] if "certified" in run]
    right = sum(run["certified"] and run.get("stop_certified", True) for run in runs)
    if runs:
        yield Claim(
            "every certificate is right", "all", "-", f"{right} of {len(runs)} runs", right == len(runs), own=True
        )


def cost(measured: Measured, table: str, dataset: str, solver: str) -> float | None:
    """CPU seconds in units of those of sgd-m in the same table; infinite if most runs did not get there."""
    cells = measured.get(table, {})
    cell, unit = cells.get(f"{dataset}|{solver}"), seconds(cells.get(f"{dataset}|sgd-m"))
    return ratio(None if cell is None else seconds(cell) or _NEVER, unit)


def _paper_cost(table: str, dataset: str, solver: str) -> float | None:
    row, solver = ("CCAT" if dataset == "topics" else dataset), solver.partition(",")[0]
    both = printed.SGD[table][row], printed.SGD[_BESIDE[table]][row]
    return ratio((both[0].get(solver) or both[1][solver]).seconds, (both[0].get("sgd-m") or both[1]["sgd-m"]).seconds)


#: Tables of the linear SVMs -> those of the SGD algorithms at the same C; and the other way round.
_BESIDE = {"sgd-table3": "sgd-table2", "sgd-table5": "sgd-table4", "sgd-table7": "sgd-table6"}
_BESIDE |= {sgd: linear for linear, sgd in _BESIDE.items()} | {"sgd-table8": "sgd-table8"}


def _pair(measured: Measured, first: tuple[str, str], second: tuple[str, str]) -> Iterator[tuple[str, float, float]]:
    """Data sets that have both (table, solver), with the ratio of their costs: ours, and the paper's (NaN: not printed)."""
    for dataset in _DATASETS:
        ours = ratio(cost(measured, first[0], dataset, first[1]), cost(measured, second[0], dataset, second[1]))
        paper = ratio(_paper_cost(first[0], dataset, first[1]), _paper_cost(second[0], dataset, second[1]))
        if ours is not None:
            yield dataset, ours, math.nan if paper is None else paper


def _faster(measured: Measured, first: tuple[str, str], second: tuple[str, str]) -> Iterator[Claim]:
    """`first` is faster than `second` on more data sets than not."""
    found = list(_pair(measured, first, second))
    if found:
        rows = (ratio(*(_paper_cost(table, row, solver) for table, solver in (first, second))) for row in printed.SGD_2)
        ours = [each for _, each, _ in found]
        won, lost = sum(each < 1.0 for each in ours), sum(each > 1.0 for each in ours)
        theirs = f"{_wins(filter(None, rows))} of nine; of these {_wins(paper for _, _, paper in found)}"
        text = f"{first[1]} is statistically faster than {second[1]}"
        case = f"seconds, {len(found)} data sets"
        finite = [each for each in ours if 0.0 < each < _NEVER]
        mean = f"; in the mean {geometric(finite):.2f} times" if finite else ""
        yield Claim(text, case, theirs, f"{_wins(ours)}{mean}", won > lost)


def _wins(ratios: Iterable[float]) -> str:
    known = [each for each in ratios if not math.isnan(each)]
    return f"{sum(each < 1.0 for each in known)} won, {sum(each > 1.0 for each in known)} lost"


def _each(
    measured: Measured, first: tuple[str, str], second: tuple[str, str], text: str, most: float
) -> Iterator[Claim]:
    """On every data set `first` takes at most `most` times the seconds of `second`."""
    for dataset, ours, paper in _pair(measured, first, second):
        theirs = "-" if math.isnan(paper) else f"{paper:.2f} times the seconds"
        yield Claim(text, label(dataset), theirs, f"{ours:.2f} times the seconds", ours < most)


def _chain(table: str) -> Find:
    """Time falls from Pegasos to sgd-m."""
    order = ("pegasos", "sgd-r", "sgd-s", "sgd-m")

    def claims(measured: Measured) -> Iterator[Claim]:
        for dataset in _DATASETS:
            ours = [cost(measured, table, dataset, solver) for solver in order]
            paper = [_paper_cost(table, dataset, solver) for solver in order]
            if None not in ours:
                holds = all(b < _EQUAL * a for a, b in itertools.pairwise(ours))
                yield Claim(
                    "seconds fall from pegasos to sgd-r to sgd-s to sgd-m",
                    label(dataset),
                    " > ".join(number(value) for value in paper),
                    " > ".join(number(value) for value in ours),
                    holds,
                )

    return claims


def _table2(measured: Measured) -> Iterator[Claim]:
    yield from _chain("sgd-table2")(measured)
    text = "the improvement of sgd-m over pegasos is substantial (twice as fast)"
    yield from _each(measured, ("sgd-table2", "sgd-m"), ("sgd-table2", "pegasos"), text, 1.0 / _SUBSTANTIAL)


def _table3(measured: Measured) -> Iterator[Claim]:
    for solver in ("dcd", "dcd, as published", "mpu", "mpu, as published"):
        yield from _faster(measured, ("sgd-table3", solver), ("sgd-table3", "sgd-m"))
    for solver, table in (("sgd-s", "sgd-table2"), ("sgd-m", "sgd-table3")):
        text = f"{solver} is faster than SVM-perf (cutting-plane)"
        yield from _each(measured, (table, solver), ("sgd-table3", "cutting-plane"), text, 1.0)
        yield from _faster(measured, (table, solver), ("sgd-table3", "ocas"))


def _table5(measured: Measured) -> Iterator[Claim]:
    for solver in LINEAR:
        growth = []
        for dataset in _DATASETS:
            grown = ratio(*(cost(measured, table, dataset, solver) for table in ("sgd-table5", "sgd-table3")))
            paper = ratio(*(_paper_cost(table, dataset, solver) for table in ("sgd-table5", "sgd-table3")))
            growth += [] if grown is None or paper is None else [(grown, paper)]
        if growth:
            ours, theirs = (geometric(column) for column in zip(*growth, strict=True))
            text = f"{solver} scales better than sgd-m as C grows from 1 to 10"
            shown = (f"seconds / seconds of sgd-m: {value:.2f} times those at C = 1" for value in (theirs, ours))
            yield Claim(text, f"{len(growth)} data sets", *shown, _EQUAL * ours < 1.0)
    for other in ("dcd", "ocas"):
        yield from _faster(measured, ("sgd-table5", "mpu"), ("sgd-table5", other))
    yield from _faster(measured, ("sgd-table5", "sgd-m"), ("sgd-table5", "cutting-plane"))
    yield from _faster(measured, ("sgd-table5", "ocas"), ("sgd-table5", "sgd-m"))


def _table7(measured: Measured) -> Iterator[Claim]:
    for dataset in _DATASETS:
        wide = []
        for sgd, linear in (("sgd-table6", "sgd-table7"), ("sgd-table2", "sgd-table3")):
            found = [cost(measured, sgd, dataset, solver) for solver in _SGD]
            found += [cost(measured, linear, dataset, solver) for solver in LINEAR]
            wide += [None] if None in found else [max(found) / min(found)]
        if None not in wide:
            text = "at C = 0.05 the differences are smaller than at C = 1"
            shown = f"slowest / fastest {wide[0]:.1f} and {wide[1]:.1f}"
            yield Claim(text, label(dataset), "yes", shown, wide[0] < wide[1])
    for sgd in _SGD:
        for linear in (*LINEAR, "dcd, as published", "mpu, as published"):
            yield from _faster(measured, ("sgd-table6", sgd), ("sgd-table7", linear))
    text = "pegasos is faster than SVM-perf (cutting-plane)"
    yield from _each(measured, ("sgd-table7", "pegasos"), ("sgd-table7", "cutting-plane"), text, 1.0)
    yield from _faster(measured, ("sgd-table7", "pegasos"), ("sgd-table7", "ocas"))


def _table8(measured: Measured) -> Iterator[Claim]:
    table = "sgd-table8"
    svmsgd, qn = "svmsgd, as published", "sgd-qn, erratum"
    for other in (qn, "sgd-m", "mpu"):
        yield from _faster(measured, (table, other), (table, svmsgd))
    for other in (qn, "sgd-m"):
        yield from _faster(measured, (table, "mpu"), (table, other))
    yield from _faster(measured, (table, "sgd-m"), (table, qn))


def _none(_: Measured) -> Iterator[Claim]:
    return iter(())


_WORDS: dict[str, Find] = {
    "sgd-table2": _table2,
    "sgd-table3": _table3,
    "sgd-table4": _chain("sgd-table4"),
    "sgd-table5": _table5,
    "sgd-table6": _none,
    "sgd-table7": _table7,
    "sgd-table8": _table8,
}
