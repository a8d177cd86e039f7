#include "run.hpp"

namespace hinge::python {

void bind_asset(nb::module_& m);
void bind_gradient(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_sgd(nb::module_& m);
void bind_svmsgd(nb::module_& m);
void bind_dcd(nb::module_& m);
void bind_mpu(nb::module_& m);
void bind_newton(nb::module_& m);
void bind_online(nb::module_& m);
void bind_adaptive(nb::module_& m);
void bind_pegasos(nb::module_& m);
void bind_cutting_planes(nb::module_& m);

void bind_solvers(nb::module_& m) {
  nb::class_<Rng>(m, "Rng", "xoshiro256++ keyed by a list of integers.")
      .def("__init__",
           [](Rng* self, const std::vector<std::uint64_t>& key) { new (self) Rng(std::span<const std::uint64_t>(key)); })
      .def("next", &Rng::next)
      .def("below",
           [](Rng& rng, std::int64_t bound) {
             if (bound < 1) throw nb::value_error("bound must be at least 1");
             return rng.below(bound);
           })
      .def("uniform", &Rng::uniform);
  nb::class_<Order>(
      m, "Order",
      "block = 0: a full permutation; otherwise shuffled blocks of that many rows; once: one permutation for all epochs.")
      .def(
          "__init__",
          [](Order* self, std::int64_t block, std::int64_t group) {
            constexpr std::int64_t most = std::int64_t{1} << 20;
            if (block < 0 || block > most || group < 1 || group > most) {
              throw nb::value_error("block must lie between 0 and 2^20, group between 1 and 2^20");
            }
            new (self) Order{block, group};
          },
          nb::arg("block"), nb::arg("group") = 1)
      .def_static(
          "once",
          [](std::int64_t n_rows, Rng& rng) {
            if (n_rows < 1) throw nb::value_error("n_rows must be at least 1");
            return Order::once(n_rows, rng);
          },
          nb::arg("n_rows"), nb::arg("rng"))
      .def("of_all", [](const Order& order, std::int64_t n_rows, Rng& rng) {
        if (n_rows < 0) throw nb::value_error("n_rows must not be negative");
        if (order.kept && static_cast<std::int64_t>(order.kept->size()) != n_rows)
          throw nb::value_error("kept for another number of rows");
        return owned(order.of_all(n_rows, rng));
      });

  bind_sgd(m);
  bind_dcd(m);
  bind_mpu(m);
  bind_newton(m);
  bind_pegasos(m);
  bind_asset(m);
  bind_gradient(m);
  bind_kernels(m);
  bind_online(m);
  bind_adaptive(m);
  bind_svmsgd(m);
  bind_cutting_planes(m);
}

}  // namespace hinge::python
