#pragma once
// Metric: how long rows and steps are, so that the two together bound what a step does to a row. For any scales s_j > 0
//
//   |x.p| <= |x|' |p|,    |p|^2 = sum_j s_j p_j^2,    |x|'^2 = sum_j x_j^2 / s_j     (Cauchy and Schwarz).
//
// At first all features are alike, s_j = 1. But steps may be long in features that few rows have, and they concern these rows only. With
// s_j = (mean |x_j|) / (mean |p_j|) the bound of an ordinary row is about sum_j (mean |x_j|) (mean |p_j|): each feature by itself. The
// means come from a sample of the rows and from the steps on it (newton.hpp). On standardised Covertype, where 40 of 54 features are
// rare, steps on all rows then read half as many of them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

class Metric {
 public:
  /// For so many weights, the last of them that of the constant feature or b.
  explicit Metric(std::size_t width) : scales_(width, 1.0), rows_(width), steps_(width) {}

  template <class F>
  void fields(F&& field) {
    field("scales", scales_);
    field("mean_row", rows_);
    field("mean_step", steps_);
  }

  void check_restored() const {
    const auto is_mean = [](double x) { return x >= 0.0; };
    if (!std::all_of(scales_.begin(), scales_.end(), is_scale) || !std::all_of(rows_.begin(), rows_.end(), is_mean) ||
        !std::all_of(steps_.begin(), steps_.end(), is_mean)) {
      throw std::invalid_argument("saved state: scales must be positive");
    }
  }

  /// All features are alike, but for the last, whose scale is given.
  void make_plain(double last) {
    std::fill(scales_.begin(), scales_.end(), 1.0);
    scales_.back() = std::clamp(last, kSmallest, 1.0 / kSmallest);
    std::fill(steps_.begin(), steps_.end(), 0.0);
  }

  /// The mean of |x_j| over these rows, with this constant feature. False when stopped by the poll.
  template <Rows R>
  bool average(const R& rows, double constant, Poll& poll) {
    std::fill(rows_.begin(), rows_.end(), 0.0);
    const std::int64_t last = rows.n_features();
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      rows.for_each(i, [&](std::int64_t j, double x) { rows_[static_cast<std::size_t>(j)] += std::abs(x); });
      if (poll(rows.stored(i))) return false;
    }
    rows_[static_cast<std::size_t>(last)] = 0.0;
    // Features that none of these rows has: one row more has the mean of all.
    double total = 0.0;
    for (const double x : rows_) total += x;
    const double unseen = total / static_cast<double>(rows.size() * std::max<std::int64_t>(last, 1));
    for (double& x : rows_) x = (x + unseen) / static_cast<double>(rows.size());
    rows_[static_cast<std::size_t>(last)] = std::abs(constant);
    return true;
  }

  /// A step t p was made.
  void note(std::span<const double> p, double t) {
    for (std::size_t j = 0; j < steps_.size(); ++j) steps_[j] = kMemory * steps_[j] + std::abs(t * p[j]);
  }

  /// Scales for rows and steps like those seen, if they lower the bound of the median of these rows: to a half at least where all scales
  /// are 1, because the lengths of rows are known then. Steps are noted anew from here on: the latest ones tell best how they go on.
  template <Rows R>
  void adapt(const R& rows, double constant) {
    double mean = 0.0;
    for (std::size_t j = 0; j < rows_.size(); ++j) mean += rows_[j] * steps_[j] / static_cast<double>(rows_.size());
    Metric other(*this);
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      other.scales_[j] = rows_[j] > 0.0 ? rows_[j] * (rows_[j] / (rows_[j] * steps_[j] + kLeast * mean)) : 1.0;
    }
    const bool usable = std::all_of(other.scales_.begin(), other.scales_.end(), is_scale);
    const auto median_bound = [&](const Metric& metric) {
      const OfRows of_rows(metric);
      std::vector<float> squares;
      for (std::int64_t i = 0; i < rows.size(); i += 1 + rows.size() / kTried) {
        squares.push_back(of_rows.squared(rows, i, constant));
      }
      const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
      std::nth_element(squares.begin(), middle, squares.end());
      return *middle * metric.squared_length(steps_);
    };
    const double wanted = is_plain() ? 4.0 : 1.0;  // squared
    if (usable && wanted * median_bound(other) <= median_bound(*this)) scales_ = other.scales_;
    std::fill(steps_.begin(), steps_.end(), 0.0);
  }

  /// |p|^2
  double squared_length(std::span<const double> p) const {
    return interleaved_sum(p.size(), [&](std::size_t j) { return scales_[j] * p[j] * p[j]; });
  }

  /// The lengths of rows in a metric.
  class OfRows {
   public:
    explicit OfRows(const Metric& metric) : plain_(metric.is_plain()), inverse_(metric.scales_) {
      for (double& s : inverse_) s = 1.0 / s;
    }

    /// |x_i|'^2 with this constant feature behind the values of row i; not less, whatever the rounding.
    template <Rows R>
    float squared(const R& rows, std::int64_t i, double constant) const {
      // squared_norm has the constant feature of a penalised intercept, whose scale is 1, but not that of a free one.
      const double square = plain_ ? rows.squared_norm(i) + (constant * constant - rows.rho * rows.rho) * inverse_.back()
                                   : rows.weighted_squares(i, inverse_.data()) + constant * constant * inverse_.back();
      return std::max(static_cast<float>(square * (1.0 + kRounding)), std::numeric_limits<float>::min());
    }

   private:
    bool plain_;
    std::vector<double> inverse_;
  };

 private:
  /// What a step counts for when the next one has been made.
  static constexpr double kMemory = 0.9;
  /// A feature counts as if its steps were at least so long, as a share of what all do to an ordinary row on average.
  static constexpr double kLeast = 0.01;
  /// Rows that new scales are tried on.
  static constexpr std::int64_t kTried = 512;
  static constexpr double kSmallest = 1e-200;
  /// Of lengths in single precision.
  static constexpr double kRounding = 1e-6;

  std::vector<double> scales_;  // s_j
  std::vector<double> rows_;    // mean |x_j|
  std::vector<double> steps_;   // mean |p_j|, but for a factor

  static bool is_scale(double s) { return s >= kSmallest && s <= 1.0 / kSmallest; }

  /// All scales but the last are 1.
  bool is_plain() const {
    return std::all_of(scales_.begin(), scales_.end() - 1, [](double s) { return s == 1.0; });
  }
};

}  // namespace hinge
