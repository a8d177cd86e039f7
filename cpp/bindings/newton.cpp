#include "hinge/newton.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_newton(nb::module_& m) {
  bind_solver<Newton, bool, std::int64_t>(m, "Newton",
                                          "The augmented Lagrangian with Newton steps at work: (problem, sampling, n_threads)");
}

}  // namespace hinge::python
