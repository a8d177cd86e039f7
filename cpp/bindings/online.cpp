#include "hinge/online.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "hinge/scaled_rows.hpp"
#include "run.hpp"

namespace hinge::python {

namespace {

constexpr double kLargest = 1e150;  // beyond, squares overflow

/// A stream that threads may share: they take turns.
struct SharedStream {
  OnlineStream stream;
  mutable std::mutex mutex;

  explicit SharedStream(OnlineStream made) : stream(std::move(made)) {}
};

OnlineStream make_stream(std::int64_t n_models, std::int64_t n_features, double lambda, double rho, OnlineOptions options) {
  if (n_models < 1 || n_features < 0) throw nb::value_error("a stream needs a model and no negative number of features");
  if (!(lambda > 1.0 / kLargest && lambda < kLargest)) throw nb::value_error("lambda must be positive and finite");
  if (!(rho >= 0.0 && rho < kLargest)) throw nb::value_error("the constant feature must have a finite square");
  return {n_models, n_features, lambda, rho, options};
}

void expect_plain(const RowsHandle& handle, std::int64_t n_features) {
  const bool plain = handle.visit([](const auto& rows) { return rows.rho == 0.0 && rows.kept == nullptr; });
  if (!plain) throw nb::value_error("a stream takes all rows, without a constant feature");
  if (handle.n_features() != n_features) throw nb::value_error("a stream has a fixed number of features");
}

/// How many rows of `visit` were taken.
std::int64_t present(SharedStream& shared, const RowsHandle& handle, const std::optional<Vector<double>>& factors,
                     const Vector<std::int64_t>& visit, const Vector<std::int64_t>& classes, const Vector<double>& weights,
                     Poll& poll) {
  const Turn turn(shared.mutex);
  OnlineStream& stream = shared.stream;
  expect_plain(handle, static_cast<std::int64_t>(stream.models[0].v.size()) - 1);
  expect_length("classes", classes.shape(0), handle.size());
  expect_length("weights", weights.shape(0), handle.size());
  if (factors) expect_length("factors", factors->shape(0), handle.size());
  for (const std::int64_t i : view(visit)) {
    if (i < 0 || i >= handle.size()) throw nb::index_error("no such row");
    if (!(weights.data()[i] > 0.0 && weights.data()[i] < kLargest))
      throw nb::value_error("weights must be positive and finite");
  }
  const WithoutGil released;
  return handle.visit([&](const auto& plain) {
    const ScaledRows rows{plain, factors ? view(*factors) : std::span<const double>{}, stream.rho};
    return stream.present(rows, view(visit), view(classes), view(weights), poll);
  });
}

using Models = std::vector<std::tuple<Owned<double>, double>>;

/// Rows taken so far, steps, and (w, b) of every model: all of one moment. The last entry of w belongs to the constant feature.
std::tuple<std::int64_t, std::int64_t, Models> models(const SharedStream& shared) {
  const Turn turn(shared.mutex);
  Models out;
  for (const OnlineSteps& steps : shared.stream.models) {
    std::vector<double> w(steps.v.size());
    steps.write_weights(w);
    out.emplace_back(owned(std::move(w)), steps.intercept());
  }
  return {shared.stream.seen, shared.stream.models[0].t, std::move(out)};
}

/// What makes up a stream: its shape and options, the rows seen, and the fields of each model.
using Shape = std::tuple<std::int64_t, std::int64_t, double, double>;
using Options = std::tuple<std::int64_t, bool, bool, bool>;
using State = std::tuple<Shape, Options, std::int64_t, double, std::vector<nb::dict>>;

OnlineOptions make_options(std::int64_t batch, bool projection, bool free_intercept, bool average) {
  if (batch < 1) throw nb::value_error("a batch has at least 1 row");
  return {batch, projection, free_intercept, average};
}

State state_of(SharedStream& shared) {
  const Turn turn(shared.mutex);
  OnlineStream& stream = shared.stream;
  const auto& first = stream.models[0];
  const Shape shape{stream.models.size(), first.v.size() - 1, stream.lambda, stream.rho};
  const OnlineOptions& o = first.options;
  std::vector<nb::dict> saved;
  for (OnlineSteps& steps : stream.models) saved.push_back(saved_fields(steps));
  return {shape, {o.batch, o.projection, o.free_intercept, o.average}, stream.seen, stream.weight_sum, std::move(saved)};
}

OnlineStream stream_from(const nb::object& pickled) {
  const auto [shape, options, seen, weight_sum, saved] = cast_field<State>("the stream", pickled);
  const auto& [n_models, n_features, lambda, rho] = shape;
  // A damaged number must not become a huge allocation: the arrays of every model tell how large it is.
  for (const nb::dict& model : saved) {
    if (!model.contains("v")) refuse_field("v", "is missing");
    expect_length("v", cast_field<Vector<double>>("v", model["v"]).shape(0), n_features + 1);
  }
  expect_length("models", saved.size(), n_models);
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
  nb::class_<SharedStream>(m, "OnlineStream", "The online SVM at work on a stream of rows, one model per class.")
      .def(
          "__init__",
          [](SharedStream* self, std::int64_t n_models, std::int64_t n_features, double lambda, double rho,
             const OnlineOptions& options) {
            new (self) SharedStream(make_stream(n_models, n_features, lambda, rho, options));
          },
          nb::arg("n_models"), nb::arg("n_features"), nb::arg("lambda_"), nb::arg("rho"), nb::arg("options"))
      .def("present", &present, nb::arg("rows"), nb::arg("factors").none(), nb::arg("visit"), nb::arg("classes"),
           nb::arg("weights"), nb::arg("poll"),
           "Take the rows of `visit`, in that order, each times its factor; how many were taken. Model k has class k as its\n"
           "positive one, a single model class 1.")
      .def(
          "progress",
          [](const SharedStream& shared) {
            const Turn turn(shared.mutex);
            return std::tuple(shared.stream.seen, shared.stream.models[0].t);
          },
          "(rows taken, steps)")
      .def("models", &models,
           "(rows taken, steps, [(w, b) of every model]); the last entry of w is that of the constant feature.")
      .def(
          "fields",
          [](SharedStream& shared, std::size_t k) {
            const Turn turn(shared.mutex);
            return saved_fields(shared.stream.models.at(k));
          },
          nb::arg("k"), nb::sig("def fields(self, k: int) -> dict[str, object]"), "Everything that model k consists of.")
      .def("__getstate__", &state_of, nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def(
          "__setstate__", [](SharedStream* self, const nb::object& state) { new (self) SharedStream(stream_from(state)); },
          nb::sig("def __setstate__(self, state: tuple[object, ...], /) -> None"));
}

}  // namespace hinge::python
