"""All programs by the name that tables and plots use."""

from __future__ import annotations

from common.adapters.ours import NAMES, Ours
from common.adapters.packages import (
    Liblinear,
    LightningSDCA,
    LightningSGD,
    ScikitLinearSVC,
    ScikitSGD,
    ScikitSVC,
    Skglm,
    Snap,
)
from common.adapters.programs import SvmLight, Svmocas, SvmPerf
from common.adapters.vowpal import Vowpal
from common.harness import Adapter

COMPETITORS: dict[str, Adapter] = {
    "LinearSVC": ScikitLinearSVC(),
    "SGDClassifier": ScikitSGD(),
    "liblinear": Liblinear(),
    "Snap ML": Snap(),
    "lightning SDCA": LightningSDCA(),
    "lightning SGD": LightningSGD(),
    "skglm": Skglm(),
    "svmocas": Svmocas(),
    "SVM-perf": SvmPerf(),
    "SVM-light": SvmLight(),
    "Vowpal Wabbit": Vowpal(),
}
#: Those whose intercept is free, or may be as good as free.
FREE_INTERCEPT: dict[str, Adapter] = {
    "LinearSVC": COMPETITORS["LinearSVC"],
    "SGDClassifier": COMPETITORS["SGDClassifier"],
    "SVC, linear": ScikitSVC(),
}
#: Programs that minimise something else: their test errors are shown, their objectives are not compared.
OTHER_PROBLEM = frozenset({"Vowpal Wabbit"})
#: Ours ("hinge dcd", ...) and the competitors.
PROGRAMS: dict[str, Adapter] = {f"hinge {name}": Ours(name) for name in NAMES} | COMPETITORS
