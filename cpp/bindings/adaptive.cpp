#include "hinge/adaptive.hpp"

#include "stream.hpp"

namespace hinge::python {

namespace {

AdaptiveStream make_stream(std::int64_t n_models, std::int64_t n_features, double rho, bool average, std::int64_t window) {
  expect_shape(n_models, n_features, rho);
  if (window < 0 || window == 1) throw nb::value_error("a window has at least 2 rows; 0 is none");
  return {n_models, n_features, rho, AdaptiveOptions{average, window}};
}

/// What makes up a stream: its shape and options, the rows seen, what all models share, and the fields of each model.
using Shape = std::tuple<std::int64_t, std::int64_t, double>;
using Options = std::tuple<bool, std::int64_t>;
using State = std::tuple<Shape, Options, std::int64_t, nb::dict, std::vector<nb::dict>>;

State state_of(AdaptiveStream& stream) {
  const Shape shape{stream.models.size(), stream.n_features(), stream.rho};
  std::vector<nb::dict> saved;
  for (AdaptiveModel& model : stream.models) saved.push_back(saved_fields(model));
  return {shape, {stream.options.average, stream.options.window}, stream.seen, saved_fields(stream), std::move(saved)};
}

AdaptiveStream stream_from(const nb::object& pickled) {
  const auto [shape, options, seen, shared, saved] = cast_field<State>("the stream", pickled);
  const auto& [n_models, n_features, rho] = shape;
  expect_models(saved, n_models, n_features);
  AdaptiveStream stream = make_stream(n_models, n_features, rho, std::get<0>(options), std::get<1>(options));
  expect_count("seen", seen);
  stream.seen = seen;
  restore_fields(stream, shared);
  for (std::size_t k = 0; k < saved.size(); ++k) restore_fields(stream.models[k], saved[k]);
  stream.check_restored();
  return stream;
}

nb::dict fields_of(AdaptiveStream& stream, std::size_t k) {
  nb::dict out = saved_fields(stream);
  out.update(saved_fields(stream.models.at(k)));
  return out;
}

}  // namespace

void bind_adaptive(nb::module_& m) {
  using Stream = Shared<AdaptiveStream>;
  nb::class_<Stream> bound(m, "AdaptiveStream", "Steps that need no tuning, at work on a stream of rows, one model per class.");
  bound.def(
      "__init__",
      [](Stream* self, std::int64_t n_models, std::int64_t n_features, double rho, bool average, std::int64_t window) {
        new (self) Stream(make_stream(n_models, n_features, rho, average, window));
      },
      nb::arg("n_models"), nb::arg("n_features"), nb::arg("rho"), nb::arg("average"), nb::arg("window"));
  bind_methods(bound, fields_of, state_of, stream_from);
}

}  // namespace hinge::python
