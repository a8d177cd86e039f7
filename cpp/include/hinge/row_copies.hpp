#pragma once
// RowCopies: some of the rows side by side, in single precision. For what needs no more and reads them many times: scattered over the
// data each row costs a wait for memory, while copies of a few of them stay in the cache.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"

namespace hinge {

class RowCopies {
 public:
  /// Whether row i can be copied: its values must not overflow, nor its columns.
  template <Rows R>
  static bool can_hold(const R& rows, std::int64_t i) {
    return rows.squared_norm(i) <= kLargest && rows.n_features() <= std::numeric_limits<std::int32_t>::max();
  }

  bool empty() const { return count_ == 0; }

  /// Copies of row_of(0) .. row_of(count - 1), instead of those held before. False when stopped by the poll.
  template <Rows R, class RowOf>
  bool hold(const R& rows, std::int64_t count, RowOf&& row_of, std::int64_t n_threads, Poll& poll) {
    release();
    norms_ = room<double>(count);
    const std::int64_t stored = make_room(rows, count, row_of);
    const auto copy_part = [&](std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t k = begin; k < end; ++k) {
        rows.prefetch(row_of(std::min(k + kPrefetchDistance, end - 1)));
        norms_[k] = rows.squared_norm(row_of(k));
        copy(rows, row_of(k), k);
        if (own(rows.stored(row_of(k)))) return false;
      }
      return true;
    };
    if (!for_parts(Parts::of(count, stored, 0), n_threads, poll, copy_part)) return false;
    count_ = count;
    return true;
  }

  /// The rows that are held, given those that they come from.
  template <class T>
  DenseRows<float> view(const DenseRows<T>& rows) const {
    DenseRows<float> held;
    describe(rows, held);
    return held;
  }
  template <class T, class Index>
  CsrRows<float, std::int32_t> view(const CsrRows<T, Index>& rows) const {
    CsrRows<float, std::int32_t> held;
    describe(rows, held);
    held.indices = indices_.get();
    held.indptr = indptr_.get();
    return held;
  }

  void release() { *this = RowCopies(); }

 private:
  /// The square of the largest number.
  static constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max()) * std::numeric_limits<float>::max();

  template <class T>
  using Array = std::unique_ptr<T[]>;

  std::int64_t count_ = 0;  // none until all of them are there
  Array<float> values_;
  Array<double> norms_;
  Array<std::int32_t> indices_;  // of CSR rows, with
  Array<std::int64_t> indptr_;

  /// All of it is written to: zeros would be written in vain.
  template <class T>
  static Array<T> room(std::int64_t n) {
    return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(n));
  }

  template <class From, class Held>
  void describe(const From& rows, Held& held) const {
    held.n_kept = count_;
    held.n_columns = rows.n_columns;
    held.norms = norms_.get();
    held.rho = rows.rho;
    held.values = values_.get();
  }

  /// Returns how many values there will be.
  template <class T, class RowOf>
  std::int64_t make_room(const DenseRows<T>& rows, std::int64_t count, RowOf&&) {
    values_ = room<float>(count * rows.n_columns);
    return count * rows.n_columns;
  }
  template <class T, class Index, class RowOf>
  std::int64_t make_room(const CsrRows<T, Index>& rows, std::int64_t count, RowOf&& row_of) {
    indptr_ = room<std::int64_t>(count + 1);
    indptr_[0] = 0;
    for (std::int64_t k = 0; k < count; ++k) indptr_[k + 1] = indptr_[k] + rows.stored(row_of(k));
    values_ = room<float>(indptr_[count]);
    indices_ = room<std::int32_t>(indptr_[count]);
    return indptr_[count];
  }

  /// Row i becomes row k.
  template <class T>
  void copy(const DenseRows<T>& rows, std::int64_t i, std::int64_t k) {
    const T* x = rows.values + rows.row(i) * rows.n_columns;
    std::transform(x, x + rows.n_columns, &values_[k * rows.n_columns], [](T value) { return static_cast<float>(value); });
  }
  template <class T, class Index>
  void copy(const CsrRows<T, Index>& rows, std::int64_t i, std::int64_t k) {
    const std::int64_t from = rows.indptr[rows.row(i)];
    for (std::int64_t p = 0; p < rows.stored(i); ++p) {
      values_[indptr_[k] + p] = static_cast<float>(rows.values[from + p]);
      indices_[indptr_[k] + p] = static_cast<std::int32_t>(rows.indices[from + p]);
    }
  }
};

}  // namespace hinge
