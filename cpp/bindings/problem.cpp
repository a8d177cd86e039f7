#include <nanobind/stl/shared_ptr.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "handles.hpp"

namespace hinge::python {

namespace {

/// Python's name for its main thread, asked once: native code that calls back into Python off the main thread would be unwound with
/// it at the end of the interpreter (gil.hpp).
unsigned long main_thread = 0;

/// In place: one for each row, side by side, or the same for all, as numpy.broadcast_to makes it.
Costs costs_of(const Spaced<double>& cost) {
  if (cost.shape(0) > 1 && cost.stride(0) == 0) return Costs::same(*cost.data());
  if (cost.shape(0) > 1 && cost.stride(0) != 1) throw nb::value_error("costs must lie side by side");
  return Costs({cost.data(), cost.shape(0)});
}

void expect_targets_and_costs(std::span<const double> target, const Costs& cost) {
  bool sound = true;
  for (const double t : target) sound = sound & (std::abs(t) == 1.0);  // no branch: many at once
  if (!sound) throw nb::value_error("targets must be -1 or +1");
  for (const double c : cost.numbers()) {
    if (!(c > 0.0) || !std::isfinite(c)) throw nb::value_error("costs must be positive and finite");
  }
}

}  // namespace

ProblemHandle::ProblemHandle(RowsHandle rows, Vector<double> target, Spaced<double> cost, Loss::Kind loss,
                             bool free_intercept) {
  expect_length("target", target.shape(0), rows.size());
  expect_length("cost", cost.shape(0), rows.size());
  if (rows.size() == 0) throw nb::value_error("a problem needs at least one row");
  const Costs costs = costs_of(cost);
  expect_targets_and_costs(view(target), costs);
  const Problem problem(view(target), costs, loss, free_intercept);
  data_ = std::make_shared<const Data>(Data{std::move(rows), std::move(target), std::move(cost), problem});
}

bool in_main_thread() {
#if defined(__linux__)
  if (gettid() == getpid()) return true;
#endif
  return PyThread_get_thread_ident() == main_thread;
}

void PythonPoll::check_signals(StopToken& token) {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return;
  const nb::python_error raised;
  if (error_.is_none()) error_ = nb::borrow(raised.value());
  token.stop();
}

void PythonPoll::raise_error() {
  if (error_.is_none()) return;
  const nb::object error = std::exchange(error_, nb::none());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void bind_problem(nb::module_& m) {
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  nb::enum_<Loss::Kind>(m, "Loss").value("hinge", Loss::Kind::hinge).value("squared_hinge", Loss::Kind::squared_hinge);
  nb::class_<ProblemHandle>(m, "Problem", "Rows, targets in {-1, +1}, costs C_i > 0 and the loss of one binary problem.")
      .def(nb::init<RowsHandle, Vector<double>, Spaced<double>, Loss::Kind, bool>(), nb::arg("rows"), nb::arg("target"),
           nb::arg("cost"), nb::arg("loss"), nb::arg("free_intercept"))
      .def_prop_ro("rows", &ProblemHandle::rows)
      .def_prop_ro("total_cost", [](const ProblemHandle& handle) { return handle.problem().total_cost; });
  nb::class_<StopToken>(m, "StopToken", "Asks every run that shares it to stop: at once, or from a time on.")
      .def(nb::init<>())
      .def("stop", &StopToken::stop)
      .def("set_deadline", &StopToken::set_deadline, nb::arg("seconds_from_now"))
      .def_prop_ro("stop_requested", &StopToken::stop_requested)
      .def_prop_ro("past_deadline", &StopToken::past_deadline);
  nb::class_<Poll>(m, "PollBase");
  nb::class_<PythonPoll, Poll>(m, "Poll", "How a native loop learns that it should stop. One per thread.")
      .def(nb::init<std::shared_ptr<StopToken>, bool, bool>(), nb::arg("token"), nb::arg("signals") = false,
           nb::arg("overtime") = false,
           "`signals`: run Python's signal handlers on the way, only in the main thread. `overtime`: the deadline does not "
           "count.")
      .def("__call__", &Poll::operator(), nb::arg("work") = 0,
           "For a loop in Python: whether to stop, after reading `work` values since the last call.")
      .def_prop_ro("stopped", &Poll::stopped, "A native loop was told to stop.")
      .def("raise_error", &PythonPoll::raise_error, "Raise what a signal handler has raised inside native code, if any.");
}

}  // namespace hinge::python
