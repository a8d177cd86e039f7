#pragma once
// The dual of a kernel machine on a few rows: sequential minimal optimisation with working sets of second order.
//
// In signed multipliers alpha_i = a_i t_i, lower_i <= alpha_i <= upper_i, the dual has the derivatives
//
//   g_i = t_i - sum_j alpha_j Q_ij,     Q = K + diag(d),  d_i = 0 for the hinge, 1 / (2 C_i) for its square
//
// With a free intercept sum_i alpha_i = 0, and a pair (i, j) moves by alpha_i += step, alpha_j -= step (Platt, "Fast training of
// support vector machines using sequential minimal optimization", 1999). i has the largest g of the rows that can go up, and j
// promises the largest gain (g_i - g_j)^2 / (Q_ii + Q_jj - 2 Q_ij) with it (Fan, Chen & Lin, "Working set selection using second
// order information", JMLR 2005). Without one a single row moves, the one with the largest gain.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace hinge {

/// A curvature below this share of the diagonal is rounding: the rows are the same.
inline constexpr double kFlat = 1e-12;

/// A pair (i, j): g_i - g_j, Q_ii + Q_jj, and Q_ij.
struct Pair {
  double difference;
  double diagonals;
  double product;

  double curvature() const { return std::max(diagonals - 2.0 * product, kFlat * diagonals); }
};

/// Moves a pair to the largest D, or to the first bound: exactly there, for a rounding error short of it a row would be chosen again
/// and again. Returns how far it went.
inline double pair_step(const Pair& pair, double& alpha_i, double upper_i, double& alpha_j, double lower_j) {
  const double rise = upper_i - alpha_i;
  const double fall = alpha_j - lower_j;
  const double step = std::min({pair.difference / pair.curvature(), rise, fall});
  alpha_i = step == rise ? upper_i : alpha_i + step;
  alpha_j = step == fall ? lower_j : alpha_j - step;
  return step;
}

struct WorkingSet {
  std::vector<double> alpha;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> g;
  std::vector<double> Q;  // size x size

  void resize(std::size_t size) {
    for (auto* values : {&alpha, &lower, &upper, &g}) values->resize(size);
    Q.resize(size * size);
  }

  std::size_t size() const { return alpha.size(); }
  const double* row(std::size_t i) const { return Q.data() + i * size(); }

  /// Steps until no pair violates by more than `tolerance`, at most `limit` of them.
  void solve_balanced(double tolerance, std::int64_t limit) {
    while (limit-- > 0) {
      const std::size_t n = size();
      std::size_t i = n;
      for (std::size_t k = 0; k < n; ++k) {
        if (alpha[k] < upper[k] && (i == n || g[k] > g[i])) i = k;
      }
      if (i == n) return;
      std::size_t j = n;
      double lowest = std::numeric_limits<double>::infinity();
      double most = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        if (!(alpha[k] > lower[k])) continue;
        lowest = std::min(lowest, g[k]);
        const Pair with = pair(i, k);
        if (!(with.difference > 0.0)) continue;
        const double gain = with.difference * with.difference / with.curvature();
        if (gain > most) {
          most = gain;
          j = k;
        }
      }
      if (j == n || !(g[i] - lowest > tolerance)) return;
      const double step = pair_step(pair(i, j), alpha[i], upper[i], alpha[j], lower[j]);
      const double* qi = row(i);
      const double* qj = row(j);
      for (std::size_t k = 0; k < n; ++k) g[k] -= step * (qi[k] - qj[k]);
    }
  }

  /// The same for single rows; violations are those of |g|.
  void solve_single(double tolerance, std::int64_t limit) {
    while (limit-- > 0) {
      std::size_t best = size();
      double most = 0.0;
      double violation = 0.0;
      for (std::size_t k = 0; k < size(); ++k) {
        const double step = single_step(k);
        if (step == 0.0) continue;
        violation = std::max(violation, std::abs(g[k]));
        const double gain = step * (g[k] - 0.5 * step * row(k)[k]);
        if (gain > most) {
          most = gain;
          best = k;
        }
      }
      if (best == size() || !(violation > tolerance)) return;
      const double step = single_step(best);
      alpha[best] = std::clamp(alpha[best] + step, lower[best], upper[best]);
      const double* q = row(best);
      for (std::size_t k = 0; k < size(); ++k) g[k] -= step * q[k];
    }
  }

 private:
  Pair pair(std::size_t i, std::size_t j) const { return {g[i] - g[j], row(i)[i] + row(j)[j], row(i)[j]}; }

  double single_step(std::size_t k) const {
    const double q = row(k)[k];
    const double target = q > 0.0 ? alpha[k] + g[k] / q : g[k] > 0.0 ? upper[k] : g[k] < 0.0 ? lower[k] : alpha[k];
    return std::clamp(target, lower[k], upper[k]) - alpha[k];
  }
};

}  // namespace hinge
