"""A stream: rows come in chunks, as they are, and half-way every label changes. The picture shows who follows."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

import hinge

PICTURE = Path(sys.argv[1] if len(sys.argv) > 1 else "stream.png")
X, y = load_digits(return_X_y=True)  # pixels from 0 to 16, not scaled
random = np.random.default_rng(0)
order = np.concatenate([random.permutation(len(y)) for _ in range(4)])
chunks = np.array_split(order, 40)
models = {
    "OnlineSVC()": hinge.OnlineSVC(),
    "OnlineSVC(window=300)": hinge.OnlineSVC(window=300),
    "SGDClassifier()": SGDClassifier(random_state=0),
    "SGDClassifier(average=True)": SGDClassifier(random_state=0, average=True),
}

seen = {name: [] for name in models}
for number, rows in enumerate(chunks):
    labels = y[rows] if number < 20 else (y[rows] + 1) % 10
    for name, model in models.items():
        if number:  # tested on each chunk before it learns from it
            seen[name].append(model.score(X[rows], labels))
        model.partial_fit(X[rows], labels, classes=np.arange(10))

print(f"{'accuracy on the next chunk':28} {'before the change':>18} {'right after':>12} {'at the end':>11}")
for name, accuracy in seen.items():
    print(f"{name:28} {np.mean(accuracy[10:19]):18.1%} {np.mean(accuracy[19:24]):12.1%} {np.mean(accuracy[-5:]):11.1%}")

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, accuracy in seen.items():
    ax.plot(range(1, len(chunks)), accuracy, label=name, linewidth=2 if "OnlineSVC" in name else 1)
ax.axvline(20, color="grey", linestyle=":")
ax.text(19.7, 0.55, "every label changes", color="grey", ha="right")
ax.set(xlabel="chunk of 180 rows", ylabel="accuracy before learning from it", ylim=(0, 1))
ax.legend(frameon=False, loc="lower left")
figure.savefig(PICTURE, dpi=120)
print(f"\nThe picture is {PICTURE.resolve()}")
