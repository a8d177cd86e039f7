#include "hinge/svmsgd.hpp"

#include "hinge/sgdqn.hpp"
#include "run.hpp"

namespace hinge::python {

namespace {

template <class W>
void bind_svmsgd_in(nb::module_& m, const char* name) {
  bind_run<SvmSgd<W>>(m, name, "Bottou's SvmSgd at work.")
      .def(nb::init<const ProblemHandle&, const std::int64_t&, const Output&, const Order&, const Rng&>(),
           nb::keep_alive<1, 2>())
      .def("point", &Run<SvmSgd<W>>::point, "(w, multipliers)");
}

template <class W>
void bind_sgdqn_in(nb::module_& m, const char* name) {
  bind_run<SgdQn<W>>(m, name, "SGD-QN at work.")
      .def(nb::init<const ProblemHandle&, const Order&, const Rng&>(), nb::keep_alive<1, 2>())
      .def("point", &Run<SgdQn<W>>::point, "(w, multipliers)");
}

}  // namespace

void bind_svmsgd(nb::module_& m) {
  bind_svmsgd_in<double>(m, "SvmSgd");
  bind_svmsgd_in<float>(m, "SvmSgdSingle");
  bind_sgdqn_in<double>(m, "SgdQn");
  bind_sgdqn_in<float>(m, "SgdQnSingle");
}

}  // namespace hinge::python
