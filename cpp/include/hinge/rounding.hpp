#pragma once
// Rounding: what computed numbers may be off by, for the two sides of a certificate.
//
// Every constant is derived in docs/certificate.md, "Why it is never false", by its name.

#include <cmath>
#include <cstdint>
#include <span>

#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

/// Relative error of a short chain of operations, rounded up generously: it costs nothing, a too small one would be a lie.
inline constexpr double kFewRoundings = 8.0 * kRoundoff;
inline constexpr double kSomeRoundings = 16.0 * kRoundoff;
/// Far more than a product of two numbers can lose to underflow (2^-1075). A normal number: a subnormal one makes each product with it
/// take a hundred times as long.
inline constexpr double kUnderflow = 1e-307;
/// More than 1e10 rows can lose to underflow, were each to lose a whole subnormal number (2^-1022).
inline constexpr double kTiny = 1e-290;
/// Roundings of a decision besides one for each value of the row: the constant feature's sum, its weight becoming the intercept, the
/// second order of all of them, and those of the bound itself.
inline constexpr std::int64_t kDecisionRoundings = 4;

/// An upper bound of |x|, sound where squares underflow, of a row with so many values.
inline double norm_bound(double squared_norm, double stored) {
  const double n = stored + 1.0;
  return std::sqrt(squared_norm * (1.0 + 2.0 * n * kRoundoff) + n * kUnderflow) * (1.0 + kFewRoundings);
}

template <Rows R>
double norm_bound(const R& rows, std::int64_t i) {
  return norm_bound(rows.squared_norm(i), static_cast<double>(rows.stored(i)));
}

/// An upper bound of |w|, sound where squares underflow, given |w|^2 as `squared_norm` computes it.
inline double length_bound(std::span<const double> w, double norm2) {
  const auto n = static_cast<double>(w.size());
  return std::sqrt(norm2 + n * kUnderflow) * (1.0 + kFewRoundings + Sum::hidden_error(n));
}

}  // namespace hinge
