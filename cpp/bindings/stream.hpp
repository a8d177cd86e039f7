#pragma once
// What the streams have in common: rows come in, models go out, and threads take turns.

#include <cmath>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "hinge/online.hpp"
#include "hinge/scaled_rows.hpp"
#include "run.hpp"

namespace hinge::python {

inline constexpr double kLargestScale = 1e150;  // beyond, squares overflow

/// A stream that threads may share: they take turns.
template <class Stream>
struct Shared {
  Stream stream;
  mutable std::mutex mutex;

  explicit Shared(Stream made) : stream(std::move(made)) {}
};

inline void expect_shape(std::int64_t n_models, std::int64_t n_features, double rho) {
  if (n_models < 1 || n_features < 0) throw nb::value_error("a stream needs a model and no negative number of features");
  if (!(rho >= 0.0 && rho < kLargestScale)) throw nb::value_error("the constant feature must have a finite square");
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
    if (!(weights.data()[i] > 0.0 && weights.data()[i] < kLargestScale))
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
void bind_methods(nb::class_<Shared<Stream>>& bound, Fields fields_of, Save state_of, Restore stream_from) {
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

/// How the options of the steps are made from checked numbers, and told again: `Tuple`, `make` and `tuple`.
template <class Steps>
struct StreamOptions;

/// A stream of steps that have a lambda.
template <class Steps>
struct SavedStream {
  using Stream = StreamOf<Steps>;
  using Shape = std::tuple<std::int64_t, std::int64_t, double, double>;
  using Options = typename StreamOptions<Steps>::Tuple;
  /// What makes up a stream: its shape and options, the rows seen, and the fields of each model.
  using State = std::tuple<Shape, Options, std::int64_t, double, std::vector<nb::dict>>;

  static Stream made(std::int64_t n_models, std::int64_t n_features, double lambda, double rho,
                     const typename Steps::Options& options) {
    expect_shape(n_models, n_features, rho);
    if (!(lambda > 1.0 / kLargestScale && lambda < kLargestScale)) throw nb::value_error("lambda must be positive and finite");
    return {n_models, n_features, lambda, rho, options};
  }

  static State state(Stream& stream) {
    const Shape shape{stream.models.size(), stream.n_features(), stream.lambda, stream.rho};
    std::vector<nb::dict> saved;
    for (Steps& steps : stream.models) saved.push_back(saved_fields(steps));
    const Options options = StreamOptions<Steps>::tuple(stream.models[0].options);
    return {shape, options, stream.seen, stream.weight_sum, std::move(saved)};
  }

  static Stream restored(const nb::object& pickled) {
    const auto [shape, options, seen, weight_sum, saved] = cast_field<State>("the stream", pickled);
    const auto& [n_models, n_features, lambda, rho] = shape;
    expect_models(saved, n_models, n_features);
    Stream stream = made(n_models, n_features, lambda, rho, std::apply(StreamOptions<Steps>::make, options));
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
};

template <class Steps>
void bind_stream(nb::module_& m, const char* name, const char* doc) {
  using Saved = SavedStream<Steps>;
  using Stream = typename Saved::Stream;
  nb::class_<Shared<Stream>> bound(m, name, doc);
  bound.def(
      "__init__",
      [](Shared<Stream>* self, std::int64_t n_models, std::int64_t n_features, double lambda, double rho,
         const typename Steps::Options& options) {
        new (self) Shared<Stream>(Saved::made(n_models, n_features, lambda, rho, options));
      },
      nb::arg("n_models"), nb::arg("n_features"), nb::arg("lambda_"), nb::arg("rho"), nb::arg("options"));
  const auto fields_of = [](Stream& stream, std::size_t k) { return saved_fields(stream.models.at(k)); };
  bind_methods(bound, fields_of, Saved::state, Saved::restored);
}

}  // namespace hinge::python
