#pragma once
// Newton: the augmented Lagrangian of the dual, minimised by semismooth Newton steps. Few steps whatever C, the scales of the features
// or their correlation: where coordinates and cutting planes crawl, this does not.
//
// Slacks z_i = 1 - t_i (w.x_i + b), multipliers a, zone rate s. For the hinge, every row has a zone of slacks of width 1/s in which its
// loss is a parabola:
//
//   u_i = a_i + s C_i z_i,    a+_i = clip(u_i, 0, C_i),    J = { i : 0 < u_i < C_i }
//   F(w, b) = 1/2 |w|^2 + (smooth losses),    gradient  w - sum a+_i t_i x_i,    - sum a+_i t_i
//   H = I + sum_{J} s C_i x_i x_i'    (curvature.hpp solves H p = -gradient)
//
// A step goes along p to the minimum of F on that ray (zone.hpp). When F is minimised well enough, a round ends: a = a+, and s
// doubles. For the squared hinge F is the objective itself, u_i = 2 C_i z_i without an upper bound: one round does it.
//
// The gap comes for nothing:  P(w, b) - D(a+) = sum_i (C_i max(0, z_i) - a+_i z_i) + 1/2 |w - w(a+)|^2 + what balancing a+ costs.
// The first part falls with s, the others with the steps of a round.
//
// Rows that cannot matter are not read. A row outside of its zone by more than |x_i| times the distance that w has moved since the row
// was read keeps its a+_i, 0 or C_i: it sleeps. The last places of w are kept in a ring, each row knows at which of them it was read.
//
// The first rounds, in which most rows are in their zones, are the expensive ones: they run on a sample of the rows, every 64th, then
// every 8th, with the costs raised accordingly.
//
// Everything over rows is a sum over parts of them (parts.hpp): the same bits for any number of threads.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "hinge/curvature.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/state.hpp"
#include "hinge/sums.hpp"
#include "hinge/zone.hpp"

namespace hinge {

struct Newton {
  std::vector<double> a;               // multipliers of the round, of the sample's problem
  std::vector<double> w;               // n_features + 1; the last is b if the intercept is free
  std::vector<double> sum;             // of a+_i t_i x_i, in the same coordinates
  std::vector<double> z;               // slacks, as of the place where the row was read
  std::vector<std::int64_t> read_at;   // which place that was
  Varying<double> places;              // the last places of w
  std::int64_t place = 0;              // the latest of them
  double rate = kFirstRate;            // s
  double radius = kInfinity;           // how far the next step may go
  std::int64_t stride = 0;             // every so many rows are in the sample; 0: nothing has begun
  double dual = 0.0;                   // estimates
  double zone_gap = kInfinity;         // the first part of the gap
  double rest_gap = kInfinity;         // the others
  bool minimised = false;              // the round has ended
  double iterations = 30.0;            // that conjugate gradients may be expected to take
  std::int64_t touched = 0;

  Newton(const Problem& problem, std::int64_t n_features, bool sampling, std::int64_t n_threads)
      : a(static_cast<std::size_t>(problem.size())),
        w(static_cast<std::size_t>(n_features) + 1),
        sum(w.size()),
        z(a.size()),
        read_at(a.size()),
        sampling_(sampling),
        n_threads_(n_threads) {}

  template <class F>
  void fields(F&& field) {
    field("a", a);
    field("w", w);
    field("sum", sum);
    field("z", z);
    field("read_at", read_at);
    field("places", places);
    field("place", place);
    field("rate", rate);
    field("radius", radius);
    field("stride", stride);
    field("dual", dual);
    field("zone_gap", zone_gap);
    field("rest_gap", rest_gap);
    field("minimised", minimised);
    field("iterations", iterations);
  }

  void check_restored(const Problem&) const {
    const auto kept = static_cast<std::int64_t>(places.size() / w.size());
    const auto is_place = [&](std::int64_t k) { return k < std::max<std::int64_t>(kept, 1); };
    const auto is_multiplier = [](double x) { return x >= 0.0 && std::isfinite(x); };
    if (places.size() % w.size() != 0 || !is_place(place) || !std::all_of(read_at.begin(), read_at.end(), is_place)) {
      throw std::invalid_argument("saved state: places out of range");
    }
    if (stride > kFirstStride || (stride > 0 && kept == 0)) throw std::invalid_argument("saved state: stride out of range");
    if (!std::all_of(a.begin(), a.end(), is_multiplier)) {
      throw std::invalid_argument("saved state: multipliers must be finite and not negative");
    }
    const auto is_number = [](double x) { return std::isfinite(x); };
    if (!std::all_of(w.begin(), w.end(), is_number) || !(rate > 0.0) || !(iterations >= 1.0) || !(radius >= 0.0)) {
      throw std::invalid_argument("saved state: weights and rates must be numbers");
    }
  }

  void point(const Problem& problem, Point& out) const {
    out.w = w;
    if (problem.free_intercept) {
      out.b = w.back();
      out.w.back() = 0.0;
    }
    if (stride == 0) {
      out.multipliers = a;
      return;
    }
    const Sample sample = sample_of(problem);
    for (std::int64_t k = 0; k < sample.size; ++k) {
      const std::int64_t i = sample.row(k);
      out.multipliers[i] = zone(problem, i).next(a[i], z[i]) / static_cast<double>(stride);
    }
  }

  std::optional<Estimate> estimate(const Problem&) const {
    if (stride != 1) return std::nullopt;
    return Estimate{dual + zone_gap + rest_gap, dual};
  }

  /// The multipliers and w are a start on another problem, or on this one after drift: everything else is computed anew.
  template <Rows R>
  void rebuild(const R&, const Problem& problem, Poll&) {
    for (std::int64_t i = 0; i < problem.size(); ++i) a[i] = std::min(a[i], problem.box(i));
    stride = 0;
    minimised = false;
    radius = kInfinity;
  }

  /// Steps until they have read as many rows as there are, or the gap has fallen to a quarter. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    if (stride == 0 && !begin(rows, problem, poll)) return false;
    Curvature curvature(rows.n_features(), constant(rows, problem), problem.free_intercept, n_threads_);
    find_zone_rows(problem);
    const std::int64_t last = touched + problem.size();
    const double wanted = 0.25 * (zone_gap + rest_gap);
    for (int steps = 0; steps < kMostSteps && touched < last; ++steps) {
      if (!step(rows, problem, curvature, poll)) return false;
      const double gap = zone_gap + rest_gap;
      if (stride > 1 && (gap <= kSampleTolerance * dual || stuck_)) {
        if (!take_rows(rows, problem, next_stride(rows, problem, stride), true, poll)) return false;
        find_zone_rows(problem);
        curvature.forget();
      } else if (stride == 1 && (gap <= wanted || stuck_)) {
        break;
      }
    }
    return true;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  /// With it, all rows are in their zones at w = 0.
  static constexpr double kFirstRate = 0.5;
  static constexpr double kFaster = 2.0;
  /// A round ends when the rest of the gap is at most so many times the part that only the next round can lower.
  static constexpr double kMinimised = 5.0;
  /// A step may be so many times as long as the one before: the rows that it may concern are to be few.
  static constexpr double kLonger = 4.0;
  static constexpr std::int64_t kPlaces = 32;
  static constexpr std::int64_t kFirstStride = 64;
  static constexpr std::int64_t kNextStride = 8;
  /// A sample has so many rows at least, and so many for each feature.
  static constexpr std::int64_t kLeastSample = 500;
  static constexpr std::int64_t kSamplePerFeature = 20;
  static constexpr double kSampleTolerance = 0.01;
  static constexpr int kMostSteps = 50;
  /// The curvature along b when no row is in its zone, as a share of that with all rows in theirs.
  static constexpr double kBarelyCurved = 1e-10;

  /// Every stride-th row.
  struct Sample {
    std::int64_t stride;
    std::int64_t size;
    std::int64_t row(std::int64_t k) const { return stride / 2 + k * stride; }
  };

  bool sampling_;
  std::int64_t n_threads_;
  std::vector<std::int64_t> awake_;  // rows that the present step reads
  std::vector<double> change_;       // of their slacks along p
  std::vector<Weighted> in_zone_;    // J with C_i, ascending
  ZoneSearch search_;
  bool stuck_ = false;  // the last step did not move

  Sample sample_of(const Problem& problem) const { return sample_of(problem, stride); }
  static Sample sample_of(const Problem& problem, std::int64_t stride) {
    return {stride, (problem.size() - stride / 2 + stride - 1) / stride};
  }

  Zone zone(const Problem& problem, std::int64_t i) const {
    return Zone::of(problem.loss, static_cast<double>(stride) * problem.cost[i], rate);
  }

  template <Rows R>
  static double constant(const R& rows, const Problem& problem) {
    return problem.free_intercept ? 1.0 : rows.rho;
  }

  template <Rows R>
  static double slack(const R& rows, const Problem& problem, std::int64_t i, std::span<const double> w, double constant) {
    return 1.0 - problem.target[i] * (rows.product(i, w.data()) + constant * w.back());
  }

  // ---- The start

  template <Rows R>
  bool begin(const R& rows, const Problem& problem, Poll& poll) {
    const auto is_zero = [](double x) { return x == 0.0; };
    const bool cold = std::all_of(w.begin(), w.end(), is_zero) && std::all_of(a.begin(), a.end(), is_zero);
    std::int64_t first = 1;
    if (cold) {
      rate = kFirstRate;
      first = sampling_ ? next_stride(rows, problem, kFirstStride * kNextStride) : 1;
    }
    return take_rows(rows, problem, first, false, poll);
  }

  /// The next smaller stride whose sample is worth solving by itself.
  template <Rows R>
  static std::int64_t next_stride(const R& rows, const Problem& problem, std::int64_t stride) {
    for (stride /= kNextStride; stride > 1; stride /= kNextStride) {
      const Sample sample = sample_of(problem, stride);
      std::int64_t positive = 0;
      for (std::int64_t k = 0; k < sample.size; ++k) positive += problem.target[sample.row(k)] > 0.0;
      const bool has_both = positive > 0 && positive < sample.size;
      if (has_both && sample.size >= std::max(kLeastSample, kSamplePerFeature * rows.n_features())) return stride;
    }
    return 1;
  }

  /// The rows of a sample with this stride, all of them read at the present w. `centred`: their multipliers begin in the middle of
  /// the box, so that a row is in its zone if its slack is about zero.
  template <Rows R>
  bool take_rows(const R& rows, const Problem& problem, std::int64_t new_stride, bool centred, Poll& poll) {
    stride = new_stride;
    places.assign(w.begin(), w.end());
    place = 0;
    radius = kInfinity;
    minimised = false;
    zone_gap = rest_gap = kInfinity;
    const double c = constant(rows, problem);
    const Sample sample = sample_of(problem);
    awake_.resize(static_cast<std::size_t>(sample.size));
    for (std::int64_t k = 0; k < sample.size; ++k) awake_[static_cast<std::size_t>(k)] = sample.row(k);
    const bool read = for_parts(parts_of_awake(rows, 0), n_threads_, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t i = awake_[static_cast<std::size_t>(k)];
        z[i] = slack(rows, problem, i, w, c);
        read_at[i] = 0;
        if (!problem.loss.is_hinge()) {
          a[i] = 0.0;
        } else if (centred) {
          a[i] = 0.5 * static_cast<double>(stride) * problem.cost[i];
        }
        if (own(rows.stored(i))) return false;
      }
      return true;
    });
    change_.assign(awake_.size(), 0.0);
    std::fill(sum.begin(), sum.end(), 0.0);
    touched += sample.size;
    if (read && move(rows, problem, 0.0, true, poll)) return true;
    stride = 0;
    return false;
  }

  // ---- A step

  template <Rows R>
  bool step(const R& rows, const Problem& problem, Curvature& curvature, Poll& poll) {
    if (minimised && !next_round(rows, problem, poll)) return false;
    const double c = constant(rows, problem);
    const std::vector<double> gradient = gradient_of(problem);
    const System system{gradient, rate_of_curvature(problem), ridge_of_b(problem)};
    std::optional<std::vector<double>> found = curvature.direction(rows, in_zone_, system, iterations, poll, touched);
    if (!found) return false;
    const std::vector<double>& p = *found;
    const double slope = dot(gradient, p);
    stuck_ = !(slope < 0.0);
    if (stuck_) {
      minimised = true;
      return true;
    }
    const double scale = scale_of_b(rows, problem);
    const double length = std::sqrt(squared_length(p, scale));
    const double longest = std::min(1.0, radius / length);
    wake(rows, problem, p, longest, scale);
    if (!read_changes(rows, problem, p, c, poll)) return false;
    double regular = squared_norm(std::span(p).first(p.size() - 1));
    if (!problem.free_intercept) regular += p.back() * p.back();
    search_.begin(slope, regular);
    for (std::size_t k = 0; k < awake_.size(); ++k) {
      const std::int64_t i = awake_[k];
      search_.add(zone(problem, i), a[i], z[i], change_[k], longest);
    }
    const double t = search_.minimum(longest);
    stuck_ = t == 0.0;
    if (stuck_) {
      minimised = true;
      return true;
    }
    for (std::size_t j = 0; j < w.size(); ++j) w[j] += t * p[j];
    radius = kLonger * t * length;
    keep_place();
    return move(rows, problem, t, false, poll);
  }

  std::vector<double> gradient_of(const Problem& problem) const {
    std::vector<double> gradient(w.size());
    for (std::size_t j = 0; j < w.size(); ++j) gradient[j] = w[j] - sum[j];
    if (problem.free_intercept) gradient.back() = -sum.back();
    return gradient;
  }

  double rate_of_curvature(const Problem& problem) const { return Zone::of(problem.loss, 1.0, rate).weight; }

  double ridge_of_b(const Problem& problem) const {
    return problem.free_intercept ? kBarelyCurved * rate_of_curvature(problem) * problem.total_cost : 1.0;
  }

  /// For lengths: |x.p + q| <= sqrt(|x|^2 + scale^2) sqrt(|p|^2 + (q / scale)^2), with the root mean square of |x| for balance.
  template <Rows R>
  double scale_of_b(const R& rows, const Problem& problem) {
    if (!problem.free_intercept) return 0.0;
    if (scale_ == 0.0) {
      Sum norms;
      for (std::int64_t i = 0; i < rows.size(); ++i) norms.add(rows.squared_norm(i));
      scale_ = std::sqrt(norms.value() / static_cast<double>(rows.size()));
      if (!(scale_ > 0.0 && std::isfinite(scale_))) scale_ = 1.0;
    }
    return scale_;
  }

  static double squared_length(std::span<const double> p, double scale) {
    const double last = scale > 0.0 ? p.back() / scale : p.back();
    return squared_norm(p.first(p.size() - 1)) + last * last;
  }

  void keep_place() {
    const auto width = w.size();
    const auto kept = static_cast<std::int64_t>(places.size() / width);
    place = (place + 1) % kPlaces;
    if (place == kept) places.resize(places.size() + width);
    std::copy(w.begin(), w.end(), places.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(place) * width));
  }

  /// The rows that may leave or enter their zones within `longest` of p, and those read where the next place will be kept.
  template <Rows R>
  void wake(const R& rows, const Problem& problem, std::span<const double> p, double longest, double scale) {
    const auto width = w.size();
    const auto kept = static_cast<std::int64_t>(places.size() / width);
    std::vector<double> moved(static_cast<std::size_t>(kept));
    std::vector<double> difference(width);
    for (std::int64_t k = 0; k < kept; ++k) {
      const double* from = places.data() + static_cast<std::size_t>(k) * width;
      double farthest = 0.0;
      for (const double t : {0.0, longest}) {
        for (std::size_t j = 0; j < width; ++j) difference[j] = w[j] + t * p[j] - from[j];
        farthest = std::max(farthest, squared_length(difference, scale));
      }
      moved[static_cast<std::size_t>(k)] = farthest;
    }
    if (kept == kPlaces) moved[static_cast<std::size_t>((place + 1) % kPlaces)] = kInfinity;
    const Sample sample = sample_of(problem);
    const double of_b = scale * scale;
    awake_.clear();
    for (std::int64_t k = 0; k < sample.size; ++k) {
      const std::int64_t i = sample.row(k);
      const Zone own = zone(problem, i);
      const double outside = own.outside(a[i], z[i]);
      const double reach2 = (rows.squared_norm(i) + of_b) * moved[static_cast<std::size_t>(read_at[i])];
      if (!(outside * outside > own.weight * own.weight * reach2 && outside > 0.0)) awake_.push_back(i);
    }
  }

  template <Rows R>
  Parts parts_of_awake(const R& rows, std::int64_t width) const {
    const auto count = static_cast<std::int64_t>(awake_.size());
    const double stored = static_cast<double>(rows.total_stored()) / static_cast<double>(rows.size()) * static_cast<double>(count);
    return Parts::of(count, static_cast<std::int64_t>(stored), width);
  }

  /// How the slacks of the rows that are awake change along p; the slacks themselves of those that were asleep.
  template <Rows R>
  bool read_changes(const R& rows, const Problem& problem, std::span<const double> p, double c, Poll& poll) {
    change_.resize(awake_.size());
    touched += static_cast<std::int64_t>(awake_.size());
    return for_parts(parts_of_awake(rows, 0), n_threads_, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t i = awake_[static_cast<std::size_t>(k)];
        if (read_at[i] != place) z[i] = slack(rows, problem, i, w, c);
        change_[static_cast<std::size_t>(k)] = -problem.target[i] * (rows.product(i, p.data()) + c * p.back());
        if (own(rows.stored(i))) return false;
      }
      return true;
    });
  }

  /// What the rows that are awake add up to after a step.
  struct Moved {
    std::vector<double> sum;         // change of the sum of a+_i t_i x_i
    Sum zone_gap;                    // C_i max(0, z_i) - a+_i z_i
    std::vector<Weighted> in_zone;
    std::int64_t changed = 0;

    void merge(const Moved& other) {
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += other.sum[j];
      zone_gap.merge(other.zone_gap);
      in_zone.insert(in_zone.end(), other.in_zone.begin(), other.in_zone.end());
      changed += other.changed;
    }
  };

  /// The slacks of the rows that are awake move by t times their change. `fresh`: they had no part in `sum` yet.
  template <Rows R>
  bool move(const R& rows, const Problem& problem, double t, bool fresh, Poll& poll) {
    const Moved empty{std::vector<double>(w.size()), {}, {}};
    Moved all(empty);
    const auto add = [&](Moved& part, std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t i = awake_[static_cast<std::size_t>(k)];
        const Zone zone_i = zone(problem, i);
        const double before = fresh ? 0.0 : zone_i.next(a[i], z[i]);
        z[i] += t * change_[static_cast<std::size_t>(k)];
        read_at[i] = place;
        const double next = zone_i.next(a[i], z[i]);
        part.zone_gap.add(zone_i.gap(next, z[i]));
        if (zone_i.contains(a[i], z[i])) part.in_zone.push_back({i, static_cast<double>(stride) * problem.cost[i]});
        if (next != before) add_row(rows, problem, i, next - before, part);
        if (own(next != before ? rows.stored(i) : 0)) return false;
      }
      return true;
    };
    const Parts parts = parts_of_awake(rows, static_cast<std::int64_t>(w.size()));
    if (!sum_over(parts, n_threads_, poll, empty, all, add)) {
      stride = 0;  // some rows have moved and others have not: all is read anew, should there be a next epoch
      return false;
    }
    take(problem, all);
    in_zone_ = std::move(all.in_zone);
    zone_gap = std::max(0.0, all.zone_gap.value());
    estimate_gap(problem);
    return true;
  }

  template <Rows R>
  static void add_row(const R& rows, const Problem& problem, std::int64_t i, double change, Moved& part) {
    const double scaled = change * problem.target[i];
    rows.add(i, scaled, part.sum);
    if (problem.free_intercept) part.sum.back() += scaled;
    ++part.changed;
  }

  void take(const Problem&, const Moved& moved) {
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += moved.sum[j];
    touched += moved.changed;
  }

  /// D(a+), and the parts of the gap that steps can lower.
  void estimate_gap(const Problem& problem) {
    const Sample sample = sample_of(problem);
    Sum total;
    for (std::int64_t k = 0; k < sample.size; ++k) {
      const std::int64_t i = sample.row(k);
      const double next = zone(problem, i).next(a[i], z[i]);
      total.add(next - problem.loss.dual_penalty(next, static_cast<double>(stride) * problem.cost[i]));
    }
    const auto regular = [&](std::span<const double> v) {
      return squared_norm(problem.free_intercept ? v.first(v.size() - 1) : v);
    };
    dual = total.value() - 0.5 * regular(sum);
    const std::vector<double> gradient = gradient_of(problem);
    rest_gap = 0.5 * regular(gradient);
    if (problem.free_intercept && total.value() > 0.0) {
      const double loss = std::max(0.0, dual + zone_gap + rest_gap - 0.5 * regular(w));
      rest_gap += 2.0 * std::abs(sum.back()) / total.value() * loss;
    }
    minimised = problem.loss.is_hinge() && rest_gap <= kMinimised * zone_gap;
  }

  /// a = a+, and s grows: only rows in their zones get other a+.
  template <Rows R>
  bool next_round(const R& rows, const Problem& problem, Poll& poll) {
    minimised = false;
    if (!problem.loss.is_hinge()) return true;
    const Sample sample = sample_of(problem);
    for (std::int64_t k = 0; k < sample.size; ++k) {
      const std::int64_t i = sample.row(k);
      a[i] = zone(problem, i).next(a[i], z[i]);
    }
    rate *= kFaster;
    Moved all{std::vector<double>(w.size()), {}, {}};
    for (const auto& [i, cost] : in_zone_) {
      const Zone own = zone(problem, i);
      const double next = own.next(a[i], z[i]);
      if (own.contains(a[i], z[i])) all.in_zone.push_back({i, cost});
      if (next != a[i]) add_row(rows, problem, i, next - a[i], all);
      if (poll(rows.stored(i))) {
        stride = 0;
        return false;
      }
    }
    take(problem, all);
    in_zone_ = std::move(all.in_zone);
    return true;
  }

  /// After a run was resumed.
  void find_zone_rows(const Problem& problem) {
    const Sample sample = sample_of(problem);
    in_zone_.clear();
    for (std::int64_t k = 0; k < sample.size; ++k) {
      const std::int64_t i = sample.row(k);
      if (zone(problem, i).contains(a[i], z[i])) in_zone_.push_back({i, static_cast<double>(stride) * problem.cost[i]});
    }
  }

  double scale_ = 0.0;
};

static_assert(Solver<Newton>);

}  // namespace hinge
