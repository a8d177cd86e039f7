#include "hinge/online.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "hinge/scaled_rows.hpp"
#include "run.hpp"

namespace hinge::python {

namespace {

constexpr double kLargest = 1e150;  // beyond, squares overflow

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
std::int64_t present(OnlineStream& stream, const RowsHandle& handle, const std::optional<Vector<double>>& factors,
                     const Vector<std::int64_t>& visit, const Vector<std::int64_t>& classes, const Vector<double>& weights,
                     Poll& poll) {
  expect_plain(handle, static_cast<std::int64_t>(stream.models[0].v.size()) - 1);
  expect_length("classes", classes.shape(0), handle.size());
  expect_length("weights", weights.shape(0), handle.size());
  if (factors) expect_length("factors", factors->shape(0), handle.size());
  for (const std::int64_t i : view(visit)) {
    if (i < 0 || i >= handle.size()) throw nb::index_error("no such row");
    if (!(weights.data()[i] > 0.0 && weights.data()[i] < kLargest))
      throw nb::value_error("weights must be positive and finite");
  }
  nb::gil_scoped_release release;
  return handle.visit([&](const auto& plain) {
    const ScaledRows rows{plain, factors ? view(*factors) : std::span<const double>{}, stream.rho};
    return stream.present(rows, view(visit), view(classes), view(weights), poll);
  });
}

/// w (with the weight of the constant feature) and b of model k.
std::tuple<Owned<double>, double> model(const OnlineStream& stream, std::size_t k) {
  if (k >= stream.models.size()) throw nb::index_error("no such model");
  const OnlineSteps& steps = stream.models[k];
  std::vector<double> w(steps.v.size());
  steps.point(w, {});
  return {owned(std::move(w)), steps.intercept()};
}

/// What makes up a stream: its shape and options, the rows seen, and the fields of each model.
using Shape = std::tuple<std::int64_t, std::int64_t, double, double>;
using State = std::tuple<Shape, OnlineOptions, std::int64_t, double, std::vector<nb::dict>>;

State state_of(OnlineStream& stream) {
  const auto& first = stream.models[0];
  const Shape shape{stream.models.size(), first.v.size() - 1, stream.lambda, stream.rho};
  std::vector<nb::dict> models;
  for (OnlineSteps& steps : stream.models) models.push_back(saved_fields(steps));
  return {shape, first.options, stream.seen, stream.weight_sum, std::move(models)};
}

OnlineStream stream_from(const State& state) {
  const auto& [shape, options, seen, weight_sum, saved] = state;
  const auto& [n_models, n_features, lambda, rho] = shape;
  OnlineStream stream = make_stream(n_models, n_features, lambda, rho, options);
  expect_length("models", saved.size(), n_models);
  expect_count("seen", seen);
  stream.seen = seen;
  stream.weight_sum = weight_sum;
  for (std::size_t k = 0; k < saved.size(); ++k) {
    stream.models[k].fields([&](const char* name, auto& field) { from_python(name, saved[k][name], field); });
    stream.models[k].check_restored();
  }
  return stream;
}

}  // namespace

void bind_online(nb::module_& m) {
  const auto make_options = [](OnlineOptions* self, std::int64_t batch, bool projection, bool free_intercept, bool average) {
    if (batch < 1) throw nb::value_error("a batch has at least 1 row");
    new (self) OnlineOptions{batch, projection, free_intercept, average};
  };
  nb::class_<OnlineOptions>(m, "OnlineOptions")
      .def("__init__", make_options, nb::arg("batch"), nb::arg("projection"), nb::arg("free_intercept"), nb::arg("average"))
      .def("__getstate__",
           [](const OnlineOptions& o) { return std::tuple(o.batch, o.projection, o.free_intercept, o.average); })
      .def("__setstate__", [make_options](OnlineOptions* self, const std::tuple<std::int64_t, bool, bool, bool>& state) {
        std::apply([&](auto... option) { make_options(self, option...); }, state);
      });
  bind_run<Online>(m, "Online", "The online SVM at work on a data set.")
      .def(nb::init<const ProblemHandle&, const OnlineOptions&, const Order&, const Rng&>(), nb::keep_alive<1, 2>())
      .def("point", &Run<Online>::point, "(w, multipliers)");
  nb::class_<OnlineStream>(m, "OnlineStream", "The online SVM at work on a stream of rows, one model per class.")
      .def(
          "__init__",
          [](OnlineStream* self, std::int64_t n_models, std::int64_t n_features, double lambda, double rho,
             const OnlineOptions& options) {
            new (self) OnlineStream(make_stream(n_models, n_features, lambda, rho, options));
          },
          nb::arg("n_models"), nb::arg("n_features"), nb::arg("lambda_"), nb::arg("rho"), nb::arg("options"))
      .def("present", &present, nb::arg("rows"), nb::arg("factors").none(), nb::arg("visit"), nb::arg("classes"),
           nb::arg("weights"), nb::arg("poll"),
           "Take the rows of `visit`, in that order, each times its factor; how many were taken. Model k has class k as its\n"
           "positive one, a single model class 1.")
      .def("model", &model, nb::arg("k"), "(w, b) of model k; the last entry of w belongs to the constant feature.")
      .def_prop_ro("n_models", [](const OnlineStream& stream) { return stream.models.size(); })
      .def_prop_ro(
          "seen", [](const OnlineStream& stream) { return stream.seen; }, "Rows taken.")
      .def_prop_ro(
          "t", [](const OnlineStream& stream) { return stream.models[0].t; }, "Steps.")
      .def(
          "fields", [](OnlineStream& stream, std::size_t k) { return saved_fields(stream.models.at(k)); }, nb::arg("k"),
          nb::sig("def fields(self, k: int) -> dict[str, object]"), "Everything that model k consists of.")
      .def("__getstate__", &state_of, nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def(
          "__setstate__", [](OnlineStream* self, const State& state) { new (self) OnlineStream(stream_from(state)); },
          nb::sig("def __setstate__(self, state: tuple[object, ...], /) -> None"));
}

}  // namespace hinge::python
