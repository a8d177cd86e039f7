#include "hinge/sgd.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_sgd(nb::module_& m) {
  nb::enum_<Presentation>(m, "Presentation")
      .value("random", Presentation::random)
      .value("single", Presentation::single)
      .value("multiple", Presentation::multiple);
  bind_solver<Sgd<double>, Presentation, Order, Rng>(m, "Sgd",
                                                     "SGD-r, SGD-s or SGD-m at work: (problem, presentation, order, rng)");
  bind_solver<Sgd<float>, Presentation, Order, Rng>(m, "SgdSingle", "The same with weights in single precision.");
}

}  // namespace hinge::python
