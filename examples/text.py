"""Text: which module of the standard library is a line from? Sparse rows, several classes, a table of proofs."""

from __future__ import annotations

import _pydecimal
import argparse
import inspect
import json.decoder
import tarfile

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import hinge

MODULES = (argparse, inspect, json.decoder, tarfile, _pydecimal)

lines, names = [], []
for module in MODULES:
    code = [line.strip() for line in inspect.getsource(module).splitlines() if len(line.split()) >= 3]
    lines += code
    names += [module.__name__] * len(code)

train, test, y_train, y_test = train_test_split(lines, names, test_size=0.3, random_state=0, stratify=names)
pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), hinge.LinearSVC(class_weight="balanced"))
pipeline.fit(train, y_train)
model = pipeline[-1]

print(f"{len(train):,} lines, {model.n_features_in_:,} words and pairs of words, {len(model.classes_)} modules\n")
print(model.certificate_)
print(f"\nall within {100 * model.certificate_.relative_gap:.2g} % of the optimum, {model.status_}")
print(f"accuracy on {len(test):,} other lines: {pipeline.score(test, y_test):.1%}")
