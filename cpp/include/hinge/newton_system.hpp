#pragma once
// System: what a step of newton solves,  H p = -gradient,   H = R + rate sum_{i in J} C_i x_i x_i',   R the identity but for b.
//
// Rows x_i have the constant feature behind their values: 1 for a free intercept, whose entry of R is a tiny ridge; rho for a
// penalised one.

#include <cstddef>
#include <span>
#include <vector>

namespace hinge {

/// What varies from step to step besides J.
struct System {
  std::span<const double> gradient;
  double rate;      // of the weights C_i in H
  double ridge;     // the last entry of R: 1, or tiny for a free b
  double constant;  // feature behind the values of a row
  bool free;        // b is free
  double stored;    // values of a row, on average
  double m;         // rows of the problem; those at hand may be a sample of them

  /// Downhill: when nothing else works out.
  std::vector<double> steepest() const {
    std::vector<double> p(gradient.size());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = -gradient[i];
    return p;
  }
};

/// Added to the unit diagonal of a matrix to be factored, more where that is not enough: rows or features may depend on each other.
inline constexpr double kFirstRidge = 1e-14;
inline constexpr double kLastRidge = 1e-2;

}  // namespace hinge
