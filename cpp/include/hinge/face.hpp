#pragma once
// A Newton step on the face of the box: all free multipliers (0 < a_i < box_i) at once, the others fixed.
//
// Coordinate steps find out quickly which multipliers are free, but crawl when the free rows are nearly dependent. On
// the face D is quadratic, and so is D - b s - kappa/2 s^2 with s = sum_i a_i t_i, which coordinate steps climb when the
// intercept is free. With (i, j in F, the free multipliers; diagonal_i that of the loss, see loss.hpp)
//
//   K_ij = t_i t_j x_i.x_j + [i = j] diagonal_i    and    r_i = 1 - t_i w.x_i - diagonal_i a_i
//
// its maximum is at
//
//   (K + kappa t t') delta = r - b t.
//
// The step goes as far along delta as the box allows; a multiplier that meets its bound leaves F, and the rest is solved
// again. A ridge of rounding size makes the Cholesky factor exist where rows are dependent: delta is then huge along the
// dependent directions and ends at a bound, where the maximum is.
//
// With a free intercept the multiplier b would still need many rounds. So the maximum of D on s = 0 is tried first,
//
//   K delta + t b = r,   t . delta = -s,
//
// and taken if it lies inside the box and above all such points before (`summit`), which rules out going in circles.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/cholesky.hpp"
#include "hinge/free_intercept.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"

namespace hinge {

/// Where a dual method is: multipliers inside the box, and what follows from them.
struct DualIterate : FreeIntercept {
  std::vector<double> a;
  std::vector<double> w;  // sum a_i t_i x_i
  double dual = 0.0;      // D(a)
  double summit = 0.0;    // the largest D reached at the maximum of a face with residue 0
};

class Face {
 public:
  /// Larger faces are left to coordinate steps: a factor of 400 rows takes 2e7 multiplications, a few milliseconds, and K a
  /// megabyte, which still fits into the cache.
  static constexpr std::size_t kLargest = 400;

  static bool is_free(const Problem& problem, const DualIterate& run, std::int64_t i) {
    return run.a[i] > 0.0 && run.a[i] < problem.box(i);
  }

  /// Climb to the maximum of the face, or to where the box ends it for the last of `most_steps` times.
  template <Rows R>
  static void climb(const R& rows, const Problem& problem, DualIterate& run, int most_steps, Poll& poll) {
    std::vector<std::int64_t> free;
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      if (is_free(problem, run, i)) free.push_back(i);
      if (free.size() > kLargest) return;
    }
    if (free.empty()) return;
    std::vector<double> gram = products(rows, problem, free, poll);
    if (gram.empty()) return;
    for (int step = 0; step < most_steps && !free.empty(); ++step) {
      if (poll(static_cast<std::int64_t>(free.size() * free.size())) || climb_once(rows, problem, run, free, gram)) return;
    }
  }

 private:
  /// The ridge, for each free row, relative to the largest entry of K: a thousand times the rounding of the factor, which is
  /// about n u of that entry. Without it the factor of dependent rows may not exist.
  static constexpr double kRidge = 1e-13;
  /// Of C: about a hundred roundings of a + length delta, where that should have met a bound exactly.
  static constexpr double kAtBound = 1e-14;

  /// K, all of it; nothing when stopped by the poll.
  template <Rows R>
  static std::vector<double> products(const R& rows, const Problem& problem, std::span<const std::int64_t> free, Poll& poll) {
    const std::size_t n = free.size();
    std::vector<double> gram(n * n);
    std::vector<double> x(static_cast<std::size_t>(rows.n_features()) + 1);
    for (std::size_t i = 0; i < n; ++i) {
      rows.add(free[i], problem.target[free[i]], x);
      for (std::size_t j = 0; j <= i; ++j) {
        gram[i * n + j] = problem.target[free[j]] * rows.dot(free[j], x);
        gram[j * n + i] = gram[i * n + j];
        if (poll(rows.stored(free[j]))) return {};
      }
      gram[i * n + i] += problem.loss.diagonal(problem.cost[free[i]]);
      rows.for_each(free[i], [&](std::int64_t j, double) { x[static_cast<std::size_t>(j)] = 0.0; });
    }
    return gram;
  }

  /// One step; rows that meet a bound leave `free` and `gram`. True when the maximum of the face was reached.
  template <Rows R>
  static bool climb_once(const R& rows, const Problem& problem, DualIterate& run, std::vector<std::int64_t>& free,
                         std::vector<double>& gram) {
    const std::size_t n = free.size();
    std::vector<double> t(n);
    std::vector<double> r(n);
    for (std::size_t i = 0; i < n; ++i) {
      t[i] = problem.target[free[i]];
      r[i] = 1.0 - t[i] * rows.dot(free[i], run.w) - problem.loss.diagonal(problem.cost[free[i]]) * run.a[free[i]];
    }
    const Cholesky factor(penalised(gram, t, run.kappa), n);
    if (!factor.ok()) return true;
    if (problem.free_intercept) {
      const auto [delta, b] = balanced(factor, run, t, r);
      if (longest_step(problem, run, free, delta) == 1.0 && run.dual + gain(gram, r, delta) > run.summit) {
        move(rows, problem, run, free, gram, t, r, delta, 1.0);
        run.b = b;
        run.summit = run.dual;
        return true;
      }
    }
    std::vector<double> uphill(n);
    for (std::size_t i = 0; i < n; ++i) uphill[i] = r[i] - t[i] * run.b;
    const std::vector<double> delta = factor.solve(std::move(uphill));
    const double length = longest_step(problem, run, free, delta);
    if (!(length > 0.0)) return true;
    move(rows, problem, run, free, gram, t, r, delta, length);
    if (length == 1.0) return true;
    leave(problem, run, free, gram);
    return false;
  }

  /// K + kappa t t', with the ridge.
  static std::vector<double> penalised(std::vector<double> gram, const std::vector<double>& t, double kappa) {
    const std::size_t n = t.size();
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, gram[i * n + i]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) gram[i * n + j] += kappa * t[i] * t[j];
      gram[i * n + i] += kRidge * static_cast<double>(n) * largest;
    }
    return gram;
  }

  struct Balanced {
    std::vector<double> delta;
    double b;
  };

  /// The maximum of the face on sum_i a_i t_i = 0. The penalty vanishes there; it makes the matrix of full rank where the
  /// rows [x, 1] are independent and the rows x are not.
  static Balanced balanced(const Cholesky& factor, const DualIterate& run, const std::vector<double>& t,
                           std::vector<double> r) {
    const std::size_t n = t.size();
    for (std::size_t i = 0; i < n; ++i) r[i] -= run.kappa * run.residue * t[i];
    const std::vector<double> along_r = factor.solve(r);
    const std::vector<double> along_t = factor.solve(t);
    double numerator = run.residue;
    double denominator = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      numerator += t[i] * along_r[i];
      denominator += t[i] * along_t[i];
    }
    const double b = numerator / denominator;
    for (std::size_t i = 0; i < n; ++i) r[i] -= t[i] * b;
    return {factor.solve(std::move(r)), b};
  }

  /// How far along delta the box reaches, at most 1; 0 where delta is of no use.
  static double longest_step(const Problem& problem, const DualIterate& run, const std::vector<std::int64_t>& free,
                             const std::vector<double>& delta) {
    double length = 1.0;
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (!std::isfinite(delta[i])) return 0.0;
      const double room = delta[i] > 0.0 ? problem.box(free[i]) - run.a[free[i]] : run.a[free[i]];
      if (std::abs(delta[i]) * length > room) length = room / std::abs(delta[i]);
    }
    return length;
  }

  /// What a change of the free multipliers adds to D.
  static double gain(const std::vector<double>& gram, const std::vector<double>& r, const std::vector<double>& change) {
    const std::size_t n = r.size();
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      double curvature = 0.0;
      for (std::size_t j = 0; j < n; ++j) curvature += gram[i * n + j] * change[j];
      sum += change[i] * (r[i] - 0.5 * curvature);
    }
    return sum;
  }

  template <Rows R>
  static void move(const R& rows, const Problem& problem, DualIterate& run, const std::vector<std::int64_t>& free,
                   const std::vector<double>& gram, const std::vector<double>& t, const std::vector<double>& r,
                   const std::vector<double>& delta, double length) {
    const std::size_t n = free.size();
    std::vector<double> change(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double a = run.a[free[i]];
      const double box = problem.box(free[i]);
      double next = std::clamp(a + length * delta[i], 0.0, box);
      // What rounding leaves of a multiplier that met its bound is no free multiplier.
      if (length < 1.0 && next < kAtBound * problem.cost[free[i]]) next = 0.0;
      if (length < 1.0 && next > (1.0 - kAtBound) * box) next = box;
      change[i] = next - a;
      run.a[free[i]] = next;
      run.residue += change[i] * t[i];
      run.b += run.kappa * change[i] * t[i];
      rows.add(free[i], change[i] * t[i], run.w);
    }
    run.dual += gain(gram, r, change);
  }

  static void leave(const Problem& problem, const DualIterate& run, std::vector<std::int64_t>& free,
                    std::vector<double>& gram) {
    const std::size_t n = free.size();
    std::vector<std::size_t> stay;
    for (std::size_t i = 0; i < n; ++i) {
      if (is_free(problem, run, free[i])) stay.push_back(i);
    }
    std::vector<std::int64_t> next(stay.size());
    std::vector<double> smaller(stay.size() * stay.size());
    for (std::size_t i = 0; i < stay.size(); ++i) {
      next[i] = free[stay[i]];
      for (std::size_t j = 0; j < stay.size(); ++j) smaller[i * stay.size() + j] = gram[stay[i] * n + stay[j]];
    }
    free = std::move(next);
    gram = std::move(smaller);
  }
};

}  // namespace hinge
