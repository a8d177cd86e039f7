#include "hinge/mpu.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_mpu(nb::module_& m) {
  bind_solver<Mpu<double>, std::int64_t, bool, double, Order, Rng>(
      m, "Mpu", "The margin perceptron with unlearning at work: (problem, N, refining, kappa, order, rng)");
  bind_solver<Mpu<float>, std::int64_t, bool, double, Order, Rng>(m, "MpuSingle", "The same with weights in single precision.");
}

}  // namespace hinge::python
