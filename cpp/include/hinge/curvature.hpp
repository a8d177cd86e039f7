#pragma once
// Curvature: solves the system of a step of newton (newton_system.hpp). Three ways, and the one with the least work is taken, by count:
//
//   Gram        the matrix H itself, of order n_features + 1, by Cholesky. From step to step only rows that have entered or left J
//               are added or taken off.
//   Rows        a matrix of order |J| (row_products.hpp)
//   Conjugate   gradients (conjugate_gradients.hpp)
//
// The matrices take as much memory as a share of the rows do, or what is always allowed (kAlways).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hinge/cholesky.hpp"
#include "hinge/conjugate_gradients.hpp"
#include "hinge/gram.hpp"
#include "hinge/newton_system.hpp"
#include "hinge/poll.hpp"
#include "hinge/row_products.hpp"
#include "hinge/rows.hpp"
#include "hinge/state.hpp"

namespace hinge {

class Curvature {
 public:
  Curvature(std::int64_t n_features, std::int64_t n_threads) : gram_(n_features), n_threads_(n_threads) {}

  /// The Gram matrix and the rows in it are part of a saved run: computed anew, it would differ by rounding.
  template <class F>
  void fields(F&& field) {
    field("gram", gram_.values());
    field("gram_rows", rows_);
    field("gram_weights", weights_);
    field("gram_passed", passed_);
  }

  void check_restored(std::int64_t m) const {
    const auto size = static_cast<std::size_t>(gram_.size());
    const auto ascends = [](const Varying<std::int64_t>& rows) {
      return std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end();
    };
    if ((!gram_.values().empty() && gram_.values().size() != size * size) || rows_.size() != weights_.size() ||
        (gram_.values().empty() && !rows_.empty())) {
      throw std::invalid_argument("saved state: gram has the wrong length");
    }
    if (!ascends(rows_) || (!rows_.empty() && (rows_.front() < 0 || rows_.back() >= m))) {
      throw std::invalid_argument("saved state: gram_rows are out of order or range");
    }
  }

  /// Nothing is known of the rows in J before.
  void forget() {
    gram_.values().clear();
    rows_.clear();
    weights_.clear();
    passed_ = 0.0;
    products_.forget();
  }
  /// These are the same bits whenever they are computed: they are not saved.
  void forget_products() { products_.forget(); }
  /// Only additions to the Gram matrix need this memory.
  void release() { gram_.release(); }

  /// Whether the Gram matrix has room.
  static bool gram_has_room(std::int64_t m, double stored, std::int64_t n_features) {
    const double n = static_cast<double>(n_features) + 1.0;
    return n * n <= room_for(static_cast<double>(m), stored);
  }

  /// What the steps of a whole run are expected to cost, in passes over m rows, if the first of them see so many rows in their zones.
  static double expected_passes(std::int64_t m, double stored, std::int64_t n_features, std::int64_t first) {
    if (!gram_has_room(m, stored, n_features)) return kByGradients;
    const double n = static_cast<double>(n_features) + 1.0;
    const double rows = static_cast<double>(m);
    const double at_first = kFullSteps * static_cast<double>(first) * Gram::cost(stored, n);
    const double later = kSteps * (Gram::factor_cost(n) + 2.0 * std::min(n, rows) * Gram::cost(stored, n));
    return kSteps + (at_first + later) / (rows * (stored + kPerRow));
  }

  /// Whether a matrix has room, with so many rows in J. If none has, conjugate gradients are the only way.
  bool has_room(double m, double stored, double j) const {
    const double order = std::min(static_cast<double>(gram_.size()), j);
    return order * order <= room_for(m, stored);
  }

  /// p; nothing when stopped by the poll. `iterations` is what conjugate gradients took the last time; `touched` counts rows.
  template <Rows R>
  std::optional<std::vector<double>> direction(const R& rows, std::span<const Weighted> in_zone, const System& system,
                                               double& iterations, Poll& poll, std::int64_t& touched) {
    const double n = static_cast<double>(gram_.size());
    const double j = static_cast<double>(in_zone.size());
    const double stored = system.stored;
    const double room = room_for(system.m, stored);
    const double by_rows =
        j * j <= room ? 0.5 * j * static_cast<double>(products_.n_unknown(in_zone)) * (stored + kPerRow) + Gram::factor_cost(j)
                      : kInfinity;
    const double by_gradients = iterations * (2.0 * j * (stored + kPerRow) + 8.0 * n);
    if (n * n <= room) {
      std::vector<Weighted> changed = changes(in_zone);
      const double n_changed = std::min(static_cast<double>(changed.size()), j);
      if (Gram::cost(stored, n) * n_changed + Gram::factor_cost(n) <= std::min(by_rows, by_gradients)) {
        return solve_gram(rows, in_zone, std::move(changed), system, poll, touched);
      }
    }
    if (by_rows <= by_gradients) return products_.solve(rows, in_zone, system, n_threads_, poll, touched);
    return ConjugateGradients<R>{rows, in_zone, system, n_threads_, poll}.solve(iterations, touched);
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  /// Entries of a matrix that are always allowed: 32 MB.
  static constexpr double kAlways = 2048.0 * 2048.0;
  /// Beyond it, entries as a share of the stored values.
  static constexpr double kShare = 0.125;
  /// Finding a row in memory costs as much as so many of its values.
  static constexpr double kPerRow = 16.0;
  /// The Gram matrix is computed anew when more weight than this has gone through it, relative to what is left in it.
  static constexpr double kDrift = 1e4;
  /// Of a run: the steps, those that see most rows in their zones, and the passes of all where the matrices are too large: dcd gets half as
  /// many. (200,000 RCV1-like rows, auto to 1e-3 and 1e-6, seconds, with other work on the machine: C = 1000 16 and 49 with 600, 10 and 40
  /// with 450, 7 and 43 with 400; C = 100 6 and 10, 6 and 12, 7 and 13, with 300 6 and 15.)
  static constexpr double kSteps = 30.0;
  static constexpr double kFullSteps = 1.0;
  static constexpr double kByGradients = 400.0;

  /// Entries that a matrix may have.
  static double room_for(double m, double stored) { return std::max(kAlways, kShare * m * stored); }

  Gram gram_;
  Varying<std::int64_t> rows_;  // those in the Gram matrix, ascending
  Varying<double> weights_;     // and what they weigh there
  double passed_ = 0.0;         // weight that went through it
  RowProducts products_;
  std::int64_t n_threads_;

  // ---- By the Gram matrix

  /// Rows to add or to take off, with the sign of their weight.
  std::vector<Weighted> changes(std::span<const Weighted> in_zone) const {
    std::vector<Weighted> out;
    std::size_t old = 0;
    for (const Weighted& row : in_zone) {
      for (; old < rows_.size() && rows_[old] < row.row; ++old) out.push_back({rows_[old], -weights_[old]});
      if (old < rows_.size() && rows_[old] == row.row) {
        ++old;
      } else {
        out.push_back(row);
      }
    }
    for (; old < rows_.size(); ++old) out.push_back({rows_[old], -weights_[old]});
    return out;
  }

  static double weight_of(std::span<const Weighted> rows) {
    double total = 0.0;
    for (const Weighted& row : rows) total += std::abs(row.weight);
    return total;
  }

  template <Rows R>
  bool update_gram(const R& rows, std::span<const Weighted> in_zone, std::vector<Weighted> changed, const System& system,
                   Poll& poll, std::int64_t& touched) {
    passed_ += weight_of(changed);
    if (gram_.values().empty() || changed.size() >= in_zone.size() || passed_ > kDrift * weight_of(in_zone)) {
      gram_.clear();
      changed.assign(in_zone.begin(), in_zone.end());
      passed_ = weight_of(changed);
    }
    touched += static_cast<std::int64_t>(changed.size());
    if (!gram_.add(rows, changed, system.constant, poll, n_threads_)) {
      forget();
      return false;
    }
    rows_.resize(in_zone.size());
    weights_.resize(in_zone.size());
    for (std::size_t k = 0; k < in_zone.size(); ++k) {
      rows_[k] = in_zone[k].row;
      weights_[k] = in_zone[k].weight;
    }
    return true;
  }

  template <Rows R>
  std::optional<std::vector<double>> solve_gram(const R& rows, std::span<const Weighted> in_zone, std::vector<Weighted> changed,
                                                const System& system, Poll& poll, std::int64_t& touched) {
    if (!update_gram(rows, in_zone, std::move(changed), system, poll, touched)) return std::nullopt;
    // A free b is eliminated: rows count from their mean. The curvature that is left for b alone is tiny where that mean is large, and
    // any ridge on it would swamp it.
    const auto size = static_cast<std::size_t>(gram_.size());
    const std::span<const double> last =
        std::span<const double>(gram_.values()).subspan((size - 1) * size);  // sum_i C_i x_i, and sum_i C_i behind them
    const bool eliminated = system.free && last.back() > 0.0;
    const std::size_t n = eliminated ? size - 1 : size;
    const auto mean = [&](std::size_t i) { return eliminated ? last[i] / last.back() : 0.0; };
    std::vector<double> scaled(n * n);
    const auto h = [&](std::size_t i, std::size_t j) {
      const double r = i != j ? 0.0 : i + 1 < size ? 1.0 : system.ridge;
      return r + system.rate * (gram_.values()[i * size + j] - mean(i) * last[j]);
    };
    std::vector<double> scale(n);
    for (std::size_t i = 0; i < n; ++i) scale[i] = 1.0 / std::sqrt(std::max(h(i, i), std::min(1.0, system.ridge)));
    for (double ridge = kFirstRidge; ridge <= kLastRidge; ridge *= 100.0) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) scaled[i * n + j] = h(i, j) * scale[i] * scale[j];
        scaled[i * n + i] = 1.0 + ridge * static_cast<double>(n);
      }
      const Cholesky factor(std::move(scaled), n, poll, n_threads_);
      if (poll.stopped()) return std::nullopt;
      if (factor.ok()) {
        std::vector<double> p(n);
        for (std::size_t i = 0; i < n; ++i) p[i] = (mean(i) * system.gradient.back() - system.gradient[i]) * scale[i];
        p = factor.solve(std::move(p));
        for (std::size_t i = 0; i < n; ++i) p[i] *= scale[i];
        if (eliminated) {
          double b = -system.gradient.back() / (system.rate * last.back());
          for (std::size_t i = 0; i < n; ++i) b -= mean(i) * p[i];
          p.push_back(b);
        }
        return p;
      }
      scaled.assign(n * n, 0.0);
    }
    return system.steepest();
  }
};

}  // namespace hinge
