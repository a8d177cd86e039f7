"""Watch the duality gap close, beside scikit-learn's LinearSVC on the same problem. Run with `make demo`.

The data are made on the spot, 50,000 rows of 100 features, so that nothing is downloaded. Our gap is proven while we
train. scikit-learn knows no gap: we stop it after so many iterations, compute its objective, and see how far it is from
the optimum that our certificate has bracketed.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as Liblinear

import hinge

PICTURE = Path(sys.argv[1] if len(sys.argv) > 1 else "demo.png")
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
# The same problem for both: hinge loss, an intercept that is penalised as liblinear does it.
PROBLEM = {"C": 1.0, "loss": "hinge"}
ITERATIONS = (1, 3, 10, 30, 100)

X, y = make_classification(ROWS, 100, n_informative=20, n_redundant=30, flip_y=0.05, random_state=0)
X = StandardScaler().fit_transform(X)
print(f"{X.shape[0]:,} rows, {X.shape[1]} features, standardised. Hinge loss, C = 1.\n")

print("hinge: the gap closes. Each line is one pass more, and proven: dual <= optimum <= primal")
print(f"{'passes':>10} {'seconds':>9} {'dual':>16} {'primal':>16} {'relative gap':>13}")
model = hinge.LinearSVC(**PROBLEM, intercept="penalized", tol=1e-6, max_iter=1, warm_start=True)
ours, spent, passes, lower = [], 0.0, 0, 0.0
while not ours or model.status_ != "converged":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pass alone does not converge
        began = time.process_time()
        model.fit(X, y)  # goes on from where it was
        spent += time.process_time() - began
    passes, lower = passes + model.n_iter_, max(lower, model.certificate_.dual)  # every bound so far holds
    proof = hinge.Certificate(model.certificate_.primal, lower)
    ours.append((spent, proof.relative_gap))
    print(f"{passes:10d} {spent:9.2f} {proof.dual:16.8g} {proof.primal:16.8g} {proof.relative_gap:13.2e}")
print(f"{model.certificate_}\n")

print("scikit-learn's LinearSVC, stopped after some iterations; its objective computed by us")
print(f"{'iterations':>10} {'seconds':>9} {'objective':>16} {'above the optimum':>18}")
theirs = []
for iterations in ITERATIONS:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does not converge
        began = time.process_time()
        other = Liblinear(**PROBLEM, max_iter=iterations, tol=1e-10, random_state=0).fit(X, y)
        spent = time.process_time() - began
    primal = hinge.certify(other, X, y, max_iter=1).primal  # its objective, rounded up
    above = primal / model.certificate_.dual - 1.0
    theirs.append((spent, above))
    print(f"{iterations:10d} {spent:9.2f} {primal:16.8g} {100 * above:16.3g} %")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(*zip(*ours, strict=True), "o-", color="C0", linewidth=2, label="hinge: proven while it trains")
ax.plot(*zip(*theirs, strict=True), "s-", color="C1", label="scikit-learn's LinearSVC: found out afterwards")
ax.axhline(1e-3, color="grey", linewidth=0.8, linestyle=":")
ax.text(theirs[-1][0], 1.15e-3, "0.1 %", ha="right", va="bottom", color="grey", fontsize=9)
ax.set_xscale("log")
ax.set_yscale("log")
ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
ax.xaxis.set_major_formatter("{x:g}")
ax.xaxis.set_minor_formatter(NullFormatter())
ax.set_xlabel("CPU seconds")
ax.set_ylabel("distance from the optimum, relative\n(hinge: at most)")
ax.set_title(f"How far from the best model? {X.shape[0]:,} rows, {X.shape[1]} features, C = 1", fontsize=11)
ax.legend(frameon=False)
figure.savefig(PICTURE, dpi=130)
print(f"\nThe picture is {PICTURE.resolve()}")
