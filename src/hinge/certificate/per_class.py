"""What a fit of several classes has for each of them: a tuple with names."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, Self, TypeVar

import numpy as np

from hinge import checks
from hinge.certificate.certificate import Certificate

T = TypeVar("T")


class PerClass(tuple[T, ...]):
    """A tuple in the order of ``classes_`` that can also be asked by class.

    ``found[2]`` is the third one, as in any tuple, and ``found["setosa"]`` that of a class. Where classes are numbers,
    ``found.of(7)`` is that of class 7.
    """

    classes: tuple[Any, ...]

    def __new__(cls, items: Iterable[T], classes: Iterable[Any]) -> Self:
        """One item for each class."""
        made = super().__new__(cls, items)
        made.classes = tuple(label.item() if isinstance(label, np.generic) else label for label in classes)
        if len(made) != len(made.classes):
            raise ValueError(f"{len(made)} items for {len(made.classes)} classes.")
        return made

    def of(self, label: Any) -> T:
        """The item of a class; KeyError if there is no such class."""
        if label in self.classes:
            return tuple(self)[self.classes.index(label)]
        raise KeyError(
            f"There is no class {checks.shown(label)}; the classes are {list(self.classes)}."
            + checks.did_you_mean(label, self.classes)
        )

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, Integral | slice) else self.of(key)

    def __getnewargs__(self) -> tuple[tuple[T, ...], tuple[Any, ...]]:
        return tuple(self), self.classes  # for pickle and copy

    def _table(self, heads: str, lines: Iterable[str]) -> str:
        """A line for each class, its name first."""
        names = [str(label) for label in self.classes]
        width = max(len("class"), *map(len, names)) if names else len("class")
        found = [f"{name:{width}} {line}" for name, line in zip(names, lines, strict=True)]
        return "\n".join([f"{'class':{width}} {heads}", *found])


class Certificates(PerClass[Certificate]):
    """The certificates of a one-vs-rest fit, each of a problem of its own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hinge import LinearSVC
    >>> iris = load_iris()
    >>> certificates = LinearSVC().fit(iris.data, iris.target_names[iris.target]).certificate_
    >>> certificates["setosa"].relative_gap <= certificates.worst.relative_gap < 1e-3
    True
    >>> certificates.relative_gap == max(certificate.relative_gap for certificate in certificates)
    True
    """

    @property
    def worst(self) -> Certificate:
        """The one with the largest relative gap."""
        return max(self, key=lambda certificate: certificate.relative_gap)

    @property
    def relative_gap(self) -> float:
        """The largest of all: every class is proven to be within it."""
        return self.worst.relative_gap

    def within(self, tol: float) -> bool:
        """Whether P - D <= tol * D for every class."""
        return all(certificate.within(tol) for certificate in self)

    def __repr__(self) -> str:
        lines = (f"{c.dual:16.8g} {c.primal:16.8g} {c.relative_gap:13.2e}" for c in self)
        return self._table(f"{'dual':>16} {'primal':>16} {'relative gap':>13}", lines)
