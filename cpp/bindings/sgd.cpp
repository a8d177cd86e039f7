#include "hinge/sgd.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_sgd(nb::module_& m) {
  nb::enum_<Presentation>(m, "Presentation")
      .value("random", Presentation::random)
      .value("single", Presentation::single)
      .value("multiple", Presentation::multiple);
  bind_run<Sgd>(m, "Sgd", "SGD-r, SGD-s or SGD-m at work.")
      .def(nb::init<const ProblemHandle&, const Presentation&, const Order&, const Rng&>(), nb::keep_alive<1, 2>())
      .def("point", &Run<Sgd>::point, "(w, multipliers)")
      .def("estimate", [](Run<Sgd>& run) {
        return std::tuple(run.solver().primal_estimate(run.problem()), run.solver().dual_estimate(run.problem()));
      });
}

}  // namespace hinge::python
