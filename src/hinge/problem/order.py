"""Row order: in which order an epoch visits its rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

from hinge import checks


@dataclass(frozen=True)
class Permutation:
    """A new random permutation of all rows for every epoch, as in the papers.

    Examples
    --------
    >>> from hinge import Permutation
    >>> Permutation()
    Permutation()
    """

    @property
    def layout(self) -> tuple[int, int]:
        """(rows in a block, blocks open at a time) as the core takes it; no blocks."""
        return 0, 1


@dataclass(frozen=True)
class Blocks:
    """Blocks of consecutive rows in random order, `group` blocks mixed at a time.

    The blocks are shuffled, and `group` of them are open at a time: each step takes the next row of a random open
    block. Memory is read in as many sequential streams, which halves the time of an epoch on data larger than the
    cache, while neighbours in the file are not neighbours in the order: on data sorted by class or by place this
    converges like a full permutation, where whole blocks in turn would not. An epoch of fewer than 16 groups uses a
    full permutation.

    Parameters
    ----------
    rows : int, default=64
        Rows in a block.
    group : int, default=64
        Blocks open at a time.

    Examples
    --------
    >>> from hinge import Blocks
    >>> Blocks(rows=128)
    Blocks(rows=128, group=64)
    """

    rows: int = 64
    group: int = 64

    def __post_init__(self) -> None:
        whole = isinstance(self.rows, Integral) and isinstance(self.group, Integral)
        if not (whole and 1 <= self.rows <= 2**20 and 1 <= self.group <= 2**20):
            raise ValueError(f"Blocks needs whole numbers from 1 to 2^20, got rows={self.rows}, group={self.group}.")

    @property
    def layout(self) -> tuple[int, int]:
        """(rows in a block, blocks open at a time) as the core takes it."""
        return int(self.rows), int(self.group)


Order: TypeAlias = Permutation | Blocks

_BY_NAME: dict[str, Order] = {"permutation": Permutation(), "blocks": Blocks()}


def as_order(order: Order | str | None) -> Order | None:
    """Turn a name into an order; None (the solver's default) and orders pass through."""
    if order is None or isinstance(order, Permutation | Blocks):
        return order
    if not isinstance(order, str) or order not in _BY_NAME:
        raise ValueError(
            f"Unknown order {checks.shown(order)}: choose one of {sorted(_BY_NAME)}, Permutation() or Blocks(rows=...)."
            + checks.did_you_mean(order, _BY_NAME)
        )
    return _BY_NAME[order]
