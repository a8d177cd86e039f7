#pragma once
// A solver at work, as Python sees it: one template for every native algorithm.

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "fields.hpp"
#include "handles.hpp"
#include "hinge/order.hpp"
#include "hinge/rng.hpp"
#include "hinge/state.hpp"

namespace hinge::python {

/// A solver at work on a problem: what Python sees of every native algorithm.
template <class Solver>
class Run {
 public:
  template <class... Options>
  Run(const ProblemHandle& problem, const Options&... options)
      : problem_(problem), solver_(problem.problem(), problem.rows().n_features(), options...) {}

  /// (rows read, whether all epochs were finished)
  std::tuple<std::int64_t, bool> advance(std::int64_t epochs, Poll& poll) {
    nb::gil_scoped_release release;
    const std::int64_t before = solver_.touched;
    const bool finished = problem_.rows().visit([&](const auto& rows) {
      for (std::int64_t e = 0; e < epochs; ++e) {
        if (!solver_.run_epoch(rows, problem_.problem(), poll)) return false;
      }
      return true;
    });
    return {solver_.touched - before, finished};
  }

  nb::dict state() {
    nb::dict out = saved_fields(solver_);
    if constexpr (kRandom) {
      const auto& words = solver_.rng.state();
      out["rng"] = nb::cast(owned(std::vector<std::uint64_t>(words.begin(), words.end())));
    }
    return out;
  }

  void restore(const nb::dict& saved) {
    solver_.fields([&](const char* name, auto& field) { restore_field(name, saved[name], field); });
    if constexpr (requires { solver_.check_restored(problem()); }) solver_.check_restored(problem());
    if constexpr (kRandom) restore_rng(saved["rng"]);
  }

  void rebuild(Poll& poll) {
    nb::gil_scoped_release release;
    problem_.rows().visit([&](const auto& rows) { solver_.rebuild(rows, problem_.problem(), poll); });
  }

  const Problem& problem() const { return problem_.problem(); }
  Solver& solver() { return solver_; }

  /// (w, multipliers) as the solver's `point` writes them.
  std::tuple<Owned<double>, Owned<double>> point() {
    std::vector<double> w(static_cast<std::size_t>(problem_.rows().n_features()) + 1);
    std::vector<double> a(static_cast<std::size_t>(problem().size()));
    if constexpr (requires { solver_.point(problem(), w, a); }) {
      solver_.point(problem(), w, a);
    } else {
      solver_.point(w, a);
    }
    return {owned(std::move(w)), owned(std::move(a))};
  }

 private:
  static constexpr bool kRandom = requires(Solver& solver) { solver.rng; };

  void restore_rng(const nb::object& saved) {
    const auto words = nb::cast<Vector<std::uint64_t>>(saved);
    expect_length("rng", words.shape(0), 4);
    if (std::all_of(view(words).begin(), view(words).end(), [](std::uint64_t word) { return word == 0; })) {
      throw nb::value_error("saved state: a random generator of zeros only is none");
    }
    solver_.rng = Rng(Rng::State{words.data()[0], words.data()[1], words.data()[2], words.data()[3]});
  }

  template <class T>
  void restore_field(const char* name, const nb::object& value, T& field) {
    from_python(name, value, field);
  }
  void restore_field(const char* name, const nb::object& value, ActiveRows& field) {
    const auto array = nb::cast<Vector<std::int64_t>>(value);
    std::int64_t previous = -1;
    for (const std::int64_t i : view(array)) {
      if (i <= previous || i >= problem().size()) {
        throw nb::value_error((std::string("saved state: ") + name + " rows out of order or range").c_str());
      }
      previous = i;
    }
    field.assign(view(array).begin(), view(array).end());
  }

  const ProblemHandle& problem_;
  Solver solver_;
};

template <class Solver>
nb::class_<Run<Solver>> bind_run(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<Run<Solver>>(m, name, doc)
      .def("advance", &Run<Solver>::advance, nb::arg("epochs"), nb::arg("poll"),
           "(rows read, whether all epochs were finished)")
      .def("state", &Run<Solver>::state, nb::sig("def state(self) -> dict[str, object]"),
           "Everything that a resumed run needs, as arrays and numbers.")
      .def("restore", &Run<Solver>::restore, nb::arg("state"), nb::sig("def restore(self, state: dict[str, object]) -> None"))
      .def("rebuild", &Run<Solver>::rebuild, nb::arg("poll"),
           "After restoring a state of another problem: make it consistent with this one.");
}

}  // namespace hinge::python
