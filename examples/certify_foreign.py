"""How good is the model that you already have? The certificate of models that other libraries have trained."""

from __future__ import annotations

import warnings

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import hinge

X, y = make_classification(20_000, 50, n_informative=15, n_redundant=20, flip_y=0.05, random_state=0)
C = 1.0
alpha = 1.0 / (C * len(y))  # the same problem in SGDClassifier's units

MODELS = {
    "LinearSVC(loss='hinge')": LinearSVC(loss="hinge", C=C, random_state=0),
    "LinearSVC(), squared hinge": LinearSVC(C=C, random_state=0),
    "SGDClassifier(alpha)": SGDClassifier(alpha=alpha, random_state=0),
    "SGDClassifier(alpha, average=True)": SGDClassifier(alpha=alpha, average=True, random_state=0),
    "LogisticRegression(), as an SVM": LogisticRegression(),
    "hinge.OnlineSVC(), one pass": hinge.OnlineSVC(),
    "hinge.LinearSVC()": hinge.LinearSVC(C=C),
}

print(f"{'model':36} {'optimum at least':>17} {'objective':>12} {'above the optimum':>18}")
for name, model in MODELS.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some do not converge
        pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    certificate = hinge.certify(pipeline, X, y, C=C)
    print(f"{name:36} {certificate.dual:17.6g} {certificate.primal:12.6g} {100 * certificate.relative_gap:16.2g} %")
