#include "hinge/cutting_plane.hpp"
#include "hinge/ocas.hpp"
#include "run.hpp"

namespace hinge::python {

void bind_cutting_planes(nb::module_& m) {
  bind_solver<CuttingPlane, std::int64_t, std::int64_t>(m, "CuttingPlane",
                                                        "The cutting-plane method at work: (problem, patience, n_threads)");
  bind_solver<Ocas, double, std::int64_t, std::int64_t>(
      m, "Ocas", "The optimised cutting-plane algorithm at work: (problem, mu, patience, n_threads)");
}

}  // namespace hinge::python
