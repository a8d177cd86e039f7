#pragma once
// ScaledRows: rows seen as [f_i x_i, rho], scaled on the fly: the data are neither changed nor copied.
//
// The factors f_i = 1/|x_i| give rows of unit norm; without factors f_i = 1. The rows below must be plain ones, without a
// constant feature of their own.

#include <cstdint>
#include <span>

#include "hinge/rows.hpp"

namespace hinge {

template <Rows R>
struct ScaledRows {
  const R& plain;
  std::span<const double> factors;  // none: all are 1
  double rho = 0.0;

  std::int64_t size() const { return plain.size(); }
  std::int64_t n_features() const { return plain.n_features(); }
  std::int64_t stored(std::int64_t i) const { return plain.stored(i); }
  std::int64_t total_stored() const { return plain.total_stored(); }
  double factor(std::int64_t i) const { return factors.empty() ? 1.0 : factors[i]; }

  /// In this order f_i^2 alone, which may overflow for a tiny row, never appears.
  double squared_norm(std::int64_t i) const { return factor(i) * (factor(i) * plain.squared_norm(i)) + rho * rho; }

  [[gnu::always_inline]] double product(std::int64_t i, const double* w, std::int64_t next = kNone) const {
    return factor(i) * plain.product(i, w, next);
  }

  [[gnu::always_inline]] double with_constant(double product, const double* w) const { return product + rho * w[n_features()]; }

  [[gnu::always_inline]] double dot(std::int64_t i, std::span<const double> w, std::int64_t next = kNone) const {
    return with_constant(product(i, w.data(), next), w.data());
  }

  [[gnu::always_inline]] void add(std::int64_t i, double scale, std::span<double> v) const {
    plain.add(i, scale * factor(i), v);
    v.back() += scale * rho;
  }

  [[gnu::always_inline]] void prefetch(std::int64_t i) const { plain.prefetch(i); }
  [[gnu::always_inline]] void announce(std::int64_t i) const { plain.announce(i); }

  template <class F>
  void for_each(std::int64_t i, F&& visit) const {
    plain.for_each(i, [&](std::int64_t j, double x) { visit(j, factor(i) * x); });
    if (rho != 0.0) visit(n_features(), rho);
  }
};

}  // namespace hinge
