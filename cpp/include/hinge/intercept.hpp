#pragma once
// The exact minimiser over b of  sum_i C_i loss(1 - t_i (z_i + b)).
//
// Every row has one breakpoint, t_i - z_i: rows with t = +1 have loss left of it, rows with t = -1 right of it. The derivative in b
// is increasing; the minimum is where it passes through zero. Selection by halves finds the breakpoints around it: O(m), no sort.
//
// Hinge: the derivative is a step function. Left of all breakpoints it is -(the cost of the rows with t = +1), and each breakpoint
// raises it by its cost. Where it is zero on an interval, b is the midpoint, so that equal problems get equal intercepts.
//
// Squared hinge: row i adds 2 C_i (b - breakpoint_i) where it has loss. If all breakpoints of rows with t = +1 lie left of all others,
// no row has loss between them, and b is the midpoint again. Otherwise some row has loss at any b, and the derivative is a broken
// line that rises throughout: b is its root.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "hinge/loss.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct Breakpoint {
  double at;
  double cost;
  bool left;  // has loss left of it: t = +1
};

namespace detail {

inline bool by_place(const Breakpoint& l, const Breakpoint& r) { return l.at < r.at; }

/// Halves [low, high) until one breakpoint is left. `rises(middle)` tells whether the derivative is not negative just before the
/// breakpoint `middle`, all of [low, middle) lying left of it; otherwise `pass(low, middle)` is told that they are behind.
template <class Rises, class Pass>
std::span<Breakpoint>::iterator select(std::span<Breakpoint> points, Rises&& rises, Pass&& pass) {
  auto low = points.begin();
  auto high = points.end();
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, by_place);
    if (rises(low, middle)) {
      high = middle;
    } else {
      pass(low, middle);
      low = middle;
    }
  }
  return low;
}

inline double best_intercept_of_hinge(std::span<Breakpoint> points) {
  Sum total;
  Sum slope;  // left of *low
  for (const auto& point : points) {
    total.add(point.cost);
    if (point.left) slope.add(-point.cost);
  }
  // What rounding may make of a slope of zero.
  const double flat = Sum::hidden_error(2.0 * static_cast<double>(points.size())) * total.value();
  const auto after = [&](auto low, auto middle) {
    Sum left = slope;
    for (auto p = low; p != middle; ++p) left.add(p->cost);
    return left;
  };
  const auto low = select(
      points, [&](auto l, auto middle) { return after(l, middle).value() >= -flat; },
      [&](auto l, auto middle) { slope = after(l, middle); });
  // The middle of an interval on which the slope is zero, or so small that the middle costs no more than a few roundings of the
  // loss: costs that sum to the same in both classes but for rounding must not decide which end it is.
  const auto loss_at = [&](double b) {
    Sum loss;
    for (const auto& point : points) loss.add(point.cost * std::max(0.0, point.left ? point.at - b : b - point.at));
    return loss.value();
  };
  const auto is_flat = [&](double rise, double from, double to) {
    if (!(to > from)) return false;
    if (std::abs(rise) <= flat) return true;
    return std::abs(rise) <= 8.0 * kRoundoff * total.value() &&
           std::abs(rise) * (0.5 * (to - from)) <= 8.0 * kRoundoff * loss_at(low->at);
  };
  const auto previous = std::max_element(points.begin(), low, by_place);
  if (previous != low && is_flat(slope.value(), previous->at, low->at)) return previous->at + 0.5 * (low->at - previous->at);
  slope.add(low->cost);
  const auto next = std::min_element(low + 1, points.end(), by_place);
  if (next != points.end() && is_flat(slope.value(), low->at, next->at)) return low->at + 0.5 * (next->at - low->at);
  return low->at;
}

/// sum C_i and sum C_i (breakpoint_i - origin) of the rows that have loss at some b.
struct Line {
  Sum cost;
  Sum moment;

  void add(const Breakpoint& point, double origin, double sign) {
    cost.add(sign * point.cost);
    moment.add(sign * point.cost * (point.at - origin));
  }
  /// Half the derivative at origin + b.
  double at(double b) const { return cost.value() * b - moment.value(); }
};

inline double best_intercept_of_squared_hinge(std::span<Breakpoint> points) {
  const double origin = points.front().at;
  double last_left = -std::numeric_limits<double>::infinity();
  double first_right = std::numeric_limits<double>::infinity();
  Line line;  // of the rows with loss left of *low
  for (const auto& point : points) {
    if (point.left) {
      last_left = std::max(last_left, point.at);
      line.add(point, origin, 1.0);
    } else {
      first_right = std::min(first_right, point.at);
    }
  }
  if (!std::isfinite(last_left)) return first_right;
  if (!std::isfinite(first_right)) return last_left;
  if (last_left <= first_right) return last_left + 0.5 * (first_right - last_left);
  const auto behind = [&](auto low, auto middle) {
    Line there = line;
    for (auto p = low; p != middle; ++p) there.add(*p, origin, p->left ? -1.0 : 1.0);
    return there;
  };
  const auto low = select(
      points, [&](auto l, auto middle) { return behind(l, middle).at(middle->at - origin) >= 0.0; },
      [&](auto l, auto middle) { line = behind(l, middle); });
  // The root lies between *low and the next breakpoint. Rounding may say that there is none: then it lies at *low.
  line.add(*low, origin, low->left ? -1.0 : 1.0);
  const auto next = std::min_element(low + 1, points.end(), by_place);
  const double cost = line.cost.value();
  if (next == points.end() || !(cost > 0.0)) return low->at;
  return std::clamp(origin + line.moment.value() / cost, low->at, next->at);
}

}  // namespace detail

/// Reorders `points`; there must be at least one. NaN if a breakpoint is no number: nothing could be sorted by it.
inline double best_intercept(std::span<Breakpoint> points, Loss loss) {
  const auto is_number = [](const Breakpoint& point) { return std::isfinite(point.at); };
  if (!std::all_of(points.begin(), points.end(), is_number)) return std::numeric_limits<double>::quiet_NaN();
  return loss.is_hinge() ? detail::best_intercept_of_hinge(points) : detail::best_intercept_of_squared_hinge(points);
}

}  // namespace hinge
