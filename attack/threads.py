"""Threads that share one object: right answers, or a refusal that says so; never a crash or an accident.

A refusal is a RuntimeError or ValueError whose message has the word "thread".
"""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import hinge
from attack.library import draw_setting
from attack.problems import noisy
from attack.table import Finding

warnings.simplefilter("ignore")

Work = Callable[[], Any]


def case(rng: np.random.Generator) -> Finding:
    """One pair of threads, or three."""
    pair = _PAIRS[rng.integers(len(_PAIRS))]
    return Finding(failures=[f"{pair.__name__}: {text}" for text in pair(rng)])


def _together(*works: Work) -> tuple[list[Any], list[str]]:
    """What each work has returned (None: refused), run at the same time; and accidents."""
    results: list[Any] = [None] * len(works)
    accidents: list[str] = []
    gate = threading.Barrier(len(works))

    def run(k: int) -> None:
        gate.wait()
        try:
            results[k] = works[k]()
        except (RuntimeError, ValueError) as error:
            if "thread" not in str(error):
                accidents.append(f"{type(error).__name__}: {error}")
        except BaseException as error:
            accidents.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, accidents


def _repeat(times: int, work: Work) -> Work:
    def repeated() -> int:
        """How often it went well; refused calls are tried again."""
        well = 0
        for _ in range(times):
            try:
                work()
                well += 1
            except (RuntimeError, ValueError) as error:
                if "thread" not in str(error):
                    raise
        return well

    return repeated


def _rows(rng: np.random.Generator, classes: int = 2) -> tuple[Any, Any]:
    m, d = [(50, 10), (2000, 300), (20_000, 10)][rng.integers(3)]
    return noisy(m, d, classes, single=bool(rng.random() < 0.5), sparse=bool(rng.random() < 0.3))


def _stream(rng: np.random.Generator) -> hinge.OnlineSVC:
    return hinge.OnlineSVC(batch_size=int(rng.choice([1, 7])), average=bool(rng.random() < 0.5), alpha=0.01)


def two_feed_one_stream(rng: np.random.Generator) -> list[str]:
    """Every row is counted once, whoever brought it."""
    classes = int(rng.choice([2, 3]))
    X, y = _rows(rng, classes)
    size, failures = int(rng.choice([1, 13, len(y)])), []
    for _ in range(4):  # young streams: what grows with the first rows is most at risk
        model = _stream(rng)
        if rng.random() < 0.5:  # otherwise both threads try to begin the stream
            model.partial_fit(X[:10], y[:10], classes=np.arange(classes))
        before = getattr(model, "n_samples_seen_", 0)
        feed = _repeat(5, lambda model=model: model.partial_fit(X[:size], y[:size], classes=np.arange(classes)))
        fed, accidents = _together(feed, feed)
        failures += accidents or _miscounted(model, before + size * sum(fed))
    return failures


def _miscounted(model: hinge.OnlineSVC, rows: int) -> list[str]:
    """What is wrong with a stream of so many rows."""
    if model.n_samples_seen_ != rows:
        return [f"{rows} rows were fed, {model.n_samples_seen_} counted"]
    if model.t_ != rows // model.batch_size:
        return [f"{rows} rows in batches of {model.batch_size} make no {model.t_} steps"]
    return [] if np.isfinite(model.coef_).all() else ["the model is not finite"]


def predict_while_feeding(rng: np.random.Generator) -> list[str]:
    """Reading a stream while it learns: finite scores of a model that there was."""
    X, y = _rows(rng)
    model = _stream(rng).partial_fit(X, y, classes=[0, 1])
    readers: list[Work] = [
        lambda: _expect(np.isfinite(model.decision_function(X)).all(), "scores are not finite"),
        lambda: _expect(set(model.predict(X)) <= {0, 1}, "unknown labels"),
        lambda: _expect(np.isfinite(model.coef_).all() and model.intercept_.shape == (1,), "coef_"),
        lambda: _expect(model.certify(X, y, max_iter=1).gap >= 0, "the certificate is no bracket"),
        lambda: _expect(np.isfinite(copy.deepcopy(model).coef_).all(), "a copy is not finite"),
    ]
    reader = readers[rng.integers(len(readers))]
    return _together(_repeat(30, lambda: model.partial_fit(X, y)), _repeat(10, reader))[1]


def pickle_while_feeding(rng: np.random.Generator) -> list[str]:
    """A pickled stream is one that there was: that of the first so many rows, to the bit."""
    X, y = _rows(rng)
    size = int(rng.choice([1, 13, len(y)]))
    model = _stream(rng).partial_fit(X[:size], y[:size], classes=[0, 1])

    def save() -> None:
        saved = pickle.loads(pickle.dumps(model))
        calls, rest = divmod(saved.n_samples_seen_, size)
        again = hinge.OnlineSVC(**model.get_params())
        for rows in [size] * calls + [rest] * (rest > 0):
            again.partial_fit(X[:rows], y[:rows], classes=[0, 1])
        _expect(np.array_equal(again.coef_, saved.coef_), f"not the model after {saved.n_samples_seen_} rows")
        _expect(again.t_ == saved.t_, f"{saved.t_} steps instead of {again.t_}")

    return _together(_repeat(40, lambda: model.partial_fit(X[:size], y[:size])), _repeat(5, save))[1]


def refit_a_stream_while_feeding(rng: np.random.Generator) -> list[str]:
    """`fit` begins anew while another thread goes on feeding."""
    X, y = _rows(rng)
    model = _stream(rng).partial_fit(X, y, classes=[0, 1])
    works = (_repeat(10, lambda: model.fit(X, y)), _repeat(20, lambda: model.partial_fit(X[:30], y[:30])))
    failures = _together(*works)[1]
    if not failures and not np.isfinite(model.coef_).all():
        failures.append("the model is not finite")
    return failures


def three_fit_one_model(rng: np.random.Generator) -> list[str]:
    """A model that three threads fit to different data is that of one of them, whole."""
    data = [noisy(m, 6, classes) for m, classes in ((300, 2), (301, 3), (3000, 4))]
    model = hinge.LinearSVC(store_dual=True, max_iter=20, n_jobs=[None, 2][rng.integers(2)])
    works = [_repeat(3, lambda X=X, y=y: model.fit(X, y)) for X, y in data]
    fitted, failures = _together(*works)
    if not any(fitted):
        return failures
    if not {"classes_", "coef_", "dual_coef_", "certificate_"} <= vars(model).keys():
        return [*failures, "only a part of the model was stored"]
    for X, y in data:
        if np.array_equal(model.classes_, np.unique(y)) and model.dual_coef_.shape[1] == len(y):
            checked, found = hinge.verify(model, X, y), model.certificate_
            pairs = zip(_several(checked), _several(found), strict=True)
            if all(np.isclose(one.primal, other.primal) and np.isclose(one.dual, other.dual) for one, other in pairs):
                return failures
    return [*failures, "the model is that of no thread"]


def predict_while_refitting(rng: np.random.Generator) -> list[str]:
    """A reader sees the old model or the new one, nothing in between."""
    (X, y), (Z, z) = noisy(300, 6, 2), noisy(301, 6, 4)
    model = hinge.LinearSVC(max_iter=5, warm_start=bool(rng.random() < 0.3)).fit(X, y)
    readers: list[Work] = [
        lambda: _expect(set(model.predict(X)) <= {0, 1, 2, 3}, "unknown labels"),
        lambda: _expect(model.decision_function(X).shape in ((300,), (300, 4)), "the shape of the scores"),
        lambda: _consistent(pickle.loads(pickle.dumps(model))),
    ]
    works = (
        _repeat(6, lambda: (model.fit(X, y), model.fit(Z, z))),
        _repeat(60, readers[rng.integers(len(readers))]),
    )
    return _together(*works)[1]


def two_solve_the_same_rows(rng: np.random.Generator) -> list[str]:
    """Two runs on the same X, with the same configuration and state, have the bits of one."""
    X, y = _rows(rng)
    setting = draw_setting(rng)
    options = {**setting.options(), "max_iter": 5, "C": 0.1}
    try:
        alone = hinge.solve(X, y, **options)
        state = alone.state if rng.random() < 0.5 else None
        alone = hinge.solve(X, y, state=state, **options)
    except ValueError:  # a batch larger than the rows, a step too long
        return []
    solutions, failures = _together(*[lambda: hinge.solve(X, y, state=state, **options)] * 2)
    for solution in solutions:
        if solution is not None and not np.array_equal(solution.coef, alone.coef):
            failures.append(f"{setting}: not the same bits as alone")
    return failures


def predict_together(rng: np.random.Generator) -> list[str]:
    """Prediction and verification only read."""
    X, y = _rows(rng)
    model = hinge.LinearSVC(max_iter=3, store_dual=True).fit(X, y)
    alone = model.decision_function(X)
    works = [lambda: model.decision_function(X)] * 2 + [lambda: hinge.verify(model, X, y)]
    results, failures = _together(*works)
    if not failures and not all(np.array_equal(result, alone) for result in results[:2]):
        failures.append("not the same scores as alone")
    return failures


def _several(certificates: Any) -> tuple[Any, ...]:
    return certificates if isinstance(certificates, tuple) else (certificates,)


def _consistent(model: hinge.LinearSVC) -> None:
    n_models = 1 if len(model.classes_) == 2 else len(model.classes_)
    _expect(len(model.coef_) == len(model.intercept_) == n_models, "coef_ and classes_ of different fits")
    _expect(len(_several(model.certificate_)) == n_models, "certificate_ and classes_ of different fits")


def _expect(true: Any, otherwise: str) -> None:
    if not true:
        raise AssertionError(otherwise)


_PAIRS: list[Callable[[np.random.Generator], list[str]]] = [
    two_feed_one_stream,
    predict_while_feeding,
    pickle_while_feeding,
    refit_a_stream_while_feeding,
    three_fit_one_model,
    predict_while_refitting,
    two_solve_the_same_rows,
    predict_together,
]
