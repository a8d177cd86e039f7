"""Row order: in which order an epoch visits its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from hinge.reference.rng import Rng


class Sampling(Enum):
    """Independent draws, complete epochs, or sets of different rows (for single rows the same as draws)."""

    iid = 0
    epoch = 1
    subset = 2


@dataclass(frozen=True)
class Order:
    """``block = 0``: a full random permutation, as in the papers.

    ``block = B``: blocks of B consecutive rows in random order, `group` of them open at a time: each step takes the
    next row of a random open block. Memory is read in sequential streams, yet neighbours in the file are not neighbours
    in the order. An epoch of fewer than 16 groups uses a full permutation.

    ``kept``: a permutation made before the first epoch, for all of them; some of the rows keep their places in it.
    """

    block: int = 0
    group: int = 1
    kept: tuple[int, ...] = ()

    @classmethod
    def once(cls, m: int, rng: Rng) -> Order:
        """A permutation of 0 .. m-1 that is kept."""
        return cls(kept=tuple(cls().of_all(m, rng)))

    def arrange(self, rows: Sequence[int], rng: Rng) -> list[int]:
        """The rows, rearranged."""
        if self.kept:
            asked = set(rows)
            return [i for i in self.kept if i in asked]
        if self.block <= 0 or len(rows) < 16 * self.group * self.block:
            visit = list(rows)
            rng.shuffle(visit)
            return visit
        blocks = [list(rows[start : start + self.block]) for start in range(0, len(rows), self.block)]
        rng.shuffle(blocks)
        visit = []
        for first in range(0, len(blocks), self.group):
            streams = [iter(block) for block in blocks[first : first + self.group]]
            turns = [k for k, block in enumerate(blocks[first : first + self.group]) for _ in block]
            rng.shuffle(turns)
            visit += [next(streams[k]) for k in turns]
        return visit

    def of_all(self, m: int, rng: Rng) -> list[int]:
        """The rows 0 .. m-1, rearranged."""
        return self.arrange(range(m), rng)

    def sample(self, how: Sampling, m: int, count: int, rng: Rng) -> list[int]:
        """The rows of an epoch: `count` independent draws, or all rows in this order."""
        return self.of_all(m, rng) if how is Sampling.epoch else draws(m, count, rng)


def draws(m: int, count: int, rng: Rng) -> list[int]:
    """`count` rows drawn independently, uniformly from 0 .. m-1."""
    return [rng.below(m) for _ in range(count)]


def subsets(m: int, k: int, count: int, rng: Rng) -> list[int]:
    """`count` sets of k different rows, each drawn uniformly from 0 .. m-1, one after the other."""
    pool = list(range(m))
    visit = []
    for _ in range(count):
        for j in range(k):  # a shuffle that ends when its first k places are known
            other = j + rng.below(m - j)
            pool[j], pool[other] = pool[other], pool[j]
        visit += pool[:k]
    return visit
