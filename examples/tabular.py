"""A table with numbers and categories, in pandas: a pipeline, a grid search, the certificate of what it has chosen."""

from __future__ import annotations

import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import hinge

frame = load_breast_cancer(as_frame=True).frame
frame["size"] = pd.qcut(frame.pop("mean area"), 4, labels=["small", "medium", "large", "huge"])
y = frame.pop("target").map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(frame, y, random_state=0, stratify=y)

columns = make_column_transformer(
    (StandardScaler(), make_column_selector(dtype_include="number")),
    (OneHotEncoder(), make_column_selector(dtype_include="category")),
)
search = GridSearchCV(
    make_pipeline(columns, hinge.LinearSVC(class_weight="balanced")), {"linearsvc__C": [0.01, 0.1, 1.0, 10.0]}
).fit(X_train, y_train)

found = pd.DataFrame(search.cv_results_)[["param_linearsvc__C", "mean_test_score", "std_test_score"]]
print(found.rename(columns=lambda name: name.replace("param_linearsvc__", "")).to_string(index=False))
print(f"\nC = {search.best_params_['linearsvc__C']}: {search.best_estimator_[-1].certificate_}")
print(f"accuracy on unseen rows: {search.score(X_test, y_test):.1%}")

weights = pd.Series(search.best_estimator_[-1].coef_[0], index=columns.fit(X_train).get_feature_names_out())
print("\nthe heaviest weights (positive: malignant)")
print(weights.sort_values(key=abs, ascending=False).head(5).to_string(float_format="{:+.2f}".format))
