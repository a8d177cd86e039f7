#include "hinge/online.hpp"

#include "run.hpp"
#include "stream.hpp"

namespace hinge::python {

template <>
struct StreamOptions<OnlineSteps> {
  using Tuple = std::tuple<std::int64_t, bool, bool, bool>;

  static OnlineOptions make(std::int64_t batch, bool projection, bool free_intercept, bool average) {
    if (batch < 1) throw nb::value_error("a batch has at least 1 row");
    return {batch, projection, free_intercept, average};
  }
  static Tuple tuple(const OnlineOptions& o) { return {o.batch, o.projection, o.free_intercept, o.average}; }
};

void bind_online(nb::module_& m) {
  nb::class_<OnlineOptions>(m, "OnlineOptions")
      .def(
          "__init__",
          [](OnlineOptions* self, std::int64_t batch, bool projection, bool free_intercept, bool average) {
            new (self) OnlineOptions(StreamOptions<OnlineSteps>::make(batch, projection, free_intercept, average));
          },
          nb::arg("batch"), nb::arg("projection"), nb::arg("free_intercept"), nb::arg("average"));
  bind_solver<Online, OnlineOptions, Order, Rng>(m, "Online",
                                                 "The online SVM at work on a data set: (problem, options, order, rng)");
  bind_stream<OnlineSteps>(m, "OnlineStream", "The online SVM at work on a stream of rows, one model per class.");
}

}  // namespace hinge::python
