"""Bad options get a clear Python error that names the option and says what to do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from refusals import BOTH, X, fit, refused, y
from registry import SOLVERS, without

from hinge import (
    DCD,
    MPU,
    OCAS,
    SGDQN,
    Asset,
    AssetStar,
    BestOf,
    Blocks,
    CuttingPlane,
    LinearSVC,
    Norma,
    Online,
    Pegasos,
    Problem,
    Run,
    SGDm,
    SGDr,
    SGDs,
    SvmSGD,
    Traits,
    Zhang,
    solve,
)
from hinge.solvers import Setup


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("name", ["C", "tol"])
@pytest.mark.parametrize("value", [0, 0.0, -1.0, np.nan, np.inf, "1", None])
def test_bad_numbers_are_refused_by_name(train, name, value) -> None:
    with refused(name):
        train(X, y, **{name: value})


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize(
    ("name", "value"),
    [*(("max_iter", value) for value in (0, -1, 2.5)), *(("time_limit", value) for value in (0.0, np.nan, -1))],
)
def test_bad_limits_are_refused_by_name(train, name, value) -> None:
    with refused(name):
        train(X, y, **{name: value})


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("seconds", [np.inf, 1e10, 1e300])
def test_time_limit_beyond_reach_is_no_limit(train, seconds) -> None:
    result = train(X, y, time_limit=seconds)
    status = result.status if train is solve else result.status_
    assert status == "converged", f"time_limit={seconds} ended the run with {status!r}"


@pytest.mark.parametrize("train", BOTH)
def test_unknown_solver_is_refused_with_the_names(train) -> None:
    with refused("'sgd'", *sorted(["auto", *SOLVERS])):
        train(X, y, solver="sgd")


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("solver", [None, 5, Pegasos, object()])
def test_what_is_no_solver_is_refused_with_advice(train, solver) -> None:
    with pytest.raises((TypeError, ValueError), match=r"(?i)solver"):
        train(X, y, solver=solver)


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("order", ["sorted", 5, Blocks])
def test_unknown_order_is_refused_with_advice(train, order) -> None:
    with pytest.raises((TypeError, ValueError), match=r"(?is)order.*(permutation|Blocks)"):
        train(X, y, order=order)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pegasos(k=0),
        lambda: Pegasos(k=-3),
        lambda: Pegasos(k=1.5),
        lambda: Pegasos(sampling="sorted"),
        lambda: Pegasos(start_at="one"),
        lambda: Pegasos(output="first"),
        lambda: Pegasos(bias="median"),
        lambda: DCD(eps=0.0),
        lambda: DCD(lanes=0),
        lambda: DCD(lanes=3),
        lambda: DCD(lanes=2.0),
        lambda: DCD(lanes="two"),
        lambda: MPU(delta=0.0),
        lambda: MPU(delta=np.nan),
        lambda: SGDs(f=0.0),
        lambda: SGDs(f=np.nan),
        lambda: SGDm(f=-1.0),
        lambda: Norma(sampling="sorted"),
        lambda: Norma(output="random"),
        lambda: Norma(horizon=0),
        lambda: Norma(horizon=1e6),
        lambda: Zhang(output="first"),
        lambda: Zhang(eta=0.0),
        lambda: Zhang(eta=-0.1),
        lambda: Zhang(eta=np.inf),
        lambda: Zhang(eta=np.nan),
        lambda: Zhang(eta="0.1"),
        lambda: Asset(B=0.0),
        lambda: Asset(B=np.inf),
        lambda: Asset(sample_size=0),
        lambda: Asset(average_last=0),
        lambda: AssetStar(average_last=2.0),
        lambda: AssetStar(sampling="all"),
        lambda: SvmSGD(sample_size=0),
        lambda: SvmSGD(sample_size=10.0),
        lambda: SvmSGD(output="random"),
        lambda: SvmSGD(precision="half"),
        lambda: SGDQN(precision=32),
        lambda: CuttingPlane(keep_unused=0),
        lambda: CuttingPlane(keep_unused=2.5),
        lambda: OCAS(keep_unused=-1),
        lambda: OCAS(mu=0.0),
        lambda: OCAS(mu=1.1),
        lambda: OCAS(mu=np.nan),
        lambda: BestOf(runs=0),
        lambda: BestOf.with_confidence(Pegasos(), delta=1.5),
        lambda: Blocks(rows=0),
        lambda: Blocks(group=0),
    ],
)
def test_bad_solver_options_are_refused_when_made(make) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        make()


def test_exact_intercept_of_one_row_is_refused() -> None:
    with refused("bias='exact'", "k=1", "Choose a large k"):
        Pegasos(bias="exact")
    with refused("unit_norm=True", "Scale X itself"):
        Online(unit_norm=True)


@pytest.mark.parametrize("integer", [np.int8, np.uint8, np.int32, np.int64])
def test_numpy_integers_are_integers(integer) -> None:
    assert Pegasos(k=integer(3)).k == 3
    assert BestOf(runs=integer(2)).runs == 2
    assert Norma(horizon=integer(100)).horizon == 100
    assert SvmSGD(sample_size=integer(5)).sample_size == 5
    assert solve(X, y, max_iter=integer(100), C=integer(1)).n_iter <= 100
    assert solve(X, y, solver=Pegasos(k=integer(3)), max_iter=integer(100), tol=0.9, C=0.01).n_iter <= 100
    assert LinearSVC(max_iter=integer(100), n_jobs=integer(1), random_state=integer(3)).fit(X, y).n_iter_ <= 100


@pytest.mark.parametrize("solver", [*SOLVERS, DCD(), BestOf()])
def test_unknown_solver_option_is_refused_with_the_known_ones(solver) -> None:
    with refused("no option 'kk'"):
        LinearSVC(solver=solver).set_params(solver__kk=3)


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("n_jobs", ["two", 1.5, [2]])
def test_bad_number_of_threads_is_refused(train, n_jobs) -> None:
    with refused("n_jobs"):
        train(X, y, n_jobs=n_jobs)


def test_solver_of_the_user_has_no_options_to_set() -> None:
    class Mine:
        traits = Traits()

        def start(self, problem: Problem, setup: Setup) -> Run:
            raise NotImplementedError

    with refused("Mine has no options to set"):
        LinearSVC(solver=Mine()).set_params(solver__k=3)


def test_mistyped_option_of_a_solver_is_named_with_the_right_one() -> None:
    with pytest.raises(TypeError, match=r"DCD has no option 'shrinkng'; it has .*Did you mean 'shrinking'\?"):
        DCD(shrinkng=False)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"DCD has no option 'shrinkng'; it has .*Did you mean 'shrinking'\?"):
        LinearSVC(solver="dcd").set_params(solver__shrinkng=False)
    assert pickle.loads(pickle.dumps(DCD(False))) == DCD(False)


def test_unknown_parameter_is_refused() -> None:
    with refused("Invalid parameter 'gamma'"):
        LinearSVC().set_params(gamma=1)
    with pytest.raises(TypeError, match="gamma"):
        solve(X, y, gamma=1)


@pytest.mark.parametrize("train", BOTH)
def test_more_rows_a_step_than_rows_are_refused(train) -> None:
    with refused("k=61", "60 rows", "k <= 60"):
        train(X, y, solver=Pegasos(k=61))


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("factor", [1.0, 1.5, 1e6])
def test_constant_step_that_would_turn_w_around_is_refused(factor, C) -> None:
    with refused("eta", "too large", "Choose eta below"):
        solve(X, y, C=C, solver=Zhang(eta=factor * 60 * C * (1 + 1e-12)), intercept="none")


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("solver", without(intercept="free"))
def test_unsupported_intercept_is_refused_with_the_fix(train, solver) -> None:
    with refused("does not support intercept='free'", "intercept='penalized'", "fit_intercept=False", "'dcd'"):
        train(X, y, solver=solver, intercept="free")


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("solver", without(loss="squared_hinge"))
def test_unsupported_loss_is_refused_with_the_fix(train, solver) -> None:
    with refused(
        repr(solver), "does not support loss='squared_hinge'", "only ('hinge',)", "Use a solver", "'auto', 'dcd'"
    ):
        train(X, y, solver=solver, loss="squared_hinge", intercept="penalized")


@pytest.mark.parametrize("train", BOTH)
@pytest.mark.parametrize("loss", ["log", "Hinge", "l2", None, 1, ["hinge"], np.str_("hinges")])
def test_unknown_loss_is_refused_with_the_names(train, loss) -> None:
    with pytest.raises(ValueError, match=r"(?s)loss.*(hinge.*squared_hinge|str)"):
        train(X, y, loss=loss)


@pytest.mark.parametrize(
    "solver", [*(name for name, solver in SOLVERS.items() if solver.traits.order is None), SGDr(), Pegasos(k=5)]
)
def test_order_is_refused_by_solvers_that_have_none(solver) -> None:
    with refused("takes no order", "order=None"):
        solve(X, y, solver=solver, order="blocks", intercept="none")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("penalty", "l1"),
        ("loss", "log_loss"),
        ("multi_class", "crammer_singer"),
        ("intercept", "none"),
        ("intercept", "exact"),
        ("penalty", None),
    ],
)
def test_values_of_sklearn_that_mean_another_problem_are_refused_with_a_reason(name, value) -> None:
    with refused(name, repr(value)):
        fit(X, y, **{name: value})


def test_unknown_intercept_is_refused_by_solve() -> None:
    with refused("intercept", "'none', 'free' or 'penalized'"):
        solve(X, y, intercept="exact")


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, 1e200])
def test_bad_intercept_scaling_is_refused(scale) -> None:
    with pytest.raises(ValueError, match=r"intercept|constant feature|overflow"):
        solve(X, y, intercept="penalized", intercept_scaling=scale)
