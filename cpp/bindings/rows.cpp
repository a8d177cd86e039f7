#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <tuple>

#include "handles.hpp"
#include "hinge/evaluate.hpp"
#include "hinge/fingerprint.hpp"
#include "hinge/products.hpp"
#include "hinge/validate.hpp"

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
      case indptr:
        return "Corrupt CSR matrix: indptr does not start at 0, decreases, or points beyond the data at " + at + ".";
    }
    return "Invalid X at " + at + ".";
  }();
  throw nb::value_error(message.c_str());
}

/// work(poll) without the GIL; raises what a signal handler has raised on the way.
template <class F>
void interruptible(F&& work) {
  PythonPoll poll(std::make_shared<StopToken>(), in_main_thread());
  {
    const WithoutGil released;
    work(poll);
  }
  poll.raise_error();
}

void expect_row(const RowsHandle& handle, std::int64_t i) {
  if (i < 0 || i >= handle.size()) {
    throw nb::index_error(("row " + std::to_string(i) + " of " + std::to_string(handle.size())).c_str());
  }
}

/// Decision values of rows for every column of `weights`, with the intercepts added: shape (rows, problems).
template <class R>
class Decisions {
 public:
  Decisions(const R& rows, const Matrix<double>& weights, const Vector<double>& intercept)
      : n_rows_(static_cast<std::size_t>(rows.size())),
        intercept_(view(intercept)),
        products_(rows, columns(rows, weights, intercept), static_cast<std::int64_t>(intercept_.size())),
        out_(std::make_unique_for_overwrite<double[]>(n_rows_ * intercept_.size())) {}

  /// Those of the rows begin .. end-1. False when stopped by the poll.
  bool operator()(std::int64_t begin, std::int64_t end, Poll& poll) const {
    const std::size_t n = intercept_.size();
    if (!products_(begin, end, {out_.get(), n_rows_ * n}, poll)) return false;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      for (std::size_t c = 0; c < n; ++c) out_[i * n + c] += intercept_[c];
    }
    return true;
  }

  nb::ndarray<nb::numpy, double, nb::ndim<2>> array() && {
    nb::capsule owner(out_.get(), [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return {out_.release(), {n_rows_, intercept_.size()}, owner};
  }

 private:
  std::size_t n_rows_;
  std::span<const double> intercept_;
  Products<R> products_;
  std::unique_ptr<double[]> out_;

  static std::span<const double> columns(const R& rows, const Matrix<double>& weights, const Vector<double>& intercept) {
    expect_length("a column of weights", weights.shape(0), rows.n_features());
    expect_length("intercept", intercept.shape(0), static_cast<std::int64_t>(weights.shape(1)));
    return {weights.data(), weights.size()};
  }
};

nb::ndarray<nb::numpy, double, nb::ndim<2>> decision(const RowsHandle& handle, const Matrix<double>& weights,
                                                     const Vector<double>& intercept, std::int64_t n_threads) {
  return handle.visit([&](const auto& rows) {
    Decisions decisions(rows, weights, intercept);
    interruptible([&](Poll& poll) { for_parts(parts_of(rows, 0), n_threads, poll, decisions); });
    return std::move(decisions).array();
  });
}

std::tuple<Owned<double>, Owned<std::int64_t>> column_squares(const RowsHandle& handle) {
  std::vector<double> squares(static_cast<std::size_t>(handle.n_features()) + 1);
  std::vector<std::int64_t> counts(squares.size());
  interruptible([&](Poll& poll) {
    handle.visit([&](const auto& rows) {
      for (std::int64_t i = 0; i < rows.size(); ++i) {
        rows.for_each(i, [&](std::int64_t j, double x) {
          squares[static_cast<std::size_t>(j)] += x * x;
          counts[static_cast<std::size_t>(j)] += x != 0.0;
        });
        if (poll(rows.stored(i))) return;
      }
    });
  });
  squares.pop_back();
  counts.pop_back();
  return {owned(std::move(squares)), owned(std::move(counts))};
}

std::uint64_t checksum(const nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>& array) {
  const WithoutGil released;
  return detail::hash_of(array.data(), array.nbytes()) >> 2;
}

const char* layout(const RowsHandle& handle) {
  return handle.visit([](const auto& rows) { return requires { rows.indptr; } ? "csr" : "dense"; });
}

std::tuple<Owned<std::int64_t>, Owned<double>> entries(const RowsHandle& handle, std::int64_t i) {
  expect_row(handle, i);
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  handle.visit([&](const auto& rows) {
    rows.for_each(i, [&](std::int64_t j, double x) {
      if (j == rows.n_features()) return;  // the constant feature
      columns.push_back(j);
      values.push_back(x);
    });
  });
  return {owned(std::move(columns)), owned(std::move(values))};
}

}  // namespace

void RowsHandle::set_norms(std::vector<double> norms) {
  norms_ = std::make_shared<const std::vector<double>>(std::move(norms));
  std::visit([&](auto& rows) { rows.norms = norms_->data(); }, view_);
}

namespace {

/// For rows that nobody will want to tell from others.
struct NoFingerprint {
  /// Rows that are checked at once store about so many values: they are still in the cache for what comes next.
  static constexpr std::int64_t kStoredAtOnce = 1 << 12;

  template <class R>
  void add(const R&, std::int64_t, std::int64_t) {}
  void merge(const NoFingerprint&) {}
};

struct RowsFingerprint : Fingerprint {
  using Fingerprint::Fingerprint;

  /// Few enough for the first level of the cache. On Covertype, checked with fingerprint: 11.8 ms; with twice as many 16.6 ms.
  static constexpr std::int64_t kStoredAtOnce = 1 << 10;

  /// The rows begin .. end-1 of all rows.
  template <class T>
  void add(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end) {
    const std::int64_t n = rows.n_features();
    add_values(begin * n, rows.values + begin * n, (end - begin) * n);
  }
  template <class T, class Index>
  void add(const CsrRows<T, Index>& rows, std::int64_t begin, std::int64_t end) {
    const std::int64_t first = rows.indptr[begin];
    const std::int64_t n = rows.indptr[end] - first;
    add_values(first, rows.values + first, n);
    add_indices(first, rows.indices + first, n);
    add_ends(begin, rows.indptr + begin + 1, end - begin);
  }

  /// All rows of a part, as if there were no others.
  template <class T>
  void add_part(const DenseRows<T>& rows) {
    const std::int64_t n = rows.n_features();
    for (std::int64_t i = 0; i < rows.size(); ++i) add_values(i * n, rows.values + rows.row(i) * n, n);
  }
  template <class T, class Index>
  void add_part(const CsrRows<T, Index>& rows) {
    std::int64_t end = 0;
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const std::int64_t at = rows.indptr[rows.row(i)];
      const std::int64_t n = rows.stored(i);
      add_values(end, rows.values + at, n);
      add_indices(end, rows.indices + at, n);
      end += n;
      add_ends(i, &end, 1);
    }
  }
};

/// What checking some of the rows has found.
template <class Print>
struct Checked {
  Print print;
  std::optional<Fault> fault;

  void merge(const Checked& other) {  // parts come in the order of their rows: the first fault stays
    print.merge(other.print);
    if (!fault) fault = other.fault;
  }
};

template <class T>
std::optional<Fault> fault_in(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end, std::span<double> norms,
                              Repeats&) {
  return validate_dense(rows.values, begin, end, rows.n_columns, norms);
}

template <class T, class Index>
std::optional<Fault> fault_in(const CsrRows<T, Index>& rows, std::int64_t begin, std::int64_t end, std::span<double> norms,
                              Repeats& repeats) {
  return validate_csr(rows.values, rows.indices, rows.indptr, begin, end, rows.n_columns, norms, repeats);
}

/// Checks all rows, a few at a time, and refuses them with the first fault. then(begin, end, poll), for rows that have passed, returns
/// false when stopped by its poll. Returns the squared norms; `print` receives every row.
template <class R, class Print, class Then>
std::vector<double> check(const R& rows, std::int64_t n_threads, Print& print, Then&& then) {
  std::vector<double> norms(static_cast<std::size_t>(rows.size()));
  Checked<Print> all{print, std::nullopt};
  std::atomic<std::int64_t> good = rows.size();  // rows behind a fault need not be looked at
  const std::int64_t per_row = rows.total_stored() / std::max<std::int64_t>(rows.size(), 1);
  const std::int64_t at_once = Print::kStoredAtOnce / (per_row + 1) + 1;
  const auto add = [&](Checked<Print>& part, std::int64_t begin, std::int64_t end, Poll& own) {
    Repeats repeats;
    for (std::int64_t i = begin; i < std::min<std::int64_t>(end, good); i += at_once) {
      const std::int64_t last = std::min(i + at_once, end);
      part.fault = fault_in(rows, i, last, norms, repeats);
      if (part.fault) {
        for (std::int64_t known = good; begin < known && !good.compare_exchange_weak(known, begin);) {
        }
        return true;
      }
      part.print.add(rows, i, last);
      if (!then(i, last, own) || own((last - i) * per_row)) return false;
    }
    return true;
  };
  bool finished = false;
  interruptible([&](Poll& poll) { finished = sum_over(parts_of(rows, 0), n_threads, poll, Checked<Print>{}, all, add); });
  if (!finished) throw nb::value_error("Validation was stopped.");
  if (all.fault) refuse(*all.fault);
  print = all.print;
  return norms;
}

/// Rows whose values and indices nobody has looked at yet.
template <class T>
DenseRows<T> unchecked(const Matrix<T>& values) {
  DenseRows<T> rows;
  rows.n_kept = static_cast<std::int64_t>(values.shape(0));
  rows.n_columns = static_cast<std::int64_t>(values.shape(1));
  rows.values = values.data();
  return rows;
}

template <class T, class Index>
CsrRows<T, Index> unchecked(const Vector<T>& values, const Vector<Index>& indices, const Vector<std::int64_t>& indptr,
                            std::int64_t n_columns) {
  if (indptr.shape(0) == 0) throw nb::value_error("Corrupt CSR matrix: indptr is empty.");
  if (n_columns < 0) throw nb::value_error("Corrupt CSR matrix: negative number of columns.");
  CsrRows<T, Index> rows;
  rows.n_kept = static_cast<std::int64_t>(indptr.shape(0)) - 1;
  rows.n_columns = n_columns;
  rows.values = values.data();
  rows.indices = indices.data();
  rows.indptr = indptr.data();
  const auto n_stored = static_cast<std::int64_t>(std::min(values.shape(0), indices.shape(0)));
  if (const auto fault = validate_indptr(rows.indptr, rows.n_kept, n_stored)) refuse(*fault);
  return rows;
}

/// Decisions of rows that are checked on the way, so that they are read once.
template <class R>
nb::ndarray<nb::numpy, double, nb::ndim<2>> checked_decision(const R& rows, const Matrix<double>& weights,
                                                             const Vector<double>& intercept, std::int64_t n_threads) {
  Decisions decisions(rows, weights, intercept);
  NoFingerprint print;
  check(rows, n_threads, print, decisions);
  return std::move(decisions).array();
}

template <class T>
nb::ndarray<nb::numpy, double, nb::ndim<2>> dense_decision(const Matrix<T>& values, const Matrix<double>& weights,
                                                           const Vector<double>& intercept, std::int64_t n_threads) {
  return checked_decision(unchecked(values), weights, intercept, n_threads);
}

template <class T, class Index>
nb::ndarray<nb::numpy, double, nb::ndim<2>> csr_decision(const Vector<T>& values, const Vector<Index>& indices,
                                                         const Vector<std::int64_t>& indptr, std::int64_t n_columns,
                                                         const Matrix<double>& weights, const Vector<double>& intercept,
                                                         std::int64_t n_threads) {
  return checked_decision(unchecked(values, indices, indptr, n_columns), weights, intercept, n_threads);
}

constexpr const char* kDecision =
    "w.x_i + b for every row and every column of `weights` (n_features rows). The rows are checked as those of Rows are.";

template <class T>
void bind_dense(nb::module_& m, nb::class_<RowsHandle>& cls) {
  cls.def_static("dense", &RowsHandle::dense<T>, nb::arg("values").noconvert(), nb::arg("n_threads") = 1,
                 nb::arg("fingerprint") = false);
  m.def("decision", &dense_decision<T>, nb::arg("values").noconvert(), nb::kw_only(), nb::arg("weights"), nb::arg("intercept"),
        nb::arg("n_threads") = 1, kDecision);
}

template <class T, class Index>
void bind_csr(nb::module_& m, nb::class_<RowsHandle>& cls) {
  cls.def_static("csr", &RowsHandle::csr<T, Index>, nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
                 nb::arg("indptr").noconvert(), nb::arg("n_columns"), nb::arg("n_threads") = 1, nb::arg("fingerprint") = false);
  m.def("decision", &csr_decision<T, Index>, nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("n_columns"), nb::kw_only(), nb::arg("weights"), nb::arg("intercept"),
        nb::arg("n_threads") = 1, kDecision);
}

}  // namespace

template <class R>
RowsHandle::RowsHandle(const R& rows, std::vector<nb::object> arrays, std::int64_t n_threads, bool fingerprint)
    : view_(rows), arrays_(std::move(arrays)) {
  const auto nothing = [](std::int64_t, std::int64_t, Poll&) { return true; };
  if (fingerprint) {
    RowsFingerprint print(rows.size(), rows.n_features());
    set_norms(check(rows, n_threads, print, nothing));
    fingerprint_ = print.value();
  } else {
    NoFingerprint print;
    set_norms(check(rows, n_threads, print, nothing));
  }
}

std::uint64_t RowsHandle::fingerprint() const {
  if (kept_ == nullptr && fingerprint_) return *fingerprint_;
  const WithoutGil released;
  RowsFingerprint print(size(), n_features());
  visit([&](const auto& rows) { kept_ ? print.add_part(rows) : print.add(rows, 0, rows.size()); });
  return print.value();
}

template <class T>
RowsHandle RowsHandle::dense(const Matrix<T>& values, std::int64_t n_threads, bool fingerprint) {
  return {unchecked(values), {nb::cast(values)}, n_threads, fingerprint};
}

template <class T, class Index>
RowsHandle RowsHandle::csr(const Vector<T>& values, const Vector<Index>& indices, const Vector<std::int64_t>& indptr,
                           std::int64_t n_columns, std::int64_t n_threads, bool fingerprint) {
  const auto rows = unchecked(values, indices, indptr, n_columns);
  return {rows, {nb::cast(values), nb::cast(indices), nb::cast(indptr)}, n_threads, fingerprint};
}

RowsHandle RowsHandle::part(const Vector<std::int64_t>& positions) const {
  std::vector<std::int64_t> kept;
  std::vector<double> norms;
  kept.reserve(positions.shape(0));
  norms.reserve(positions.shape(0));
  for (const std::int64_t i : hinge::python::view(positions)) {
    expect_row(*this, i);
    kept.push_back(kept_ ? (*kept_)[static_cast<std::size_t>(i)] : i);
    norms.push_back((*norms_)[static_cast<std::size_t>(i)]);
  }
  RowsHandle handle(*this);
  handle.kept_ = std::make_shared<const std::vector<std::int64_t>>(std::move(kept));
  std::visit(
      [&](auto& rows) {
        rows.kept = handle.kept_->data();
        rows.n_kept = static_cast<std::int64_t>(handle.kept_->size());
      },
      handle.view_);
  handle.set_norms(std::move(norms));
  return handle;
}

RowsHandle RowsHandle::with_constant(double rho) const {
  if (visit([](const auto& rows) { return rows.rho; }) != 0.0)
    throw nb::value_error("these rows have a constant feature already");
  if (!std::isfinite(rho * rho)) throw nb::value_error("the constant feature must have a finite square");
  RowsHandle handle(*this);
  if (rho == 0.0) return handle;
  std::visit([&](auto& rows) { rows.rho = rho; }, handle.view_);
  std::vector<double> norms(*norms_);
  for (double& norm : norms) norm += rho * rho;
  handle.set_norms(std::move(norms));
  return handle;
}

void bind_rows(nb::module_& m) {
  m.def("checksum", &checksum, nb::arg("array"), nb::sig("def checksum(array: NDArray[numpy.generic]) -> int"),
        "A number that changes with any bit of a one-dimensional array.");
  nb::class_<RowsHandle> cls(m, "Rows", "Training rows, read in place. Construction checks every value and index once.");
  bind_dense<float>(m, cls);
  bind_dense<double>(m, cls);
  bind_csr<float, std::int32_t>(m, cls);
  bind_csr<float, std::int64_t>(m, cls);
  bind_csr<double, std::int32_t>(m, cls);
  bind_csr<double, std::int64_t>(m, cls);
  cls.def("part", &RowsHandle::part, nb::arg("positions"), "The rows at these positions; a part of a part is a part.");
  cls.def("with_constant", &RowsHandle::with_constant, nb::arg("rho"), "The rows with the constant feature rho appended.");
  cls.def("column_squares", &column_squares,
          "(sum_i x_ij^2, number of x_ij that are not zero) of every column, without the constant feature.");
  cls.def("fingerprint", &RowsHandle::fingerprint, "A number that tells these rows from others.");
  cls.def("__len__", &RowsHandle::size);
  cls.def_prop_ro("layout", &layout, "\"dense\" or \"csr\": they sum in different orders.");
  cls.def("entries", &entries, nb::arg("i"),
          "(columns, values) that row i stores, in their order, without the constant feature.");
  cls.def_prop_ro("n_features", &RowsHandle::n_features, "Without the constant feature.");
  cls.def_prop_ro(
      "longest",
      [](const RowsHandle& self) {
        return self.visit([](const auto& rows) {
          std::int64_t most = 0;
          for (std::int64_t i = 0; i < rows.size(); ++i) most = std::max(most, rows.stored(i));
          return most;
        });
      },
      "The largest number of values that a row stores.");
  cls.def_prop_ro(
      "squared_norms",
      [](const RowsHandle& handle) {
        using Norms = std::shared_ptr<const std::vector<double>>;
        auto* held = new Norms(handle.squared_norms());
        nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Norms*>(p); });
        return nb::ndarray<nb::numpy, const double, nb::ndim<1>>((*held)->data(), {(*held)->size()}, owner);
      },
      nb::rv_policy::automatic, "|[x, rho]|^2 of every row, read-only.");
  cls.def("decision", &decision, nb::arg("weights"), nb::arg("intercept"), nb::arg("n_threads") = 1,
          "w.x_i + b for every row and every column of `weights` (n_features rows); the constant feature does not count.");
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
}

}  // namespace hinge::python
