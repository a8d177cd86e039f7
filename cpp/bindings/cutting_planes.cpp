#include "hinge/cutting_plane.hpp"
#include "hinge/ocas.hpp"
#include "run.hpp"

namespace hinge::python {

namespace {

template <class Method>
auto bind_method(nb::module_& m, const char* name, const char* doc) {
  return bind_run<Method>(m, name, doc)
      .def("point", &Run<Method>::point, "(w, multipliers)")
      .def("estimate", [](Run<Method>& run) { return run.solver().estimate(); });
}

}  // namespace

void bind_cutting_planes(nb::module_& m) {
  bind_method<CuttingPlane>(m, "CuttingPlane", "The cutting-plane method at work.")
      .def(nb::init<const ProblemHandle&, const std::int64_t&>(), nb::keep_alive<1, 2>(), nb::arg("problem"),
           nb::arg("patience"));
  bind_method<Ocas>(m, "Ocas", "The optimised cutting-plane algorithm at work.")
      .def(nb::init<const ProblemHandle&, const double&, const std::int64_t&>(), nb::keep_alive<1, 2>(), nb::arg("problem"),
           nb::arg("mu"), nb::arg("patience"));
}

}  // namespace hinge::python
