#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "handles.hpp"

namespace hinge::python {

namespace {

std::string place(const Fault& fault) {
  const std::string row = "row " + std::to_string(fault.row);
  return fault.column < 0 ? row : row + ", column " + std::to_string(fault.column);
}

[[noreturn]] void refuse(const Fault& fault) {
  using enum Fault::Kind;
  const std::string at = place(fault);
  const auto message = [&]() -> std::string {
    switch (fault.kind) {
      case nan:
        return "Input X contains NaN (" + at + "). Impute or drop missing values first, for example with sklearn.impute.";
      case infinity:
        return "Input X contains infinity (" + at + "). Replace or drop it first.";
      case overflow:
        return "The squared norm of " + at + " of X overflows float64. Scale the features first.";
      case index_range:
        return "Corrupt CSR matrix: column index out of range at " + at + ".";
      case duplicate:
        return "CSR matrix with duplicate entries at " + at + ": call sum_duplicates() on it first.";
      case stopped:
        return "Validation was stopped.";
      case indptr:
        return "Corrupt CSR matrix: indptr does not start at 0, decreases, or points beyond the data at " + at + ".";
    }
    return "Invalid X at " + at + ".";
  }();
  throw nb::value_error(message.c_str());
}

/// Raise what a signal handler has raised while native code was running.
void raise_if_signalled(PythonPoll& poll) {
  if (poll.error.is_none()) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(poll.error.ptr())), poll.error.ptr());
  throw nb::python_error();
}

template <class F>
std::shared_ptr<const std::vector<double>> checked_norms(std::int64_t n_rows, F&& validate) {
  auto norms = std::make_shared<std::vector<double>>(static_cast<std::size_t>(n_rows));
  std::optional<Fault> fault;
  PythonPoll poll(std::make_shared<StopFlag>(false));
  {
    nb::gil_scoped_release release;
    fault = validate(std::span<double>(*norms), poll);
  }
  raise_if_signalled(poll);
  if (fault) refuse(*fault);
  return norms;
}

/// Decision values of every row for every row of `weights`, with the intercepts added: shape (rows, problems).
nb::ndarray<nb::numpy, double, nb::ndim<2>> decision(const RowsHandle& handle, const Matrix<double>& weights,
                                                     const Vector<double>& intercept) {
  const auto n_problems = static_cast<std::int64_t>(weights.shape(0));
  expect_length("a row of weights", weights.shape(1), handle.n_features() + 1);
  expect_length("intercept", intercept.shape(0), n_problems);
  const std::int64_t m = handle.size();
  const auto width = static_cast<std::size_t>(weights.shape(1));
  auto* out = new std::vector<double>(static_cast<std::size_t>(m * n_problems));
  nb::capsule owner(out, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  PythonPoll poll(std::make_shared<StopFlag>(false));
  {
    nb::gil_scoped_release release;
    handle.visit([&](const auto& rows) {
      for (std::int64_t i = 0; i < m; ++i) {
        if (poll(n_problems * rows.stored(i))) return;
        for (std::int64_t c = 0; c < n_problems; ++c) {
          const std::span<const double> w(weights.data() + c * static_cast<std::int64_t>(width), width);
          (*out)[static_cast<std::size_t>(i * n_problems + c)] = rows.dot(i, w) + intercept.data()[c];
        }
      }
    });
  }
  raise_if_signalled(poll);
  return {out->data(), {static_cast<std::size_t>(m), static_cast<std::size_t>(n_problems)}, owner};
}

Owned<double> column_squares(const RowsHandle& handle) {
  std::vector<double> squares(static_cast<std::size_t>(handle.n_features()) + 1);
  {
    nb::gil_scoped_release release;
    handle.visit([&](const auto& rows) {
      for (std::int64_t i = 0; i < rows.size(); ++i) {
        rows.for_each(i, [&](std::int64_t j, double x) { squares[static_cast<std::size_t>(j)] += x * x; });
      }
    });
  }
  squares.pop_back();
  return owned(std::move(squares));
}

void expect_row(const RowsHandle& handle, std::int64_t i) {
  if (i < 0 || i >= handle.size()) {
    throw nb::index_error(("row " + std::to_string(i) + " of " + std::to_string(handle.size())).c_str());
  }
}

template <class T, class Index, class Pointer>
void bind_csr(nb::class_<RowsHandle>& cls) {
  cls.def_static("csr", &RowsHandle::csr<T, Index, Pointer>, nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
                 nb::arg("indptr").noconvert(), nb::arg("n_features"));
}

}  // namespace

template <class T>
RowsHandle RowsHandle::dense(const Matrix<T>& values) {
  DenseRows<T> rows;
  rows.n_kept = static_cast<std::int64_t>(values.shape(0));
  rows.n_columns = static_cast<std::int64_t>(values.shape(1));
  rows.values = values.data();
  RowsHandle handle;
  handle.arrays_ = {nb::cast(values)};
  handle.norms_ = checked_norms(rows.n_kept, [&](std::span<double> norms, Poll& poll) {
    return validate_dense(rows.values, rows.n_kept, rows.n_columns, norms, poll);
  });
  rows.norms = handle.norms_->data();
  handle.view_ = rows;
  return handle;
}

template <class T, class Index, class Pointer>
RowsHandle RowsHandle::csr(const Vector<T>& values, const Vector<Index>& indices, const Vector<Pointer>& indptr,
                           std::int64_t n_columns) {
  if (indptr.shape(0) == 0) throw nb::value_error("Corrupt CSR matrix: indptr is empty.");
  if (n_columns < 0) throw nb::value_error("Corrupt CSR matrix: negative number of columns.");
  CsrRows<T, Index, Pointer> rows;
  rows.n_kept = static_cast<std::int64_t>(indptr.shape(0)) - 1;
  rows.n_columns = n_columns;
  rows.values = values.data();
  rows.indices = indices.data();
  rows.indptr = indptr.data();
  const auto n_stored = static_cast<std::int64_t>(std::min(values.shape(0), indices.shape(0)));
  RowsHandle handle;
  handle.arrays_ = {nb::cast(values), nb::cast(indices), nb::cast(indptr)};
  handle.norms_ = checked_norms(rows.n_kept, [&](std::span<double> norms, Poll& poll) {
    return validate_csr(rows.values, rows.indices, rows.indptr, n_stored, rows.n_kept, n_columns, norms, poll);
  });
  rows.norms = handle.norms_->data();
  handle.view_ = rows;
  return handle;
}

RowsHandle RowsHandle::select(std::optional<Vector<std::int64_t>> kept, double rho) const {
  if (kept_ || visit([](const auto& rows) { return rows.rho; }) != 0.0) {
    throw nb::value_error("rows are selected once, from all rows");
  }
  if (!std::isfinite(rho * rho)) throw nb::value_error("the constant feature must have a finite square");
  RowsHandle handle(*this);
  std::vector<double> norms;
  if (kept) {
    for (const std::int64_t i : hinge::python::view(*kept)) {
      expect_row(*this, i);
      norms.push_back((*norms_)[static_cast<std::size_t>(i)] + rho * rho);
    }
    const auto rows = hinge::python::view(*kept);
    handle.kept_ = std::make_shared<const std::vector<std::int64_t>>(rows.begin(), rows.end());
  } else if (rho != 0.0) {
    for (const double norm : *norms_) norms.push_back(norm + rho * rho);
  }
  if (!norms.empty() || kept) handle.norms_ = std::make_shared<const std::vector<double>>(std::move(norms));
  std::visit(
      [&](auto& rows) {
        rows.rho = rho;
        rows.norms = handle.norms_->data();
        if (handle.kept_) {
          rows.kept = handle.kept_->data();
          rows.n_kept = static_cast<std::int64_t>(handle.kept_->size());
        }
      },
      handle.view_);
  return handle;
}

ProblemHandle::ProblemHandle(RowsHandle rows, Vector<std::int8_t> y, Vector<double> cost, bool free_intercept)
    : rows_(std::move(rows)),
      y_(std::move(y)),
      cost_(std::move(cost)),
      problem_((expect_length("y", y_.shape(0), rows_.size()), expect_length("cost", cost_.shape(0), rows_.size()),
                rows_.size() == 0 ? throw nb::value_error("a problem needs at least one row") : view(y_)),
               view(cost_), free_intercept) {
  for (const std::int8_t label : view(y_)) {
    if (label != 1 && label != -1) throw nb::value_error("labels must be -1 or +1");
  }
  for (const double c : view(cost_)) {
    if (!(c > 0.0) || !std::isfinite(c)) throw nb::value_error("costs must be positive and finite");
  }
}

bool PythonPoll::check_signals() {
  nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return false;
  const nb::python_error raised;
  error = nb::borrow(raised.value());
  return true;
}

void bind_rows(nb::module_& m) {
  nb::class_<RowsHandle> cls(m, "Rows", "Training rows, read in place. Construction checks every value and index once.");
  cls.def_static("dense", &RowsHandle::dense<float>, nb::arg("values").noconvert());
  cls.def_static("dense", &RowsHandle::dense<double>, nb::arg("values").noconvert());
  bind_csr<float, std::int32_t, std::int32_t>(cls);
  bind_csr<float, std::int32_t, std::int64_t>(cls);
  bind_csr<float, std::int64_t, std::int32_t>(cls);
  bind_csr<float, std::int64_t, std::int64_t>(cls);
  bind_csr<double, std::int32_t, std::int32_t>(cls);
  bind_csr<double, std::int32_t, std::int64_t>(cls);
  bind_csr<double, std::int64_t, std::int32_t>(cls);
  bind_csr<double, std::int64_t, std::int64_t>(cls);
  cls.def("select", &RowsHandle::select, nb::arg("kept").none(), nb::arg("rho"),
          "The rows listed in `kept` (all if None), each with the constant feature rho appended.");
  cls.def("column_squares", &column_squares, "sum_i x_ij^2 of every column, without the constant feature.");
  cls.def("__len__", &RowsHandle::size);
  cls.def_prop_ro("n_features", &RowsHandle::n_features, "Without the constant feature.");
  cls.def_prop_ro("squared_norms", &RowsHandle::squared_norms, nb::rv_policy::automatic, "|[x, rho]|^2 of every row (a copy).");
  cls.def("decision", &decision, nb::arg("weights"), nb::arg("intercept"),
          "w.x_i + b for every row and every row of `weights` (n_features + 1 columns).");
  cls.def(
      "dot",
      [](const RowsHandle& handle, std::int64_t i, const Vector<double>& w) {
        expect_row(handle, i);
        expect_length("w", w.shape(0), handle.n_features() + 1);
        return handle.visit([&](const auto& rows) { return rows.dot(i, view(w)); });
      },
      nb::arg("i"), nb::arg("w"), "w.[x_i, rho]");
  cls.def(
      "add",
      [](const RowsHandle& handle, std::int64_t i, double scale, const MutableVector& w) {
        expect_row(handle, i);
        expect_length("w", w.shape(0), handle.n_features() + 1);
        handle.visit([&](const auto& rows) { rows.add(i, scale, std::span<double>(w.data(), w.shape(0))); });
      },
      nb::arg("i"), nb::arg("scale"), nb::arg("w"), "w += scale * [x_i, rho], in place");

  nb::class_<ProblemHandle>(m, "Problem", "Rows, labels in {-1, +1} and costs C_i > 0 of one binary problem.")
      .def(nb::init<RowsHandle, Vector<std::int8_t>, Vector<double>, bool>(), nb::arg("rows"), nb::arg("y"), nb::arg("cost"),
           nb::arg("free_intercept"))
      .def_prop_ro("rows", &ProblemHandle::rows)
      .def_prop_ro("total_cost", [](const ProblemHandle& handle) { return handle.problem().total_cost; });

  nb::class_<StopFlag>(m, "StopFlag", "Asks every run that shares it to stop.")
      .def("__init__", [](StopFlag* self) { new (self) StopFlag(false); })
      .def("set", [](StopFlag& flag) { flag.store(true); })
      .def("__bool__", [](const StopFlag& flag) { return flag.load(); });
  nb::class_<Poll>(m, "PollBase");
  nb::class_<PythonPoll, Poll>(m, "Poll", "How a native loop learns that it should stop: Ctrl-C, a deadline or the flag.")
      .def(nb::init<std::shared_ptr<StopFlag>>(), nb::arg("flag"))
      .def("set_deadline", &Poll::set_deadline, nb::arg("seconds_from_now"))
      .def_prop_ro("stopped", &Poll::stopped, "A native loop was told to stop.")
      .def_prop_ro("past_deadline", &Poll::past_deadline)
      .def(
          "take_error", [](PythonPoll& poll) { return std::exchange(poll.error, nb::none()); },
          nb::sig("def take_error(self) -> BaseException | None"), "What a signal handler raised, once, or None.");
}

}  // namespace hinge::python
