#include "handles.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // objects alive at exit, as in a traceback that the user still holds, are no leak
  m.doc() = "Native core of hinge: rows, problems, evaluation and solvers. Use the hinge package instead.";
  m.attr("compiler") = HINGE_COMPILER;
  hinge::python::bind_rows(m);
  hinge::python::bind_problem(m);
  hinge::python::bind_evaluate(m);
  hinge::python::bind_features(m);
  hinge::python::bind_solvers(m);
}
