#include "handles.hpp"

NB_MODULE(_core, m) {
  m.doc() = "Native core of hinge: rows, objective and solvers. Use the hinge package instead.";
  hinge::python::bind_rows(m);
  hinge::python::bind_objective(m);
  hinge::python::bind_solvers(m);
}
