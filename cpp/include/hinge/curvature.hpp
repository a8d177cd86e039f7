#pragma once
// Curvature: solves  H p = -gradient,   H = R + rate sum_{i in J} C_i x_i x_i',   R the identity but for b.
//
// Rows x_i have the constant feature behind their values: 1 for a free intercept, whose entry of R is a tiny ridge; rho for a
// penalised one. Three ways, and the one with the least work is taken, by count:
//
//   Gram        the matrix H itself, of order n_features + 1, by Cholesky. From step to step only rows that have entered or left J
//               are added or taken off.
//   Rows        p = -R^-1 (gradient + X' delta),  (X R^-1 X' + 1 / (rate C)) delta = -X R^-1 gradient:  a matrix of order |J| (Woodbury).
//               A free b is eliminated: its R is zero there, and sum delta is given. Products of rows are kept from step to step.
//   Conjugate   gradients, preconditioned by the diagonal of H, for as long as it takes to reduce the residual enough for a step.
//   gradients
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
#include "hinge/gram.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/state.hpp"
#include "hinge/sums.hpp"

namespace hinge {

/// What varies from step to step besides J.
struct System {
  std::span<const double> gradient;
  double rate;      // of the weights C_i in H
  double ridge;     // the last entry of R: 1, or tiny for a free b
  double constant;  // feature behind the values of a row
  bool free;        // b is free
  double stored;    // values of a row, on average
};

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
    forget_products();
  }
  /// These are the same bits whenever they are computed: they are not saved.
  void forget_products() {
    known_.clear();
    products_.clear();
  }
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
    const double room = room_for(static_cast<double>(rows.size()), stored);
    const double by_rows = j * j <= room
                               ? 0.5 * j * static_cast<double>(n_unknown(in_zone)) * (stored + kPerRow) + Gram::factor_cost(j)
                               : kInfinity;
    const double by_gradients = iterations * (2.0 * j * (stored + kPerRow) + 8.0 * n);
    if (n * n <= room) {
      std::vector<Weighted> changed = changes(in_zone);
      const double n_changed = std::min(static_cast<double>(changed.size()), j);
      if (Gram::cost(stored, n) * n_changed + Gram::factor_cost(n) <= std::min(by_rows, by_gradients)) {
        return solve_gram(rows, in_zone, std::move(changed), system, poll, touched);
      }
    }
    if (by_rows <= by_gradients) return solve_rows(rows, in_zone, system, poll, touched);
    return solve_gradients(rows, in_zone, system, iterations, poll, touched);
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  /// Entries of a matrix that are always allowed: 32 MB.
  static constexpr double kAlways = 2048.0 * 2048.0;
  /// Beyond it, entries as a share of the stored values.
  static constexpr double kShare = 0.125;
  /// Finding a row in memory costs as much as so many of its values.
  static constexpr double kPerRow = 16.0;
  /// Added to the unit diagonal, more where that is not enough: features may depend on each other.
  static constexpr double kFirstRidge = 1e-14;
  static constexpr double kLastRidge = 1e-2;
  /// The Gram matrix is computed anew when more weight than this has gone through it, relative to what is left in it.
  static constexpr double kDrift = 1e4;
  /// Conjugate gradients end when the residual has fallen to this share (that of liblinear), or after so many iterations.
  static constexpr double kReduction = 0.1;
  static constexpr int kMostIterations = 250;
  /// Of a run: the steps, those that see most rows in their zones, and the passes of all where the matrices are too large. (With 200 auto
  /// took 29 s instead of 113 s on 200,000 RCV1-like rows at C = 100, but 8 s instead of 5 s on 50,000 of them at C = 1000.)
  static constexpr double kSteps = 30.0;
  static constexpr double kFullSteps = 1.0;
  static constexpr double kByGradients = 600.0;

  /// Entries that a matrix may have.
  static double room_for(double m, double stored) { return std::max(kAlways, kShare * m * stored); }

  Gram gram_;
  Varying<std::int64_t> rows_;       // those in the Gram matrix, ascending
  Varying<double> weights_;          // and what they weigh there
  double passed_ = 0.0;              // weight that went through it
  std::vector<std::int64_t> known_;  // rows whose products are kept, ascending
  std::vector<double> products_;     // their products, row by row, lower triangle
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
    return steepest(system);
  }

  /// When nothing else works out: downhill.
  static std::vector<double> steepest(const System& system) {
    std::vector<double> p(system.gradient.size());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = -system.gradient[i];
    return p;
  }

  // ---- By the products of rows

  std::size_t n_unknown(std::span<const Weighted> in_zone) const {
    std::size_t unknown = 0;
    for (const Weighted& row : in_zone) unknown += !std::binary_search(known_.begin(), known_.end(), row.row);
    return unknown;
  }

  /// x_i.x_j for all rows in J, without a free b's constant feature. Products of rows that were in J before are taken over.
  template <Rows R>
  bool update_products(const R& rows, std::span<const Weighted> in_zone, Poll& poll, std::int64_t& touched) {
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

  template <Rows R>
  std::optional<std::vector<double>> solve_rows(const R& rows, std::span<const Weighted> in_zone, const System& system,
                                                Poll& poll, std::int64_t& touched) {
    if (!update_products(rows, in_zone, poll, touched)) return std::nullopt;
    const std::size_t j = in_zone.size();
    std::vector<double> p = steepest(system);
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
      const Cholesky factor(std::move(scaled), j, poll, n_threads_);
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
    return steepest(system);
  }

  // ---- By conjugate gradients

  /// A free b needs its ridge only where no row holds it.
  static double last_of_r(std::span<const Weighted> in_zone, const System& system) {
    return system.free && !in_zone.empty() ? 0.0 : system.ridge;
  }

  /// out += what each(row, next, sum) adds to a sum for the rows in J; row `next` comes soon.
  template <Rows R, class Each>
  bool sum_rows(const R& rows, std::span<const Weighted> in_zone, const System& system, std::vector<double>& out, Poll& poll,
                Each&& each) const {
    struct Total {
      std::vector<double> values;
      void merge(const Total& other) {
        for (std::size_t k = 0; k < values.size(); ++k) values[k] += other.values[k];
      }
    };
    const auto count = static_cast<std::int64_t>(in_zone.size());
    const Parts parts = Parts::of(count, static_cast<std::int64_t>(system.stored * static_cast<double>(count)),
                                  static_cast<std::int64_t>(out.size()));
    const Total empty{std::vector<double>(out.size())};
    Total total(empty);
    const auto add = [&](Total& sum, std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t next = in_zone[static_cast<std::size_t>(std::min(k + kPrefetchDistance, end - 1))].row;
        each(in_zone[static_cast<std::size_t>(k)], next, sum.values);
        if (own(2 * rows.stored(in_zone[static_cast<std::size_t>(k)].row))) return false;
      }
      return true;
    };
    if (!sum_over(parts, n_threads_, poll, empty, total, add)) return false;
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += total.values[k];
    return true;
  }

  /// out = R v
  static void multiply_r(std::span<const Weighted> in_zone, const System& system, std::span<const double> v,
                         std::vector<double>& out) {
    out.assign(v.begin(), v.end());
    out.back() *= last_of_r(in_zone, system);
  }

  /// out = H v
  template <Rows R>
  bool multiply(const R& rows, std::span<const Weighted> in_zone, const System& system, std::span<const double> v,
                std::vector<double>& out, Poll& poll) const {
    multiply_r(in_zone, system, v, out);
    return sum_rows(rows, in_zone, system, out, poll, [&](const Weighted& row, std::int64_t next, std::vector<double>& sum) {
      const double c = system.rate * row.weight * (rows.product(row.row, v.data(), next) + system.constant * v.back());
      rows.add(row.row, c, sum);
      if (system.free) sum.back() += c;
    });
  }

  /// out = the diagonal of H
  template <Rows R>
  bool find_diagonal(const R& rows, std::span<const Weighted> in_zone, const System& system, std::vector<double>& out,
                     Poll& poll) const {
    multiply_r(in_zone, system, std::vector<double>(system.gradient.size(), 1.0), out);
    return sum_rows(rows, in_zone, system, out, poll, [&](const Weighted& row, std::int64_t next, std::vector<double>& sum) {
      const double c = system.rate * row.weight;
      rows.prefetch(next);
      rows.for_each(row.row, [&](std::int64_t f, double x) { sum[static_cast<std::size_t>(f)] += c * x * x; });
      if (system.free) sum.back() += c;
    });
  }

  template <Rows R>
  std::optional<std::vector<double>> solve_gradients(const R& rows, std::span<const Weighted> in_zone, const System& system,
                                                     double& iterations, Poll& poll, std::int64_t& touched) {
    const std::size_t n = system.gradient.size();
    std::vector<double> diagonal;
    if (!find_diagonal(rows, in_zone, system, diagonal, poll)) return std::nullopt;
    std::vector<double> p(n);
    std::vector<double> residual = steepest(system);
    std::vector<double> conjugate(n);
    std::vector<double> image;
    double rho = 0.0;
    double first = 0.0;
    int k = 0;
    for (; k < kMostIterations; ++k) {
      const double next = interleaved_sum(n, [&](std::size_t f) { return residual[f] * residual[f] / diagonal[f]; });
      if (k == 0) first = next;
      if (!(next > kReduction * kReduction * first)) break;
      for (std::size_t f = 0; f < n; ++f) {
        conjugate[f] = residual[f] / diagonal[f] + (k > 0 ? next / rho * conjugate[f] : 0.0);
      }
      rho = next;
      if (!multiply(rows, in_zone, system, conjugate, image, poll)) return std::nullopt;
      const double curvature = dot(conjugate, image);
      if (!(curvature > 0.0)) break;
      const double t = rho / curvature;
      for (std::size_t f = 0; f < n; ++f) {
        p[f] += t * conjugate[f];
        residual[f] -= t * image[f];
      }
    }
    touched += (2 * k + 1) * static_cast<std::int64_t>(in_zone.size());
    iterations = std::max(1.0, static_cast<double>(k));
    return p;
  }
};

}  // namespace hinge
