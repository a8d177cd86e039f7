#include "hinge/newton.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_newton(nb::module_& m) {
  bind_solver<Newton, bool, std::int64_t>(m, "Newton",
                                          "The augmented Lagrangian with Newton steps at work: (problem, sampling, n_threads)");
  m.def(
      "newton_passes",
      [](const RowsHandle& handle) {
        return handle.visit([](const auto& rows) {
          const auto m = static_cast<double>(rows.size());
          const double stored = rows.size() > 0 ? static_cast<double>(rows.total_stored()) / m : 0.0;
          return Curvature::expected_passes(m, stored, static_cast<double>(rows.n_features()));
        });
      },
      nb::arg("rows"), "What Newton is expected to cost on these rows, in passes over them: counted, not timed.");
}

}  // namespace hinge::python
