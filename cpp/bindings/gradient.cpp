#include "hinge/gradient.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_gradient(nb::module_& m) {
  nb::class_<GradientOptions>(m, "GradientOptions")
      .def(
          "__init__",
          [](GradientOptions* self, Sampling sampling, bool projection, Output output) {
            new (self) GradientOptions{.sampling = sampling, .projection = projection, .output = output};
          },
          nb::arg("sampling"), nb::arg("projection"), nb::arg("output"));
  nb::class_<NormaRate>(m, "NormaRate", "eta_t = p / (lambda sqrt(t))").def("__init__", [](NormaRate* self, double p) {
    if (!(p > 0.0 && p < 1.0)) throw nb::value_error("p must lie between 0 and 1");
    new (self) NormaRate{p};
  });
  nb::class_<ConstantRate>(m, "ConstantRate", "eta_t = eta").def("__init__", [](ConstantRate* self, double eta) {
    if (!(eta > 0.0 && std::isfinite(eta))) throw nb::value_error("eta must be positive");
    new (self) ConstantRate{eta};
  });
  bind_solver<Norma, NormaRate, GradientOptions, Order, Rng>(m, "Norma", "Norma at work: (problem, rate, options, order, rng)");
  bind_solver<Zhang, ConstantRate, GradientOptions, Order, Rng>(m, "Zhang",
                                                                "Zhang's method at work: (problem, rate, options, order, rng)");
}

}  // namespace hinge::python
