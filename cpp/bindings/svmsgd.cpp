#include "hinge/svmsgd.hpp"

#include "hinge/sgdqn.hpp"
#include "run.hpp"

namespace hinge::python {

void bind_svmsgd(nb::module_& m) {
  bind_solver<SvmSgd<double>, std::int64_t, Output, Order, Rng>(
      m, "SvmSgd", "Bottou's SvmSgd at work: (problem, sample_size, output, order, rng)");
  bind_solver<SvmSgd<float>, std::int64_t, Output, Order, Rng>(m, "SvmSgdSingle", "The same with weights in single precision.");
  bind_solver<SgdQn<double>, Order, Rng>(m, "SgdQn", "SGD-QN at work: (problem, order, rng)");
  bind_solver<SgdQn<float>, Order, Rng>(m, "SgdQnSingle", "The same with weights in single precision.");
}

}  // namespace hinge::python
