#pragma once
// A free intercept in a method that moves one multiplier a_i at a time.
//
// Single coordinates cannot move along sum a_i t_i = 0, so the constraint is handled by the method of multipliers. b is the
// multiplier; the penalty kappa/2 (sum a_i t_i)^2 acts like a constant feature sqrt(kappa): |x_i|^2 grows by kappa, and b moves by
// kappa (change of a_i) t_i at each step, and by up to kappa sum a_i t_i after each epoch.
//
// kappa = 0 without a free intercept; then b stays 0.

#include <algorithm>
#include <cmath>
#include <limits>

namespace hinge {

struct FreeIntercept {
  double b = 0.0;
  double residue = 0.0;       // sum a_i t_i
  double last_residue = 0.0;  // after the epoch before
  double rate = 1.0;          // of b, relative to kappa
  double kappa = 0.0;         // penalty of the residue; 0 without a free intercept

  /// How far b would have to go up, or down, until the first row that rests wants to move.
  struct Jump {
    double up = std::numeric_limits<double>::infinity();
    double down = up;

    /// A row that wants to move when b has gone so far in the direction of `sign`.
    void add(double sign, double distance) {
      double& way = sign > 0.0 ? up : down;
      way = std::min(way, distance);
    }

    void merge(const Jump& other) {
      up = std::min(up, other.up);
      down = std::min(down, other.down);
    }
  };

  /// a_i t_i has changed.
  void moved(double change) {
    b += kappa * change;
    residue += change;
  }

  /// After an epoch b follows the residue. A residue that changes its sign tells of a multiplier that overshoots: smaller steps until
  /// it settles. Where no row wants to move at this b, nothing would change until b has come to where one does: it goes there first.
  void follow(const Jump& jump) {
    if (kappa == 0.0) return;
    rate = residue * last_residue < 0.0 ? 0.5 * rate : std::min(1.0, 1.5 * rate);
    if (residue > 0.0 && std::isfinite(jump.up)) b += jump.up;
    if (residue < 0.0 && std::isfinite(jump.down)) b -= jump.down;
    b += rate * kappa * residue;
    last_residue = residue;
  }

  /// Roughly what repairing sum_i a_i t_i = 0 will cost.
  double cost_of_residue() const { return kappa > 0.0 ? (1.0 + std::abs(b)) * std::abs(residue) : 0.0; }
};

}  // namespace hinge
