#include "hinge/svmsgd.hpp"

#include "hinge/sgdqn.hpp"
#include "run.hpp"

namespace hinge::python {

namespace {

template <class Variant>
void bind_sgdqn(nb::module_& m, const char* name, const char* single) {
  bind_solver<SgdQn<double, Variant>, Order, Rng>(m, name, "SGD-QN at work: (problem, order, rng)");
  bind_solver<SgdQn<float, Variant>, Order, Rng>(m, single, "The same with weights in single precision.");
}

}  // namespace

void bind_svmsgd(nb::module_& m) {
  nb::enum_<Calibration>(m, "Calibration").value("sampled", Calibration::sampled).value("first", Calibration::first);
  bind_solver<SvmSgd<double>, std::int64_t, Calibration, Output, Order, Rng>(
      m, "SvmSgd", "Bottou's SvmSgd at work: (problem, sample_size, calibration, output, order, rng)");
  bind_solver<SvmSgd<float>, std::int64_t, Calibration, Output, Order, Rng>(m, "SvmSgdSingle",
                                                                            "The same with weights in single precision.");
  bind_sgdqn<Published>(m, "SgdQnPublished", "SgdQnPublishedSingle");
  bind_sgdqn<Erratum>(m, "SgdQnErratum", "SgdQnErratumSingle");
  bind_sgdqn<Sgd2>(m, "SgdQnSgd2", "SgdQnSgd2Single");
  bind_sgdqn<Mixed>(m, "SgdQnMixed", "SgdQnMixedSingle");
}

}  // namespace hinge::python
