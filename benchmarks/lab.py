"""The laboratory: every program on every data set, by benchopt; a page of tables, the figures behind it, and plots.

    python benchmarks/lab.py short                         # a quarter of an hour: benchmarks/results/lab.*
    python benchmarks/lab.py full                          # everything, hours: benchmarks/results/lab-full.*
    python benchmarks/lab.py short --datasets Adult Web --programs "hinge[dcd]" LinearSVC --output somewhere/trial
    python benchmarks/lab.py short --report                # tables and plots again, from the figures of the last run

What `short` and `full` run is said by files of benchopt options in benchmarks/configs; `benchopt run benchmarks
--config <file>` runs one of them without the page. docs/laboratory.md says what is measured.
"""

from __future__ import annotations

import os

# One thread for everybody; set before anything that starts threads is imported.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import pandas as pd
import yaml
from benchmark_utils import plots, results
from benchmark_utils.adapters.registry import COMPETITORS, OTHER_PROBLEM, programs
from benchmark_utils.report import report
from micro import machine

_HERE = Path(__file__).resolve().parent
_PACKAGES = (
    "hinge",
    "scikit-learn",
    "liblinear-official",
    "snapml",
    "sklearn-contrib-lightning",
    "skglm",
    "vowpalwabbit",
)
# Beside the competitors; all of ours have a plot of their own.
_OURS_AMONG_ALL = ("hinge auto", "hinge mpu", "hinge ocas", "hinge sgd-m")


def main() -> None:
    """Run, then write the page and the plots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", choices=("short", "full"))
    parser.add_argument("--datasets", nargs="+", help="only these: Adult, or in benchopt's notation 'Web[held_out=10]'")
    parser.add_argument("--programs", nargs="+", help="only these, in benchopt's notation")
    parser.add_argument("--repetitions", type=int, help="fits of every budget; medians are reported")
    parser.add_argument("--output", type=Path, help="path of the results without suffix")
    parser.add_argument("--report", action="store_true", help="do not run: read the figures of the last run")
    options = parser.parse_args()
    stem = options.output or _HERE / "results" / {"short": "lab", "full": "lab-full"}[options.size]
    stem.parent.mkdir(parents=True, exist_ok=True)
    if not options.report:
        run(options, stem)
    fits = pd.read_csv(stem.with_suffix(".csv"))
    page = json.loads(stem.with_suffix(".json").read_text())
    figures = _figures(fits, stem)
    stem.with_suffix(".md").write_text(report(fits, page["skipped"], "\n\n".join([page["heading"], *figures])))


def run(options: argparse.Namespace, stem: Path) -> None:
    """Measure, data set by data set; after each of them all figures so far are stored."""
    began = time.time()
    skipped = {name: why for name, adapter in programs().items() if (why := adapter.missing())}
    measured: list[pd.DataFrame] = []
    for dataset, config in _datasets(options):
        if reason := _unavailable(dataset):
            skipped[results.dataset_title(dataset)] = reason
            continue
        try:
            measured.append(_measure(dataset, config, options))
        except RuntimeError as error:  # nothing came out; benchopt has printed why
            skipped[results.dataset_title(dataset)] = str(error)
            continue
        _store(stem, pd.concat(measured), skipped, _heading((time.time() - began) / 60.0))
    if not measured:
        sys.exit("Nothing was measured. " + "; ".join(f"{name}: {reason}" for name, reason in skipped.items()))


def _datasets(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Data sets to run, with the options of the file that names them."""
    for file in sorted((_HERE / "configs").glob(f"{options.size}*.yml")):
        config = yaml.safe_load(file.read_text())
        for dataset in config["dataset"]:
            if not options.datasets or dataset.partition("[")[0] in options.datasets or dataset in options.datasets:
                yield dataset, config


def _measure(dataset: str, config: dict[str, Any], options: argparse.Namespace) -> pd.DataFrame:
    """All fits on one data set. Never from benchopt's cache, which does not notice that a program has changed."""
    from benchopt import run_benchmark

    with tempfile.TemporaryDirectory() as folder:
        output = run_benchmark(
            _HERE,
            solver_names=options.programs or config.get("solver"),
            dataset_names=[dataset],
            objective_filters=config["objective"],
            max_runs=config["max-runs"],
            n_repetitions=options.repetitions or config["n-repetitions"],
            timeout=config["timeout"],
            plot_result=False,
            show_progress=False,
            no_cache=True,
            output_file=str(Path(folder) / "fits.parquet"),
        )
        return results.from_benchopt(Path(output))


def _unavailable(dataset: str) -> str | None:
    """Why a data set cannot be had."""
    from benchopt.benchmark import Benchmark

    classes, parameters = zip(*Benchmark(_HERE).check_dataset_patterns([dataset]), strict=True)
    return classes[0].get_instance(**parameters[0]).get_data().get("reason")


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


def _store(stem: Path, fits: pd.DataFrame, skipped: dict[str, str], heading: str) -> None:
    fits.to_csv(stem.with_suffix(".csv"), index=False, float_format="%.9g")
    page: dict[str, Any] = {"heading": heading, "skipped": skipped}
    stem.with_suffix(".json").write_text(json.dumps(page, indent=1) + "\n")


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
            plots.draw(fits, names, against, path)
            lines.append(f"![Relative suboptimality against {against}: {kind}]({path.name})")
    return lines


if __name__ == "__main__":
    main()
