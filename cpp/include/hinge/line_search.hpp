#pragma once
// The exact minimum over k >= 0 of P on the ray from w to v:
//
//   phi(k) = 1/2 |w + k (v - w)|^2 + sum_i C_i max(0, 1 - (s_i + k e_i)),    s_i = t_i w.x_i,   e_i = t_i v.x_i - s_i.
//
// phi is convex; its slope is piecewise linear: it grows with k at the rate |v - w|^2, and jumps by C_i |e_i| where
// s_i + k e_i passes through 1. The minimum is where the slope passes through zero (jumps.hpp). Without the jumps that would be
// at k = -slope(0) / |v - w|^2, so only the jumps before that count.
// k ends at 1000: so long a step is one between points that differ by little more than rounding, and k multiplies that.
//
// A free intercept is part of the margins s_i and s_i + e_i, and moves along the ray.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "hinge/jumps.hpp"
#include "hinge/problem.hpp"
#include "hinge/sums.hpp"

namespace hinge {

class LineSearch {
 public:
  /// `slope` = w.(v - w), `curvature` = |v - w|^2; `at_w` holds s_i, `at_v` s_i + e_i.
  double operator()(const Problem& problem, std::span<const double> at_w, std::span<const double> at_v, double slope,
                    double curvature) {
    return problem.cost.visit([&](auto cost) { return minimum(cost, at_w, at_v, slope, curvature); });
  }

 private:
  template <class Cost>
  double minimum(Cost cost, std::span<const double> at_w, std::span<const double> at_v, double slope, double curvature) {
    const double* s = at_w.data();
    const double* t = at_v.data();
    slope -= interleaved_sum(at_w.size(), [=](std::size_t i) {
      const double e = t[i] - s[i];
      const double rise = cost[i] * e;
      const bool loses = (s[i] < 1.0) | ((s[i] == 1.0) & (e < 0.0));
      return loses ? rise : 0.0;
    });
    if (!(slope < 0.0 && curvature > 0.0)) return 0.0;
    const double last = std::min(-slope / curvature, kLongest);
    jumps_.gather(at_w.size(), [=](std::size_t i) {
      const double e = t[i] - s[i];
      const double k = (1.0 - s[i]) / e;
      return Jumps::Jump{k, cost[i] * std::abs(e), static_cast<bool>((k > 0.0) & (k < last))};
    });
    return jumps_.root(slope, curvature, kLongest);
  }

  static constexpr double kLongest = 1000.0;

  Jumps jumps_;
};

}  // namespace hinge
