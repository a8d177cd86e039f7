#include "hinge/mpu.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_mpu(nb::module_& m) {
  bind_run<Mpu>(m, "Mpu", "The margin perceptron with unlearning at work.")
      .def(nb::init<const ProblemHandle&, const std::int64_t&, const Order&, const Rng&>(), nb::keep_alive<1, 2>())
      .def("multipliers", [](Run<Mpu>& run) { return owned(run.solver().multipliers(run.problem())); })
      .def("estimate", [](Run<Mpu>& run) { return std::tuple(run.solver().dual + run.solver().gap, run.solver().dual); });
}

}  // namespace hinge::python
