#include "hinge/pegasos.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_pegasos(nb::module_& m) {
  nb::enum_<Sampling>(m, "Sampling")
      .value("iid", Sampling::iid)
      .value("epoch", Sampling::epoch)
      .value("subset", Sampling::subset);
  nb::enum_<Bias>(m, "Bias").value("none", Bias::none).value("subgradient", Bias::subgradient).value("exact", Bias::exact);
  nb::enum_<Output>(m, "Output").value("last", Output::last).value("average", Output::average).value("random", Output::random);
  nb::class_<PegasosOptions>(m, "PegasosOptions")
      .def(
          "__init__",
          [](PegasosOptions* self, std::int64_t k, Sampling sampling, bool projection, bool advance_without_loss, Bias bias,
             Output output, bool random_start, const std::vector<double>& start, std::int64_t steps) {
            constexpr std::int64_t most = std::int64_t{1} << 60;
            if (k < 1) throw nb::value_error("k must be at least 1");
            if (steps < 0 || steps > most / k) throw nb::value_error("steps must not be negative, nor overflow");
            new (self) PegasosOptions{k, sampling, projection, advance_without_loss, bias, output, random_start, start, steps};
          },
          nb::arg("k"), nb::arg("sampling"), nb::arg("projection"), nb::arg("advance_without_loss"), nb::arg("bias"),
          nb::arg("output"), nb::arg("random_start"), nb::arg("start"), nb::arg("steps"));
  bind_solver<Pegasos, PegasosOptions, Order, Rng>(m, "Pegasos", "Pegasos at work: (problem, options, order, rng)");
}

}  // namespace hinge::python
