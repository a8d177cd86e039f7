#include "hinge/evaluate.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "handles.hpp"
#include "hinge/sgd.hpp"

namespace hinge::python {

namespace {

using Evaluated = std::optional<std::tuple<double, double, double>>;

/// (P rounded up, rounding, b) at w and b, the best b if none is given, or None when stopped.
Evaluated evaluate_primal(const ProblemHandle& handle, const Vector<double>& w, std::optional<double> b, Poll& poll,
                          std::int64_t n_threads) {
  if (b && *b != 0.0 && !handle.problem().free_intercept) throw nb::value_error("only a free intercept can be given");
  expect_length("w", w.shape(0), handle.rows().n_features() + 1);
  const WithoutGil released;
  return handle.rows().visit([&](const auto& rows) -> Evaluated {
    Primal result{};
    if (!primal(rows, handle.problem(), view(w), b ? &*b : nullptr, result, poll, n_threads)) return std::nullopt;
    return std::tuple(result.value, result.rounding, result.b);
  });
}

using EvaluatedDual = std::tuple<double, double, Owned<double>, Owned<double>>;

/// D, and where it was taken: feasible multipliers, and w(a).
struct LowerSide {
  std::vector<double> a;
  std::vector<double> w;
  Dual bound{};

  explicit LowerSide(const ProblemHandle& handle) : w(static_cast<std::size_t>(handle.rows().n_features()) + 1) {}
  EvaluatedDual evaluated() { return {bound.value, bound.rounding, owned(std::move(a)), owned(std::move(w))}; }
};

/// (D rounded down, rounding, a made feasible, w(a)), or None when stopped.
std::optional<EvaluatedDual> evaluate_dual(const ProblemHandle& handle, const Vector<double>& multipliers, Poll& poll,
                                           std::int64_t n_threads) {
  expect_length("the multipliers", multipliers.shape(0), handle.problem().size());
  LowerSide at(handle);
  at.a.assign(view(multipliers).begin(), view(multipliers).end());
  bool finished = false;
  {
    const WithoutGil released;
    finished = handle.rows().visit(
        [&](const auto& rows) { return dual(rows, handle.problem(), at.a, at.w, at.bound, poll, n_threads); });
  }
  if (!finished) return std::nullopt;
  return at.evaluated();
}

/// What `evaluate_primal` says of w and its best b, and `evaluate_dual` of the multipliers, or None when stopped.
std::optional<std::tuple<Evaluated::value_type, EvaluatedDual>> evaluate_both(const ProblemHandle& handle,
                                                                              const Vector<double>& w,
                                                                              const Vector<double>& multipliers, Poll& poll,
                                                                              std::int64_t n_threads) {
  expect_length("w", w.shape(0), handle.rows().n_features() + 1);
  expect_length("the multipliers", multipliers.shape(0), handle.problem().size());
  LowerSide at(handle);
  Primal upper{};
  bool finished = false;
  {
    const WithoutGil released;
    finished = handle.rows().visit([&](const auto& rows) {
      return both_sides(rows, handle.problem(), view(w), upper, view(multipliers), at.a, at.w, at.bound, poll, n_threads);
    });
  }
  if (!finished) return std::nullopt;
  return std::tuple(std::tuple(upper.value, upper.rounding, upper.b), at.evaluated());
}

double intercept_of(const Vector<double>& z, const Vector<double>& target, const Vector<double>& cost, Loss::Kind loss) {
  expect_length("target", target.shape(0), static_cast<std::int64_t>(z.shape(0)));
  expect_length("cost", cost.shape(0), static_cast<std::int64_t>(z.shape(0)));
  if (z.shape(0) == 0) throw nb::value_error("no rows");
  Poll poll(std::make_shared<StopToken>());
  double b = 0.0;
  best_intercept(Problem(view(target), Costs(view(cost)), loss, true), view(z), 1, poll, b);
  return b;
}

}  // namespace

void bind_evaluate(nb::module_& m) {
  m.def("primal", &evaluate_primal, nb::arg("problem"), nb::arg("w"), nb::arg("b").none(), nb::arg("poll"),
        nb::arg("n_threads") = 1,
        "(P rounded up, what it was raised by, b), or None when stopped. A free b is the best one unless given.");
  m.def("dual", &evaluate_dual, nb::arg("problem"), nb::arg("multipliers"), nb::arg("poll"), nb::arg("n_threads") = 1,
        "(D rounded down, what it was lowered by, feasible multipliers, w(a)), or None when stopped.");
  m.def("both_sides", &evaluate_both, nb::arg("problem"), nb::arg("w"), nb::arg("multipliers"), nb::arg("poll"),
        nb::arg("n_threads") = 1,
        "What `primal` says of w and its best b, and `dual` of the multipliers, in one pass over the rows, or None when "
        "stopped.");
  m.def("best_intercept", &intercept_of, nb::arg("z"), nb::arg("target"), nb::arg("cost"), nb::arg("loss"),
        "The minimiser over b of sum_i C_i loss(1 - t_i (z_i + b)).");
  m.def("margin_errors", &margin_errors, nb::arg("P"), nb::arg("lambda_"), nb::arg("q"), nb::arg("l"),
        "Proposition 3: margin errors in l presentations of one row.");
}

}  // namespace hinge::python
