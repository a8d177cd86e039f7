"""The laboratory: every program on every data set, by benchopt; a page of tables, the figures behind it, and plots.

    python benchmarks/lab.py short                         # ten minutes: benchmarks/results/lab.*
    python benchmarks/lab.py full                          # everything, hours: benchmarks/results/lab-full.*
    python benchmarks/lab.py short --datasets Adult Web --programs "hinge dcd" LinearSVC --output somewhere/trial
    python benchmarks/lab.py short --report                # tables and plots again, from the figures of the last run

docs/laboratory.md says what is measured.
"""

from __future__ import annotations

import os

# One thread for everybody; set before anything that starts threads is imported.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import math
import shlex
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import pandas as pd
from common import plots, results, sources
from common.adapters import COMPETITORS, OTHER_PROBLEM, PROGRAMS
from common.report import report
from common.store import RESULTS, machine

_HERE = Path(__file__).resolve().parent
_PACKAGES = ("scikit-learn", "liblinear-official", "snapml", "sklearn-contrib-lightning", "skglm", "vowpalwabbit")
# Beside the competitors; all of ours have a plot of their own.
_OURS_AMONG_ALL = ("hinge auto", "hinge mpu", "hinge ocas", "hinge sgd-m")


@dataclass(frozen=True)
class Plan:
    """How a data set is run: costs, the accuracy that ends a curve, seconds of a fit and of a curve, repetitions."""

    costs: tuple[float, ...]
    accuracy: float
    fit: float
    curve: float
    repetitions: int

    def seconds(self, programs: int) -> float:
        """At most; curves that end early take less, often much less."""
        return self.curves(programs) * (self.curve + self.fit)

    def curves(self, programs: int) -> int:
        return programs * self.repetitions * len(self.costs)

    def within(self, seconds: float, programs: int) -> Plan:
        """The same with curves so short that all of them together end in time."""
        return replace(self, curve=min(self.curve, max(self.fit, seconds / self.curves(programs) - self.fit)))


_SMALL, _LARGE = Plan((1.0,), 1e-3, 1.0, 3.0, 2), Plan((1.0,), 1e-3, 4.0, 10.0, 1)
_DEEP, _DEEP_LARGE = Plan((0.1, 1.0, 10.0), 1e-4, 20.0, 40.0, 3), Plan((1.0,), 1e-4, 120.0, 240.0, 1)
SIZES = {
    "short": {"Adult": _SMALL, "Web": _SMALL, "ijcnn1": _SMALL, "20news": _SMALL, "text-200000": _LARGE},
    "full": dict.fromkeys(("Adult", "Web", "ijcnn1", "MNIST", "20news"), _DEEP)
    | dict.fromkeys(("Covertype", "text-200000", "text-804414"), _DEEP_LARGE),
}
_MOST_FITS = 20  # of a curve
#: For all fits; what is left is shared by the data sets to come.
MINUTES = {"short": 7.0, "full": math.inf}
_BESIDE = 2.0  # minutes of conversion and evaluation in a short run on a quiet machine


def main() -> None:
    """Run, then write the page and the plots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", choices=list(SIZES))
    parser.add_argument("--datasets", nargs="+", choices=sources.NAMES, help="only these")
    parser.add_argument("--programs", nargs="+", choices=list(PROGRAMS), metavar="PROGRAM", help="only these")
    parser.add_argument("--output", type=Path, help="path of the results without suffix")
    parser.add_argument("--report", action="store_true", help="do not run: read the figures of the last run")
    options = parser.parse_args()
    stem = options.output or RESULTS / {"short": "lab", "full": "lab-full"}[options.size]
    stem.parent.mkdir(parents=True, exist_ok=True)
    if not options.report:
        run(options, stem)
    fits = pd.read_csv(stem.with_suffix(".csv"))
    page = json.loads(stem.with_suffix(".json").read_text())
    figures = _figures(fits, stem)
    stem.with_suffix(".md").write_text(report(fits, page["skipped"], "\n\n".join([page["heading"], *figures])))


def run(options: argparse.Namespace, stem: Path) -> None:
    """Measure, data set by data set; after each of them all figures so far are stored."""
    chosen = options.programs or list(PROGRAMS)
    skipped = {name: why for name in chosen if (why := PROGRAMS[name].missing())}
    programs = [name for name in chosen if name not in skipped]
    plans = {
        name: plan for name, plan in SIZES[options.size].items() if name in (options.datasets or SIZES[options.size])
    }
    limit = MINUTES[options.size]
    print(_forecast(plans, programs, limit), flush=True)
    end = time.time() + 60.0 * limit
    minutes: dict[str, float] = {}
    measured: list[pd.DataFrame] = []
    for dataset, plan in plans.items():
        if reason := sources.payload(dataset).get("reason"):
            skipped[dataset] = reason
            continue
        began = time.time()
        share = (end - began) / (len(plans) - list(plans).index(dataset))
        try:
            measured.append(_measure(dataset, plan.within(share, len(programs)), programs))
        except RuntimeError as error:  # nothing came out; benchopt has printed why
            skipped[dataset] = str(error)
            continue
        minutes[dataset] = (time.time() - began) / 60.0
        print(f"{dataset}: {minutes[dataset]:.1f} minutes", flush=True)
        pd.concat(measured).to_csv(stem.with_suffix(".csv"), index=False, float_format="%.6g")
        page = {"heading": _heading(sum(minutes.values())), "skipped": skipped}
        page |= {"minutes": minutes, "programs": len(programs)}
        stem.with_suffix(".json").write_text(json.dumps(page, indent=1) + "\n")
    if not measured:
        sys.exit("Nothing was measured. " + "; ".join(f"{name}: {reason}" for name, reason in skipped.items()))


def _forecast(plans: dict[str, Plan], programs: list[str], limit: float) -> str:
    """How long it will take, judging by the last run if there is one, and by the limits if not."""
    fits = min(limit, sum(plan.seconds(len(programs)) for plan in plans.values()) / 60.0)
    last: dict[str, float] = {}
    for file in (RESULTS / "lab-full.json", RESULTS / "lab.json"):
        stored = json.loads(file.read_text()) if file.exists() else {}
        share = len(programs) / stored.get("programs", 1)
        last |= {name: minutes * share for name, minutes in stored.get("minutes", {}).items()}
    known = set(plans) <= set(last)
    minutes = sum(last[name] for name in plans) if known else fits + _BESIDE
    source = "judging by the last run" if known else f"{math.ceil(fits)} of them for the fits"
    return f"{len(programs)} programs on {len(plans)} data sets: about {math.ceil(minutes)} minutes, {source}."


def _measure(dataset: str, plan: Plan, programs: list[str]) -> pd.DataFrame:
    """All fits on one data set. Never from benchopt's cache, which does not notice that a program has changed."""
    from benchopt import run_benchmark

    limits = f"C={list(plan.costs)},accuracy={plan.accuracy},time_limit={plan.fit}"
    with tempfile.TemporaryDirectory() as folder:
        output = run_benchmark(
            _HERE,
            solver_names=[f"program[program={programs}]"],
            dataset_names=[f"data[source=['{dataset}']]"],
            objective_filters=[f"hinge loss[{limits}]"],
            max_runs=_MOST_FITS,
            n_repetitions=plan.repetitions,
            timeout=plan.curve,
            plot_result=False,
            show_progress=False,
            no_cache=True,
            output_file=str(Path(folder) / "fits.parquet"),
        )
        return results.from_benchopt(Path(output))


def _heading(minutes: float) -> str:
    versions = []
    for package in _PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    command = shlex.join(["python", "benchmarks/lab.py", *sys.argv[1:]])
    return (
        f"# The laboratory\n\nMade by `{command}` in {minutes:.0f} minutes on: {machine()}. {', '.join(versions)}.\n\n"
        "Seconds: CPU time of a complete fit on one thread (the program's own clock for svmocas, SVM-perf, SVM-light), "
        "medians over the repetitions, for the cheapest budget (tolerance or epochs) that reaches P(w)/P* - 1 within "
        "1 % or 0.1 %; which one that is a user cannot know. *Proven*: the same for the duality gap of the program's own "
        "multipliers, computed here; that needs no P*. *Ratio*: to the fastest. *Best accuracy*: of the curve, which "
        "ends soon after 0.1 %. [docs/laboratory.md](../../docs/laboratory.md) has the rest."
    )


def _figures(fits: pd.DataFrame, stem: Path) -> list[str]:
    """Draw the plots; the lines of Markdown that show them."""
    present = list(dict.fromkeys(fits["program"]))
    ours = [name for name in present if name.startswith("hinge ") and name != "hinge auto"]
    others = [name for name in COMPETITORS if name in present and name not in OTHER_PROBLEM]
    known = set(fits.dropna(subset=["epochs"])["program"])
    selection = {
        "programs": ("seconds", [*(name for name in _OURS_AMONG_ALL if name in present), *others]),
        "solvers": ("seconds", ours),
        "epochs": ("epochs", [name for name in [*ours, *others] if name in known]),
    }
    lines = []
    for kind, (against, names) in selection.items():
        if names:
            path = stem.with_name(f"{stem.name}-{kind}.png")
            plots.save(_panels(fits, names, against), path)
            lines.append(f"![Relative suboptimality against {against}: {kind}]({path.name})")
    return lines


_AXIS = {"seconds": "seconds of CPU time of a complete fit", "epochs": "passes over the rows"}
_FLOOR, _CEILING = 1e-5, 1.0


def _panels(fits: pd.DataFrame, names: list[str], against: str) -> list[plots.Panel]:
    """A panel per problem: suboptimality against "seconds" or "epochs"."""
    looks = plots.styles(names)
    panels = []
    for (dataset, C), problem in fits.groupby(["dataset", "C"], sort=False):
        curves = []
        for name in names:
            x, y = results.frontier(results.curve(problem[problem["program"] == name]), against)
            if y and y[-1] < _CEILING:
                curves.append(plots.Curve(name, x, [max(value, _FLOOR) for value in y], looks[name]))
        title = f"{dataset}, C = {C:g}"
        marks = {"top": 2.0 * _CEILING, "marks": (1e-2, 1e-3)}
        panels.append(plots.Panel(title, _AXIS[against], "relative suboptimality", curves, **marks))
    return panels


if __name__ == "__main__":
    main()
