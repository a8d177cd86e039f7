#pragma once
// Products of a row with several weight vectors, for predictions: each value of the row is read once for a few of them.
//
// The weights are a matrix of n_features rows: those of a feature are side by side, so that a sparse row finds them on the same cache
// lines. Product c has the bits of rows.product(i, column c): the sums run over the same interleaved accumulators (rows.hpp).

#include <array>
#include <cstdint>
#include <span>

#include "hinge/rows.hpp"

namespace hinge {

namespace detail {

/// One accumulator of K products.
template <std::size_t K>
struct Sums {
  std::array<double, K> value{};

  [[gnu::always_inline]] void add(double x, const double* w) {
    for (std::size_t c = 0; c < K; ++c) value[c] += x * w[c];
  }
};

/// out[c] = sum_j x_ij w[c + j stride] for c < K.
template <std::size_t K, class T, class Index>
[[gnu::always_inline]] inline void products(const CsrRows<T, Index>& rows, std::int64_t i, const double* w, std::int64_t stride,
                                            double* out) {
  std::int64_t p = rows.indptr[rows.row(i)];
  const std::int64_t end = rows.indptr[rows.row(i) + 1];
  std::array<Sums<K>, 4> sum;
  const auto take = [&](std::size_t lane) __attribute__((always_inline)) {
    const auto q = p + static_cast<std::int64_t>(lane);
    sum[lane].add(static_cast<double>(rows.values[q]), w + static_cast<std::int64_t>(rows.indices[q]) * stride);
  };
  for (; p + 4 <= end; p += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) take(lane);
  }
  for (std::size_t lane = 0; p + static_cast<std::int64_t>(lane) < end; ++lane) take(lane);
  for (std::size_t c = 0; c < K; ++c) {
    out[c] = (sum[0].value[c] + sum[1].value[c]) + (sum[2].value[c] + sum[3].value[c]);
  }
}

template <std::size_t K, class T>
[[gnu::always_inline]] inline void products(const DenseRows<T>& rows, std::int64_t i, const double* w, std::int64_t stride,
                                            double* out) {
  const std::int64_t n = rows.n_features();
  const T* x = rows.values + rows.row(i) * n;
  std::array<Sums<K>, 8> sum;
  const auto take = [&](std::int64_t j, std::size_t lane) __attribute__((always_inline)) {
    const auto k = j + static_cast<std::int64_t>(lane);
    sum[lane].add(static_cast<double>(x[k]), w + k * stride);
  };
  std::int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) take(j, lane);
  }
  for (std::size_t lane = 0; j + static_cast<std::int64_t>(lane) < n; ++lane) take(j, lane);
  const auto half = [&](std::size_t c, std::size_t k) {
    return (sum[k].value[c] + sum[k + 1].value[c]) + (sum[k + 2].value[c] + sum[k + 3].value[c]);
  };
  for (std::size_t c = 0; c < K; ++c) out[c] = half(c, 0) + half(c, 4);
}

}  // namespace detail

/// out[c] = w_c.x_i, without the constant feature, for the columns w_c of `weights`.
template <Rows R>
void products(const R& rows, std::int64_t i, std::span<const double> weights, std::span<double> out) {
  constexpr std::size_t kAtOnce = 4;  // their sums stay in registers
  const std::size_t n = out.size();
  const auto stride = static_cast<std::int64_t>(n);
  if (n == 1) {
    out[0] = rows.product(i, weights.data());
    return;
  }
  std::size_t c = 0;
  for (; c + kAtOnce <= n; c += kAtOnce) detail::products<kAtOnce>(rows, i, weights.data() + c, stride, out.data() + c);
  for (; c < n; ++c) detail::products<1>(rows, i, weights.data() + c, stride, out.data() + c);
}

}  // namespace hinge
