"""What a case has shown, and the table of all of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """What one case has shown.

    Attributes
    ----------
    tried : int
        Attempts in this case: interrupts, cuts, evaluations, ...
    failures : list of str
        Broken promises, in words.
    times : list of float
        Seconds worth watching: reactions to a signal, exits, runs.
    notes : list of str
        Words to count over the whole campaign, such as "refused".
    """

    tried: int = 1
    failures: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """One line of the table: an attack, how often it tried, and what it found."""

    attack: str
    tried: int
    failures: list[str]
    times: list[float]
    notes: list[str]
    seconds: float

    def cells(self) -> tuple[str, ...]:
        """The entries of the line."""
        counts = {note: self.notes.count(note) for note in sorted(set(self.notes))}
        return (
            self.attack,
            f"{self.tried:,}",
            f"{len(self.failures):,}",
            f"{statistics.median(self.times):.3f}" if self.times else "",
            f"{max(self.times):.3f}" if self.times else "",
            f"{self.seconds:.0f}",
            ", ".join(f"{note} {count:,}" for note, count in counts.items()),
        )


HEADER = ("attack", "tried", "failed", "median s", "worst s", "took s", "notes")


def table(rows: Iterable[Row]) -> str:
    """All rows, aligned, as Markdown."""
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADER))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (lines[0], rule, *lines[1:])
    )
