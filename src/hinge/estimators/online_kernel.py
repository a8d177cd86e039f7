"""Kernel support vector classification on a stream of rows, for scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from hinge import checks
from hinge.estimators.kernel_stream import KernelSettings, KernelStream
from hinge.estimators.online import OnlineSVC
from hinge.features import Fourier
from hinge.problem import Intercept, as_rows, held_still
from hinge.training.foreign import LinearModel


class OnlineKernelSVC(OnlineSVC):
    """Kernel support vector classifier that learns from a stream, in one pass, with memory for the model only.

    Every row is mapped to random Fourier features phi(x), which do not depend on the rows seen
    (:class:`hinge.features.Fourier`); on them ASSET takes one step for each row. It minimises ``alpha/2 |w|^2 + mean of
    s_i max(0, 1 - y_i (w.phi(x_i) + b))`` for each class against the rest. However a stream is cut into calls of
    :meth:`partial_fit`, the model has the same bits.

    Parameters
    ----------
    alpha : float, default=1e-4
        The regularisation, the lambda of the papers. On m rows it is ``1 / (C m)``.
    kernel : {"rbf", "laplacian"}, default="rbf"
    gamma : "auto" or float, default="auto"
        "auto" is 1 / n_features. ("scale" would need all rows before the first one.)
    n_components : int or None, default=None
        Number of features; None: 2048.
    frequencies : {"auto", "independent", "orthogonal", "structured"}, default="auto"
        How the features are drawn, see :class:`hinge.features.Fourier`. "auto": structured for rbf, which takes the
        least time, independent for laplacian.
    steps : {"asset", "asset-star"}, default="asset"
        "asset": step j has the size ``D_X / (D_G sqrt(j))``, with an intercept in [-B, B] if there is one, and the
        model is the average of the iterates of the last half to three quarters of the stream, weighted by their sizes.
        "asset-star": size ``1 / (alpha j)``, without an intercept, and the average of all iterates, unless `average` is
        False.
    fit_intercept : bool, default=True
        A free b. "asset-star" has none: set it to False.
    B : float or None, default=None
        The largest intercept of "asset"; None: ``1 + sqrt(2 / alpha)``, which holds the best b of every w in the ball
        ``|w| <= 1/sqrt(alpha)``.
    average : bool, default=True
        Of "asset-star": predict with the average of all iterates instead of the last one.
    class_weight : dict or None, default=None
        Factor of the weight per class. "balanced" is refused: it needs the labels of all rows before the first one.
    max_iter : int, default=1
        Passes of :meth:`fit` over its rows. With one pass, `fit` is :meth:`partial_fit` on a new model.
    shuffle : bool, default=False
        Whether `fit` visits its rows in a new random order in every pass. Rows sorted by class want it.
    random_state : int, RandomState or None, default=0
        For the features, and for `shuffle`.
    n_jobs : int or None, default=None
        Threads that map rows. They change no bit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, n_components), float64, read-only
        Weights of the features.
    intercept_ : ndarray of shape (1 or n_classes,), read-only
    t_, n_samples_seen_, n_iter_ : int
        As in :class:`hinge.OnlineSVC`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Features are computed and used in float32. :meth:`certify` brackets the optimum of the problem in their space.

    D_G needs no sample: at w = 0 the mean squared subgradient is ``E |phi(x)|^2 = 1``, and 2 with an intercept.

    References
    ----------
    Lee and Wright: ASSET: approximate stochastic subgradient estimation training for support vector machines. 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from hinge import OnlineKernelSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = OnlineKernelSVC(alpha=0.01, n_components=500)
    >>> for rows in np.array_split(np.arange(len(y)), 10):
    ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> model.t_, bool(model.score(X, y) > 0.93)
    (569, True)
    """

    _page: ClassVar[str] = "kernels.md"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "kernel": [str],
        "gamma": [str, Real],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "frequencies": [str],
        "steps": [str],
        "fit_intercept": ["boolean"],
        "B": [None, Interval(Real, 0, None, closed="neither")],
        "average": ["boolean"],
        "class_weight": [None, dict, str],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    # What OnlineSVC lets one choose, and ASSET has decided.
    batch_size: ClassVar[int] = 1  # type: ignore[misc]
    n_features: ClassVar[None] = None  # type: ignore[misc]

    _stream: KernelStream

    def __init__(
        self,
        *,
        alpha: float = 1e-4,
        kernel: str = "rbf",
        gamma: float | str = "auto",
        n_components: int | None = None,
        frequencies: str = "auto",
        steps: str = "asset",
        fit_intercept: bool = True,
        B: float | None = None,
        average: bool = True,
        class_weight: dict[Any, float] | None = None,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.frequencies = frequencies
        self.steps = steps
        self.fit_intercept = fit_intercept
        self.B = B
        self.average = average
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settings(self) -> KernelSettings:
        checks.choice("steps", self.steps, ("asset", "asset-star"))
        if self.steps == "asset-star" and self.fit_intercept:
            raise ValueError("steps='asset-star' has no intercept: set fit_intercept=False, or use steps='asset'.")
        if self.steps == "asset" and not self.average:
            raise ValueError("average=False is for steps='asset-star': the model of 'asset' is an average.")
        if self.gamma == "scale":
            raise ValueError(
                "gamma='scale' would need all rows before the first one, and a stream shows them as it goes: give a "
                "number, for example 1 / (n_features times the variance of rows seen earlier), or 'auto'."
            )
        return KernelSettings(
            alpha=checks.positive("alpha", self.alpha),
            batch_size=1,
            projection=True,
            average=bool(self.average),
            window=None,
            unit_norm=False,
            intercept=Intercept("free" if self.fit_intercept else "none"),
            class_weight=self._weights_by_class(),
            steps=self.steps,
            B=None if self.B is None else checks.positive("B", self.B),
            kernel=self.kernel,
            gamma=self.gamma,
            n_components=self.n_components,
            frequencies=self.frequencies,
        )

    def _new_stream(self, settings: KernelSettings, n_models: int, n_features: int) -> KernelStream:
        features = Fourier(
            self.kernel,
            gamma=self.gamma,
            n_components=self.n_components,
            frequencies=self.frequencies,
            random_state=self.random_state,
        ).fit_rows(np.zeros((1, n_features)), np.ones(1))
        return KernelStream(settings, n_models, features.map_, checks.threads(self.n_jobs))

    def _to_certify(self, X: Any) -> Any:
        with held_still(X):
            return self._stream.mapped(as_rows(X))

    def as_linear(self) -> LinearModel:
        """Refused: the model is linear in features of the rows."""
        raise TypeError(f"{type(self).__name__} is linear in features of the rows: call its own certify(X, y).")
