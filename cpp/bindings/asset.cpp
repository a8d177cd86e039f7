#include "hinge/asset.hpp"

#include "run.hpp"

namespace hinge::python {

void bind_asset(nb::module_& m) {
  nb::class_<AssetOptions>(m, "AssetOptions")
      .def(
          "__init__",
          [](AssetOptions* self, Sampling sampling, std::int64_t average_last) {
            if (average_last < 0) throw nb::value_error("average_last must not be negative");
            new (self) AssetOptions{sampling, average_last};
          },
          nb::arg("sampling"), nb::arg("average_last"));
  nb::class_<RootRate>(m, "RootRate", "eta_j = D_X / (D_G sqrt(j)), D_G from sample_size rows; largest_b is B.")
      .def(
          "__init__",
          [](RootRate* self, std::int64_t sample_size, double largest_b) {
            if (sample_size < 1) throw nb::value_error("sample_size must be at least 1");
            if (!(largest_b >= 0.0 && std::isfinite(largest_b))) throw nb::value_error("largest_b must be finite");
            new (self) RootRate{.sample_size = sample_size, .largest_b = largest_b};
          },
          nb::arg("sample_size"), nb::arg("largest_b"));
  nb::class_<StarRate>(m, "StarRate", "eta_j = 1 / (lambda j)").def(nb::init<>());
  bind_solver<Asset, RootRate, AssetOptions, Order, Rng>(m, "Asset", "ASSET at work: (problem, rate, options, order, rng)");
  bind_solver<AssetStar, StarRate, AssetOptions, Order, Rng>(m, "AssetStar",
                                                             "ASSET* at work: (problem, rate, options, order, rng)");
}

}  // namespace hinge::python
