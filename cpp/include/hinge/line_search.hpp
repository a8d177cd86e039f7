#pragma once
// The exact minimum over k >= 0 of P on the ray from w to v:
//
//   phi(k) = 1/2 |w + k (v - w)|^2 + sum_i C_i max(0, 1 - (s_i + k e_i)),    s_i = t_i w.x_i,   e_i = t_i v.x_i - s_i.
//
// phi is convex; its slope is piecewise linear: it grows with k at the rate |v - w|^2, and jumps by C_i |e_i| where
// s_i + k e_i passes through 1. The minimum is where the slope passes through zero. Without the jumps that would be at
// k = -slope(0) / |v - w|^2, so only the jumps before that count; among them selection by halves: O(m), no sort.
// k ends at 1000: so long a step is one between points that differ by little more than rounding, and k multiplies that.
//
// Rows ascend, also among the jumps that are left, and every sum is interleaved (sums.hpp). The loops have no branches:
// which rows count is as good as random, and a wrong guess of the processor costs more than the arithmetic.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "hinge/problem.hpp"
#include "hinge/sums.hpp"

namespace hinge {

class LineSearch {
 public:
  /// `slope` = w.(v - w), `curvature` = |v - w|^2; `at_w` holds s_i, `at_v` s_i + e_i.
  double operator()(const Problem& problem, std::span<const double> at_w, std::span<const double> at_v, double slope,
                    double curvature) {
    const double* s = at_w.data();
    const double* t = at_v.data();
    const double* cost = problem.cost.data();
    slope -= interleaved_sum(at_w.size(), [=](std::size_t i) {
      const double e = t[i] - s[i];
      const double rise = cost[i] * e;
      const bool loses = (s[i] < 1.0) | ((s[i] == 1.0) & (e < 0.0));
      return loses ? rise : 0.0;
    });
    if (!(slope < 0.0 && curvature > 0.0)) return 0.0;
    find_jumps(at_w, at_v, cost, std::min(-slope / curvature, kLongest));
    return root(slope, curvature);
  }

 private:
  static constexpr double kLongest = 1000.0;

  void find_jumps(std::span<const double> at_w, std::span<const double> at_v, const double* cost, double last) {
    places_.resize(at_w.size());
    heights_.resize(at_w.size());
    std::size_t n = 0;
    for (std::size_t i = 0; i < at_w.size(); ++i) {
      const double e = at_v[i] - at_w[i];
      const double k = (1.0 - at_w[i]) / e;
      places_[n] = k;
      heights_[n] = cost[i] * std::abs(e);
      n += static_cast<std::size_t>((k > 0.0) & (k < last));
    }
    n_ = n;
  }

  /// Where slope + k curvature + (the jumps up to k) passes through zero.
  double root(double slope, double curvature) {
    while (n_ > 0) {
      const double k = pivot();
      const double* place = places_.data();
      const double* height = heights_.data();
      const double before = interleaved_sum(n_, [=](std::size_t j) {
        const double h = height[j];
        return place[j] < k ? h : 0.0;
      });
      const double there = interleaved_sum(n_, [=](std::size_t j) {
        const double h = height[j];
        return place[j] == k ? h : 0.0;
      });
      const double here = slope + k * curvature + before;
      if (here >= 0.0) {
        keep([k](double at) { return at < k; });
      } else if (here + there >= 0.0) {
        return k;
      } else {
        slope += before + there;
        keep([k](double at) { return at > k; });
      }
    }
    return std::min(-slope / curvature, kLongest);
  }

  /// The median of up to 31 jumps, evenly spread.
  double pivot() const {
    std::array<double, 31> sample;
    const std::size_t count = std::min(sample.size(), n_);
    for (std::size_t j = 0; j < count; ++j) sample[j] = places_[j * n_ / count];
    std::sort(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(count));
    return sample[count / 2];
  }

  template <class F>
  void keep(F&& wanted) {
    std::size_t n = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      const double at = places_[j];
      const double height = heights_[j];
      places_[n] = at;
      heights_[n] = height;
      n += static_cast<std::size_t>(wanted(at));
    }
    n_ = n;
  }

  // The jumps that are left: the first n_ of
  std::vector<double> places_;
  std::vector<double> heights_;
  std::size_t n_ = 0;
};

}  // namespace hinge
