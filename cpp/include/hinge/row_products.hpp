#pragma once
// RowProducts: a step of newton by a matrix of order |J| (Woodbury), for few rows in their zones.
//
//   p = -R^-1 (gradient + X' delta),    (X R^-1 X' + 1 / (rate C)) delta = -X R^-1 gradient
//
// A free b is eliminated: its R is zero there, and sum delta is given. Products of rows are kept from step to step.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hinge/cholesky.hpp"
#include "hinge/gram.hpp"
#include "hinge/newton_system.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"

namespace hinge {

class RowProducts {
 public:
  void forget() {
    known_.clear();
    products_.clear();
  }

  /// Rows whose products are not kept.
  std::size_t n_unknown(std::span<const Weighted> in_zone) const {
    std::size_t unknown = 0;
    for (const Weighted& row : in_zone) unknown += !std::binary_search(known_.begin(), known_.end(), row.row);
    return unknown;
  }

  /// p; nothing when stopped by the poll. `touched` counts rows.
  template <Rows R>
  std::optional<std::vector<double>> solve(const R& rows, std::span<const Weighted> in_zone, const System& system,
                                           std::int64_t n_threads, Poll& poll, std::int64_t& touched) {
    if (!update(rows, in_zone, poll, touched)) return std::nullopt;
    const std::size_t j = in_zone.size();
    std::vector<double> p = system.steepest();
    if (system.free) p.back() = 0.0;
    std::vector<double> right(j);
    for (std::size_t k = 0; k < j; ++k) right[k] = rows.dot(in_zone[k].row, p);  // -x.gradient
    std::vector<double> scale(j);
    std::vector<double> scaled;
    const auto diagonal = [&](std::size_t k) { return products_[k * j + k] + 1.0 / (system.rate * in_zone[k].weight); };
    for (std::size_t k = 0; k < j; ++k) scale[k] = 1.0 / std::sqrt(diagonal(k));
    for (double ridge = kFirstRidge; ridge <= kLastRidge; ridge *= 100.0) {
      scaled.assign(j * j, 0.0);
      for (std::size_t k = 0; k < j; ++k) {
        for (std::size_t l = 0; l < k; ++l) scaled[k * j + l] = products_[k * j + l] * scale[k] * scale[l];
        scaled[k * j + k] = 1.0 + ridge * static_cast<double>(j);
      }
      const Cholesky factor(std::move(scaled), j, poll, n_threads);
      if (poll.stopped()) return std::nullopt;
      if (!factor.ok()) continue;
      const auto solve = [&](std::vector<double> x) {
        for (std::size_t k = 0; k < j; ++k) x[k] *= scale[k];
        x = factor.solve(std::move(x));
        for (std::size_t k = 0; k < j; ++k) x[k] *= scale[k];
        return x;
      };
      std::vector<double> delta = solve(right);
      if (system.free) {  // delta = M^-1 (right + b), sum delta = -(gradient of b); the tiny ridge for when J is empty
        const std::vector<double> of_b = solve(std::vector<double>(j, 1.0));
        double sum = 0.0;
        double sum_of_b = j == 0 ? system.ridge : 0.0;
        for (std::size_t k = 0; k < j; ++k) {
          sum += delta[k];
          sum_of_b += of_b[k];
        }
        const double b = (-system.gradient.back() - sum) / sum_of_b;
        for (std::size_t k = 0; k < j; ++k) delta[k] += b * of_b[k];
        p.back() = b;
      }
      const double b = p.back();
      for (std::size_t k = 0; k < j; ++k) rows.add(in_zone[k].row, -delta[k], p);
      if (system.free) p.back() = b;
      return p;
    }
    return system.steepest();
  }

 private:
  std::vector<std::int64_t> known_;  // rows whose products are kept, ascending
  std::vector<double> products_;     // their products, row by row, lower triangle

  /// x_i.x_j for all rows in J, without a free b's constant feature. Products of rows that were in J before are taken over.
  template <Rows R>
  bool update(const R& rows, std::span<const Weighted> in_zone, Poll& poll, std::int64_t& touched) {
    const std::size_t j = in_zone.size();
    std::vector<double> next(j * j);
    std::vector<std::ptrdiff_t> old(j, -1);
    for (std::size_t k = 0; k < j; ++k) {
      const auto at = std::lower_bound(known_.begin(), known_.end(), in_zone[k].row);
      if (at != known_.end() && *at == in_zone[k].row) old[k] = at - known_.begin();
    }
    const auto n_known = static_cast<std::ptrdiff_t>(known_.size());
    std::vector<double> dense(static_cast<std::size_t>(rows.n_features()) + 1);
    for (std::size_t p = 0; p < j; ++p) {  // row p as a dense vector, its products with the rows from p on
      const std::int64_t i = in_zone[p].row;
      bool spread = false;
      for (std::size_t q = p; q < j; ++q) {
        if (old[p] >= 0 && old[q] >= 0) {
          next[q * j + p] = products_[static_cast<std::size_t>(old[q] * n_known + old[p])];
          continue;
        }
        if (!spread) rows.for_each(i, [&](std::int64_t f, double x) { dense[static_cast<std::size_t>(f)] = x; });
        spread = true;
        next[q * j + p] = rows.dot(in_zone[q].row, dense);
        if (poll(rows.stored(in_zone[q].row))) return false;
      }
      if (spread) rows.for_each(i, [&](std::int64_t f, double) { dense[static_cast<std::size_t>(f)] = 0.0; });
      touched += spread;
    }
    products_ = std::move(next);
    known_.resize(j);
    for (std::size_t k = 0; k < j; ++k) known_[k] = in_zone[k].row;
    return true;
  }
};

}  // namespace hinge
