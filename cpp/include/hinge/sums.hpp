#pragma once
// Sums over long arrays, fast and in an order that is part of the contract: term j goes to accumulator j mod 8, and the
// accumulators are added as a balanced tree. The NumPy twins add in the same order and agree to the bit.

#include <array>
#include <cstddef>
#include <span>

namespace hinge {

/// term(0) + ... + term(n - 1)
template <class F>
[[gnu::always_inline]] inline double interleaved_sum(std::size_t n, F&& term) {
  std::array<double, 8> sum{};
  const std::size_t whole = n / 8 * 8;
  for (std::size_t j = 0; j < whole; j += 8) {
    for (std::size_t k = 0; k < 8; ++k) sum[k] += term(j + k);
  }
  for (std::size_t j = whole; j < n; ++j) sum[j - whole] += term(j);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

inline double dot(std::span<const double> x, std::span<const double> y) {
  return interleaved_sum(x.size(), [x, y](std::size_t j) { return x[j] * y[j]; });
}

}  // namespace hinge
