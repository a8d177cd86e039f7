"""Runs cut by ``max_iter`` at random places and resumed have the bits of the whole run."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

import hinge
from attack.library import draw_setting
from attack.problems import noisy
from attack.table import Finding

warnings.simplefilter("ignore")


def case(rng: np.random.Generator) -> Finding:
    """One whole run, and the same run in up to six pieces."""
    m = int(rng.choice([2, 5, 30, 200, 700, 1500, 5000]))
    X, y = noisy(m, int(rng.choice([1, 3, 10])), single=bool(rng.random() < 0.3), sparse=bool(rng.random() < 0.3))
    setting = draw_setting(rng)
    passes = int(rng.choice([2, 3, 7, 20, 60, 200])) if m < 1000 else int(rng.choice([2, 3, 7, 20]))
    options = {
        **setting.options(),
        "C": float(10.0 ** rng.uniform(-2, 2)),
        "tol": float(rng.choice([1e-12, 1e-12, 1e-3])),
        "random_state": int(rng.integers(1000)),
        "sample_weight": rng.choice([0.0, 0.5, 1.0, 2.0], m) if m > 30 and rng.random() < 0.3 else None,
    }
    try:
        whole = hinge.solve(X, y, max_iter=passes, **options)
    except ValueError:  # a batch larger than the rows, a step too long
        return Finding(0, notes=["refused"])
    inner = rng.choice(np.arange(1, passes), min(passes - 1, int(rng.integers(1, 6))), replace=False)
    cuts = [*sorted(inner.tolist()), passes]
    state, done = None, 0
    for cut in cuts:
        part = hinge.solve(X, y, max_iter=cut - done, state=state, **options)
        state, done = part.state, done + part.n_iter
        if done < cut:
            break
        if state is not None and rng.random() < 0.3:
            state = _through_a_file(state)
    if done in cuts[:-1] and done < whole.n_iter and part.certificate.within(options["tol"]):
        # The evaluation at a cut came before the whole run looked, and was good enough.
        return Finding(notes=["converged at a cut"])
    differing = _differences(part, whole, done)
    where = f"m={m}, {passes} passes cut at {cuts[:-1]}, {setting}"
    return Finding(failures=[f"{where}: differs in {', '.join(differing)}"] if differing else [])


def _through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        return dict(saved)


def _differences(part: hinge.Solution, whole: hinge.Solution, done: int) -> list[str]:
    """What is not the same to the last bit."""
    pairs: dict[str, tuple[Any, Any]] = {
        "coef": (part.coef, whole.coef),
        "intercept": (part.intercept, whole.intercept),
        "dual": (part.dual, whole.dual),
        "primal": (part.certificate.primal, whole.certificate.primal),
        "certificate.dual": (part.certificate.dual, whole.certificate.dual),
        "status": (part.status, whole.status),
        "passes": (done, whole.n_iter),
    }
    if part.state is None or whole.state is None or part.state.keys() != whole.state.keys():
        return ["the keys of the state"]
    pairs |= {f"state[{key!r}]": (part.state[key], whole.state[key]) for key in whole.state}
    return [name for name, (one, other) in pairs.items() if np.asarray(one).tobytes() != np.asarray(other).tobytes()]
