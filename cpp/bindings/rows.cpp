#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "checking.hpp"
#include "handles.hpp"
#include "hinge/products.hpp"
#include "hinge/row_blocks.hpp"

namespace hinge::python {

namespace {

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
