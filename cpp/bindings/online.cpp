#include "hinge/online.hpp"

#include <tuple>
#include <vector>

#include "stream.hpp"

namespace hinge::python {

namespace {

OnlineStream make_stream(std::int64_t n_models, std::int64_t n_features, double lambda, double rho, OnlineOptions options) {
  expect_shape(n_models, n_features, rho);
  if (!(lambda > 1.0 / kLargest && lambda < kLargest)) throw nb::value_error("lambda must be positive and finite");
  return {n_models, n_features, lambda, rho, options};
}

/// What makes up a stream: its shape and options, the rows seen, and the fields of each model.
using Shape = std::tuple<std::int64_t, std::int64_t, double, double>;
using Options = std::tuple<std::int64_t, bool, bool, bool>;
using State = std::tuple<Shape, Options, std::int64_t, double, std::vector<nb::dict>>;

OnlineOptions make_options(std::int64_t batch, bool projection, bool free_intercept, bool average) {
  if (batch < 1) throw nb::value_error("a batch has at least 1 row");
  return {batch, projection, free_intercept, average};
}

State state_of(OnlineStream& stream) {
  const Shape shape{stream.models.size(), stream.n_features(), stream.lambda, stream.rho};
  const OnlineOptions& o = stream.models[0].options;
  std::vector<nb::dict> saved;
  for (OnlineSteps& steps : stream.models) saved.push_back(saved_fields(steps));
  return {shape, {o.batch, o.projection, o.free_intercept, o.average}, stream.seen, stream.weight_sum, std::move(saved)};
}

OnlineStream stream_from(const nb::object& pickled) {
  const auto [shape, options, seen, weight_sum, saved] = cast_field<State>("the stream", pickled);
  const auto& [n_models, n_features, lambda, rho] = shape;
  expect_models(saved, n_models, n_features);
  OnlineStream stream = make_stream(n_models, n_features, lambda, rho, std::apply(make_options, options));
  expect_count("seen", seen);
  if (!(weight_sum >= 0.0 && std::isfinite(weight_sum))) refuse_field("weight_sum", "is out of range");
  stream.seen = seen;
  stream.weight_sum = weight_sum;
  for (std::size_t k = 0; k < saved.size(); ++k) {
    restore_fields(stream.models[k], saved[k]);
    stream.models[k].check_restored();
  }
  return stream;
}

}  // namespace

void bind_online(nb::module_& m) {
  nb::class_<OnlineOptions>(m, "OnlineOptions")
      .def(
          "__init__",
          [](OnlineOptions* self, std::int64_t batch, bool projection, bool free_intercept, bool average) {
            new (self) OnlineOptions(make_options(batch, projection, free_intercept, average));
          },
          nb::arg("batch"), nb::arg("projection"), nb::arg("free_intercept"), nb::arg("average"));
  bind_solver<Online, OnlineOptions, Order, Rng>(m, "Online",
                                                 "The online SVM at work on a data set: (problem, options, order, rng)");
  using Stream = Shared<OnlineStream>;
  nb::class_<Stream> bound(m, "OnlineStream", "The online SVM at work on a stream of rows, one model per class.");
  bound.def(
      "__init__",
      [](Stream* self, std::int64_t n_models, std::int64_t n_features, double lambda, double rho,
         const OnlineOptions& options) { new (self) Stream(make_stream(n_models, n_features, lambda, rho, options)); },
      nb::arg("n_models"), nb::arg("n_features"), nb::arg("lambda_"), nb::arg("rho"), nb::arg("options"));
  const auto fields_of = [](OnlineStream& stream, std::size_t k) { return saved_fields(stream.models.at(k)); };
  bind_stream(bound, fields_of, state_of, stream_from);
}

}  // namespace hinge::python
