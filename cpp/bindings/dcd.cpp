#include "hinge/dcd.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_dcd(nb::module_& m) {
  bind_solver<Dcd, bool, bool, double, double, std::int64_t, Order, Rng, std::int64_t>(
      m, "Dcd", "Dual coordinate descent at work: (problem, shrinking, polish, eps, kappa, block, order, rng, n_threads)");
  const auto of_lanes = [&](const char* name, auto&& answer, const char* doc) {
    m.def(
        name,
        [answer](const RowsHandle& handle) {
          const WithoutGil released;
          return handle.visit(answer);
        },
        nb::arg("rows"), doc);
  };
  of_lanes(
      "lane_block", [](const auto& rows) { return Lanes::block_for(rows); },
      "Of how many rows a lane of dual coordinate descent should consist: a round has two lanes.");
  of_lanes(
      "lanes_pay", [](const auto& rows) { return Lanes::pay(rows); },
      "Whether two lanes are worth it on these rows: two threads gain more than one thread loses.");
}

}  // namespace hinge::python
