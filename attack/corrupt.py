"""Corrupt CSR matrices, states and pickles: a clear error or a right answer, never a crash.

Clear is a ValueError or TypeError (for a pickle, any exception that unpickling makes) that is not the words of a C++
library.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

import hinge
from attack.exact import false_certificate
from attack.library import draw_setting, is_of_the_loop, resealed
from attack.problems import noisy
from attack.rational import ExactProblem
from attack.spoil import Spoiler, decoded, spoilt_matrix, spoilt_value
from attack.table import Finding

warnings.simplefilter("ignore")

_INTEGERS = [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]
_FLOATS = [np.float32, np.float64, np.longdouble]
_FOREIGN = ("bad_cast", "bad_alloc", "std::", "vector", "basic_string", "nanobind")


def case(rng: np.random.Generator) -> Finding:
    """Spoil one thing."""
    kind = [_matrix, _state, _pickle][rng.integers(3)]
    return kind(rng)


def _clear(what: str, error: Exception, kinds: tuple[type[Exception], ...] = (ValueError, TypeError)) -> Finding:
    """Refused, as it should be, if the error is a clear one."""
    text = f"{type(error).__name__}: {error}"
    if not isinstance(error, kinds) or any(word in text for word in _FOREIGN) or not str(error):
        return Finding(failures=[f"{what}: {text[:300]}"])
    return Finding(notes=["refused"])


# Matrices


def _matrix(rng: np.random.Generator) -> Finding:
    """A CSR matrix with a wrong array, in training and prediction."""
    m, d = int(rng.integers(4, 40)), int(rng.integers(1, 8))
    dense = np.round(rng.normal(size=(m, d)) * 3) * (rng.random((m, d)) < 0.6)
    y = np.arange(m) % 2
    kinds = [*_INTEGERS, *_FLOATS]
    good = sp.csr_array(dense).astype(kinds[rng.integers(len(kinds))])
    bad, change = spoilt_matrix(rng, good)
    what = f"{good.dtype} CSR, {change}"
    right = decoded(bad)
    uses: dict[str, Callable[[], Any]] = {
        "solve": lambda: hinge.solve(bad, y, max_iter=3),
        "fit": lambda: _as_solution(hinge.LinearSVC(max_iter=3, store_dual=True).fit(bad, y)),
        "partial_fit": lambda: hinge.OnlineSVC().partial_fit(bad, y, classes=[0, 1]),
        "predict": lambda: hinge.LinearSVC(max_iter=3).fit(dense, y).decision_function(bad),
        "predict online": lambda: hinge.OnlineSVC().fit(dense, y).decision_function(bad),
        "certify": lambda: hinge.OnlineSVC(alpha=1e-3).fit(dense, y).certify(bad, y),
        "verify": lambda: hinge.verify(hinge.LinearSVC(max_iter=3, store_dual=True).fit(dense, y), bad, y),
    }
    use = str(rng.choice(list(uses)))
    try:
        answer = uses[use]()
    except Exception as error:
        return _clear(f"{use}: {what}", error)
    if right is None:
        return Finding(failures=[f"{use}: {what}: accepted"])
    return Finding(
        failures=[f"{use}: {what}: {text}" for text in _wrong(use, answer, right, dense, y)], notes=["accepted"]
    )


def _as_solution(model: hinge.LinearSVC) -> SimpleNamespace:
    return SimpleNamespace(
        coef=model.coef_[0],
        intercept=model.intercept_[0],
        dual=model.dual_coef_[0],
        certificate=model.certificate_,
    )


def _wrong(use: str, answer: Any, right: Any, dense: Any, y: Any) -> list[str]:
    """How an answer differs from that of the same rows, given as they should be."""
    if use in ("solve", "fit"):
        signs = np.where(y == 1, 1, -1)
        return false_certificate(ExactProblem(right, signs, np.ones(len(y)), "hinge", "free", 1.0), answer)
    if use == "partial_fit":
        model = hinge.OnlineSVC().fit(sp.csr_array(right), y)
        return [] if np.allclose(answer.coef_, model.coef_, rtol=1e-3) else ["another model"]
    if use.startswith("predict"):
        model = (hinge.OnlineSVC() if "online" in use else hinge.LinearSVC(max_iter=3)).fit(dense, y)
        return [] if np.allclose(answer, model.decision_function(right)) else ["wrong scores"]
    if use == "certify":
        expected = hinge.OnlineSVC(alpha=1e-3).fit(dense, y).certify(right, y)
    else:
        expected = hinge.verify(hinge.LinearSVC(max_iter=3, store_dual=True).fit(dense, y), right, y)
    same = np.allclose([answer.primal, answer.dual], [expected.primal, expected.dual])
    return [] if same else ["another certificate"]


# States


def _state(rng: np.random.Generator) -> Finding:
    """A saved run with one entry spoilt; half of the time with a seal that fits, so that the damage gets further."""
    m = int(rng.choice([4, 30]))
    X, y = noisy(m, 3)
    setting = draw_setting(rng)
    options: dict[str, Any] = {**setting.options(), "C": 1.0, "max_iter": 3, "tol": 1e-12}
    try:
        state = hinge.solve(X, y, **options).state
    except ValueError:  # a batch larger than the rows, a step too long
        return Finding(0)
    if state is None:
        return Finding(failures=[f"{setting}: there is no state"])
    key = str(rng.choice(list(state)))
    spoilt, change = spoilt_value(rng, state[key])
    changed = {**state, key: spoilt}
    if rng.random() < 0.1:
        del changed[key]
        change = "missing"
    forged = False
    if rng.random() < 0.5:
        with contextlib.suppress(ValueError):
            changed, forged = resealed(changed), is_of_the_loop(key)
    what = f"{setting}: state[{key!r}] {change}"
    try:
        solution = hinge.solve(X, y, state=changed, **options)
    except Exception as error:
        return _clear(what, error, (Exception,) if forged else (ValueError, TypeError))
    if forged:  # no damage does that: what a sealed state says of the best points so far is believed
        return Finding(notes=["forged"])
    exact = ExactProblem(X, np.where(y == 1, 1, -1), np.ones(m), setting.loss, setting.intercept, 1.0)
    return Finding(failures=[f"{what}: {text}" for text in false_certificate(exact, solution)], notes=["accepted"])


# Pickles


def _pickle(rng: np.random.Generator) -> Finding:
    """A pickled model, cut short or with a part of its state spoilt; if it loads, it is used."""
    X, y = noisy(30, 3, int(rng.choice([2, 3])))
    model: Any = hinge.OnlineSVC(alpha=1e-3, batch_size=int(rng.choice([1, 7]))).fit(X, y)
    if rng.random() < 0.4:
        model = hinge.OnlineSVC(window=[None, 9][int(rng.integers(2))]).fit(X, y)
    if rng.random() < 0.3:
        model = hinge.LinearSVC(warm_start=True, store_dual=True, max_iter=3).fit(X, y)
    if rng.random() < 0.2:
        whole = pickle.dumps(model)
        try:
            pickle.loads(whole[: rng.integers(len(whole))])
        except Exception as error:
            return _clear("a pickle cut short", error, (Exception,))
        return Finding(failures=["a pickle cut short was read"])
    file = io.BytesIO()
    spoiler = Spoiler(file, rng, model)
    try:
        spoiler.dump(model)
    except (TypeError, AttributeError, pickle.PicklingError):  # the spoilt state cannot be pickled
        return Finding(0)
    what = f"pickled {type(model).__name__}: {spoiler.change}"
    try:
        again = pickle.loads(file.getvalue())
        again.predict(X)
        if isinstance(model, hinge.OnlineSVC):
            again.partial_fit(X, y)
        else:
            again.set_params(max_iter=3, time_limit=1.0).fit(X, y)  # these may have been spoilt too: no hang
    except Exception as error:
        return _clear(what, error, (Exception,))
    return Finding(notes=["accepted"])
