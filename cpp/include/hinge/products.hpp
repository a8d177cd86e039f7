#pragma once
// Products of rows with several weight vectors at once, for predictions.
//
// The weights are a matrix of n_features rows and n columns, one column for each product: those of a feature lie side
// by side. Product c of row i has the bits of rows.product(i, column c), however many columns there are: the sums run
// over the same interleaved accumulators (rows.hpp).

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/poll.hpp"
#include "hinge/processor.hpp"
#include "hinge/rows.hpp"

namespace hinge {

template <Rows R>
class Products;

/// Dense rows want whole weight vectors. The copy of the weights costs as much as one row.
template <class T>
class Products<DenseRows<T>> {
 public:
  Products(const DenseRows<T>& rows, std::span<const double> weights, std::int64_t n)
      : rows_(rows), n_(n), columns_(weights.size()) {
    for (std::int64_t c = 0; c < n; ++c) {
      for (std::int64_t j = 0; j < rows.n_features(); ++j) columns_[c * rows.n_features() + j] = weights[j * n + c];
    }
  }

  /// out[i n + c] for the rows begin .. end-1. False when stopped by the poll.
  bool operator()(std::int64_t begin, std::int64_t end, std::span<double> out, Poll& poll) const {
    for (std::int64_t i = begin; i < end; ++i) {
      if (poll(n_ * rows_.stored(i))) return false;
      for (std::int64_t c = 0; c < n_; ++c) out[i * n_ + c] = rows_.product(i, columns_.data() + c * rows_.n_features());
    }
    return true;
  }

 private:
  const DenseRows<T>& rows_;
  std::int64_t n_;
  std::vector<double> columns_;
};

namespace detail {

/// Accumulators of a sum (rows.hpp).
inline constexpr std::int64_t kProductLanes = 4;
/// Columns that one pass over a row takes at most. They do not all stay in registers, but in reach.
inline constexpr std::int64_t kMostColumns = 24;
/// Weights in a line of the cache.
inline constexpr std::int64_t kLine = 8;

/// Weights of a value that comes so many values later are fetched meanwhile, if there are too many of them for the second level of the
/// cache. 20 newsgroups with 20 classes: 6.7 ms instead of 8.8; as much with 24 and 48.
inline constexpr std::int64_t kFetchAhead = 32;
inline constexpr std::size_t kCachedWeights = std::size_t{1} << 16;

/// Values and column indices of one sparse row. So many indices may be read from its first on, those of the rows behind it, too; 0: no
/// weights are to be fetched ahead.
template <class T, class Index>
struct StoredRow {
  const T* values;
  const Index* indices;
  std::int64_t count;
  std::int64_t readable;
};

/// out[c] = sum_p values[p] weights[indices[p] n + c] for p < count and `kWidth` columns c.
template <std::int64_t kWidth, class T, class Index>
[[gnu::always_inline]] inline void multiply_columns(const StoredRow<T, Index>& row, const double* weights, std::int64_t n,
                                                    double* out) {
  double sum[kProductLanes][kWidth] = {};
  const auto of = [&](std::int64_t p) { return weights + static_cast<std::int64_t>(row.indices[p]) * n; };
  const auto add = [&](std::int64_t lane, std::int64_t p) __attribute__((always_inline)) {
    const auto x = static_cast<double>(row.values[p]);
    const double* w = of(p);
    for (std::int64_t c = 0; c < kWidth; ++c) sum[lane][c] += x * w[c];
  };
  const auto fetch = [&](std::int64_t p) __attribute__((always_inline)) {
    const double* w = of(p);
    for (std::int64_t c = 0; c < kWidth; c += kLine) __builtin_prefetch(w + c);
  };
  std::int64_t p = 0;
  for (; p + kProductLanes <= row.count; p += kProductLanes) {
    if (const std::int64_t q = p + kFetchAhead; q + kProductLanes <= row.readable) {
      for (std::int64_t lane = 0; lane < kProductLanes; ++lane) fetch(q + lane);
    }
    add(0, p);
    add(1, p + 1);
    add(2, p + 2);
    add(3, p + 3);
  }
  if (p < row.count) add(0, p);
  if (p + 1 < row.count) add(1, p + 1);
  if (p + 2 < row.count) add(2, p + 2);
  for (std::int64_t c = 0; c < kWidth; ++c) out[c] = (sum[0][c] + sum[1][c]) + (sum[2][c] + sum[3][c]);
}

/// The columns c .. n-1, in as few passes over the row as possible: most of the time goes into fetching the weights.
template <std::int64_t kWidth, class T, class Index>
[[gnu::always_inline]] inline void multiply_from(std::int64_t c, const StoredRow<T, Index>& row, const double* weights,
                                                 std::int64_t n, double* out) {
  for (; c + kWidth <= n; c += kWidth) multiply_columns<kWidth>(row, weights + c, n, out + c);
  if constexpr (kWidth > 1) {
    constexpr std::int64_t kNext = kWidth > 4 ? kWidth - 4 : kWidth / 2;
    if (c < n) multiply_from<kNext>(c, row, weights, n, out);
  }
}

template <class T, class Index>
HINGE_FOR_EACH_PROCESSOR void multiply_row(const StoredRow<T, Index>& row, const double* weights, std::int64_t n, double* out) {
  multiply_from<kMostColumns>(0, row, weights, n, out);
}

}  // namespace detail

/// Sparse rows: each value is read once for many products.
template <class T, class Index>
class Products<CsrRows<T, Index>> {
 public:
  Products(const CsrRows<T, Index>& rows, std::span<const double> weights, std::int64_t n)
      : rows_(rows), n_(n), weights_(weights) {}

  /// out[i n + c] for the rows begin .. end-1. False when stopped by the poll.
  bool operator()(std::int64_t begin, std::int64_t end, std::span<double> out, Poll& poll) const {
    for (std::int64_t i = begin; i < end; ++i) {
      if (poll(n_ * rows_.stored(i))) return false;
      detail::multiply_row(stored_row(i, end), weights_.data(), n_, &out[i * n_]);
    }
    return true;
  }

 private:
  const CsrRows<T, Index>& rows_;
  std::int64_t n_;
  std::span<const double> weights_;

  detail::StoredRow<T, Index> stored_row(std::int64_t i, std::int64_t end) const {
    const std::int64_t first = rows_.indptr[rows_.row(i)];
    const bool fetching = rows_.kept == nullptr && weights_.size() > detail::kCachedWeights;
    return {rows_.values + first, rows_.indices + first, rows_.stored(i), fetching ? rows_.indptr[end] - first : 0};
  }
};

}  // namespace hinge
