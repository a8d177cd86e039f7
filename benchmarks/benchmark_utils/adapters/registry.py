"""All programs by the name that tables and plots use."""

from __future__ import annotations

from benchmark_utils.adapters.liblinear import Liblinear
from benchmark_utils.adapters.lightning import LightningSDCA, LightningSGD
from benchmark_utils.adapters.ours import NAMES, Ours
from benchmark_utils.adapters.programs import SvmLight, Svmocas, SvmPerf
from benchmark_utils.adapters.scikit import ScikitLinearSVC, ScikitSGD
from benchmark_utils.adapters.skglm import Skglm
from benchmark_utils.adapters.snap import Snap
from benchmark_utils.adapters.vowpal import Vowpal
from benchmark_utils.harness import Adapter

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
#: Programs that minimise something else: their test errors are shown, their objectives are not compared.
OTHER_PROBLEM = frozenset({"Vowpal Wabbit"})


def programs() -> dict[str, Adapter]:
    """Ours ("hinge dcd", ...) and the competitors."""
    return {f"hinge {name}": Ours(name) for name in NAMES} | COMPETITORS
