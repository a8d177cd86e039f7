#pragma once
// The small problem of the cutting-plane methods: a concave quadratic over the simplex,
//
//   maximise  f(beta) = b.beta - 1/2 beta' G beta    over  beta >= 0,  sum_j beta_j = 1,
//
// G positive semidefinite, a few hundred variables, and nearly singular: neighbouring planes are nearly parallel. Pairwise
// steps would crawl there, so this is an active-set method (after Wolfe, "Finding the Nearest Point in a Polytope", 1976):
//
//   1. g = b - G beta. For any beta, f + gap is an upper bound of the maximum, gap = max_j g_j - beta.g. Stop at the target.
//   2. The face: all j with beta_j > 0; once its top is reached, also the j with the largest g_j.
//   3. Newton step on the face: K delta = g - level, sum delta = 0, with K = G + c: the constant c changes nothing where
//      sum delta = 0, and makes K regular where the planes are only affinely independent.
//   4. Go to the maximum along delta, or as far as beta >= 0 allows: then a variable leaves the face.
//
// Where rounding makes the Newton step useless, weight moves from the worst variable of the face to the best of all.
//
// Inputs: G (n x n, symmetric), b, a point of the simplex, the gap to reach. Outputs: a better point, f and the gap there.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hinge/face.hpp"
#include "hinge/poll.hpp"

namespace hinge {

class SimplexQp {
 public:
  struct Top {
    double value;  // f(beta)
    double gap;    // the maximum is at most value + gap
  };

  /// Climb from `beta`, in place. When stopped by the poll, beta is a point of the simplex on the way.
  static Top climb(std::span<const double> gram, std::span<const double> b, std::span<double> beta, double target, Poll& poll) {
    SimplexQp qp(gram, b, beta);
    const std::size_t n = b.size();
    bool at_top = true;  // of the face
    double gap = qp.gap();
    for (std::size_t step = 0; step < 10 * n + 100 && gap > target; ++step) {
      std::vector<std::size_t> face = qp.face(at_top);
      if (poll(static_cast<std::int64_t>(face.size() * (n + face.size() * face.size() / 6)))) break;
      std::vector<double> delta = qp.newton(face);
      if (!qp.climbs(face, delta)) delta = qp.pair(face);
      at_top = qp.move(face, delta);
      gap = qp.gap();
      if (at_top && !(qp.gain_ > kNothing * std::abs(qp.value()))) break;
    }
    return {qp.value(), gap};
  }

 private:
  static constexpr double kNothing = 1e-16;

  SimplexQp(std::span<const double> gram, std::span<const double> b, std::span<double> beta)
      : gram_(gram), b_(b), beta_(beta), g_(b.begin(), b.end()) {
    double sum = 0.0;
    for (const double x : beta_) sum += x;
    *std::max_element(beta_.begin(), beta_.end()) += 1.0 - sum;  // what rounding has lost
    for (std::size_t j = 0; j < b_.size(); ++j) {
      if (beta_[j] != 0.0) add(-beta_[j], j, g_);
    }
  }

  /// v += scale * (row j of G)
  void add(double scale, std::size_t j, std::span<double> v) const {
    const double* row = gram_.data() + j * b_.size();
    for (std::size_t k = 0; k < v.size(); ++k) v[k] += scale * row[k];
  }

  /// Also sets the level beta.g and the best variable.
  double gap() {
    level_ = 0.0;
    for (std::size_t k = 0; k < b_.size(); ++k) level_ += beta_[k] * g_[k];
    best_ = static_cast<std::size_t>(std::max_element(g_.begin(), g_.end()) - g_.begin());
    return g_[best_] - level_;
  }

  double value() const {
    double linear = 0.0;
    for (std::size_t k = 0; k < b_.size(); ++k) linear += beta_[k] * b_[k];
    return 0.5 * (linear + level_);
  }

  std::vector<std::size_t> face(bool with_best) const {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < b_.size(); ++k) {
      if (beta_[k] > 0.0 || (with_best && k == best_)) out.push_back(k);
    }
    return out;
  }

  /// The step to the top of the plane that holds the face; nothing where K has no factor.
  std::vector<double> newton(const std::vector<std::size_t>& face) const {
    const std::size_t n = b_.size();
    const std::size_t s = face.size();
    double smallest = std::numeric_limits<double>::infinity();
    for (const std::size_t k : face) {
      if (gram_[k * n + k] > 0.0) smallest = std::min(smallest, gram_[k * n + k]);
    }
    if (!std::isfinite(smallest)) return {};
    std::vector<double> matrix(s * s);
    std::vector<double> uphill(s);
    for (std::size_t i = 0; i < s; ++i) {
      for (std::size_t j = 0; j <= i; ++j) matrix[i * s + j] = gram_[face[i] * n + face[j]] + smallest;
      matrix[i * s + i] *= 1.0 + 4e-16 * static_cast<double>(s);
      uphill[i] = g_[face[i]] - level_;
    }
    const Cholesky factor(std::move(matrix), s);
    if (!factor.ok()) return {};
    std::vector<double> delta = factor.solve(std::move(uphill));
    const std::vector<double> along = factor.solve(std::vector<double>(s, 1.0));
    double total = 0.0;
    for (const double x : along) total += x;
    for (int round = 0; round < 2; ++round) {  // the second takes out what rounding has left of the sum
      double sum = 0.0;
      for (const double x : delta) sum += x;
      for (std::size_t i = 0; i < s; ++i) delta[i] -= sum / total * along[i];
    }
    return delta;
  }

  /// Whether delta is finite, leads uphill and stays inside the simplex for a while.
  bool climbs(const std::vector<std::size_t>& face, const std::vector<double>& delta) const {
    if (delta.empty()) return false;
    double slope = 0.0;
    for (std::size_t i = 0; i < face.size(); ++i) {
      if (!std::isfinite(delta[i]) || (beta_[face[i]] == 0.0 && !(delta[i] > 0.0))) return false;
      slope += delta[i] * (g_[face[i]] - level_);
    }
    return slope > 0.0;
  }

  /// From the worst variable of the face to the best of all; `face` becomes these two.
  std::vector<double> pair(std::vector<std::size_t>& face) const {
    std::size_t worst = best_;
    for (const std::size_t k : face) {
      if (beta_[k] > 0.0 && g_[k] < g_[worst]) worst = k;
    }
    face = {worst, best_};
    return {-1.0, 1.0};
  }

  /// Along delta to the maximum or to the border. True when it was the maximum.
  bool move(const std::vector<std::size_t>& face, const std::vector<double>& delta) {
    std::vector<double> change(b_.size());  // of -g
    for (std::size_t i = 0; i < face.size(); ++i) add(delta[i], face[i], change);
    double slope = 0.0;
    double curvature = 0.0;
    double room = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < face.size(); ++i) {
      slope += delta[i] * (g_[face[i]] - level_);
      curvature += delta[i] * change[face[i]];
      if (delta[i] < 0.0) room = std::min(room, beta_[face[i]] / -delta[i]);
    }
    const bool inside = curvature > 0.0 && slope / curvature < room;
    const double length = inside ? slope / curvature : room;
    if (!std::isfinite(length)) {
      gain_ = 0.0;
      return true;
    }
    for (std::size_t i = 0; i < face.size(); ++i) {
      double& x = beta_[face[i]];
      const bool leaves = delta[i] < 0.0 && x / -delta[i] <= length;
      x = leaves ? 0.0 : std::max(x + length * delta[i], 0.0);
    }
    for (std::size_t k = 0; k < g_.size(); ++k) g_[k] -= length * change[k];
    gain_ = length * (slope - 0.5 * length * curvature);
    return inside;
  }

  std::span<const double> gram_;
  std::span<const double> b_;
  std::span<double> beta_;
  std::vector<double> g_;  // b - G beta
  double level_ = 0.0;
  std::size_t best_ = 0;
  double gain_ = 0.0;  // of the last move
};

}  // namespace hinge
