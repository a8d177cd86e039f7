"""The command line: ``python -m attack NAME [--count N] [--seed S]``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from dataclasses import dataclass

import numpy as np

from attack.campaign import campaign
from attack.table import Row, table


@dataclass(frozen=True)
class Plan:
    """How many attempts an attack makes."""

    short: int
    long: int
    promise: str


PLANS = {
    "interrupts": Plan(120, 2000, "signals at random moments are obeyed within a second, and the model is kept"),
    "large": Plan(8, 60, "the same on millions of rows"),
    "cuts": Plan(600, 10_000, "a run cut into pieces and resumed has the bits of the whole run"),
    "threads": Plan(120, 2000, "pairs of threads on one object get right answers or a clear refusal"),
    "exits": Plan(16, 200, "the interpreter exits in peace while daemon threads are at work"),
    "exact": Plan(20_000, 1_000_000, "certificates are true in exact arithmetic"),
    "corrupt": Plan(3000, 150_000, "corrupt arrays, states and pickles get a clear error or a right answer"),
}


def main() -> int:
    """Run the attacks asked for and print their table."""
    parser = argparse.ArgumentParser(prog="python -m attack", description="Try to break hinge.")
    parser.add_argument("name", choices=[*PLANS, "all"], metavar="NAME", help=", ".join([*PLANS, "all"]))
    parser.add_argument("--count", type=int, help="attempts per attack")
    parser.add_argument("--long", action="store_true", help="as many attempts as the published table has")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--case", type=int, help="only this case, in this process: to find out why it failed")
    given = parser.parse_args()
    names = list(PLANS) if given.name == "all" else [given.name]
    if given.case is not None:
        return _single(names[0], given.seed, given.case)
    rows: list[Row] = []
    for name in names:
        plan = PLANS[name]
        count = given.count or (plan.long if given.long else plan.short)
        print(f"{name}: {plan.promise}", flush=True)
        rows.append(campaign(name, count, given.seed, processes=given.processes))
        for failure in rows[-1].failures[:20]:
            print(f"  FAILED {failure}", flush=True)
        if len(rows[-1].failures) > 20:
            print(f"  ... and {len(rows[-1].failures) - 20} more", flush=True)
    print(f"\nseed {given.seed}, {given.processes} processes\n\n{table(rows)}")
    return int(any(row.failures for row in rows))


def _single(name: str, seed: int, index: int) -> int:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    case = importlib.import_module(f"attack.{name}").case
    finding = case(np.random.default_rng([seed, index]))
    print(finding)
    return int(bool(finding.failures))


if __name__ == "__main__":
    sys.exit(main())
