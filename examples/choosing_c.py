"""Choosing C: a certified model for each of many values, and the one that cross-validation likes best."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import hinge

PICTURE = Path(sys.argv[1] if len(sys.argv) > 1 else "choosing_c.png")
X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
Cs = np.logspace(-4, 2, 13)

path = hinge.path(X, y, Cs)
print(path)
model = hinge.LinearSVCCV(Cs).fit(X, y)
print(f"\nbest in cross-validation: C = {model.C_:g}, {model.scores_.mean(axis=0).max():.1%}")
print(model.certificate_)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.semilogx(model.Cs_, model.scores_.mean(axis=0), "o-")
left.fill_between(model.Cs_, model.scores_.min(axis=0), model.scores_.max(axis=0), alpha=0.2)
left.axvline(model.C_, color="grey", linestyle=":")
left.set(xlabel="C", ylabel="accuracy of the folds", title="LinearSVCCV")
right.semilogx(path.Cs, path.coefs)
right.axvline(model.C_, color="grey", linestyle=":")
right.set(xlabel="C", ylabel="weight of each feature", title="path")
figure.savefig(PICTURE, dpi=120)
print(f"\nThe picture is {PICTURE.resolve()}")
