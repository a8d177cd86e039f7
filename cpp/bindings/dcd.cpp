#include "hinge/dcd.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_dcd(nb::module_& m) {
  bind_solver<Dcd, bool, bool, double, double, std::int64_t, Order, Rng, std::int64_t>(
      m, "Dcd", "Dual coordinate descent at work: (problem, shrinking, polish, eps, kappa, batch, order, rng, n_threads)");
  m.def(
      "largest_batch",
      [](const RowsHandle& handle) {
        const WithoutGil released;
        return handle.visit([](const auto& rows) { return Batches::largest(rows); });
      },
      nb::arg("rows"),
      "Of how many rows a batch of dual coordinate descent consists if it is to share these rows among threads, and not to "
      "overshoot.");
}

}  // namespace hinge::python
