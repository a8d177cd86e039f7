#include "hinge/asset.hpp"

#include "run.hpp"
#include "stream.hpp"

namespace hinge::python {

template <>
struct StreamOptions<AssetStreamSteps> {
  using Options = AssetStreamSteps::Options;
  using Tuple = std::tuple<double, double, bool>;

  static Options make(double largest_b, double d_g, bool free_intercept) {
    if (!(largest_b >= 0.0 && largest_b < kLargestScale)) throw nb::value_error("largest_b must be finite");
    if (!(d_g > 0.0 && d_g < kLargestScale)) throw nb::value_error("d_g must be positive and finite");
    return {largest_b, d_g, free_intercept};
  }
  static Tuple tuple(const Options& o) { return {o.largest_b, o.d_g, o.free_intercept}; }
};

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
  nb::class_<AssetStreamSteps::Options>(m, "AssetStreamOptions")
      .def(
          "__init__",
          [](AssetStreamSteps::Options* self, double largest_b, double d_g, bool free_intercept) {
            new (self) AssetStreamSteps::Options(StreamOptions<AssetStreamSteps>::make(largest_b, d_g, free_intercept));
          },
          nb::arg("largest_b"), nb::arg("d_g"), nb::arg("free_intercept"));
  bind_stream<AssetStreamSteps>(m, "AssetStream", "ASSET at work on a stream of rows, one model per class.");
}

}  // namespace hinge::python
