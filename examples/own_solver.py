"""A solver of your own in NumPy: two classes, and the loop, the certificate, history and Ctrl-C come for free."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import hinge


class Momentum:
    """Projected gradient ascent on the dual, with Nesterov's momentum."""

    traits = hinge.Traits(intercepts=("none", "penalized"))  # anything else is refused, with the reason

    def start(self, problem, setup):
        return MomentumRun(problem)


class MomentumRun(hinge.Run):
    def __init__(self, problem):
        rows = problem.rows
        X = np.zeros((problem.m, problem.n_features + 1))
        for i, x in enumerate(X):
            rows.add(i, problem.target[i], x)
        self.signed, self.cost = X, problem.cost
        self.step = 1.0 / np.linalg.norm(X, 2) ** 2
        self.a = self.ahead = np.zeros(problem.m)
        self.t = 1.0

    def advance(self, epochs):
        for _ in range(epochs):
            slack = 1.0 - self.signed @ (self.signed.T @ self.ahead)
            a = np.clip(self.ahead + self.step * slack, 0.0, self.cost)
            t = 0.5 + np.sqrt(0.25 + self.t**2)
            self.ahead = a + (self.t - 1.0) / t * (a - self.a)
            self.a, self.t = a, t
        return 2 * epochs * len(self.a)  # rows read

    def point(self):
        return hinge.Point(self.a)  # the model is w(a); it is checked before anything is claimed


X, y = load_breast_cancer(return_X_y=True)
options = {"C": 0.1, "intercept": "none", "tol": 1e-3, "max_iter": 5000}
print(f"{'solver':12} {'passes':>7} {'dual':>12} {'primal':>12} {'relative gap':>13}  status")
for solver in (Momentum(), "dcd", "sgd-s", "auto"):
    found = hinge.solve(scale(X), y, solver=solver, **options)
    name = solver if isinstance(solver, str) else type(solver).__name__
    dual, primal, gap = found.certificate.dual, found.certificate.primal, found.certificate.relative_gap
    print(f"{name:12} {found.n_iter:7d} {dual:12.6f} {primal:12.6f} {gap:13.1e}  {found.status}")
