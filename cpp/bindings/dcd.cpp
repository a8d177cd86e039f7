#include "hinge/dcd.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_dcd(nb::module_& m) {
  bind_solver<Dcd, bool, bool, double, double, Order, Rng>(
      m, "Dcd", "Dual coordinate descent at work: (problem, shrinking, polish, eps, kappa, order, rng)");
}

}  // namespace hinge::python
