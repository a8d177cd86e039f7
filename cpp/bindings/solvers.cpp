#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "handles.hpp"
#include "hinge/dcd.hpp"
#include "hinge/pegasos.hpp"
#include "hinge/sgd.hpp"

namespace hinge::python {

namespace {

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
    nb::dict out;
    solver_.fields([&](const char* name, auto& field) { out[name] = to_python(field); });
    const auto& words = solver_.rng.state();
    out["rng"] = nb::cast(owned(std::vector<std::uint64_t>(words.begin(), words.end())));
    return out;
  }

  void restore(const nb::dict& saved) {
    solver_.fields([&](const char* name, auto& field) { from_python(name, saved[name], field); });
    const auto words = nb::cast<Vector<std::uint64_t>>(saved["rng"]);
    expect_length("rng", words.shape(0), 4);
    if (std::all_of(view(words).begin(), view(words).end(), [](std::uint64_t word) { return word == 0; })) {
      throw nb::value_error("saved state: a random generator of zeros only is none");
    }
    solver_.rng = Rng(Rng::State{words.data()[0], words.data()[1], words.data()[2], words.data()[3]});
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
  template <class T>
  static nb::object to_python(const std::vector<T>& field) {
    return nb::cast(owned(std::vector<T>(field)));
  }
  template <class T>
  static nb::object to_python(const T& field) {
    return nb::cast(field);
  }

  template <class T>
  void from_python(const char* name, const nb::object& value, std::vector<T>& field) {
    const auto array = nb::cast<Vector<T>>(value);
    if constexpr (std::is_same_v<Solver, Dcd>) {
      if (&field == static_cast<void*>(&solver_.active)) return restore_active(array);
    }
    expect_length(name, array.shape(0), static_cast<std::int64_t>(field.size()));
    if constexpr (std::is_same_v<T, std::int64_t>) {
      for (const std::int64_t count : view(array)) expect_count(name, count);
    }
    std::copy(view(array).begin(), view(array).end(), field.begin());
  }
  template <class T>
  void from_python(const char* name, const nb::object& value, T& field) {
    const auto number = nb::cast<T>(value);
    if constexpr (std::is_same_v<T, std::int64_t>) expect_count(name, number);
    field = number;
  }

  /// Counters far from where adding to them could overflow.
  static void expect_count(const char* name, std::int64_t count) {
    if (count >= 0 && count < (std::int64_t{1} << 60)) return;
    throw nb::value_error((std::string("saved state: ") + name + " out of range").c_str());
  }

  template <class T>
  void restore_active(const Vector<T>& array) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      std::int64_t previous = -1;
      for (const std::int64_t i : view(array)) {
        if (i <= previous || i >= problem().size()) throw nb::value_error("saved state: active rows out of order or range");
        previous = i;
      }
      solver_.active.assign(view(array).begin(), view(array).end());
    }
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

}  // namespace

void bind_solvers(nb::module_& m) {
  nb::class_<Rng>(m, "Rng", "xoshiro256++ keyed by a list of integers.")
      .def("__init__",
           [](Rng* self, const std::vector<std::uint64_t>& key) { new (self) Rng(std::span<const std::uint64_t>(key)); })
      .def("next", &Rng::next)
      .def("below",
           [](Rng& rng, std::int64_t bound) {
             if (bound < 1) throw nb::value_error("bound must be at least 1");
             return rng.below(bound);
           })
      .def("uniform", &Rng::uniform);
  nb::class_<Order>(m, "Order", "block = 0: a full permutation; otherwise shuffled blocks of that many rows.")
      .def(
          "__init__",
          [](Order* self, std::int64_t block, std::int64_t group) {
            constexpr std::int64_t most = std::int64_t{1} << 20;
            if (block < 0 || block > most || group < 1 || group > most) {
              throw nb::value_error("block must lie between 0 and 2^20, group between 1 and 2^20");
            }
            new (self) Order{block, group};
          },
          nb::arg("block"), nb::arg("group") = 1)
      .def("of_all", [](const Order& order, std::int64_t n_rows, Rng& rng) {
        if (n_rows < 0) throw nb::value_error("n_rows must not be negative");
        return owned(order.of_all(n_rows, rng));
      });

  nb::enum_<Presentation>(m, "Presentation")
      .value("random", Presentation::random)
      .value("single", Presentation::single)
      .value("multiple", Presentation::multiple);
  bind_run<Sgd>(m, "Sgd", "SGD-r, SGD-s or SGD-m at work.")
      .def(nb::init<const ProblemHandle&, const Presentation&, const Order&, const Rng&>(), nb::keep_alive<1, 2>())
      .def("point", &Run<Sgd>::point, "(w, multipliers)")
      .def("estimate", [](Run<Sgd>& run) {
        return std::tuple(run.solver().primal_estimate(run.problem()), run.solver().dual_estimate(run.problem()));
      });

  bind_run<Dcd>(m, "Dcd", "Dual coordinate descent at work.")
      .def(nb::init<const ProblemHandle&, const bool&, const bool&, const double&, const Order&, const Rng&>(),
           nb::keep_alive<1, 2>())
      .def("multipliers", [](Run<Dcd>& run) { return owned(std::vector<double>(run.solver().a)); })
      .def("estimate", [](Run<Dcd>& run) { return std::tuple(run.solver().dual + run.solver().gap, run.solver().dual); });

  nb::enum_<Sampling>(m, "Sampling").value("iid", Sampling::iid).value("epoch", Sampling::epoch);
  nb::enum_<Bias>(m, "Bias").value("none", Bias::none).value("subgradient", Bias::subgradient).value("exact", Bias::exact);
  nb::enum_<Output>(m, "Output").value("last", Output::last).value("average", Output::average).value("random", Output::random);
  nb::class_<PegasosOptions>(m, "PegasosOptions")
      .def(
          "__init__",
          [](PegasosOptions* self, std::int64_t k, Sampling sampling, bool projection, bool advance_without_loss, Bias bias,
             Output output, bool random_start) {
            if (k < 1) throw nb::value_error("k must be at least 1");
            new (self) PegasosOptions{k, sampling, projection, advance_without_loss, bias, output, random_start};
          },
          nb::arg("k"), nb::arg("sampling"), nb::arg("projection"), nb::arg("advance_without_loss"), nb::arg("bias"),
          nb::arg("output"), nb::arg("random_start"));
  bind_run<Pegasos>(m, "Pegasos", "Pegasos at work.")
      .def(nb::init<const ProblemHandle&, const PegasosOptions&, const Order&, const Rng&>(), nb::keep_alive<1, 2>())
      .def("point", &Run<Pegasos>::point, "(w, multipliers)");
}

}  // namespace hinge::python
