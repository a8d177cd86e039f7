"""The treatment of the intercept b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from hinge import checks

InterceptKind: TypeAlias = Literal["none", "free", "penalized"]
#: What a caller may ask for; what "auto" is depends on the solver: :meth:`hinge.Traits.treatment`.
InterceptChoice: TypeAlias = Literal["auto", "none", "free", "penalized"]


@dataclass(frozen=True)
class Intercept:
    """How the decision function x -> w.x + b treats b.

    ``none``: b = 0. ``free``: b is not penalised, the classic SVM. ``penalized``: every row gets the constant feature
    `scale`, and b = scale * (its weight) is penalised as that weight is: P contains 1/2 (b / scale)^2.
    """

    kind: InterceptKind = "free"
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in ("none", "free", "penalized"):
            raise ValueError(
                f"intercept must be 'none', 'free' or 'penalized', or 'auto' for what the solver supports, "
                f"got {checks.shown(self.kind)}.{checks.did_you_mean(self.kind, get_args(InterceptChoice))}"
            )
        checks.positive("intercept_scaling", self.scale)

    @classmethod
    def chosen(cls, fit_intercept: bool, intercept: str, scaling: float) -> Intercept:
        """The treatment of b that an estimator's parameters ask for."""
        if intercept not in ("free", "penalized"):
            raise ValueError(
                "intercept must be 'free' or 'penalized', or in LinearSVC 'auto' (fit_intercept=False for none), "
                f"got {checks.shown(intercept)}.{checks.did_you_mean(intercept, ('free', 'penalized', 'auto'))}"
            )
        return cls("none" if not fit_intercept else intercept, scaling)  # type: ignore[arg-type]

    @property
    def rho(self) -> float:
        """The constant feature appended to each row."""
        return self.scale if self.kind == "penalized" else 0.0
