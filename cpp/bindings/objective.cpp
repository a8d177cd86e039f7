#include "hinge/objective.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "handles.hpp"
#include "hinge/sgd.hpp"

namespace hinge::python {

namespace {

using Evaluated = std::optional<std::tuple<double, double, double>>;

/// (P rounded up, rounding, b) at w and b, the best b if none is given, or None when stopped.
Evaluated evaluate_primal(const ProblemHandle& handle, const Vector<double>& w, Poll& poll, std::optional<double> b) {
  if (b && *b != 0.0 && !handle.problem().free_intercept) throw nb::value_error("only a free intercept can be given");
  expect_length("w", w.shape(0), handle.rows().n_features() + 1);
  nb::gil_scoped_release release;
  return handle.rows().visit([&](const auto& rows) -> Evaluated {
    std::vector<double> z(static_cast<std::size_t>(rows.size()));
    if (!decisions(rows, view(w), z, poll)) return std::nullopt;
    const Primal result = b ? primal_at(rows, handle.problem(), view(w), z, *b) : primal(rows, handle.problem(), view(w), z);
    return std::tuple(result.value, result.rounding, result.b);
  });
}

/// (D rounded down, rounding, a made feasible, w(a)), or None when stopped.
std::optional<std::tuple<double, double, Owned<double>, Owned<double>>> evaluate_dual(const ProblemHandle& handle,
                                                                                      const Vector<double>& multipliers,
                                                                                      Poll& poll) {
  const Problem& problem = handle.problem();
  expect_length("the multipliers", multipliers.shape(0), problem.size());
  std::vector<double> a(view(multipliers).begin(), view(multipliers).end());
  std::vector<double> w(static_cast<std::size_t>(handle.rows().n_features()) + 1);
  Dual result{};
  bool finished = false;
  {
    nb::gil_scoped_release release;
    finished = handle.rows().visit([&](const auto& rows) { return dual(rows, problem, a, w, result, poll); });
  }
  if (!finished) return std::nullopt;
  return std::tuple(result.value, result.rounding, owned(std::move(a)), owned(std::move(w)));
}

double intercept_of(const Vector<double>& z, const Vector<std::int8_t>& y, const Vector<double>& cost) {
  expect_length("y", y.shape(0), static_cast<std::int64_t>(z.shape(0)));
  expect_length("cost", cost.shape(0), static_cast<std::int64_t>(z.shape(0)));
  if (z.shape(0) == 0) throw nb::value_error("no rows");
  std::vector<Breakpoint> points;
  double positive = 0.0;
  for (std::size_t i = 0; i < z.shape(0); ++i) {
    points.push_back({y.data()[i] - z.data()[i], cost.data()[i]});
    if (y.data()[i] > 0) positive += cost.data()[i];
  }
  return best_intercept(points, positive);
}

}  // namespace

void bind_objective(nb::module_& m) {
  m.def("primal", &evaluate_primal, nb::arg("problem"), nb::arg("w"), nb::arg("poll"), nb::arg("b") = nb::none(),
        "(P rounded up, what it was raised by, b), or None when stopped. A free b is the best one unless given.");
  m.def("dual", &evaluate_dual, nb::arg("problem"), nb::arg("multipliers"), nb::arg("poll"),
        "(D rounded down, what it was lowered by, feasible multipliers, w(a)), or None when stopped.");
  m.def("best_intercept", &intercept_of, nb::arg("z"), nb::arg("y"), nb::arg("cost"),
        "The minimiser over b of sum_i c_i max(0, 1 - y_i (z_i + b)).");
  m.def("margin_errors", &margin_errors, nb::arg("P"), nb::arg("lambda_"), nb::arg("q"), nb::arg("l"),
        "Proposition 3: margin errors in l presentations of one row.");
}

}  // namespace hinge::python
