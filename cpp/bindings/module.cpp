#include "handles.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // objects alive at exit, as in a traceback that the user still holds, are no leak
  m.doc() = "Native core of hinge: rows, objective and solvers. Use the hinge package instead.";
  hinge::python::bind_rows(m);
  hinge::python::bind_objective(m);
  hinge::python::bind_solvers(m);
}
