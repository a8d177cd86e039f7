#pragma once
// A solver at work, as Python sees it: one template and one set of methods for every native algorithm.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "fields.hpp"
#include "handles.hpp"
#include "hinge/order.hpp"
#include "hinge/rng.hpp"
#include "hinge/solver.hpp"

namespace hinge::python {

template <Solver S>
class Run {
 public:
  template <class... Options>
  explicit Run(const ProblemHandle& problem, const Options&... options)
      : problem_(problem), solver_(problem.problem(), problem.rows().n_features(), options...) {}

  /// (rows read, whether all epochs were finished)
  std::tuple<std::int64_t, bool> advance(std::int64_t epochs, Poll& poll) {
    return work(poll, [&] { return epochs-- > 0; });
  }

  /// Epochs until so many rows are read, or the estimated gap is within `tol`: a call for each of many small ones would cost more than
  /// they do. At least one. An epoch that reads nothing counts as a row, so that even those come to an end.
  std::tuple<std::int64_t, bool> advance_by(std::int64_t rows, double tol, Poll& poll) {
    return work(poll, [&, last = std::optional<std::int64_t>()]() mutable {
      const bool first = !last;
      if (!first) rows -= std::max<std::int64_t>(solver_.touched - *last, 1);
      last = solver_.touched;
      if (first) return true;
      const std::optional<Estimate> found = solver_.estimate(problem_.problem());
      return rows > 0 && !(found && found->primal - found->dual <= tol * found->dual);
    });
  }

  /// (w, b, multipliers)
  std::tuple<Owned<double>, double, Owned<double>> point() {
    const OneAtATime guard(mutex_);
    expect_at_work();
    if constexpr (requires { solver_.release(); }) solver_.release();  // an evaluation needs memory, too
    Point point(problem_.problem().size(), problem_.rows().n_features());
    solver_.point(problem_.problem(), point);
    return {owned(std::move(point.w)), point.b, owned(std::move(point.multipliers))};
  }

  /// (primal, dual), roughly
  std::optional<std::tuple<double, double>> estimate() {
    const OneAtATime guard(mutex_);
    expect_at_work();
    const std::optional<Estimate> estimate = solver_.estimate(problem_.problem());
    if (!estimate) return std::nullopt;
    return std::tuple(estimate->primal, estimate->dual);
  }

  /// Whether its own rule has ended the run; never, for a solver without one.
  bool finished() {
    const OneAtATime guard(mutex_);
    if constexpr (requires { solver_.finished(); }) return solver_.finished();
    return false;
  }

  nb::dict state() {
    const OneAtATime guard(mutex_);
    expect_at_work();
    return saved_fields(solver_);
  }

  /// The last state: its arrays are those of the solver, which has ended and refuses all work from now on.
  nb::dict surrender() {
    const OneAtATime guard(mutex_);
    expect_at_work();
    surrendered_ = true;
    return surrendered_fields(solver_);
  }

  /// All of it or nothing.
  void restore(const nb::dict& saved) {
    const OneAtATime guard(mutex_);
    expect_at_work();
    S restored(solver_);
    restore_fields(restored, saved);
    restored.check_restored(problem_.problem());
    solver_ = std::move(restored);
  }

  void rebuild(Poll& poll) {
    const OneAtATime guard(mutex_);
    expect_at_work();
    const WithoutGil released;
    problem_.rows().visit([&](const auto& rows) { solver_.rebuild(rows, problem_.problem(), poll); });
  }

 private:
  ProblemHandle problem_;
  S solver_;
  std::mutex mutex_;
  bool surrendered_ = false;

  /// Epochs as long as more() says so.
  template <class More>
  std::tuple<std::int64_t, bool> work(Poll& poll, More&& more) {
    const OneAtATime guard(mutex_);
    expect_at_work();
    const WithoutGil released;
    const std::int64_t before = solver_.touched;
    const bool finished = problem_.rows().visit([&](const auto& rows) {
      while (more()) {
        if (!solver_.run_epoch(rows, problem_.problem(), poll)) return false;
      }
      return true;
    });
    return {solver_.touched - before, finished};
  }

  void expect_at_work() const {
    if (surrendered_) throw std::runtime_error("this run has given its arrays away and has ended");
  }
};

/// Binds solver S, whose constructor takes a problem, the number of features and these options.
template <Solver S, class... Options>
void bind_solver(nb::module_& m, const char* name, const char* doc) {
  nb::class_<Run<S>>(m, name, doc)
      .def(nb::init<const ProblemHandle&, const Options&...>())
      .def("advance", &Run<S>::advance, nb::arg("epochs"), nb::arg("poll"), "(rows read, whether all epochs were finished)")
      .def("advance_by", &Run<S>::advance_by, nb::arg("rows"), nb::arg("tol"), nb::arg("poll"),
           "Epochs until so many rows are read or the estimated gap is within tol: (rows read, whether all were finished)")
      .def("point", &Run<S>::point, "(w, b, multipliers)")
      .def("estimate", &Run<S>::estimate, "(primal, dual), roughly, or None")
      .def("finished", &Run<S>::finished, "Whether its own rule has ended the run")
      .def("state", &Run<S>::state, nb::sig("def state(self) -> dict[str, object]"),
           "Everything that a resumed run needs, as arrays and numbers.")
      .def("surrender", &Run<S>::surrender, nb::sig("def surrender(self) -> dict[str, object]"),
           "The state without a copy of its arrays; the run has ended with that.")
      .def("restore", &Run<S>::restore, nb::arg("state"), nb::sig("def restore(self, state: dict[str, object]) -> None"))
      .def("rebuild", &Run<S>::rebuild, nb::arg("poll"),
           "Compute anew what follows from the multipliers: after drift, or after restoring the state of another problem.");
}

}  // namespace hinge::python
