#pragma once
// ExactWeights: a weight vector as a sum of rows, each entry compensated like a `Sum` (sums.hpp).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/processor.hpp"

namespace hinge {

namespace detail {

/// high + low += x, but for a rounding of low (Knuth's TwoSum).
[[gnu::always_inline]] inline void add_exactly(double x, double& high, double& low) {
  const double next = high + x;
  const double shadow = next - high;
  low += (high - (next - shadow)) + (x - shadow);
  high = next;
}

template <class T>
[[gnu::always_inline]] inline void add_all_exactly(std::int64_t n, double scale, const T* __restrict x, double* __restrict high,
                                                   double* __restrict low) {
  for (std::int64_t j = 0; j < n; ++j) add_exactly(scale * static_cast<double>(x[j]), high[j], low[j]);
}
HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static void add_values_exactly(std::int64_t n, double scale, const double* x, double* high, double* low) {
  add_all_exactly(n, scale, x, high, low);
}
HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static void add_values_exactly(std::int64_t n, double scale, const float* x, double* high, double* low) {
  add_all_exactly(n, scale, x, high, low);
}

}  // namespace detail

class ExactWeights {
 public:
  explicit ExactWeights(std::size_t n) : high_(n), low_(n) {}

  [[gnu::always_inline]] void add(std::int64_t j, double x) {
    detail::add_exactly(x, high_[static_cast<std::size_t>(j)], low_[static_cast<std::size_t>(j)]);
  }
  /// scale times the first n entries.
  template <class T>
  void add(std::int64_t n, double scale, const T* x) {
    detail::add_values_exactly(n, scale, x, high_.data(), low_.data());
  }
  void merge(const ExactWeights& other) {
    for (std::size_t j = 0; j < high_.size(); ++j) {
      detail::add_exactly(other.high_[j], high_[j], low_[j]);
      low_[j] += other.low_[j];
    }
  }
  void write(std::span<double> out) const {
    for (std::size_t j = 0; j < high_.size(); ++j) out[j] = high_[j] + low_[j];
  }

 private:
  std::vector<double> high_;
  std::vector<double> low_;
};

}  // namespace hinge
