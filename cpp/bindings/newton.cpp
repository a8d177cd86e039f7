#include "hinge/newton.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_newton(nb::module_& m) {
  bind_solver<Newton, bool, std::int64_t>(m, "Newton",
                                          "The augmented Lagrangian with Newton steps at work: (problem, sampling, n_threads)");
  const auto of_shape = [](auto count) {
    return [count](const RowsHandle& handle) {
      return handle.visit([&](const auto& rows) {
        const auto m = static_cast<double>(rows.size());
        const double stored = rows.size() > 0 ? static_cast<double>(rows.total_stored()) / m : 0.0;
        return count(m, stored, static_cast<double>(rows.n_features()));
      });
    };
  };
  m.def("newton_passes", of_shape(&Curvature::expected_passes), nb::arg("rows"),
        "What Newton is expected to cost on these rows, in passes over them: counted, not timed.");
  m.def("newton_has_matrix", of_shape(&Curvature::gram_has_room), nb::arg("rows"),
        "Whether Newton has room for a matrix of the order of the features, or may need conjugate gradients.");
}

}  // namespace hinge::python
