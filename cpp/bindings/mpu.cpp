#include "hinge/mpu.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_mpu(nb::module_& m) {
  bind_solver<Mpu, std::int64_t, double, Order, Rng>(
      m, "Mpu", "The margin perceptron with unlearning at work: (problem, N, kappa, order, rng)");
}

}  // namespace hinge::python
