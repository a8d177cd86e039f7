"""Row order: in which order an epoch visits its rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

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

    def build(self, core: Any, n_rows: int, key: tuple[int, ...]) -> Any:
        """The order as `core` has it; no blocks."""
        return core.Order(0, 1)


@dataclass(frozen=True)
class Once:
    """A random permutation of all rows, made before the first epoch and kept for all.

    That is how programs visit their rows that take a shuffled file and read it from its first row to its last in every
    epoch, such as Bottou's and Bordes's. It saves a shuffle per epoch, and tends to take more epochs than a new
    permutation each time. The permutation follows from ``random_state``: a run that is resumed needs the same.

    Examples
    --------
    >>> from hinge import Once
    >>> Once()
    Once()
    """

    def build(self, core: Any, n_rows: int, key: tuple[int, ...]) -> Any:
        """The order as `core` has it, with random numbers that no step will draw."""
        return core.Order.once(n_rows, core.Rng([*key, _SHUFFLE]))


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

    def build(self, core: Any, n_rows: int, key: tuple[int, ...]) -> Any:
        """The order as `core` has it."""
        return core.Order(int(self.rows), int(self.group))


Order: TypeAlias = Permutation | Once | Blocks

_BY_NAME: dict[str, Order] = {"permutation": Permutation(), "once": Once(), "blocks": Blocks()}
# Appended to the key of a run for the permutation of `Once`.
_SHUFFLE = 0x6F6E6365


def as_order(order: Order | str | None) -> Order | None:
    """Turn a name into an order; None (the solver's default) and orders pass through."""
    if order is None or isinstance(order, Order):
        return order
    if not isinstance(order, str) or order not in _BY_NAME:
        raise ValueError(
            f"Unknown order {checks.shown(order)}: choose one of {sorted(_BY_NAME)}, "
            "Permutation(), Once() or Blocks(rows=...)." + checks.did_you_mean(order, _BY_NAME)
        )
    return _BY_NAME[order]
