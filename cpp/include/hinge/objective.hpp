#pragma once
// The two sides of a certificate, in float64 with the rounding counted: `primal` errs upwards, `dual` downwards.
//
// u is the unit roundoff. A dot product of n terms errs by at most (n + 2) u |w| |x|. The weight vector w(a) is rebuilt
// with compensated sums, so that it errs by a few u sum_i a_i |x_i|, however many rows there are.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/intercept.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"

namespace hinge {

inline constexpr double kRoundoff = 0x1.0p-53;

/// An upper bound of |x_i|, sound where squares underflow.
template <Rows R>
double norm_bound(const R& rows, std::int64_t i) {
  const auto n = static_cast<double>(rows.stored(i) + 1);
  return std::sqrt(rows.squared_norm(i) * (1.0 + 2.0 * n * kRoundoff) + n * 1e-320) * (1.0 + 4.0 * kRoundoff);
}

template <class W>
double squared_norm_of(std::span<const W> w) {
  Sum sum;
  for (const double x : w) sum.add(x * x);
  return sum.value();
}
inline double squared_norm(std::span<const double> w) { return squared_norm_of(w); }
inline double squared_norm(std::span<const float> w) { return squared_norm_of(w); }

/// z_i = w.x_i for every row. False when stopped by the poll.
template <Rows R>
bool decisions(const R& rows, std::span<const double> w, std::span<double> z, Poll& poll) {
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    z[i] = rows.dot(i, w);
    if (poll(rows.stored(i))) return false;
  }
  return true;
}

struct Primal {
  double value;     // at least P(w, b)
  double rounding;  // what `value` was raised by
  double b;
};

/// P at (w, b). `z` holds the decisions w.x_i.
template <Rows R>
Primal primal_at(const R& rows, const Problem& problem, std::span<const double> w, std::span<const double> z, double b) {
  const double half = 0.5 * squared_norm(w);
  const double length = std::sqrt(2.0 * half) * (1.0 + 8.0 * kRoundoff);
  Sum loss;
  Sum loss_up;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const auto n = static_cast<double>(rows.stored(i) + 4);
    const double slack = 1.0 - problem.y[i] * (z[i] + b);
    const double error =
        n * kRoundoff * length * norm_bound(rows, i) + 2.0 * kRoundoff * (1.0 + std::abs(z[i]) + std::abs(b)) + n * 1e-320;
    if (slack > 0.0) loss.add(problem.cost[i] * slack);
    if (slack + error > 0.0) loss_up.add(problem.cost[i] * (slack + error));
  }
  const double value = half + loss.value();
  const double raised = (half + loss_up.value()) * (1.0 + 16.0 * kRoundoff) + 1e-300;
  return {raised, raised - value, b};
}

/// P at w and, if the intercept is free, at its exact minimiser b(w).
template <Rows R>
Primal primal(const R& rows, const Problem& problem, std::span<const double> w, std::span<const double> z) {
  if (!problem.free_intercept) return primal_at(rows, problem, w, z, 0.0);
  std::vector<Breakpoint> points(z.size());
  Sum positive;
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {problem.y[i] - z[i], problem.cost[i]};
    if (problem.y[i] > 0) positive.add(problem.cost[i]);
  }
  return primal_at(rows, problem, w, z, best_intercept(points, positive.value()));
}

struct Dual {
  double value;     // at most D(a), and never negative: a = 0 is feasible
  double rounding;  // what `value` was lowered by
};

namespace detail {

/// sum a_i over the rows with label `sign`
inline double class_sum(const Problem& problem, std::span<const double> a, std::int8_t sign) {
  Sum sum;
  for (std::int64_t i = 0; i < problem.size(); ++i) {
    if (problem.y[i] == sign) sum.add(a[i]);
  }
  return sum.value();
}

/// Scale down the class with the larger sum, so that sum a_i y_i = 0 but for rounding.
inline void balance(const Problem& problem, std::span<double> a) {
  const double positive = class_sum(problem, a, 1);
  const double negative = class_sum(problem, a, -1);
  const std::int8_t larger = positive > negative ? 1 : -1;
  const double high = std::max(positive, negative);
  const double factor = high > 0.0 ? std::min(positive, negative) / high : 0.0;
  for (std::int64_t i = 0; i < problem.size(); ++i) {
    if (problem.y[i] == larger) a[i] *= factor;
  }
}

/// What D loses when the residue delta = sum a_i y_i is taken off one multiplier: an upper bound, inf if none is large enough.
/// Which class it is taken off depends on the sign of delta, and that may be lost in rounding: the bound holds for both.
template <Rows R>
double residue_charge(const R& rows, const Problem& problem, std::span<const double> a, double length) {
  Sum residue;
  Sum total;
  for (std::int64_t i = 0; i < problem.size(); ++i) {
    residue.add(problem.y[i] * a[i]);
    total.add(a[i]);
  }
  const double m_roundoff = static_cast<double>(problem.size()) * kRoundoff;
  const double delta = std::abs(residue.value()) * (1.0 + 4.0 * kRoundoff) + 2.0 * m_roundoff * m_roundoff * total.value();
  if (delta == 0.0) return 0.0;
  std::int64_t largest[2] = {-1, -1};  // multiplier of each class
  for (std::int64_t i = 0; i < problem.size(); ++i) {
    std::int64_t& j = largest[problem.y[i] > 0];
    if (j < 0 || a[i] > a[j]) j = i;
  }
  double x = 0.0;
  for (const std::int64_t j : largest) {
    if (j < 0 || a[j] < delta) return INFINITY;
    x = std::max(x, norm_bound(rows, j));
  }
  // |w.x_j| is at most |w| |x_j| (`length` bounds |w|): delta is of the order of one rounding, so it need not be sharp.
  return (delta * (1.0 + length * x) + 0.5 * delta * delta * x * x) * (1.0 + 8.0 * kRoundoff);
}

/// w = sum_i c_i x_i with compensated sums, rows with c_i = 0 skipped. False when stopped by the poll.
template <Rows R>
bool combine(const R& rows, std::span<const std::int8_t> y, std::span<const double> a, std::span<double> w, Poll& poll) {
  struct Pair {
    double high = 0.0;
    double low = 0.0;
  };
  std::vector<Pair> sums(w.size());
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    if (a[i] == 0.0) continue;
    const double c = y[i] * a[i];
    rows.for_each(i, [&](std::int64_t j, double x) {
      Pair& sum = sums[static_cast<std::size_t>(j)];
      const double term = c * x;
      const double next = sum.high + term;
      const double shadow = next - sum.high;
      sum.low += (sum.high - (next - shadow)) + (term - shadow);
      sum.high = next;
    });
    if (poll(rows.stored(i))) return false;
  }
  for (std::size_t j = 0; j < w.size(); ++j) w[j] = sums[j].high + sums[j].low;
  return true;
}

}  // namespace detail

/// Make the multipliers `a` feasible in place (box, balance, best multiple theta a), rebuild w = w(a) and bound D(a) from below.
/// Where no positive bound comes out, a and w are set to zero: D(0) = 0. False when stopped by the poll.
template <Rows R>
bool dual(const R& rows, const Problem& problem, std::span<double> a, std::span<double> w, Dual& result, Poll& poll) {
  const std::int64_t m = problem.size();
  for (std::int64_t i = 0; i < m; ++i) a[i] = a[i] > 0.0 ? std::min(a[i], problem.cost[i]) : 0.0;  // NaN becomes 0
  if (problem.free_intercept) detail::balance(problem, a);
  if (!detail::combine(rows, problem.y, a, w, poll)) return false;

  Sum sum;
  Sum spread;  // sum_i a_i |x_i|
  Sum reach;   // what underflow may lose is measured by sum_i (|x_i| + 1)
  for (std::int64_t i = 0; i < m; ++i) {
    if (a[i] == 0.0) continue;
    sum.add(a[i]);
    const double x = norm_bound(rows, i);
    spread.add(a[i] * x);
    reach.add(x + static_cast<double>(rows.stored(i) + 1));
  }
  double total = sum.value();
  double norm2 = squared_norm(w);
  const double theta = norm2 > total ? total / norm2 : 1.0;  // argmax over theta of theta sum a - theta^2/2 |w(a)|^2
  if (theta < 1.0) {
    for (double& x : a) x *= theta;
    for (double& x : w) x *= theta;
    total *= theta;
    norm2 = squared_norm(w);  // theta^2 alone may underflow
  }
  const double m_roundoff = static_cast<double>(m) * kRoundoff;
  const double error = (8.0 * kRoundoff + 2.0 * m_roundoff * m_roundoff) * theta * spread.value() + 1e-320 * reach.value();
  const double length = std::sqrt(norm2) * (1.0 + 8.0 * kRoundoff) + error;
  const double charge = problem.free_intercept ? detail::residue_charge(rows, problem, a, length) : 0.0;
  const double value = total - 0.5 * norm2;
  const double lowered = total * (1.0 - 16.0 * kRoundoff) - 0.5 * length * length * (1.0 + 8.0 * kRoundoff) - charge - 1e-300;
  if (lowered > 0.0) {
    result = {lowered, value - lowered};
  } else {
    std::fill(a.begin(), a.end(), 0.0);
    std::fill(w.begin(), w.end(), 0.0);
    result = {0.0, 0.0};
  }
  return true;
}

}  // namespace hinge
