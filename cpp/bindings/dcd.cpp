#include "hinge/dcd.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_dcd(nb::module_& m) {
  bind_run<Dcd>(m, "Dcd", "Dual coordinate descent at work.")
      .def(nb::init<const ProblemHandle&, const bool&, const bool&, const double&, const Order&, const Rng&>(),
           nb::keep_alive<1, 2>())
      .def("multipliers", [](Run<Dcd>& run) { return owned(std::vector<double>(run.solver().a)); })
      .def("estimate", [](Run<Dcd>& run) { return std::tuple(run.solver().dual + run.solver().gap, run.solver().dual); });
}

}  // namespace hinge::python
