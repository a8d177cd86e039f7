#pragma once
// What Python holds: rows with their arrays kept alive, a problem with its rows, a poll that sees Ctrl-C.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/validate.hpp"

namespace hinge::python {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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
  auto* storage = new std::vector<T>(std::move(values));
  nb::capsule owner(storage, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Owned<T>(storage->data(), {storage->size()}, owner);
}

/// Rows of any supported layout. Construction validates; a view of some rows, or with a constant feature, shares the arrays.
class RowsHandle {
 public:
  using View = std::variant<DenseRows<float>, DenseRows<double>,                                                       //
                            CsrRows<float, std::int32_t, std::int32_t>, CsrRows<float, std::int32_t, std::int64_t>,    //
                            CsrRows<float, std::int64_t, std::int32_t>, CsrRows<float, std::int64_t, std::int64_t>,    //
                            CsrRows<double, std::int32_t, std::int32_t>, CsrRows<double, std::int32_t, std::int64_t>,  //
                            CsrRows<double, std::int64_t, std::int32_t>, CsrRows<double, std::int64_t, std::int64_t>>;

  template <class T>
  static RowsHandle dense(const Matrix<T>& values);
  template <class T, class Index, class Pointer>
  static RowsHandle csr(const Vector<T>& values, const Vector<Index>& indices, const Vector<Pointer>& indptr,
                        std::int64_t n_columns);

  /// The rows listed in `kept` (all if none), seen with the constant feature rho.
  RowsHandle select(std::optional<Vector<std::int64_t>> kept, double rho) const;

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
  Owned<double> squared_norms() const { return owned(std::vector<double>(*norms_)); }

 private:
  View view_;
  std::vector<nb::object> arrays_;
  std::shared_ptr<const std::vector<double>> norms_;
  std::shared_ptr<const std::vector<std::int64_t>> kept_;
};

/// A binary problem: rows, labels and costs, checked against each other.
class ProblemHandle {
 public:
  ProblemHandle(RowsHandle rows, Vector<std::int8_t> y, Vector<double> cost, bool free_intercept);

  const RowsHandle& rows() const { return rows_; }
  const Problem& problem() const { return problem_; }

 private:
  RowsHandle rows_;
  Vector<std::int8_t> y_;
  Vector<double> cost_;
  Problem problem_;
};

/// A poll whose check runs Python's signal handlers (in the main thread; elsewhere it does nothing). An exception that a
/// handler raised is kept for the training loop, which saves the model before it raises it again.
struct PythonPoll : Poll {
  explicit PythonPoll(std::shared_ptr<StopFlag> flag) : Poll(std::move(flag), [this] { return check_signals(); }) {}
  PythonPoll(const PythonPoll&) = delete;
  PythonPoll& operator=(const PythonPoll&) = delete;

  nb::object error = nb::none();

 private:
  bool check_signals();
};

void bind_rows(nb::module_& m);
void bind_objective(nb::module_& m);
void bind_solvers(nb::module_& m);

}  // namespace hinge::python
