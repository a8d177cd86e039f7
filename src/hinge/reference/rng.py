"""Random numbers: xoshiro256++ (Blackman & Vigna, 2021), seeded through splitmix64, in Python integers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def _rotate(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & _WORD


def _mix(z: int) -> int:
    """The output function of splitmix64."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    return z ^ z >> 31


class Rng:
    """Random numbers keyed by a list of integers (seed, class, run, ...): same key, same numbers.

    Examples
    --------
    >>> from hinge.reference.rng import Rng
    >>> Rng([1]).next()
    8089978747140965633
    """

    def __init__(self, key: Iterable[int]) -> None:
        x = 0
        for part in key:
            x = _mix((x ^ part) + _GOLDEN & _WORD)
        self.state = [_mix(x + k * _GOLDEN & _WORD) for k in (1, 2, 3, 4)]

    @classmethod
    def from_state(cls, words: list[int]) -> Rng:
        """Go on where another one was."""
        rng = cls([])
        rng.state = words
        return rng

    def next(self) -> int:
        """64 random bits."""
        s0, s1, s2, s3 = self.state
        result = _rotate(s0 + s3 & _WORD, 23) + s0 & _WORD
        s2 ^= s0
        s3 ^= s1
        self.state = [s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17 & _WORD), _rotate(s3, 45)]
        return result

    def below(self, bound: int) -> int:
        """Uniform integer in [0, bound), without bias (Lemire, 2019).

        The high word of next() * bound is the result; the low word tells whether it is one of the few products that
        would favour some results, which are thrown away.
        """
        threshold = (1 << 64) % bound
        while True:
            product = self.next() * bound
            if product & _WORD >= threshold:
                return product >> 64

    def uniform(self) -> float:
        """Uniform double in [0, 1), 53 random bits."""
        return (self.next() >> 11) * 2.0**-53

    def shuffle(self, items: list[Any]) -> None:
        """Fisher-Yates in place, from the last element down."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
