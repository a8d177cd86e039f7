"""Linear support vector classification on a stream of rows, for scikit-learn."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from hinge import _core, checks
from hinge.certificate import Certificate, Certificates
from hinge.estimators.documented import Documented
from hinge.estimators.stream import Chunk, Settings, Stream
from hinge.problem import Floats, Intercept, as_rows, held_still
from hinge.problem.labels import predicted
from hinge.training.certify import certify
from hinge.training.foreign import LinearModel


class OnlineSVC(Documented, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear support vector classifier that learns from a stream, in one pass, with memory for the model only.

    By default there is nothing to tune: the steps down the hinge loss ``max(0, 1 - y_i (w.x_i + b))`` adapt to the
    scale of each feature and to how often it mattered, never go further than to a margin of 1, and the model is an
    average of the iterates that forgets the early ones. With `alpha` it is the online SVM of the notes instead: it
    minimises ``alpha/2 |w|^2 + mean of s_i max(0, 1 - y_i (w.x_i + b))`` by steps of size ``1 / (alpha t)``.

    Either way there is a model for each class against the rest, rows are taken in the order in which they come, and
    however a stream is cut into calls of :meth:`partial_fit`, the model has the same bits. A stream is no data set, so
    there is no optimum to be close to and no certificate. :meth:`certify` computes the certificate of the present model
    on rows that you hand over.

    Parameters
    ----------
    alpha : float or None, default=None
        None: adaptive steps, without regularisation. A number: the steps of the notes, with this regularisation, as in
        scikit-learn's SGDClassifier; the lambda of the papers. On m rows it is ``1 / (C m)``.
    batch_size : int, default=1
        With `alpha`: rows per step, whose gradients are averaged. A batch may begin in one call and end in another.
    projection : bool, default=True
        With `alpha`: after every step go back to where the optimum must lie: ``|w| <= 1/sqrt(alpha)`` (times the root
        of the mean weight), and a free b to ``|b| <= 1 + |w| max |x_i|``.
    average : bool, default=True
        Predict with an average of the iterates instead of the last one: with `alpha` of all of them, without of
        iterate t in proportion to t^4, so that the last fifth of the stream has two thirds of the weight.
    window : int or None, default=None
        Without `alpha`: the average forgets what is older than about so many rows, for streams that change.
    unit_norm : bool, default=False
        Scale every row to ``|x| = 1`` on the fly, in training, prediction and :meth:`certify`. Zero rows stay zero.
    fit_intercept : bool, default=True
        False: b = 0.
    intercept : {"free", "penalized"}, default="free"
        With `fit_intercept`: an unpenalised b, or, with `alpha`, the weight of a constant feature, for which the steps
        of the notes are made: choose it for short streams and large batches, where a free b has no time to settle.
    intercept_scaling : float, default=1.0
        The constant feature of a penalised intercept.
    class_weight : dict or None, default=None
        Factor of the weight per class. "balanced" is refused: it needs the labels of all rows before the first one.
    n_features : int or None, default=None
        Number of features; None: that of the first rows.
    max_iter : int, default=1
        Passes of :meth:`fit` over its rows. With one pass, `fit` is :meth:`partial_fit` on a new model.
    shuffle : bool, default=False
        Whether `fit` visits its rows in a new random order in every pass. Rows sorted by class want it.
    random_state : int, RandomState, Generator or None, default=0
        For `shuffle`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, n_features), float64, read-only
    intercept_ : ndarray of shape (1 or n_classes,), read-only
    t_ : int
        Steps so far.
    n_samples_seen_ : int
        Rows so far; those of weight zero do not count. Rows of an unfinished batch do.
    n_iter_ : int
        Passes of the last `fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Threads may share a model: those that feed it take turns, and predictions see it between two calls.

    References
    ----------
    Ross, Mineiro, Langford: Normalized online learning. UAI 2013.
    Karampatziakis, Langford: Online importance weight aware updates. UAI 2011.
    Bagnell: Notes on efficient online SVM implementation. 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hinge import OnlineSVC
    >>> X, y = load_breast_cancer(return_X_y=True)  # not scaled
    >>> model = OnlineSVC()
    >>> for rows in np.array_split(np.arange(len(y)), 10):
    ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> model.t_, bool(model.score(X, y) > 0.9)
    (569, True)
    >>> model.certify(X, y, C=1.0).dual > 0
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [None, Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, 2**60, closed="both")],
        "projection": ["boolean"],
        "average": ["boolean"],
        "window": [None, Interval(Integral, 2, 2**60, closed="both")],
        "unit_norm": ["boolean"],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [None, dict, str],
        "n_features": [None, Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    }
    # The list of classes is no metadata to be routed.
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"classes": True}

    _page: ClassVar[str] = "online.md"

    classes_: npt.NDArray[Any]
    n_iter_: int

    def __init__(
        self,
        *,
        alpha: float | None = None,
        batch_size: int = 1,
        projection: bool = True,
        average: bool = True,
        window: int | None = None,
        unit_norm: bool = False,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | None = None,
        n_features: int | None = None,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.alpha = alpha
        self.batch_size = batch_size
        self.projection = projection
        self.average = average
        self.window = window
        self.unit_norm = unit_norm
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.n_features = n_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the next rows of the stream, in their order.

        Rows that are refused change nothing. After Ctrl-C the rows before it count (see ``n_samples_seen_``), and
        KeyboardInterrupt is raised.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            C-contiguous arrays and CSR matrices of float32 or float64 are read in place; from call to call layout and
            type may change.
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All classes of the stream; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            s_i >= 0; a row of weight zero counts as absent.

        Returns
        -------
        self
        """
        with self._turn():
            first = not hasattr(self, "_stream")
            if first and classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            with self._next_rows(X, y, sample_weight, classes, first) as (stream, chunk):
                stream.take(chunk, chunk.kept)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn from X and y in `max_iter` passes; :meth:`partial_fit` may go on from there.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            s_i >= 0; a row of weight zero counts as absent.

        Returns
        -------
        self
        """
        with self._turn(), self._next_rows(X, y, sample_weight, None, True) as (stream, chunk):
            order, rng = _core.Order(0), _core.Rng([checks.seed(self.random_state)])
            self.n_iter_ = 0
            while self.n_iter_ < self.max_iter:
                stream.take(chunk, chunk.kept[order.of_all(chunk.kept.size, rng)] if self.shuffle else chunk.kept)
                self.n_iter_ += 1
        return self

    def decision_function(self, X: Any) -> Floats:
        """Signed score ``w.x + b`` of each sample, shape (n_samples,) or (n_samples, n_classes)."""
        check_is_fitted(self)
        X = self._validated(X)
        with held_still(X):
            scores = self._stream.scores(as_rows(X, self._names()))
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each sample."""
        scores = self.decision_function(X)
        return predicted(self.classes_, scores)

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, *, C: float | None = None, max_iter: int = 100
    ) -> Certificate | Certificates:
        """How far the present model is from the best one for these rows, provably.

        The problem is the one that the steps minimise, on these rows: ``1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i +
        b))`` with ``C_i = s_i / (alpha m)`` for m rows of positive weight s_i (class weight included), the objective
        above divided by alpha. Adaptive steps know no alpha: then `C` must be given. With `unit_norm` the rows are
        scaled to unit norm first, in a copy.

        This is :func:`hinge.certify`: the model's objective is the upper bound. The lower one takes passes of training
        over the rows, until its own error is at most a tenth of the gap: then the model's true distance from the
        optimum is at least 90 % of ``gap``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        C : float or None, default=None
            ``C_i = C s_i``, as in :class:`hinge.LinearSVC`; None: the problem of `alpha`.
        max_iter : int, default=100
            Largest number of passes for the lower bound, per class. Fewer passes can make the gap larger, never wrong.

        Returns
        -------
        Certificate, or Certificates in the order of ``classes_``
        """
        check_is_fitted(self)
        X, y = self._validated(X, y)
        return certify(self._linear(), self._to_certify(X), y, sample_weight, C=C, max_iter=max_iter)

    def as_linear(self) -> LinearModel:
        """What :func:`hinge.certify` certifies."""
        return self._linear()

    def _linear(self) -> LinearModel:
        check_is_fitted(self)
        settings, model = self._stream.settings, self._stream.model()
        return LinearModel(
            self.classes_,
            model.coef,
            model.intercept,
            loss="hinge",
            treatment=settings.intercept,
            alpha=settings.alpha,
            class_weight=settings.class_weight,
            unit_norm=settings.unit_norm,
        )

    @property
    def coef_(self) -> Floats:
        """Weights of the model."""
        return self._fitted("coef_").model().coef

    @property
    def intercept_(self) -> Floats:
        """Intercepts of the model."""
        return self._fitted("intercept_").model().intercept

    @property
    def t_(self) -> int:
        """Steps so far."""
        return self._fitted("t_").native.progress()[1]

    @property
    def n_samples_seen_(self) -> int:
        """Rows so far."""
        return self._fitted("n_samples_seen_").native.progress()[0]

    def _to_certify(self, X: Any) -> Any:
        """The rows that the weights belong to."""
        return X

    def _fitted(self, name: str) -> Stream:
        if not hasattr(self, "_stream"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before its first rows.")
        stream: Stream = self._stream
        return stream

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
        checks.sparse_structure(X)
        checks.unmasked("y", y)
        return validate_data(
            self, X, y, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False, reset=reset
        )

    def _names(self) -> Any:
        """Those of the columns, if the first rows had any."""
        return getattr(self, "feature_names_in_", None)

    def _turn(self) -> threading.Lock:
        """Threads that feed one model take turns."""
        lock: threading.Lock = self.__dict__.setdefault("_lock", threading.Lock())
        return lock

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_lock"}

    @contextmanager
    def _next_rows(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, first: bool
    ) -> Iterator[tuple[Stream, Chunk]]:
        """The stream and its next rows. Rows that are refused leave everything as it was."""
        before = dict(self.__dict__)
        with ExitStack() as holding:
            try:
                settings = self._settings()
                if not first:
                    self._stream.settings.expect(settings)
                X, y = self._validated(X, y, reset=first)
                holding.enter_context(held_still(X))
                chunk = self._chunk(X, y, sample_weight, classes, first, settings)
            except BaseException:
                self.__dict__ = before
                raise
            yield self._stream, chunk

    def _chunk(
        self, X: Any, y: npt.NDArray[Any], sample_weight: Any, classes: Any, first: bool, settings: Settings
    ) -> Chunk:
        """Check the rows; begin a stream if these are the first."""
        rows = as_rows(X, self._names())
        whole = first and classes is None
        if whole:  # later labels are compared with the classes; a few rows of many classes are no regression
            check_classification_targets(y)
        weight = checks.weights(sample_weight, X, all_zero=not whole)
        if first:
            self._begin(settings, y[weight > 0] if whole else classes, X.shape[1])
        elif classes is not None and not np.array_equal(self.classes_, unique_labels(classes)):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        chunk = Chunk.make(rows, self.classes_, y, weight, settings)
        if first:
            chunk.warn_of_huge_rows(settings.sensitive)
        if whole and self.batch_size > self.max_iter * chunk.kept.size:
            raise ValueError(
                f"batch_size={self.batch_size}, but fit has {chunk.kept.size} rows in {self.max_iter} passes: not "
                "one step would be made. Choose a smaller batch_size, or feed more rows through partial_fit."
            )
        return chunk

    def _begin(self, settings: Settings, labels: Any, n_features: int) -> None:
        """A new stream; `labels` are its classes, in any number and order."""
        if self.n_features not in (None, n_features):
            raise ValueError(
                f"X has {n_features} features, but {type(self).__name__} is expecting {self.n_features} features as "
                "input (its parameter n_features)."
            )
        if np.size(labels) == 0:
            raise ValueError(f"{type(self).__name__} needs at least 2 classes, got none.")
        self.classes_ = unique_labels(labels)
        if self.classes_.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, got one class only: {self.classes_.tolist()[0]!r}."
            )
        self._stream = self._new_stream(settings, 1 if self.classes_.size == 2 else self.classes_.size, n_features)

    def _new_stream(self, settings: Any, n_models: int, n_features: int) -> Stream:
        return Stream(settings, n_models, n_features)

    def _settings(self) -> Settings:
        return Settings(
            None if self.alpha is None else checks.positive("alpha", self.alpha),
            int(self.batch_size),
            bool(self.projection),
            bool(self.average),
            None if self.window is None else int(self.window),
            bool(self.unit_norm),
            Intercept.chosen(self.fit_intercept, self.intercept, self.intercept_scaling),
            self._weights_by_class(),
        )

    def _weights_by_class(self) -> dict[Any, float] | None:
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} is not supported: the weights would have to be known before the "
                "first row, and a stream shows its labels as it goes. Give a dict, for example from labels seen "
                "earlier with sklearn.utils.class_weight.compute_class_weight('balanced', classes=..., y=...)."
            )
        return None if self.class_weight is None else dict(self.class_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
