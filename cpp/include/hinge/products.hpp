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

/// sums[(p mod 4) n + c] += values[p] weights[indices[p] n + c] for p < count and `kWidth` columns c: these sums stay in registers.
template <std::int64_t kWidth, class T, class Index>
[[gnu::always_inline]] inline void add_columns(const T* values, const Index* indices, std::int64_t count, const double* weights,
                                               std::int64_t n, double* sums) {
  double sum[kProductLanes][kWidth];
  for (std::int64_t lane = 0; lane < kProductLanes; ++lane) std::copy_n(sums + lane * n, kWidth, sum[lane]);
  const auto add = [&](std::int64_t lane, std::int64_t p) __attribute__((always_inline)) {
    const auto x = static_cast<double>(values[p]);
    const double* w = weights + static_cast<std::int64_t>(indices[p]) * n;
    for (std::int64_t c = 0; c < kWidth; ++c) sum[lane][c] += x * w[c];
  };
  std::int64_t p = 0;
  for (; p + kProductLanes <= count; p += kProductLanes) {
    add(0, p);
    add(1, p + 1);
    add(2, p + 2);
    add(3, p + 3);
  }
  if (p < count) add(0, p);
  if (p + 1 < count) add(1, p + 1);
  if (p + 2 < count) add(2, p + 2);
  for (std::int64_t lane = 0; lane < kProductLanes; ++lane) std::copy_n(sum[lane], kWidth, sums + lane * n);
}

/// The same for all n columns.
template <class T, class Index>
HINGE_FOR_EACH_PROCESSOR void add_products(const T* values, const Index* indices, std::int64_t count, const double* weights,
                                           std::int64_t n, double* sums) {
  std::int64_t c = 0;
  for (; c + 8 <= n; c += 8) add_columns<8>(values, indices, count, weights + c, n, sums + c);
  for (; c + 4 <= n; c += 4) add_columns<4>(values, indices, count, weights + c, n, sums + c);
  for (; c < n; ++c) add_columns<1>(values, indices, count, weights + c, n, sums + c);
}

}  // namespace detail

/// Sparse rows: each value is read once for a few products at a time. The weights that a batch of values needs are fetched before.
template <class T, class Index>
class Products<CsrRows<T, Index>> {
 public:
  Products(const CsrRows<T, Index>& rows, std::span<const double> weights, std::int64_t n)
      : rows_(rows), n_(n), weights_(weights) {}

  /// out[i n + c] for the rows begin .. end-1. False when stopped by the poll.
  bool operator()(std::int64_t begin, std::int64_t end, std::span<double> out, Poll& poll) const {
    std::vector<double> sums(static_cast<std::size_t>(detail::kProductLanes * n_));
    for (std::int64_t i = begin; i < end; ++i) {
      if (poll(n_ * rows_.stored(i))) return false;
      if (n_ == 1) {
        out[i] = rows_.product(i, weights_.data());
      } else {
        multiply(i, std::min(i + 1, end - 1), sums, out.data() + i * n_);
      }
    }
    return true;
  }

 private:
  static constexpr std::int64_t kBatch = 32;  // values; a multiple of the lanes
  static constexpr std::int64_t kPerLine = 64 / sizeof(double);

  const CsrRows<T, Index>& rows_;
  std::int64_t n_;
  std::span<const double> weights_;

  /// Row i; row `next` comes after it.
  void multiply(std::int64_t i, std::int64_t next, std::vector<double>& sums, double* out) const {
    const std::int64_t begin = rows_.indptr[rows_.row(i)];
    const std::int64_t end = begin + rows_.stored(i);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t p = begin; p < end; p += kBatch) {
      const std::int64_t count = std::min(kBatch, end - p);
      const bool more = p + count < end;
      const std::int64_t first = more ? p + count : rows_.indptr[rows_.row(next)];
      fetch(first, first + std::min(kBatch, more ? end - first : rows_.stored(next)));
      detail::add_products(rows_.values + p, rows_.indices + p, count, weights_.data(), n_, sums.data());
    }
    const double* sum = sums.data();
    for (std::int64_t c = 0; c < n_; ++c, ++sum) out[c] = (sum[0] + sum[n_]) + (sum[2 * n_] + sum[3 * n_]);
  }

  /// The weights for the values begin .. end-1.
  void fetch(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t p = begin; p < end; ++p) {
      const double* w = weights_.data() + static_cast<std::int64_t>(rows_.indices[p]) * n_;
      for (std::int64_t c = 0; c < n_; c += kPerLine) __builtin_prefetch(w + c);
      __builtin_prefetch(w + n_ - 1);
    }
  }
};

}  // namespace hinge
