"""
Native core of hinge: rows, problems, evaluation and solvers. Use the hinge package instead.
"""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


compiler: str = 'GNU 12.2.0'

def checksum(array: NDArray[numpy.generic]) -> int:
    """A number that changes with any bit of a one-dimensional array."""

class Rows:
    """
    Training rows, read in place. Construction checks every value and index once.
    """

    @overload
    @staticmethod
    def dense(values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1, fingerprint: bool = False) -> Rows: ...

    @overload
    @staticmethod
    def dense(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1, fingerprint: bool = False) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int = 1, fingerprint: bool = False) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int = 1, fingerprint: bool = False) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int = 1, fingerprint: bool = False) -> Rows: ...

    @overload
    @staticmethod
    def csr(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int = 1, fingerprint: bool = False) -> Rows: ...

    def part(self, positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Rows:
        """The rows at these positions; a part of a part is a part."""

    def with_constant(self, rho: float) -> Rows:
        """The rows with the constant feature rho appended."""

    def column_squares(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        (sum_i x_ij^2, number of x_ij that are not zero) of every column, without the constant feature.
        """

    def fingerprint(self) -> int:
        """A number that tells these rows from others."""

    def __len__(self) -> int: ...

    @property
    def layout(self) -> str:
        """"dense" or "csr": they sum in different orders."""

    def entries(self, i: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        (columns, values) that row i stores, in their order, without the constant feature.
        """

    @property
    def n_features(self) -> int:
        """Without the constant feature."""

    @property
    def longest(self) -> int:
        """The largest number of values that a row stores."""

    @property
    def squared_norms(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """|[x, rho]|^2 of every row, read-only."""

    def decision(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        w.x_i + b for every row and every column of `weights` (n_features rows); the constant feature does not count.
        """

    def dot(self, i: int, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """w.[x_i, rho]"""

    def add(self, i: int, scale: float, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """w += scale * [x_i, rho], in place"""

@overload
def decision(values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def decision(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def decision(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, *, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def decision(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, *, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def decision(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, *, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def decision(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, *, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    w.x_i + b for every row and every column of `weights` (n_features rows). The rows are checked as those of Rows are.
    """

class Loss(enum.Enum):
    hinge = 0

    squared_hinge = 1

class Problem:
    """
    Rows, targets in {-1, +1}, costs C_i > 0 and the loss of one binary problem.
    """

    def __init__(self, rows: Rows, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)], loss: Loss, free_intercept: bool) -> None: ...

    @property
    def rows(self) -> Rows: ...

    @property
    def total_cost(self) -> float: ...

class StopToken:
    """Asks every run that shares it to stop: at once, or from a time on."""

    def __init__(self) -> None: ...

    def stop(self) -> None: ...

    def set_deadline(self, seconds_from_now: float) -> None: ...

    @property
    def stop_requested(self) -> bool: ...

    @property
    def past_deadline(self) -> bool: ...

class PollBase:
    pass

class Poll(PollBase):
    """How a native loop learns that it should stop. One per thread."""

    def __init__(self, token: StopToken, signals: bool = False, overtime: bool = False) -> None:
        """
        `signals`: run Python's signal handlers on the way, only in the main thread. `overtime`: the deadline does not count.
        """

    def __call__(self, work: int = 0) -> bool:
        """
        For a loop in Python: whether to stop, after reading `work` values since the last call.
        """

    @property
    def stopped(self) -> bool:
        """A native loop was told to stop."""

    def raise_error(self) -> None:
        """Raise what a signal handler has raised inside native code, if any."""

def primal(problem: Problem, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float | None, poll: PollBase, n_threads: int = 1) -> tuple[float, float, float] | None:
    """
    (P rounded up, what it was raised by, b), or None when stopped. A free b is the best one unless given.
    """

def dual(problem: Problem, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase, n_threads: int = 1) -> tuple[float, float, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]] | None:
    """
    (D rounded down, what it was lowered by, feasible multipliers, w(a)), or None when stopped.
    """

def both_sides(problem: Problem, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase, n_threads: int = 1) -> tuple[tuple[float, float, float], tuple[float, float, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]] | None:
    """
    What `primal` says of w and its best b, and `dual` of the multipliers, in one pass over the rows, or None when stopped.
    """

def best_intercept(z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: Loss) -> float:
    """The minimiser over b of sum_i C_i loss(1 - t_i (z_i + b))."""

def margin_errors(P: float, lambda_: float, q: float, l: int) -> int:
    """Proposition 3: margin errors in l presentations of one row."""

@overload
def fourier(rows: Rows, panels: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], phases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def fourier(rows: Rows, panels: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], phases: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    scale cos(2 pi (x.f + p)) of every row and frequency, into `out`. A panel has 128 bytes of frequencies for each feature of x.
    """

@overload
def structured_fourier(rows: Rows, signs: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], phases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def structured_fourier(rows: Rows, signs: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], phases: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    scale cos(2 pi (l y + p)) of every row, y = H D1 H D2 H D3 x in blocks, into `out`. signs: (blocks, 3, n), D3 first.
    """

class Rng:
    """xoshiro256++ keyed by a list of integers."""

    def __init__(self, arg: Sequence[int], /) -> None: ...

    def next(self) -> int: ...

    def below(self, arg: int, /) -> int: ...

    def uniform(self) -> float: ...

class Order:
    """
    block = 0: a full permutation; otherwise shuffled blocks of that many rows; once: one permutation for all epochs.
    """

    def __init__(self, block: int, group: int = 1) -> None: ...

    @staticmethod
    def once(n_rows: int, rng: Rng) -> Order: ...

    def of_all(self, arg0: int, arg1: Rng, /) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

class Presentation(enum.Enum):
    random = 0

    single = 1

    multiple = 2

class Sgd:
    """SGD-r, SGD-s or SGD-m at work: (problem, presentation, order, rng)"""

    def __init__(self, arg0: Problem, arg1: Presentation, arg2: Order, arg3: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdSingle:
    """The same with weights in single precision."""

    def __init__(self, arg0: Problem, arg1: Presentation, arg2: Order, arg3: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class Dcd:
    """
    Dual coordinate descent at work: (problem, shrinking, polish, eps, kappa, block, order, rng, n_threads)
    """

    def __init__(self, arg0: Problem, arg1: bool, arg2: bool, arg3: float, arg4: float, arg5: int, arg6: Order, arg7: Rng, arg8: int, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

def lane_block(rows: Rows) -> int:
    """
    Of how many rows a lane of dual coordinate descent should consist: a round has two lanes.
    """

def lanes_pay(rows: Rows) -> bool:
    """
    Whether two lanes are worth it on these rows: two threads gain more than one thread loses.
    """

class Mpu:
    """
    The margin perceptron with unlearning at work: (problem, N, refining, kappa, order, rng)
    """

    def __init__(self, arg0: Problem, arg1: int, arg2: bool, arg3: float, arg4: Order, arg5: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class MpuSingle:
    """The same with weights in single precision."""

    def __init__(self, arg0: Problem, arg1: int, arg2: bool, arg3: float, arg4: Order, arg5: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class Newton:
    """
    The augmented Lagrangian with Newton steps at work: (problem, sampling, n_threads)
    """

    def __init__(self, arg0: Problem, arg1: bool, arg2: int, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

def newton_passes(rows: Rows) -> float:
    """
    What Newton is expected to cost on these rows, in passes over them: counted, not timed.
    """

def newton_has_matrix(rows: Rows) -> bool:
    """
    Whether Newton has room for a matrix of the order of the features, or may need conjugate gradients.
    """

def newton_samples(rows: Rows) -> bool:
    """
    Whether there are so many rows for each feature that Newton begins on a sample of them.
    """

class Sampling(enum.Enum):
    iid = 0

    epoch = 1

    subset = 2

class Bias(enum.Enum):
    none = 0

    subgradient = 1

    exact = 2

class Output(enum.Enum):
    last = 0

    average = 1

    random = 2

class PegasosOptions:
    def __init__(self, k: int, sampling: Sampling, projection: bool, advance_without_loss: bool, bias: Bias, output: Output, random_start: bool, start: Sequence[float], steps: int) -> None: ...

class Pegasos:
    """Pegasos at work: (problem, options, order, rng)"""

    def __init__(self, arg0: Problem, arg1: PegasosOptions, arg2: Order, arg3: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class AssetOptions:
    def __init__(self, sampling: Sampling, average_last: int) -> None: ...

class RootRate:
    """
    eta_j = D_X / (D_G sqrt(j)), D_G from sample_size rows; largest_b is B.
    """

    def __init__(self, sample_size: int, largest_b: float) -> None: ...

class StarRate:
    """eta_j = 1 / (lambda j)"""

    def __init__(self) -> None: ...

class Asset:
    """ASSET at work: (problem, rate, options, order, rng)"""

    def __init__(self, arg0: Problem, arg1: RootRate, arg2: AssetOptions, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class AssetStar:
    """ASSET* at work: (problem, rate, options, order, rng)"""

    def __init__(self, arg0: Problem, arg1: StarRate, arg2: AssetOptions, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class AssetStreamOptions:
    def __init__(self, largest_b: float, d_g: float, free_intercept: bool) -> None: ...

class AssetStream:
    """ASSET at work on a stream of rows, one model per class."""

    def __init__(self, n_models: int, n_features: int, lambda_: float, rho: float, options: AssetStreamOptions) -> None: ...

    def present(self, rows: Rows, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, visit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase) -> int:
        """
        Take the rows of `visit`, in that order, each times its factor; how many were taken. Model k has class k as its
        positive one, a single model class 1.
        """

    def progress(self) -> tuple[int, int]:
        """(rows taken, steps)"""

    def models(self) -> tuple[int, int, list[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]]]:
        """
        (rows taken, steps, [(w, b) of every model]); the last entry of w is that of the constant feature.
        """

    def fields(self, k: int) -> dict[str, object]:
        """Everything that model k consists of."""

    def __getstate__(self) -> tuple[object, ...]: ...

    def __setstate__(self, state: tuple[object, ...], /) -> None: ...

class GradientOptions:
    def __init__(self, sampling: Sampling, projection: bool, output: Output) -> None: ...

class NormaRate:
    """eta_t = p / (lambda sqrt(t))"""

    def __init__(self, arg: float, /) -> None: ...

class ConstantRate:
    """eta_t = eta"""

    def __init__(self, arg: float, /) -> None: ...

class Norma:
    """Norma at work: (problem, rate, options, order, rng)"""

    def __init__(self, arg0: Problem, arg1: NormaRate, arg2: GradientOptions, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class Zhang:
    """Zhang's method at work: (problem, rate, options, order, rng)"""

    def __init__(self, arg0: Problem, arg1: ConstantRate, arg2: GradientOptions, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class KernelKind(enum.Enum):
    rbf = 0

    laplacian = 1

    polynomial = 2

    sigmoid = 3

    linear = 4

    cosine = 5

class Kernel:
    """k(x, z) + constant for two rows."""

    def __init__(self, kind: KernelKind, gamma: float, degree: int, coef0: float, constant: float) -> None: ...

def kernel_sums(rows: Rows, kernel: Kernel, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase, n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None:
    """sum_h beta_h k(x_h, x_j) for every row j, or None when stopped."""

def kernel_row(rows: Rows, kernel: Kernel, i: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """k(x_i, x_j) for every row j."""

def kernel_reach(rows: Rows, kernel: Kernel) -> float:
    """
    The largest |x|^2 if |x - z|^2 is computed from norms and products, with the origin that they have; otherwise 0.
    """

def kernel_diagonal(rows: Rows, kernel: Kernel) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """k(x_i, x_i) for every row i."""

class LasvmOptions:
    def __init__(self, online_epochs: int, tau: float, working_set: int, cache_bytes: int, tol: float, n_threads: int) -> None: ...

class Lasvm:
    """LASVM at work: (problem, kernel, options, order, rng)"""

    def __init__(self, arg0: Problem, arg1: Kernel, arg2: LasvmOptions, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class KernelPegasosOptions:
    def __init__(self, sampling: Sampling, projection: bool, cache_bytes: int) -> None: ...

class KernelPegasos:
    """Pegasos with a kernel at work: (problem, kernel, options, order, rng)"""

    def __init__(self, arg0: Problem, arg1: Kernel, arg2: KernelPegasosOptions, arg3: Order, arg4: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class OnlineOptions:
    def __init__(self, batch: int, projection: bool, free_intercept: bool, average: bool) -> None: ...

class Online:
    """The online SVM at work on a data set: (problem, options, order, rng)"""

    def __init__(self, arg0: Problem, arg1: OnlineOptions, arg2: Order, arg3: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class OnlineStream:
    """The online SVM at work on a stream of rows, one model per class."""

    def __init__(self, n_models: int, n_features: int, lambda_: float, rho: float, options: OnlineOptions) -> None: ...

    def present(self, rows: Rows, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, visit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase) -> int:
        """
        Take the rows of `visit`, in that order, each times its factor; how many were taken. Model k has class k as its
        positive one, a single model class 1.
        """

    def progress(self) -> tuple[int, int]:
        """(rows taken, steps)"""

    def models(self) -> tuple[int, int, list[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]]]:
        """
        (rows taken, steps, [(w, b) of every model]); the last entry of w is that of the constant feature.
        """

    def fields(self, k: int) -> dict[str, object]:
        """Everything that model k consists of."""

    def __getstate__(self) -> tuple[object, ...]: ...

    def __setstate__(self, state: tuple[object, ...], /) -> None: ...

class AdaptiveStream:
    """
    Steps that need no tuning, at work on a stream of rows, one model per class.
    """

    def __init__(self, n_models: int, n_features: int, rho: float, average: bool, window: int) -> None: ...

    def present(self, rows: Rows, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, visit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], poll: PollBase) -> int:
        """
        Take the rows of `visit`, in that order, each times its factor; how many were taken. Model k has class k as its
        positive one, a single model class 1.
        """

    def progress(self) -> tuple[int, int]:
        """(rows taken, steps)"""

    def models(self) -> tuple[int, int, list[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]]]:
        """
        (rows taken, steps, [(w, b) of every model]); the last entry of w is that of the constant feature.
        """

    def fields(self, k: int) -> dict[str, object]:
        """Everything that model k consists of."""

    def __getstate__(self) -> tuple[object, ...]: ...

    def __setstate__(self, state: tuple[object, ...], /) -> None: ...

class Calibration(enum.Enum):
    sampled = 0

    first = 1

class SvmSgd:
    """
    Bottou's SvmSgd at work: (problem, sample_size, calibration, output, order, rng)
    """

    def __init__(self, arg0: Problem, arg1: int, arg2: Calibration, arg3: Output, arg4: Order, arg5: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SvmSgdSingle:
    """The same with weights in single precision."""

    def __init__(self, arg0: Problem, arg1: int, arg2: Calibration, arg3: Output, arg4: Order, arg5: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdQnPublished:
    """SGD-QN at work: (problem, order, rng)"""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdQnPublishedSingle:
    """The same with weights in single precision."""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdQnErratum:
    """SGD-QN at work: (problem, order, rng)"""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdQnErratumSingle:
    """The same with weights in single precision."""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdQnSgd2:
    """SGD-QN at work: (problem, order, rng)"""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdQnSgd2Single:
    """The same with weights in single precision."""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdQnMixed:
    """SGD-QN at work: (problem, order, rng)"""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class SgdQnMixedSingle:
    """The same with weights in single precision."""

    def __init__(self, arg0: Problem, arg1: Order, arg2: Rng, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class CuttingPlane:
    """The cutting-plane method at work: (problem, patience, n_threads)"""

    def __init__(self, arg0: Problem, arg1: int, arg2: int, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """

class Ocas:
    """
    The optimised cutting-plane algorithm at work: (problem, mu, patience, n_threads)
    """

    def __init__(self, arg0: Problem, arg1: float, arg2: int, arg3: int, /) -> None: ...

    def advance(self, epochs: int, poll: PollBase) -> tuple[int, bool]:
        """(rows read, whether all epochs were finished)"""

    def advance_by(self, rows: int, tol: float, poll: PollBase) -> tuple[int, bool]:
        """
        Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)
        """

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(w, b, multipliers)"""

    def estimate(self) -> tuple[float, float] | None:
        """(primal, dual), roughly, or None"""

    def finished(self) -> bool:
        """Whether its own rule has ended the run"""

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs, as arrays and numbers."""

    def surrender(self) -> dict[str, object]:
        """The state without a copy of its arrays; the run has ended with that."""

    def restore(self, state: dict[str, object]) -> None: ...

    def rebuild(self, poll: PollBase) -> None:
        """
        Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.
        """
