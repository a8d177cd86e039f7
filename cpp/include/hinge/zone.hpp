#pragma once
// Zone: the smooth loss of one row, and the minimum of a sum of them on a ray (newton.hpp).
//
//   u = a + weight z,    a+ = clip(u, 0, top):    hinge: weight s C, top C;    squared hinge: a = 0, weight 2 C, no top.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "hinge/gram.hpp"
#include "hinge/loss.hpp"
#include "hinge/processor.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct Zone {
  double weight;
  double top;

  static Zone of(Loss loss, double cost, double rate) {
    return loss.is_hinge() ? Zone{rate * cost, cost} : Zone{2.0 * cost, std::numeric_limits<double>::infinity()};
  }

  /// u
  double place(double a, double z) const { return a + weight * z; }
  double clip(double u) const { return std::min(std::max(u, 0.0), top); }
  double next(double a, double z) const { return clip(place(a, z)); }
  bool contains(double a, double z) const {
    const double u = place(a, z);
    return (u > 0.0) & (u < top);
  }
  /// How far u is outside of the zone; negative inside.
  double outside(double a, double z) const {
    const double u = place(a, z);
    return std::max(-u, u - top);
  }
  /// C max(0, z) - a+ z for the hinge: what the smooth loss hides. Nothing for the squared hinge.
  double gap(double next, double z) const { return std::isfinite(top) ? top * std::max(0.0, z) - next * z : 0.0; }
};

/// Up to 64 rows and their zones side by side: what has no order is computed for all of them at once. Whether a row is inside of its
/// zone is as good as random: there are no branches on it.
class ZoneBlock {
 public:
  static constexpr std::int64_t kMost = 64;

  ZoneBlock(Loss loss, double rate) : loss_(loss), rate_(rate) {}

  std::int64_t size() const { return size_; }
  std::int64_t row(std::int64_t j) const { return row_[j]; }
  void clear() { size_ = 0; }
  void add(std::int64_t row, double cost, double a, double z) {
    row_[size_] = row;
    cost_[size_] = cost;
    a_[size_] = a;
    z_[size_] = z;
    ++size_;
  }
  /// z_j += t change_j
  void move(double t, const double* change) {
    for (std::int64_t j = 0; j < size_; ++j) z_[j] += t * change[j];
  }

  /// a+ of each row.
  void next(double* out) const {
    for (std::int64_t j = 0; j < size_; ++j) out[j] = zone(j).next(a_[j], z_[j]);
  }
  /// What the smooth losses hide, given a+.
  double gap(const double* next) const {
    double gaps[kMost];
    for (std::int64_t j = 0; j < size_; ++j) gaps[j] = zone(j).gap(next[j], z_[j]);
    double sum = 0.0;
    for (std::int64_t j = 0; j < size_; ++j) sum += gaps[j];
    return sum;
  }
  /// The rows on a ray, given how their slacks change along p.
  struct OnRay {
    double u[kMost];          // at its begin
    double rise[kMost];       // of u along p
    double top[kMost];        // of the zone
    double curvature[kMost];  // of F, if the row is inside of its zone all the way; else 0
    bool bent[kMost];         // enters its zone on the way, or leaves it
    bool moves[kMost];        // is not clearly outside all the way: a+ may change
  };
  void follow(const double* change, double longest, OnRay& out) const {
    follow(size_, loss_, rate_, cost_, a_, z_, change, longest, out);
  }

  /// The rows that are inside of their zones, with their costs, behind `out`.
  void append_inside(std::vector<Weighted>& out) const {
    bool inside[kMost];
    for (std::int64_t j = 0; j < size_; ++j) inside[j] = zone(j).contains(a_[j], z_[j]);
    Weighted found[kMost];
    std::int64_t n = 0;
    for (std::int64_t j = 0; j < size_; ++j) {
      found[n] = {row_[j], cost_[j]};
      n += inside[j];
    }
    out.insert(out.end(), found, found + n);
  }

 private:
  Loss loss_;
  double rate_;
  std::int64_t size_ = 0;
  std::int64_t row_[kMost];
  double cost_[kMost];
  double a_[kMost];
  double z_[kMost];

  Zone zone(std::int64_t j) const { return Zone::of(loss_, cost_[j], rate_); }

  /// More than a u on the ray may be rounded by, as a share of its terms (8 roundings). A row that is taken not to move must not enter its
  /// zone by rounding.
  static constexpr double kRounding = 1e-15;

  HINGE_FOR_EACH_PROCESSOR static void follow(std::int64_t size, Loss loss, double rate, const double* __restrict cost,
                                              const double* __restrict a, const double* __restrict z,
                                              const double* __restrict change, double longest, OnRay& __restrict out) {
    for (std::int64_t j = 0; j < size; ++j) {
      const Zone zone = Zone::of(loss, cost[j], rate);
      const double u = zone.place(a[j], z[j]);
      const double rise = zone.weight * change[j];
      const double end = u + longest * rise;
      const bool straight = (u > 0.0) & (u < zone.top) & (end > 0.0) & (end < zone.top);
      const double leeway = kRounding * (a[j] + zone.weight * std::abs(z[j]) + longest * std::abs(rise));
      const bool outside = ((u <= -leeway) & (end <= -leeway)) | ((u >= zone.top + leeway) & (end >= zone.top + leeway));
      out.u[j] = u;
      out.rise[j] = rise;
      out.top[j] = zone.top;
      out.curvature[j] = straight ? rise * change[j] : 0.0;
      out.bent[j] = !(straight | outside);
      out.moves[j] = !outside;
    }
  }
};

/// The minimum over 0 <= t <= longest of F(w + t p), given for each row its zone and the change of its slack along p, the slope of F
/// at t = 0, and |p|^2. The derivative of F,
///
///   slope + t |p|^2 + sum_i (a+_i(t) - a+_i(0)) change_i,
///
/// is piecewise linear and increasing. Rows on one line throughout are added up at once; the others are narrowed down.
class ZoneSearch {
 public:
  /// The rows of a block, given how their slacks change along p. Calls moves(j) for each row j of it whose a+ may change on the way.
  template <class F>
  void add(const ZoneBlock& block, const double* change, double longest, F&& moves) {
    ZoneBlock::OnRay on_ray;
    block.follow(change, longest, on_ray);
    curvature_ += interleaved_sum(static_cast<std::size_t>(block.size()), [&](std::size_t j) { return on_ray.curvature[j]; });
    for (std::int64_t j = 0; j < block.size(); ++j) {
      if (!on_ray.moves[j]) continue;
      moves(j);
      if (!on_ray.bent[j]) continue;
      const double u = on_ray.u[j];
      bent_.push_back({u, on_ray.rise[j], change[j], on_ray.top[j], std::min(std::max(u, 0.0), on_ray.top[j])});
    }
  }

  void merge(const ZoneSearch& other) {
    curvature_ += other.curvature_;
    bent_.insert(bent_.end(), other.bent_.begin(), other.bent_.end());
  }

  double minimum(double slope, double square, double longest) {
    slope_ = slope;
    curvature_ += square;
    double low = 0.0;
    double high = longest;
    double at_low = slope_;
    double at_high = derivative(high);
    if (!(at_low < 0.0)) return 0.0;
    if (at_high <= 0.0) return longest;
    const double small = kSmall * -slope_;
    for (int k = 0; k < kMost && !bent_.empty(); ++k) {
      // The secant is exact as soon as all rows are on one line; every third time the middle, in case it creeps.
      const double secant = low - at_low * (high - low) / (at_high - at_low);
      const double t = k % 3 == 2 || !(secant > low && secant < high) ? 0.5 * (low + high) : secant;
      if (!(t > low && t < high)) return low > 0.0 ? low : high;
      const double here = derivative(t);
      if (std::abs(here) <= small) return t;
      (here < 0.0 ? low : high) = t;
      (here < 0.0 ? at_low : at_high) = here;
      straighten(low, high);
    }
    return std::clamp(low - at_low * (high - low) / (at_high - at_low), low, high);
  }

 private:
  static constexpr double kSmall = 1e-9;
  static constexpr int kMost = 100;

  struct Bent {
    double u;
    double rise;
    double change;
    double top;
    double before;  // a+ at t = 0

    double next(double t) const { return std::min(std::max(u + t * rise, 0.0), top); }
  };

  double slope_ = 0.0;
  double curvature_ = 0.0;
  double constant_ = 0.0;  // of rows that are straight by now
  std::vector<Bent> bent_;

  double derivative(double t) const {
    double sum = 0.0;
    for (const Bent& row : bent_) sum += (row.next(t) - row.before) * row.change;
    return slope_ + constant_ + t * curvature_ + sum;
  }

  /// Rows that are on one line between low and high leave the list.
  void straighten(double low, double high) {
    std::size_t kept = 0;
    for (const Bent& row : bent_) {
      const double from = row.u + low * row.rise;
      const double to = row.u + high * row.rise;
      if (from >= 0.0 && from <= row.top && to >= 0.0 && to <= row.top) {
        constant_ += (row.u - row.before) * row.change;
        curvature_ += row.rise * row.change;
      } else if (std::max(from, to) <= 0.0) {
        constant_ -= row.before * row.change;
      } else if (std::min(from, to) >= row.top) {
        constant_ += (row.top - row.before) * row.change;
      } else {
        bent_[kept++] = row;
      }
    }
    bent_.resize(kept);
  }
};

}  // namespace hinge
