"""
Native core of hinge: rows, objective and solvers. Use the hinge package instead.
"""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Rows:
    """
    Training rows, read in place. Construction checks every value and index once.
    """

    @overload
    @staticmethod
    def dense(values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Rows: ...

    @overload
    @staticmethod
    def dense(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    def select(self, kept: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rho: float) -> Rows:
        """
        The rows listed in `kept` (all if None), each with the constant feature rho appended.
        """

    def column_squares(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """sum_i x_ij^2 of every column, without the constant feature."""

    def __len__(self) -> int: ...

    @property
    def n_features(self) -> int:
        """Without the constant feature."""

    @property
    def squared_norms(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """|[x, rho]|^2 of every row (a copy)."""

    def decision(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        w.x_i + b for every row and every row of `weights` (n_features + 1 columns).
        """

    def dot(self, i: int, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """w.[x_i, rho]"""

    def add(self, i: int, scale: float, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """w += scale * [x_i, rho], in place"""

class Problem:
    """Rows, labels in {-1, +1} and costs C_i > 0 of one binary problem."""

    def __init__(self, rows: Rows, y: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], free_intercept: bool) -> None: ...

    @property
    def rows(self) -> Rows: ...

    @property
    def total_cost(self) -> float: ...

class StopFlag:
    """Asks every run that shares it to stop."""

    def __init__(self) -> None: ...

    def set(self) -> None: ...

    def __bool__(self) -> bool: ...

class PollBase:
    pass

class Poll(PollBase):
    """
    How a native loop learns that it should stop: Ctrl-C, a deadline or the flag.
    """

    def __init__(self, flag: StopFlag) -> None: ...

    def set_deadline(self, seconds_from_now: float) -> None: ...

    @property
    def stopped(self) -> bool:
        """A native loop was told to stop."""

    @property
    def past_deadline(self) -> bool: ...

    def take_error(self) -> BaseException | None:
        """What a signal handler raised, once, or None."""

def primal(problem: Problem, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase, b: float | None = None) -> tuple[float, float, float] | None:
    """
    (P rounded up, what it was raised by, b), or None when stopped. A free b is the best one unless given.
    """

def dual(problem: Problem, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase) -> tuple[float, float, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]] | None:
    """
    (D rounded down, what it was lowered by, feasible multipliers, w(a)), or None when stopped.
    """

def best_intercept(z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """The minimiser over b of sum_i c_i max(0, 1 - y_i (z_i + b))."""

def margin_errors(P: float, lambda_: float, q: float, l: int) -> int:
    """Proposition 3: margin errors in l presentations of one row."""

class Rng:
    """xoshiro256++ keyed by a list of integers."""

    def __init__(self, arg: Sequence[int], /) -> None: ...

    def next(self) -> int: ...

    def below(self, arg: int, /) -> int: ...

    def uniform(self) -> float: ...

class Order:
    """
    block = 0: a full permutation; otherwise shuffled blocks of that many rows.
    """

    def __init__(self, block: int, group: int = 1) -> None: ...

    def of_all(self, arg0: int, arg1: Rng, /) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

class Presentation(enum.Enum):
    random = 0

    single = 1

    multiple = 2

class Sgd:
    """SGD-r, SGD-s or SGD-m at work."""

    def __init__(self, arg0: Problem, arg1: Presentation, arg2: Order, arg3: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

    def estimate(self) -> tuple[float, float]: ...

class Dcd:
    """Dual coordinate descent at work."""

    def __init__(self, arg0: Problem, arg1: bool, arg2: bool, arg3: float, arg4: Order, arg5: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def estimate(self) -> tuple[float, float]: ...

class Mpu:
    """The margin perceptron with unlearning at work."""

    def __init__(self, arg0: Problem, arg1: int, arg2: Order, arg3: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def estimate(self) -> tuple[float, float]: ...

class Sampling(enum.Enum):
    iid = 0

    epoch = 1

class Bias(enum.Enum):
    none = 0

    subgradient = 1

    exact = 2

class Output(enum.Enum):
    last = 0

    average = 1

    random = 2

class PegasosOptions:
    def __init__(self, k: int, sampling: Sampling, projection: bool, advance_without_loss: bool, bias: Bias, output: Output, random_start: bool) -> None: ...

class Pegasos:
    """Pegasos at work."""

    def __init__(self, arg0: Problem, arg1: PegasosOptions, arg2: Order, arg3: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

class GradientOptions:
    def __init__(self, sampling: Sampling, projection: bool, output: Output) -> None: ...

class NormaRate:
    """eta_t = p / (lambda sqrt(t))"""

    def __init__(self, arg: float, /) -> None: ...

class ConstantRate:
    """eta_t = eta"""

    def __init__(self, arg: float, /) -> None: ...

class Norma:
    """Norma at work."""

    def __init__(self, arg0: Problem, arg1: NormaRate, arg2: GradientOptions, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

class Zhang:
    """Zhang's method at work."""

    def __init__(self, arg0: Problem, arg1: ConstantRate, arg2: GradientOptions, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

class OnlineOptions:
    def __init__(self, batch: int, projection: bool, free_intercept: bool, average: bool) -> None: ...

    def __getstate__(self) -> tuple[int, bool, bool, bool]: ...

    def __setstate__(self, arg: tuple[int, bool, bool, bool], /) -> None: ...

class Online:
    """The online SVM at work on a data set."""

    def __init__(self, arg0: Problem, arg1: OnlineOptions, arg2: Order, arg3: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

class OnlineStream:
    """The online SVM at work on a stream of rows, one model per class."""

    def __init__(self, n_models: int, n_features: int, lambda_: float, rho: float, options: OnlineOptions) -> None: ...

    def present(self, rows: Rows, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, visit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase) -> int:
        """
        Take the rows of `visit`, in that order, each times its factor; how many were taken. Model k has class k as its
        positive one, a single model class 1.
        """

    def model(self, k: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
        """
        (w, b) of model k; the last entry of w belongs to the constant feature.
        """

    @property
    def n_models(self) -> int: ...

    @property
    def seen(self) -> int:
        """Rows taken."""

    @property
    def t(self) -> int:
        """Steps."""

    def fields(self, k: int) -> dict[str, object]:
        """Everything that model k consists of."""

    def __getstate__(self) -> tuple[object, ...]: ...

    def __setstate__(self, state: tuple[object, ...], /) -> None: ...

class SvmSgd:
    """Bottou's SvmSgd at work."""

    def __init__(self, arg0: Problem, arg1: int, arg2: Output, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

class SvmSgdSingle:
    """Bottou's SvmSgd at work."""

    def __init__(self, arg0: Problem, arg1: int, arg2: Output, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

class SgdQn:
    """SGD-QN at work."""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

class SgdQnSingle:
    """SGD-QN at work."""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

class CuttingPlane:
    """The cutting-plane method at work."""

    def __init__(self, problem: Problem, patience: int) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

    def estimate(self) -> tuple[float, float]: ...

class Ocas:
    """The optimised cutting-plane algorithm at work."""

    def __init__(self, problem: Problem, mu: float, patience: int) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        After restoring a state of another problem: make it consistent with this one.
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, multipliers)"""

    def estimate(self) -> tuple[float, float]: ...
