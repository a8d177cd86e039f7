#pragma once
// What the streams have in common: rows come in, models go out, and threads take turns.

#include <cmath>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "hinge/scaled_rows.hpp"
#include "run.hpp"

namespace hinge::python {

inline constexpr double kLargest = 1e150;  // beyond, squares overflow

/// A stream that threads may share: they take turns.
template <class Stream>
struct Shared {
  Stream stream;
  mutable std::mutex mutex;

  explicit Shared(Stream made) : stream(std::move(made)) {}
};

inline void expect_shape(std::int64_t n_models, std::int64_t n_features, double rho) {
  if (n_models < 1 || n_features < 0) throw nb::value_error("a stream needs a model and no negative number of features");
  if (!(rho >= 0.0 && rho < kLargest)) throw nb::value_error("the constant feature must have a finite square");
}

inline void expect_plain(const RowsHandle& handle, std::int64_t n_features) {
  const bool plain = handle.visit([](const auto& rows) { return rows.rho == 0.0 && rows.kept == nullptr; });
  if (!plain) throw nb::value_error("a stream takes all rows, without a constant feature");
  if (handle.n_features() != n_features) throw nb::value_error("a stream has a fixed number of features");
}

/// How many rows of `visit` were taken.
template <class Stream>
std::int64_t present(Shared<Stream>& shared, const RowsHandle& handle, const std::optional<Vector<double>>& factors,
                     const Vector<std::int64_t>& visit, const Vector<std::int64_t>& classes, const Vector<double>& weights,
                     Poll& poll) {
  const Turn turn(shared.mutex);
  Stream& stream = shared.stream;
  expect_plain(handle, stream.n_features());
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
template <class Stream>
std::tuple<std::int64_t, std::int64_t, Models> models(const Shared<Stream>& shared) {
  const Turn turn(shared.mutex);
  Models out;
  for (std::size_t k = 0; k < shared.stream.models.size(); ++k) {
    std::vector<double> w(static_cast<std::size_t>(shared.stream.n_features()) + 1);
    const double b = shared.stream.write(k, w);
    out.emplace_back(owned(std::move(w)), b);
  }
  return {shared.stream.seen, shared.stream.steps(), std::move(out)};
}

/// A damaged number must not become a huge allocation: the arrays of every model tell how large it is.
inline void expect_models(const std::vector<nb::dict>& saved, std::int64_t n_models, std::int64_t n_features) {
  for (const nb::dict& model : saved) {
    if (!model.contains("v")) refuse_field("v", "is missing");
    expect_length("v", cast_field<Vector<double>>("v", model["v"]).shape(0), n_features + 1);
  }
  expect_length("models", saved.size(), n_models);
}

/// All but the constructor. `state_of` and `stream_from` are what a pickle needs, `fields_of` tells what model k consists of.
template <class Stream, class Fields, class Save, class Restore>
void bind_stream(nb::class_<Shared<Stream>>& bound, Fields fields_of, Save state_of, Restore stream_from) {
  bound
      .def("present", &present<Stream>, nb::arg("rows"), nb::arg("factors").none(), nb::arg("visit"), nb::arg("classes"),
           nb::arg("weights"), nb::arg("poll"),
           "Take the rows of `visit`, in that order, each times its factor; how many were taken. Model k has class k as its\n"
           "positive one, a single model class 1.")
      .def(
          "progress",
          [](const Shared<Stream>& shared) {
            const Turn turn(shared.mutex);
            return std::tuple(shared.stream.seen, shared.stream.steps());
          },
          "(rows taken, steps)")
      .def("models", &models<Stream>,
           "(rows taken, steps, [(w, b) of every model]); the last entry of w is that of the constant feature.")
      .def(
          "fields",
          [fields_of](Shared<Stream>& shared, std::size_t k) {
            const Turn turn(shared.mutex);
            return fields_of(shared.stream, k);
          },
          nb::arg("k"), nb::sig("def fields(self, k: int) -> dict[str, object]"), "Everything that model k consists of.")
      .def(
          "__getstate__",
          [state_of](Shared<Stream>& shared) {
            const Turn turn(shared.mutex);
            return state_of(shared.stream);
          },
          nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def(
          "__setstate__",
          [stream_from](Shared<Stream>* self, const nb::object& state) { new (self) Shared<Stream>(stream_from(state)); },
          nb::sig("def __setstate__(self, state: tuple[object, ...], /) -> None"));
}

}  // namespace hinge::python
