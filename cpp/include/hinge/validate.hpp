#pragma once
// One pass over data that comes from outside: finite values, indices in range, no duplicates; the squared norms.
// Nothing else in the core reads an array that has not been through here.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "hinge/processor.hpp"
#include "hinge/sums.hpp"

namespace hinge {

/// The first thing found wrong, or none. `column` is -1 where only the row matters.
struct Fault {
  enum class Kind { nan, infinity, overflow, index_range, duplicate, indptr } kind;
  std::int64_t row = -1;
  std::int64_t column = -1;
};

namespace detail {

template <class T>
std::optional<Fault::Kind> fault_of(T value) {
  if (std::isnan(value)) return Fault::Kind::nan;
  if (std::isinf(value)) return Fault::Kind::infinity;
  return std::nullopt;
}

/// The sum of the squares of n values, over four interleaved accumulators, as for all sums over sparse rows (rows.hpp).
template <class T>
double squares(const T* x, std::int64_t n) {
  double sums[4] = {0, 0, 0, 0};
  std::int64_t p = 0;
  for (; p + 4 <= n; p += 4) {
    for (std::int64_t k = 0; k < 4; ++k) sums[k] += static_cast<double>(x[p + k]) * static_cast<double>(x[p + k]);
  }
  for (std::int64_t k = 0; p + k < n; ++k) sums[k] += static_cast<double>(x[p + k]) * static_cast<double>(x[p + k]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace detail

namespace detail {

/// |x_i|^2 of dense rows that follow each other.
template <class T>
HINGE_FOR_EACH_PROCESSOR void squared_norms(const T* values, std::int64_t n_rows, std::int64_t n_columns, double* norms) {
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const T* x = values + i * n_columns;
    norms[i] = interleaved_sum(static_cast<std::size_t>(n_columns),
                               [x](std::size_t j) { return static_cast<double>(x[j]) * static_cast<double>(x[j]); });
  }
}

}  // namespace detail

/// The rows begin .. end-1. `norms[i]` receives |x_i|^2. A row whose sum of squares is not finite holds a bad value or overflows.
template <class T>
std::optional<Fault> validate_dense(const T* values, std::int64_t begin, std::int64_t end, std::int64_t n_columns,
                                    std::span<double> norms) {
  detail::squared_norms(values + begin * n_columns, end - begin, n_columns, &norms[begin]);
  for (std::int64_t i = begin; i < end; ++i) {
    if (std::isfinite(norms[i])) continue;
    const T* x = values + i * n_columns;
    for (std::int64_t j = 0; j < n_columns; ++j) {
      if (const auto kind = detail::fault_of(x[j])) return Fault{*kind, i, j};
    }
    return Fault{Fault::Kind::overflow, i, -1};
  }
  return std::nullopt;
}

/// Finds a column that a row has twice. Its memory is only made for a row that is not sorted, and serves for all that follow.
class Repeats {
 public:
  /// The first of the column indices of row i that stands there before, or null.
  template <class Index>
  const Index* find(std::int64_t i, std::span<const Index> indices, std::int64_t n_columns) {
    if (last_row_with_.empty()) last_row_with_.assign(static_cast<std::size_t>(n_columns), -1);
    for (const Index& j : indices) {
      auto& row = last_row_with_[static_cast<std::size_t>(j)];
      if (row == i) return &j;
      row = i;
    }
    return nullptr;
  }

 private:
  std::vector<std::int64_t> last_row_with_;  // by column
};

/// `indptr` has n_rows + 1 entries, and `n_stored` is the number of values and of indices. To be asked before any row is.
inline std::optional<Fault> validate_indptr(const std::int64_t* indptr, std::int64_t n_rows, std::int64_t n_stored) {
  if (indptr[0] != 0) return Fault{Fault::Kind::indptr, 0, -1};
  for (std::int64_t i = 0; i < n_rows; ++i) {
    if (indptr[i + 1] < indptr[i] || indptr[i + 1] > n_stored) return Fault{Fault::Kind::indptr, i, -1};
  }
  return std::nullopt;
}

namespace detail {

/// What is wrong with column indices that follow each other, several looked at at once.
struct Disorder {
  bool outside;        // one is out of range
  std::int64_t falls;  // how many are not larger than the one before
};

template <class Index>
HINGE_FOR_EACH_PROCESSOR Disorder disorder_of(const Index* __restrict indices, std::int64_t n, Index last_column) {
  constexpr std::int64_t kAtOnce = std::int64_t{1} << 30;  // falls that a number as wide as an index counts for certain
  Disorder found{n > 0 && (indices[0] < 0 || indices[0] > last_column), 0};
  for (std::int64_t p = 1; p < n; p += kAtOnce) {
    const std::int64_t end = std::min(p + kAtOnce, n);
    Index outside = 0;
    std::make_unsigned_t<Index> falls = 0;
    for (std::int64_t q = p; q < end; ++q) {
      outside |= static_cast<Index>((indices[q] < 0) | (indices[q] > last_column));
      falls += indices[q] <= indices[q - 1];
    }
    found.outside = found.outside || outside != 0;
    found.falls += static_cast<std::int64_t>(falls);
  }
  return found;
}

/// Whether the column indices of the rows first .. last-1 are in range and ascend in every row. All are looked at in one go: where a row
/// begins the index may fall, so the falls are counted, and those at the beginnings taken off.
template <class Index>
bool in_range_and_sorted(const Index* indices, const std::int64_t* indptr, std::int64_t first, std::int64_t last,
                         Index last_column) {
  const std::int64_t begin = indptr[first];
  const std::int64_t end = indptr[last];
  auto [outside, falls] = disorder_of(indices + begin, end - begin, last_column);
  for (std::int64_t i = first + 1; i < last; ++i) {
    const std::int64_t p = indptr[i];
    if (p > std::max(begin, indptr[i - 1]) && p < end) falls -= indices[p] <= indices[p - 1];
  }
  return !outside && falls == 0;
}

}  // namespace detail

/// The rows first .. last-1, as above. `indptr` has been validated.
template <class T, class Index>
std::optional<Fault> validate_csr(const T* values, const Index* indices, const std::int64_t* indptr, std::int64_t first,
                                  std::int64_t last, std::int64_t n_columns, std::span<double> norms, Repeats& repeats) {
  const auto last_column = static_cast<Index>(std::min<std::int64_t>(n_columns - 1, std::numeric_limits<Index>::max()));
  const bool good = detail::in_range_and_sorted(indices, indptr, first, last, last_column);
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t begin = indptr[i];
    const std::int64_t end = indptr[i + 1];
    const std::span<const Index> columns(indices + begin, static_cast<std::size_t>(end - begin));
    if (!good) {
      for (const Index j : columns) {
        if (j < 0 || j > last_column) return Fault{Fault::Kind::index_range, i, j};
      }
    }
    norms[i] = detail::squares(values + begin, end - begin);
    if (!std::isfinite(norms[i])) {
      for (std::int64_t p = begin; p < end; ++p) {
        if (const auto kind = detail::fault_of(values[p])) return Fault{*kind, i, static_cast<std::int64_t>(indices[p])};
      }
      return Fault{Fault::Kind::overflow, i, -1};
    }
    if (good || std::ranges::adjacent_find(columns, std::ranges::greater_equal{}) == columns.end()) continue;
    if (const Index* twice = repeats.find(i, columns, n_columns)) return Fault{Fault::Kind::duplicate, i, *twice};
  }
  return std::nullopt;
}

}  // namespace hinge
