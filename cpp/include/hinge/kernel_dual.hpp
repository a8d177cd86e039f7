#pragma once
// The dual of a kernel machine, in signed multipliers alpha_i = a_i t_i between lower_i and upper_i:
//
//   f(x) = sum_i alpha_i k(x_i, x) + b
//   g_i = dD / dalpha_i = t_i - z_i - d_i alpha_i,    z_i = sum_j alpha_j K_ij,    d_i = 0 (hinge) or 1 / (2 C_i) (its square)
//
// With a free intercept sum_i alpha_i = 0, and a pair moves at a time: alpha_i rises, alpha_j falls by the same. It violates the
// conditions of optimality by g_i - g_j if i can rise, j can fall and that is positive.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/kernel_rows.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct KernelDual {
  KernelCache cache;
  std::vector<double> alpha;
  std::vector<double> g;

  KernelDual(const Problem& problem, KernelCache rows)
      : cache(std::move(rows)),
        alpha(static_cast<std::size_t>(problem.size())),
        g(problem.target.begin(), problem.target.end()) {}

  static double lower(const Problem& problem, std::int64_t i) { return problem.target[i] < 0.0 ? -problem.box(i) : 0.0; }
  static double upper(const Problem& problem, std::int64_t i) { return problem.target[i] > 0.0 ? problem.box(i) : 0.0; }
  bool can_rise(const Problem& problem, std::int64_t i) const { return alpha[i] < upper(problem, i); }
  bool can_fall(const Problem& problem, std::int64_t i) const { return alpha[i] > lower(problem, i); }

  static double diagonal(const Problem& problem, std::int64_t i) { return problem.loss.diagonal(problem.cost[i]); }
  /// K_ii + d_i
  template <Rows R>
  double curvature(const R& rows, const Problem& problem, std::int64_t i) const {
    return kernel_diagonal(rows, cache.kernel(), i) + diagonal(problem, i);
  }

  /// Extremes of g over some rows: the largest of those that can rise, the smallest of those that can fall; -1: there is none.
  struct Extremes {
    std::int64_t i = -1;
    std::int64_t j = -1;
  };
  void look_at(const Problem& problem, std::int64_t s, Extremes& found) const {
    if (can_rise(problem, s) && (found.i < 0 || g[s] > g[found.i])) found.i = s;
    if (can_fall(problem, s) && (found.j < 0 || g[s] < g[found.j])) found.j = s;
  }

  /// How far alpha_i goes alone: to the largest D, or to its bound.
  double single_step(const Problem& problem, std::int64_t i, double q) const {
    const double low = lower(problem, i);
    const double high = upper(problem, i);
    const double wanted = q > 0.0 ? alpha[i] + g[i] / q : g[i] > 0.0 ? high : g[i] < 0.0 ? low : alpha[i];
    return std::clamp(wanted, low, high) - alpha[i];
  }

  /// z_i, where g_i is known.
  double decision(const Problem& problem, std::int64_t i) const {
    return problem.target[i] - g[i] - diagonal(problem, i) * alpha[i];
  }

  /// b of LASVM, half way between the extremes of g: at the optimum every b between them is best.
  double intercept(const Problem& problem) const {
    Extremes ends;
    for (std::int64_t i = 0; i < problem.size(); ++i) look_at(problem, i, ends);
    return problem.free_intercept && ends.i >= 0 && ends.j >= 0 ? 0.5 * (g[ends.i] + g[ends.j]) : 0.0;
  }

  /// P at (alpha, b) and D, roughly: g must be known for all rows.
  Estimate objective(const Problem& problem, double b) const {
    Sum half, loss, total;
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      const double z = decision(problem, i);
      const double a = alpha[i] * problem.target[i];
      half.add(0.5 * alpha[i] * z);
      total.add(a - problem.loss.dual_penalty(a, problem.cost[i]));
      loss.add(problem.cost[i] * problem.loss.value(Loss::slack(problem.target[i], z + b)));
    }
    return {half.value() + loss.value(), total.value() - half.value()};
  }

  /// Into the box, and into balance if b is free: for multipliers of another problem.
  void make_feasible(const Problem& problem) {
    Sum sums[2];
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      const double kept = std::clamp(alpha[i], lower(problem, i), upper(problem, i));
      alpha[i] = std::isnan(kept) ? 0.0 : kept;
      sums[problem.target[i] > 0.0].add(std::abs(alpha[i]));
    }
    const double least = std::min(sums[0].value(), sums[1].value());
    if (!problem.free_intercept || sums[0].value() == sums[1].value()) return;
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      const double own = sums[problem.target[i] > 0.0].value();
      if (own > least) alpha[i] *= least / own;
    }
  }

  /// g of all rows, computed anew in double precision. False when stopped by the poll.
  template <Rows R>
  bool recompute(const R& rows, const Problem& problem, Poll& poll, std::int64_t n_threads) {
    std::vector<double> z(alpha.size());
    if (!kernel_sums(rows, cache.kernel(), alpha, z, poll, n_threads)) return false;
    for (std::int64_t i = 0; i < problem.size(); ++i) g[i] = problem.target[i] - z[i] - diagonal(problem, i) * alpha[i];
    return true;
  }
};

}  // namespace hinge
