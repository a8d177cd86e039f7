#include "hinge/newton.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_newton(nb::module_& m) {
  bind_solver<Newton, bool, std::int64_t>(m, "Newton",
                                          "The augmented Lagrangian with Newton steps at work: (problem, sampling, n_threads)");
  const auto of_shape = [](auto count) {
    return [count](const RowsHandle& handle) {
      return handle.visit([&](const auto& rows) {
        const std::int64_t m = rows.size();
        return count(m, m > 0 ? static_cast<double>(rows.total_stored()) / static_cast<double>(m) : 0.0, rows.n_features());
      });
    };
  };
  m.def("newton_passes", of_shape(&Newton::expected_passes), nb::arg("rows"),
        "What Newton is expected to cost on these rows, in passes over them: counted, not timed.");
  m.def("newton_has_matrix", of_shape(&Curvature::gram_has_room), nb::arg("rows"),
        "Whether Newton has room for a matrix of the order of the features, or may need conjugate gradients.");
  m.def("newton_samples", of_shape([](std::int64_t m, double, std::int64_t n) { return Newton::samples(m, n); }),
        nb::arg("rows"), "Whether there are so many rows for each feature that Newton begins on a sample of them.");
}

}  // namespace hinge::python
