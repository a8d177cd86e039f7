#pragma once
// What Python holds: rows with their arrays kept alive, a problem with its rows, a poll that sees Ctrl-C.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gil.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"

namespace hinge::python {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// Any distance between the numbers, also none: then it is the same one throughout.
template <class T>
using Spaced = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MutableVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const Vector<T>& array) {
  return {array.data(), array.shape(0)};
}

inline void expect_length(const char* name, std::size_t length, std::int64_t expected) {
  if (static_cast<std::int64_t>(length) == expected) return;
  throw nb::value_error(
      (std::string(name) + " has length " + std::to_string(length) + ", expected " + std::to_string(expected)).c_str());
}

template <class T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

/// A NumPy array that owns `values`.
template <class T>
Owned<T> owned(std::vector<T> values) {
  auto storage = std::make_unique<std::vector<T>>(std::move(values));
  nb::capsule owner(storage.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  std::vector<T>* array = storage.release();
  return Owned<T>(array->data(), {array->size()}, owner);
}

/// Rows of any supported layout. Construction validates; a part of the rows, or the rows with a constant feature, share the arrays.
class RowsHandle {
 public:
  using View = std::variant<DenseRows<float>, DenseRows<double>,                         //
                            CsrRows<float, std::int32_t>, CsrRows<float, std::int64_t>,  //
                            CsrRows<double, std::int32_t>, CsrRows<double, std::int64_t>>;

  template <class T>
  static RowsHandle dense(const Matrix<T>& values, std::int64_t n_threads, bool fingerprint);
  template <class T, class Index>
  static RowsHandle csr(const Vector<T>& values, const Vector<Index>& indices, const Vector<std::int64_t>& indptr,
                        std::int64_t n_columns, std::int64_t n_threads, bool fingerprint);

  /// The rows at these positions, in this order; a part of a part is a part.
  RowsHandle part(const Vector<std::int64_t>& positions) const;
  /// The rows with the constant feature rho appended.
  RowsHandle with_constant(double rho) const;

  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), view_);
  }

  std::int64_t size() const {
    return visit([](const auto& rows) { return rows.size(); });
  }
  std::int64_t n_features() const {
    return visit([](const auto& rows) { return rows.n_features(); });
  }
  const std::shared_ptr<const std::vector<double>>& squared_norms() const { return norms_; }
  /// Tells these rows from any others: their number, and every value and index; the same for a part and for its rows alone.
  std::uint64_t fingerprint() const;

 private:
  View view_;
  std::vector<nb::object> arrays_;
  std::shared_ptr<const std::vector<double>> norms_;
  std::shared_ptr<const std::vector<std::int64_t>> kept_;
  std::optional<std::uint64_t> fingerprint_;  // of all rows, as they were when they were checked

  /// Checks every value and index.
  template <class R>
  RowsHandle(const R& rows, std::vector<nb::object> arrays, std::int64_t n_threads, bool fingerprint);
  void set_norms(std::vector<double> norms);
};

/// A binary problem: rows, targets and costs, checked against each other. Copies share everything, so whoever works on a problem holds
/// one.
class ProblemHandle {
 public:
  ProblemHandle(RowsHandle rows, Vector<double> target, Spaced<double> cost, Loss::Kind loss, bool free_intercept);

  const RowsHandle& rows() const { return data_->rows; }
  const Problem& problem() const { return data_->problem; }

 private:
  struct Data {
    RowsHandle rows;
    Vector<double> target;
    Spaced<double> cost;
    Problem problem;
  };
  std::shared_ptr<const Data> data_;
};

/// A poll that runs Python's signal handlers if asked to (only the main thread may: elsewhere it never takes the GIL). What a handler
/// raises stops the token, and is kept for whoever started the work.
struct PythonPoll : Poll {
  PythonPoll(std::shared_ptr<StopToken> token, bool signals, bool overtime = false)
      : Poll(token, signals ? [this, token] { check_signals(*token); } : std::function<void()>{}, overtime) {}
  PythonPoll(const PythonPoll&) = delete;
  PythonPoll& operator=(const PythonPoll&) = delete;

  /// Raise what a handler has raised.
  void raise_error();

 private:
  nb::object error_ = nb::none();

  void check_signals(StopToken& token);
};

/// Whether this thread may run signal handlers.
bool in_main_thread();

void bind_rows(nb::module_& m);
void bind_problem(nb::module_& m);
void bind_evaluate(nb::module_& m);
void bind_features(nb::module_& m);
void bind_solvers(nb::module_& m);

}  // namespace hinge::python
