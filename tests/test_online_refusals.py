"""What OnlineSVC refuses changes nothing."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from streams import CANCER, IS_BENIGN, same

from hinge import OnlineSVC


def attributes(model: OnlineSVC) -> dict[str, Any]:
    """All that a model consists of, but for the lock that threads take turns with."""
    return {name: value for name, value in vars(model).items() if name != "_lock"}


def refuse(model: OnlineSVC, message: str, *arguments: Any, **options: Any) -> None:
    before, state = copy.deepcopy(model), attributes(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*arguments, **options)
    assert attributes(model) == state
    if hasattr(model, "coef_"):
        assert same(model, before)
        assert same(model.partial_fit(CANCER[:5], IS_BENIGN[:5]), before.partial_fit(CANCER[:5], IS_BENIGN[:5]))


def spoiled(row: int, column: int, value: float) -> Any:
    X = CANCER[:50].copy()
    X[row, column] = value
    return X


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize(
    ("message", "X", "y", "options"),
    [
        (
            r"label 2 \(row 7\).*not among the classes.*first call",
            CANCER[:50],
            np.r_[IS_BENIGN[:7], 2, IS_BENIGN[8:50]],
            {},
        ),
        (r"label 'a' \(row 0\)", CANCER[:2], ["a", "b"], {}),
        (r"NaN \(row 3, column 4\)", spoiled(3, 4, np.nan), IS_BENIGN[:50], {}),
        (r"infinity \(row 49, column 0\)", spoiled(49, 0, np.inf), IS_BENIGN[:50], {}),
        (r"NaN \(row 3, column 4\)", sp.csr_array(spoiled(3, 4, np.nan)), IS_BENIGN[:50], {}),
        ("inconsistent numbers of samples", CANCER[:50], IS_BENIGN[:49], {}),
        ("row 2 has .*-1", CANCER[:4], IS_BENIGN[:4], {"sample_weight": [1, 1, -1, 1]}),
        ("sample_weight", CANCER[:4], IS_BENIGN[:4], {"sample_weight": np.ones(3)}),
        ("Row 1 is so large", spoiled(1, 1, 1e150), IS_BENIGN[:50], {}),
        ("Row 2 is so large", CANCER[:4], IS_BENIGN[:4], {"sample_weight": [1, 1, 1e305, 1]}),
        ("0 sample", CANCER[:0], IS_BENIGN[:0], {}),
        ("not among the classes", CANCER[:50], CANCER[:50, 0], {}),
    ],
)
def test_bad_rows_are_refused_and_change_nothing(begun: bool, message: str, X: Any, y: Any, options: Any) -> None:
    model = OnlineSVC()
    if begun:
        model.partial_fit(CANCER, IS_BENIGN, classes=[0, 1])
    refuse(model, message, X, y, classes=[0, 1], **options)


def test_number_of_features_is_fixed() -> None:
    model = OnlineSVC().fit(CANCER, IS_BENIGN)
    refuse(model, "X has 29 features, but OnlineSVC is expecting 30 features as input", CANCER[:, :29], IS_BENIGN)
    refuse(OnlineSVC(n_features=31), r"X has 30 features.*expecting 31.*n_features", CANCER, IS_BENIGN, classes=[0, 1])
    given = OnlineSVC(n_features=30).partial_fit(CANCER, IS_BENIGN, classes=[0, 1])
    assert given.n_features_in_ == 30
    with pytest.raises(ValueError, match="expecting 31"):
        OnlineSVC(n_features=31).fit(CANCER, IS_BENIGN)


def test_classes_are_needed_first_and_then_fixed() -> None:
    refuse(OnlineSVC(), "classes must be passed on the first call to partial_fit", CANCER, IS_BENIGN)
    refuse(OnlineSVC(), "at least 2 classes, got none", CANCER, IS_BENIGN, classes=[])
    refuse(OnlineSVC(), "at least 2 classes, got one class only: .*1", CANCER, np.ones(len(CANCER)), classes=[1])
    model = OnlineSVC().partial_fit(CANCER, IS_BENIGN, classes=[0, 1])
    refuse(model, "is not the same as on last call to partial_fit", CANCER, IS_BENIGN, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="one class"):
        OnlineSVC().fit(CANCER, IS_BENIGN, sample_weight=(IS_BENIGN == 1).astype(float))


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_balanced_is_refused_with_the_way_out(method: str) -> None:
    model = OnlineSVC(class_weight="balanced")
    options = {"classes": [0, 1]} if method == "partial_fit" else {}
    with pytest.raises(ValueError, match=r"'balanced' is not supported.*before the first row.*compute_class_weight"):
        getattr(model, method)(CANCER, IS_BENIGN, **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", 0.1),
        ("alpha", None),
        ("batch_size", 7),
        ("projection", False),
        ("average", False),
        ("unit_norm", True),
        ("intercept", "penalized"),
        ("class_weight", {0: 2.0}),
    ],
)
def test_parameters_are_fixed_while_a_stream_lasts(name: str, value: Any) -> None:
    model = OnlineSVC(alpha=1e-3).partial_fit(CANCER, IS_BENIGN, classes=[0, 1])
    before = getattr(model, name)
    model.set_params(**{name: value})
    refuse_changed = pytest.raises(ValueError, match=rf"{name} was .* when this stream began.*set it back")
    with refuse_changed:
        model.partial_fit(CANCER, IS_BENIGN)
    model.set_params(**{name: before}).partial_fit(CANCER, IS_BENIGN)
    assert model.n_samples_seen_ == 2 * len(CANCER)
    assert model.set_params(**{name: value}).fit(CANCER, IS_BENIGN).n_samples_seen_ == len(CANCER)


@pytest.mark.parametrize(
    "params",
    [
        {"alpha": 0},
        {"alpha": -1.0},
        {"alpha": "optimal"},
        {"alpha": 1e-200},
        {"alpha": np.inf},
        {"alpha": np.nan},
        {"batch_size": 0},
        {"batch_size": 2**70},
        {"batch_size": 1.5},
        {"batch_size": 2},
        {"window": 1},
        {"window": 10, "average": False},
        {"window": 10, "alpha": 0.1},
        {"average": 10},
        {"unit_norm": "l2"},
        {"n_features": 0},
        {"max_iter": 0},
        {"intercept": "exact"},
        {"intercept_scaling": 0},
        {"class_weight": [1, 2]},
        {"class_weight": {0: -1.0}},
        {"class_weight": {"zero": 2.0}},
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(params))):
        OnlineSVC(**params).fit(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match=next(iter(params))):
        OnlineSVC(**params).partial_fit(CANCER, IS_BENIGN, classes=[0, 1])


def test_fit_refuses_a_batch_that_would_never_be_full() -> None:
    with pytest.raises(ValueError, match=r"batch_size=1000.*569 rows in 1 passes.*partial_fit"):
        OnlineSVC(alpha=1e-3, batch_size=1000).fit(CANCER, IS_BENIGN)
    assert OnlineSVC(alpha=1e-3, batch_size=1000, max_iter=2).fit(CANCER, IS_BENIGN).t_ == 1
    assert OnlineSVC(alpha=1e-3, batch_size=1000).partial_fit(CANCER, IS_BENIGN, [0, 1]).t_ == 0


def test_failed_fit_keeps_the_model_of_the_last_one() -> None:
    model = OnlineSVC().fit(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(spoiled(0, 0, np.nan)[:, :20], IS_BENIGN[:50])
    assert same(model, OnlineSVC().fit(CANCER, IS_BENIGN))
    assert model.n_features_in_ == 30


def test_no_warnings_for_long_streams() -> None:
    """Many rows, tiny and huge alpha: numbers stay finite."""
    for alpha in (1e-12, 1.0, 1e6):
        model = OnlineSVC(alpha=alpha, max_iter=20, batch_size=2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "The rows are huge", ConvergenceWarning)
            model.fit(CANCER, IS_BENIGN)
        assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()


@pytest.mark.parametrize("params", [{}, {"average": False}, {"window": 5}])
def test_adaptive_steps_stay_finite_on_features_of_any_size(params: dict[str, Any]) -> None:
    X = CANCER * 10.0 ** np.linspace(-300, 140, 30)
    model = OnlineSVC(**params).fit(X, IS_BENIGN)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.decision_function(X)).all()
    assert model.score(X, IS_BENIGN) > 0.9


def test_rows_that_are_huge_against_alpha_are_warned_of() -> None:
    with pytest.warns(ConvergenceWarning, match=r"huge against alpha=0.0001.*Leave out alpha") as caught:
        OnlineSVC(alpha=1e-4).fit(1000.0 * CANCER, IS_BENIGN)
    assert caught[0].filename == __file__, "the warning must name the line of the user"
    OnlineSVC(alpha=1e-4, unit_norm=True).fit(1000.0 * CANCER, IS_BENIGN)  # warnings are errors here


def test_options_of_the_other_kind_of_steps_are_refused() -> None:
    for params, words in (
        ({"batch_size": 7}, "batch_size=7 needs alpha"),
        ({"intercept": "penalized"}, "needs alpha"),
        ({"window": 9, "alpha": 0.1}, "window=9.*leave out alpha"),
        ({"window": 9, "average": False}, "window=9"),
    ):
        with pytest.raises(ValueError, match=words):
            OnlineSVC(**params).fit(CANCER, IS_BENIGN)
    with pytest.raises(ValueError, match="needs C"):
        OnlineSVC().fit(CANCER, IS_BENIGN).certify(CANCER, IS_BENIGN)
