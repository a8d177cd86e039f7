#pragma once
// A stream at work, as Python sees it: one set of methods for every kind of steps.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "fields.hpp"
#include "handles.hpp"
#include "hinge/online.hpp"
#include "hinge/scaled_rows.hpp"

namespace hinge::python {

inline constexpr double kLargestScale = 1e150;  // beyond, squares overflow

/// How the options of the steps are made from checked numbers, and told again: `Tuple`, `make` and `tuple`.
template <class Steps>
struct StreamOptions;

/// A stream that threads may share: they take turns.
template <class Steps>
class SharedStream {
 public:
  using Stream = StreamOf<Steps>;
  using Models = std::vector<std::tuple<Owned<double>, double>>;
  using Shape = std::tuple<std::int64_t, std::int64_t, double, double>;
  using Options = typename StreamOptions<Steps>::Tuple;
  /// What makes up a stream: its shape and options, the rows seen, and the fields of each model.
  using State = std::tuple<Shape, Options, std::int64_t, double, std::vector<nb::dict>>;

  SharedStream(std::int64_t n_models, std::int64_t n_features, double lambda, double rho,
               const typename Steps::Options& options)
      : stream_(made(n_models, n_features, lambda, rho, options)) {}
  explicit SharedStream(const nb::object& pickled) : stream_(restored(pickled)) {}

  /// How many rows of `visit` were taken.
  std::int64_t present(const RowsHandle& handle, const std::optional<Vector<double>>& factors,
                       const Vector<std::int64_t>& visit, const Vector<std::int64_t>& classes, const Vector<double>& weights,
                       Poll& poll) {
    const Turn turn(mutex_);
    expect_plain(handle);
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
      const ScaledRows rows{plain, factors ? view(*factors) : std::span<const double>{}, stream_.rho};
      return stream_.present(rows, view(visit), view(classes), view(weights), poll);
    });
  }

  /// (rows taken, steps)
  std::tuple<std::int64_t, std::int64_t> progress() const {
    const Turn turn(mutex_);
    return {stream_.seen, stream_.models[0].t};
  }

  /// Rows taken so far, steps, and (w, b) of every model: all of one moment. The last entry of w belongs to the constant feature.
  std::tuple<std::int64_t, std::int64_t, Models> models() const {
    const Turn turn(mutex_);
    Models out;
    for (const Steps& steps : stream_.models) {
      std::vector<double> w(steps.v.size());
      steps.write_weights(w);
      out.emplace_back(owned(std::move(w)), steps.intercept());
    }
    return {stream_.seen, stream_.models[0].t, std::move(out)};
  }

  nb::dict fields(std::size_t k) {
    const Turn turn(mutex_);
    return saved_fields(stream_.models.at(k));
  }

  State state() {
    const Turn turn(mutex_);
    const Steps& first = stream_.models[0];
    const Shape shape{stream_.models.size(), first.v.size() - 1, stream_.lambda, stream_.rho};
    std::vector<nb::dict> saved;
    for (Steps& steps : stream_.models) saved.push_back(saved_fields(steps));
    return {shape, StreamOptions<Steps>::tuple(first.options), stream_.seen, stream_.weight_sum, std::move(saved)};
  }

 private:
  Stream stream_;
  mutable std::mutex mutex_;

  static Stream made(std::int64_t n_models, std::int64_t n_features, double lambda, double rho,
                     const typename Steps::Options& options) {
    if (n_models < 1 || n_features < 0) throw nb::value_error("a stream needs a model and no negative number of features");
    if (!(lambda > 1.0 / kLargestScale && lambda < kLargestScale)) throw nb::value_error("lambda must be positive and finite");
    if (!(rho >= 0.0 && rho < kLargestScale)) throw nb::value_error("the constant feature must have a finite square");
    return {n_models, n_features, lambda, rho, options};
  }

  static Stream restored(const nb::object& pickled) {
    const auto [shape, options, seen, weight_sum, saved] = cast_field<State>("the stream", pickled);
    const auto& [n_models, n_features, lambda, rho] = shape;
    // A damaged number must not become a huge allocation: the arrays of every model tell how large it is.
    for (const nb::dict& model : saved) {
      if (!model.contains("v")) refuse_field("v", "is missing");
      expect_length("v", cast_field<Vector<double>>("v", model["v"]).shape(0), n_features + 1);
    }
    expect_length("models", saved.size(), n_models);
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

  void expect_plain(const RowsHandle& handle) const {
    const bool plain = handle.visit([](const auto& rows) { return rows.rho == 0.0 && rows.kept == nullptr; });
    if (!plain) throw nb::value_error("a stream takes all rows, without a constant feature");
    const auto n_features = static_cast<std::int64_t>(stream_.models[0].v.size()) - 1;
    if (handle.n_features() != n_features) throw nb::value_error("a stream has a fixed number of features");
  }
};

template <class Steps>
void bind_stream(nb::module_& m, const char* name, const char* doc) {
  using Shared = SharedStream<Steps>;
  nb::class_<Shared>(m, name, doc)
      .def(nb::init<std::int64_t, std::int64_t, double, double, const typename Steps::Options&>(), nb::arg("n_models"),
           nb::arg("n_features"), nb::arg("lambda_"), nb::arg("rho"), nb::arg("options"))
      .def("present", &Shared::present, nb::arg("rows"), nb::arg("factors").none(), nb::arg("visit"), nb::arg("classes"),
           nb::arg("weights"), nb::arg("poll"),
           "Take the rows of `visit`, in that order, each times its factor; how many were taken. Model k has class k as its\n"
           "positive one, a single model class 1.")
      .def("progress", &Shared::progress, "(rows taken, steps)")
      .def("models", &Shared::models,
           "(rows taken, steps, [(w, b) of every model]); the last entry of w is that of the constant feature.")
      .def("fields", &Shared::fields, nb::arg("k"), nb::sig("def fields(self, k: int) -> dict[str, object]"),
           "Everything that model k consists of.")
      .def("__getstate__", &Shared::state, nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def(
          "__setstate__", [](Shared* self, const nb::object& state) { new (self) Shared(state); },
          nb::sig("def __setstate__(self, state: tuple[object, ...], /) -> None"));
}

}  // namespace hinge::python
