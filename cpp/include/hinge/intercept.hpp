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
//
// Of many rows, a sample shows about where b lies. Breakpoints far from there need not be selected: for any b in between, those with
// loss count like a single one with all their cost, at their mean.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hinge/loss.hpp"
#include "hinge/parts.hpp"
#include "hinge/problem.hpp"
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

namespace detail {

inline Breakpoint breakpoint(const Problem& problem, std::span<const double> z, std::int64_t i) {
  return {problem.target[i] - z[i], problem.cost[i], problem.target[i] > 0.0};
}

/// Rows whose breakpoints lie on one side of a window, and that have loss in it: they are one breakpoint.
struct Far {
  WideSum cost;
  WideSum moment;  // of the places, from the middle of the window

  void merge(const Far& other) {
    cost.merge(other.cost);
    moment.merge(other.moment);
  }
};

/// The breakpoints of a window, and the rest.
struct Window {
  double low;
  double high;
  std::vector<Breakpoint> inside = {};
  Far below = {};
  Far above = {};
  bool finite = true;

  double middle() const { return low + 0.5 * (high - low); }

  /// The rows begin .. end-1.
  void add(const Problem& problem, std::span<const double> z, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kBlock) add_block(problem, z, i, std::min(end, i + kBlock));
  }
  void merge(const Window& other) {
    inside.insert(inside.end(), other.inside.begin(), other.inside.end());
    below.merge(other.below);
    above.merge(other.above);
    finite = finite && other.finite;
  }

  /// The best b, if it lies between two breakpoints inside; NaN if not. Reorders them, and the far ones join them.
  double best(Loss loss) {
    if (inside.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto [first, last] = std::minmax_element(inside.begin(), inside.end(), by_place);
    const double leftmost = first->at;
    const double rightmost = last->at;
    for (const Far* far : {&below, &above}) {
      const double cost = far->cost.value();
      if (cost > 0.0) inside.push_back({middle() + far->moment.value() / cost, cost, far == &above});
    }
    const double b = best_intercept(inside, loss);
    return leftmost < b && rightmost > b ? b : std::numeric_limits<double>::quiet_NaN();
  }

  static constexpr std::int64_t kBlock = 64;

  /// Their sides are as good as random: no branches on them.
  void add_block(const Problem& problem, std::span<const double> z, std::int64_t begin, std::int64_t end) {
    const auto size = static_cast<std::size_t>(end - begin);
    const double center = middle();
    double at[kBlock], cost_below[kBlock], cost_above[kBlock], moment_below[kBlock], moment_above[kBlock];
    problem.cost.visit([&](const auto& cost) {
      for (std::size_t k = 0; k < size; ++k) {
        const auto i = static_cast<std::size_t>(begin) + k;
        const double target = problem.target[i];
        at[k] = target - z[i];
        cost_below[k] = (target <= 0.0) & (at[k] < low) ? cost[i] : 0.0;
        cost_above[k] = (target > 0.0) & (at[k] > high) ? cost[i] : 0.0;
        moment_below[k] = cost_below[k] * (at[k] - center);
        moment_above[k] = cost_above[k] * (at[k] - center);
      }
    });
    below.cost.add({cost_below, size});
    above.cost.add({cost_above, size});
    below.moment.add({moment_below, size});
    above.moment.add({moment_above, size});
    std::size_t n = inside.size();
    inside.resize(n + size);
    for (std::size_t k = 0; k < size; ++k) {
      inside[n] = breakpoint(problem, z, begin + static_cast<std::int64_t>(k));
      n += static_cast<std::size_t>((at[k] >= low) & (at[k] <= high));
      finite = finite & std::isfinite(at[k]);
    }
    inside.resize(n);
  }

  /// Around the b of a sample, wide enough for its error, as a rule.
  static Window around_sample(const Problem& problem, std::span<const double> z) {
    constexpr std::int64_t kSample = 4096;
    constexpr std::int64_t kReach = 192;  // three standard deviations of its place
    std::vector<Breakpoint> sample;
    for (std::int64_t k = 0; k < kSample; ++k) sample.push_back(breakpoint(problem, z, problem.size() / kSample * k));
    const double b = best_intercept(sample, problem.loss);
    if (!std::isfinite(b)) return {b, b};
    const auto place = std::count_if(sample.begin(), sample.end(), [&](const Breakpoint& point) { return point.at < b; });
    const auto place_of = [&](std::int64_t k) {
      const auto there = sample.begin() + std::clamp<std::int64_t>(k, 0, kSample - 1);
      std::nth_element(sample.begin(), there, sample.end(), by_place);
      return there->at;
    };
    const double low = place_of(place - kReach);
    return {low, place_of(place + kReach)};
  }
};

}  // namespace detail

/// The b that is best for the decisions z. False when stopped by the poll.
inline bool best_intercept(const Problem& problem, std::span<const double> z, std::int64_t n_threads, Poll& poll, double& b) {
  constexpr std::int64_t kMany = 1 << 14;
  const std::int64_t m = problem.size();
  if (m >= kMany) {
    const detail::Window empty = detail::Window::around_sample(problem, z);
    detail::Window window(empty);
    const auto add = [&](detail::Window& part, std::int64_t begin, std::int64_t end, Poll& own) {
      part.add(problem, z, begin, end);
      return !own(end - begin);
    };
    if (!sum_over(Parts::of(m, m, 0), n_threads, poll, empty, window, add)) return false;
    b = window.finite ? window.best(problem.loss) : std::numeric_limits<double>::quiet_NaN();
    if (!window.finite || std::isfinite(b)) return true;
  }
  std::vector<Breakpoint> points(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i) points[static_cast<std::size_t>(i)] = detail::breakpoint(problem, z, i);
  b = best_intercept(points, problem.loss);
  return true;
}

}  // namespace hinge
