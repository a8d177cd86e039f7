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

/// Sparse rows: each value is read once for all products, and the weights that it needs are fetched a little before.
template <class T, class Index>
class Products<CsrRows<T, Index>> {
 public:
  Products(const CsrRows<T, Index>& rows, std::span<const double> weights, std::int64_t n)
      : rows_(rows), n_(n), weights_(weights) {}

  /// out[i n + c] for the rows begin .. end-1. False when stopped by the poll.
  bool operator()(std::int64_t begin, std::int64_t end, std::span<double> out, Poll& poll) const {
    std::vector<double> sums(static_cast<std::size_t>(kLanes * n_));
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
  static constexpr std::int64_t kLanes = 4;   // accumulators
  static constexpr std::int64_t kAhead = 16;  // values; on 20 newsgroups 8 to 24 halve the time, fewer or more do less
  static constexpr std::int64_t kPerLine = 64 / sizeof(double);

  const CsrRows<T, Index>& rows_;
  std::int64_t n_;
  std::span<const double> weights_;

  const double* weights_of(std::int64_t p) const { return weights_.data() + static_cast<std::int64_t>(rows_.indices[p]) * n_; }

  [[gnu::always_inline]] void fetch(std::int64_t p) const {
    const double* w = weights_of(p);
    for (std::int64_t c = 0; c < n_; c += kPerLine) __builtin_prefetch(w + c);
    __builtin_prefetch(w + n_ - 1);
  }

  /// Row i; row `next` comes after it.
  void multiply(std::int64_t i, std::int64_t next, std::vector<double>& sums, double* out) const {
    const std::int64_t begin = rows_.indptr[rows_.row(i)];
    const std::int64_t end = begin + rows_.stored(i);
    const std::int64_t next_begin = rows_.indptr[rows_.row(next)];
    const std::int64_t next_end = next_begin + rows_.stored(next);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t beyond = p + kAhead - end;
      if (beyond < 0) {
        fetch(p + kAhead);
      } else if (next_begin + beyond < next_end) {
        fetch(next_begin + beyond);
      }
      const auto x = static_cast<double>(rows_.values[p]);
      const double* w = weights_of(p);
      double* __restrict sum = sums.data() + (p - begin) % kLanes * n_;
      for (std::int64_t c = 0; c < n_; ++c) sum[c] += x * w[c];
    }
    const double* sum = sums.data();
    for (std::int64_t c = 0; c < n_; ++c, ++sum) out[c] = (sum[0] + sum[n_]) + (sum[2 * n_] + sum[3 * n_]);
  }
};

}  // namespace hinge
