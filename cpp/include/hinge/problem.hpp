#pragma once
// Problem: targets, costs and loss of the rows of one binary problem.
//
//   primal   P(w, b) = 1/2 |w|^2 + sum_i C_i loss(s_i),    s_i = 1 - t_i (w.x_i + b),   t_i = -1 or +1
//   dual     D(a)    = sum_i dual_term(a_i) - 1/2 |sum_i a_i t_i x_i|^2,   0 <= a_i <= box_i,   and sum_i a_i t_i = 0 if b is free
//   lambda = 1 / sum_i C_i links to the papers' lambda/2 |w|^2 + mean loss.
//
// Without a free intercept b = 0 here: a penalised one is the constant feature of the rows. loss.hpp has the losses.

#include <algorithm>
#include <cstdint>
#include <span>

#include "hinge/costs.hpp"
#include "hinge/loss.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct Problem {
  std::span<const double> target;  // -1 or +1
  Costs cost;                      // C_i > 0
  Loss loss;
  bool free_intercept = false;
  double total_cost = 0.0;  // sum_i C_i
  double lambda = 0.0;      // 1 / total_cost

  Problem(std::span<const double> targets, Costs costs, Loss which, bool free)
      : target(targets), cost(costs), loss(which), free_intercept(free) {
    const std::span<const double> numbers = cost.numbers();
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    Sum total;
    for (const double c : numbers) total.add(c);
    // Equal costs: the product is the correctly rounded sum, and every relative weight is exactly 1.
    total_cost = *low == *high ? static_cast<double>(size()) * *low : total.value();
    lambda = 1.0 / total_cost;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(target.size()); }
  /// s^_i = m s_i / sum s
  double relative_weight(std::int64_t i) const { return static_cast<double>(size()) * cost[i] / total_cost; }
  double box(std::int64_t i) const { return loss.box(cost[i]); }
};

}  // namespace hinge
