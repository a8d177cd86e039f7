#pragma once
// Loss: what a row costs that is not classified with a margin of 1.
//
//   slack    s = 1 - t (w.x + b),   t the target -1 or +1
//   primal   C loss(s)                              hinge: max(0, s)          squared hinge: max(0, s)^2
//   dual     dual_term(a, C),   0 <= a <= box(C)    a,  box C                 a - a^2 / (4 C),  no upper bound
//
// At the optimum a = C slope(s), slope the derivative of the loss. Along one multiplier the dual has the derivative -g and the
// curvature -q:
//
//   g = t (w.x + b) - 1 + diagonal(C) a,    q = |x|^2 + diagonal(C),    diagonal: 0 for the hinge, 1 / (2 C) for its square.
//
// A loss that is not here yet (epsilon-insensitive, logistic) adds a case to each function.

#include <algorithm>
#include <cmath>

namespace hinge {

class Loss {
 public:
  enum class Kind { hinge, squared_hinge };

  constexpr Loss(Kind kind) : kind_(kind) {}  // NOLINT: a kind is a loss

  Kind kind() const { return kind_; }
  bool is_hinge() const { return kind_ == Kind::hinge; }

  static double slack(double target, double decision) { return 1.0 - target * decision; }

  /// NaN stays NaN: a certificate must never take it for a row without loss.
  double value(double s) const {
    const double positive = 0.0 > s ? 0.0 : s;  // one instruction, no branch
    return is_hinge() ? positive : positive * positive;
  }

  /// The derivative of the loss; at the kink, s = 0, the smaller one: no loss.
  double slope(double s) const {
    if (!(s > 0.0)) return 0.0;
    return is_hinge() ? 1.0 : 2.0 * s;
  }

  /// The largest multiplier. A finite number stands for none: its square does not overflow.
  double box(double cost) const { return is_hinge() ? cost : kLargestMultiplier; }

  /// a is the linear part of the dual term, this is what is taken off.
  double dual_penalty(double a, double cost) const { return is_hinge() ? 0.0 : a * (0.25 * a / cost); }

  double diagonal(double cost) const { return is_hinge() ? 0.0 : 0.5 / cost; }

  /// C loss(s) + a g - diagonal a^2 / 2, with g as above: a row's share of the gap P - D; never negative but for rounding.
  double gap_share(double a, double g, double cost) const {
    if (is_hinge()) return std::max(0.0, -cost * g) + a * g;
    const double s = std::max(0.0, diagonal(cost) * a - g);
    const double distance = a - 2.0 * cost * s;  // from the multiplier that would belong to this slack
    return s > 0.0 ? 0.25 * distance * distance / cost : a * (g - 0.25 * a / cost);
  }

  /// The multiplier with the largest dual along one coordinate: from a with derivative -g and curvature -q.
  double best_multiplier(double a, double g, double q, double cost) const {
    return q > 0.0 ? std::min(std::max(a - g / q, 0.0), box(cost)) : box(cost);
  }

 private:
  static constexpr double kLargestMultiplier = 1e150;

  Kind kind_;
};

}  // namespace hinge
