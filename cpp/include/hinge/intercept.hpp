#pragma once
// The exact minimiser over b of  sum_i c_i max(0, 1 - y_i (z_i + b)):  a weighted median of the breakpoints y_i - z_i.
//
// Left of all breakpoints the slope is -sum of the positive rows' costs; each breakpoint raises it by its cost. The
// minimum is where the slope passes through zero; where it is zero on an interval, b is the midpoint, so that equal
// problems get equal intercepts. Selection by halves: O(m), no sort.

#include <algorithm>
#include <cstdint>
#include <span>

#include "hinge/problem.hpp"

namespace hinge {

struct Breakpoint {
  double at;
  double cost;
};

/// Reorders `points`; there must be at least one.
inline double best_intercept(std::span<Breakpoint> points, double positive_cost) {
  Sum total;
  for (const auto& point : points) total.add(point.cost);
  const double flat = 1e-13 * total.value();  // a slope below this is rounding
  const auto by_place = [](const Breakpoint& l, const Breakpoint& r) { return l.at < r.at; };

  auto low = points.begin();
  auto high = points.end();
  Sum slope;  // left of *low
  slope.add(-positive_cost);
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, by_place);
    Sum left = slope;
    for (auto p = low; p != middle; ++p) left.add(p->cost);
    if (left.value() >= -flat) {
      high = middle;
    } else {
      low = middle;
      slope = left;
    }
  }
  slope.add(low->cost);
  const auto next = std::min_element(low + 1, points.end(), by_place);
  const bool is_flat = slope.value() <= flat && next != points.end();
  return is_flat ? low->at + 0.5 * (next->at - low->at) : low->at;
}

}  // namespace hinge
