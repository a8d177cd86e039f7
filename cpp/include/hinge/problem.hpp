#pragma once
// Problem: labels and costs of the kept rows of one binary problem.
//
//   primal   P(w, b) = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))
//   dual     D(a)    = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2,   0 <= a_i <= C_i,   and sum_i a_i y_i = 0 if b is free
//   lambda = 1 / sum_i C_i links to the papers' lambda/2 |w|^2 + mean hinge.
//
// Without a free intercept b = 0 here: a penalised one is the constant feature of the rows.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace hinge {

/// Compensated sum (Neumaier): the error is about one rounding of the result.
class Sum {
 public:
  void add(double x) {
    const double next = high_ + x;
    low_ += std::abs(high_) >= std::abs(x) ? (high_ - next) + x : (x - next) + high_;
    high_ = next;
  }
  double value() const { return high_ + low_; }

 private:
  double high_ = 0.0;
  double low_ = 0.0;
};

struct Problem {
  std::span<const std::int8_t> y;  // -1 or +1
  std::span<const double> cost;    // C_i > 0
  bool free_intercept = false;
  double total_cost = 0.0;  // sum_i C_i
  double lambda = 0.0;      // 1 / total_cost

  Problem(std::span<const std::int8_t> labels, std::span<const double> costs, bool free)
      : y(labels), cost(costs), free_intercept(free) {
    const auto [low, high] = std::minmax_element(cost.begin(), cost.end());
    Sum total;
    for (const double c : cost) total.add(c);
    // Equal costs: the product is the correctly rounded sum, and every relative weight is exactly 1.
    total_cost = *low == *high ? static_cast<double>(cost.size()) * *low : total.value();
    lambda = 1.0 / total_cost;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(y.size()); }
  /// s^_i = m s_i / sum s
  double relative_weight(std::int64_t i) const { return static_cast<double>(size()) * cost[i] / total_cost; }
};

}  // namespace hinge
