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
// grows. For the squared hinge F is the objective itself, u_i = 2 C_i z_i without an upper bound: one round does it.
//
// The gap comes for nothing:  P(w, b) - D(a+) = sum_i (C_i max(0, z_i) - a+_i z_i) + 1/2 |w - w(a+)|^2 + what balancing a+ costs.
// The first part falls with s, the others with the steps of a round.
//
// Rows that cannot matter are not read (watch.hpp). The places of w that this needs are kept; when there are too many, all rows are
// read again.
//
// The first rounds, in which most rows are in their zones, are the expensive ones: they run on samples of the rows, the first as small as
// makes sense and each of the others eight times as large, up to every eighth row, with the costs raised accordingly. What is found there
// is only a start: copies of these rows will do (row_copies.hpp).
//
// Everything over rows is a sum over parts of them (parts.hpp): the same bits for any number of threads.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "hinge/crew.hpp"
#include "hinge/curvature.hpp"
#include "hinge/metric.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/row_copies.hpp"
#include "hinge/rows.hpp"
#include "hinge/sample.hpp"
#include "hinge/solver.hpp"
#include "hinge/sums.hpp"
#include "hinge/watch.hpp"
#include "hinge/zone.hpp"

namespace hinge {

struct Newton {
  // Of the rows of the sample, one after the other:
  std::vector<double> a;   // multipliers of the round, behind them room for those of all rows
  Varying<double> z;       // slacks, as of the place where the row was read
  Watch watch;             // which place that was
  Varying<float> lengths;  // squared, in the metric

  Metric metric;  // how long rows and steps are, to know which rows a step may concern

  std::vector<double> w;        // n_features + 1; the last is b if the intercept is free
  std::vector<double> sum;      // of a+_i t_i x_i, in the same coordinates
  double rate = kFirstRate;     // s
  double radius = kInfinity;    // how far the next step may go
  std::int64_t stride = 0;      // every so many rows are in the sample; 0: nothing has begun, and `a` has all rows
  double total = 0.0;           // sum_i dual_term(a+_i)
  double dual = 0.0;            // estimates: D(a+),
  double zone_gap = kInfinity;  // the first part of the gap,
  double rest_gap = kInfinity;  // and the others
  bool minimised = false;       // the round has ended
  double iterations = 30.0;     // that conjugate gradients may be expected to take
  std::int64_t touched = 0;

  Newton(const Problem& problem, std::int64_t n_features, bool sampling, std::int64_t n_threads)
      : a(static_cast<std::size_t>(problem.size())),
        watch(problem.size(), static_cast<std::size_t>(n_features) + 1),
        metric(static_cast<std::size_t>(n_features) + 1),
        w(static_cast<std::size_t>(n_features) + 1),
        sum(w.size()),
        sampling_(sampling),
        n_threads_(n_threads),
        curvature_(n_features, n_threads) {}

  /// Whether every stride-th of m rows are enough to be worth solving by themselves.
  static bool samples(std::int64_t m, std::int64_t n_features, std::int64_t stride = kNextStride) {
    return m / stride >= std::max(kLeastSample, kSamplePerFeature * n_features);
  }

  /// What a whole run is expected to cost, in passes over m rows: before anything is known but their number and size.
  static double expected_passes(std::int64_t m, double stored, std::int64_t n_features) {
    return Curvature::expected_passes(m, stored, n_features, samples(m, n_features) ? m / kNextStride : m);
  }

  template <class F>
  void fields(F&& field) {
    field("a", a);
    field("z", z);
    watch.fields(field);
    metric.fields(field);
    field("lengths", lengths);
    field("w", w);
    field("sum", sum);
    field("rate", rate);
    field("radius", radius);
    field("stride", stride);
    field("total", total);
    field("dual", dual);
    field("zone_gap", zone_gap);
    field("rest_gap", rest_gap);
    field("minimised", minimised);
    field("iterations", iterations);
    curvature_.fields(field);
  }

  void check_restored(const Problem& problem) const {
    metric.check_restored();
    curvature_.check_restored(problem.size());
    std::int64_t possible = kFirstStride;
    while (possible > 0 && possible != stride) possible /= kNextStride;
    if (possible != stride) {
      throw std::invalid_argument("saved state: stride out of range");
    }
    const std::int64_t rows_read = stride > 0 ? Sample::size_of(problem.size(), stride) : 0;
    watch.check_restored(rows_read);
    if (stride > 0 && (std::ssize(z) != rows_read || std::ssize(lengths) != rows_read)) {
      throw std::invalid_argument("saved state: z or lengths have the wrong length");
    }
    if (!std::all_of(a.begin(), a.end(), [](double x) { return x >= 0.0 && std::isfinite(x); })) {
      throw std::invalid_argument("saved state: multipliers must be finite and not negative");
    }
    if (!std::all_of(lengths.begin(), lengths.end(), [](float x) { return x >= 0.0F; })) {
      throw std::invalid_argument("saved state: lengths must not be negative");
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
    const Sample sample(problem, stride);
    const auto write = [&](std::int64_t begin, std::int64_t end, Poll&) {
      for (std::int64_t k = begin; k < end; ++k) {
        out.multipliers[sample.row(k)] = zone(problem, sample, k).next(a[k], z[k]) / static_cast<double>(stride);
      }
      return true;
    };
    Poll never(std::make_shared<StopToken>());
    for_parts(Parts::of(sample.size, sample.size, 0), n_threads_, never, write);
  }

  std::optional<Estimate> estimate(const Problem&) const {
    if (stride != 1) return Estimate{kInfinity, 0.0};  // on a sample: there is nothing to evaluate yet
    return Estimate{dual + zone_gap + rest_gap, dual};
  }

  /// The multipliers and w are a start on another problem, or on this one: everything else is computed anew.
  template <Rows R>
  void rebuild(const R&, const Problem& problem, Poll&) {
    Point start(problem.size(), static_cast<std::int64_t>(w.size()) - 1);
    point(problem, start);
    a = std::move(start.multipliers);
    for (std::int64_t i = 0; i < problem.size(); ++i) a[i] = std::min(a[i], problem.box(i));
    stride = 0;
  }

  /// Steps until they have read as many rows as there are, or the gap has fallen to a quarter. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    const Crew crew(n_threads_);
    const Task<R> all = task_on(rows, problem);
    if (stride == 0 && !begin(all, poll)) return false;
    const std::int64_t last = touched + problem.size();
    const auto steps = [&](const auto& task, const Sample& sample) { return steps_on(task, sample, last, poll); };
    for (bool sampled = true; sampled && touched < last;) {
      sampled = stride > 1;
      if (!on_sample(all, poll, steps)) return false;
      if (sampled && solved() && !next_sample(all, poll)) return false;
    }
    return true;
  }

  /// What only steps need.
  void release() {
    awake_ = std::vector<RowNumber>();  // not {}: that would keep the memory
    change_ = std::vector<double>();
    moving_ = std::vector<RowNumber>();
    in_zone_ = std::vector<Weighted>();
    *zone_known_ = false;
    watch.release();
    curvature_.release();
    copies_->release();
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  /// With it, all rows are in their zones at w = 0.
  static constexpr double kFirstRate = 0.5;
  /// Narrower zones are lost in rounding.
  static constexpr double kLastRate = 0x1p24;
  /// How rounds follow each other: s grows by `faster` after a round, which ends when the rest of the gap is at most `minimised` times
  /// the part that only the next round can lower.
  struct Pace {
    double faster;
    double minimised;
  };
  /// A Cholesky factor costs the same whatever s. Conjugate gradients take more iterations the larger s is, roughly by its root, so s
  /// grows slowly. A larger s would also make up for what a round has left of the rest; without that, rounds have to be more exact. On
  /// 200,000 RCV1-like rows (43,000 of them in J) at C = 100, from a gap of 1e-2 and with residuals reduced to 0.05, {1.25, 1} was at
  /// 1e-6 after 23 s. After 30 s {1.25, 5} and {1.5, 5} were at 1e-5, {2, 5} at 6e-4, and with a constant s of 4 or 16 it was 1e-5.
  static constexpr Pace kByMatrix{2.0, 5.0};
  static constexpr Pace kByGradients{1.25, 1.0};
  /// A step may be so many times as long as the one before: the rows that it may concern are to be few.
  static constexpr double kLonger = 4.0;
  /// Samples are as many times smaller than the next one as kNextStride says, and the first is the smallest that has rows enough: with
  /// every 512th row before every 64th, fits of Covertype take about 0.93 of the time.
  static constexpr std::int64_t kNextStride = 8;
  static constexpr std::int64_t kFirstStride = std::int64_t{1} << 30;
  /// A sample has so many rows at least, and so many for each feature.
  static constexpr std::int64_t kLeastSample = 500;
  static constexpr std::int64_t kSamplePerFeature = 5;
  static constexpr double kSampleTolerance = 0.01;
  /// After a sample with so many rows for each feature, w is so close to the end that the zones may be narrower.
  static constexpr std::int64_t kFaithful = 100;
  static constexpr int kMostSteps = 50;
  /// Values of a row, on average, with which a block of rows stays in the second level of any cache.
  static constexpr double kShort = 128.0;
  /// The curvature along b when no row is in its zone, as a share of that with all rows in theirs.
  static constexpr double kBarelyCurved = 1e-10;

  /// What all steps are about.
  template <Rows R>
  struct Task {
    const R& rows;
    const Problem& problem;
    double constant;  // feature of all rows, behind their values
    double scale;     // of b among weights of scale 1, in the plain metric
    double stored;    // values of a row, on average

    /// The same about other rows.
    template <Rows S>
    Task<S> with(const S& others) const {
      return {others, problem, constant, scale, stored};
    }
    double m() const { return static_cast<double>(problem.size()); }
  };

  /// What a task needs to know of all rows.
  struct Means {
    double scale;
    double stored;
  };

  bool sampling_;
  std::int64_t n_threads_;
  Curvature curvature_;
  Fleeting<RowCopies> copies_;     // of the rows of a sample
  std::vector<RowNumber> awake_;   // rows of the sample that the present step reads
  std::vector<double> change_;     // of their slacks along p
  std::vector<RowNumber> moving_;  // those of them, by their place in awake_, whose a+ may change
  std::vector<Weighted> in_zone_;  // J: rows of the sample with their costs
  Fleeting<bool> zone_known_;      // that is what in_zone_ holds
  bool stuck_ = false;             // the last step did not move
  Fleeting<std::optional<Means>> means_;

  Zone zone(const Problem& problem, const Sample& sample, std::int64_t k) const {
    return Zone::of(problem.loss, sample.cost[k], rate);
  }

  /// What is kept of row k, beside the row itself.
  void prefetch(const Sample& sample, std::int64_t k) const {
    __builtin_prefetch(&sample.target[k]);
    __builtin_prefetch(&a[k]);
    __builtin_prefetch(&z[k]);
  }

  /// Of the first `count` of the rows of the sample that come, at most a block.
  template <Rows R, class Number>
  static void slacks(const Task<R>& task, const Sample& sample, std::int64_t count, std::span<const Number> coming,
                     std::span<const double> w, double* out) {
    static_assert(ZoneBlock::kMost <= kMostAtOnce);
    task.rows.products(count, coming, w.data(), out);
    for (std::int64_t j = 0; j < count; ++j) out[j] = 1.0 - sample.target[coming[j]] * (out[j] + task.constant * w.back());
  }

  template <Rows R>
  Task<R> task_on(const R& rows, const Problem& problem) {
    if (!*means_) {
      *means_ = Means{scale_of_b(rows, problem), static_cast<double>(rows.total_stored()) / static_cast<double>(rows.size())};
    }
    return {rows, problem, problem.free_intercept ? 1.0 : rows.rho, (*means_)->scale, (*means_)->stored};
  }

  // ---- The start

  template <Rows R>
  bool begin(const Task<R>& all, Poll& poll) {
    const auto is_zero = [](double x) { return x == 0.0; };
    const bool cold = std::all_of(w.begin(), w.end(), is_zero) && std::all_of(a.begin(), a.end(), is_zero);
    if (cold) rate = kFirstRate;
    stride = cold && sampling_ ? next_stride(all, kFirstStride * kNextStride) : 1;
    copies_->release();
    metric.make_plain(all.scale);
    const bool begun = on_sample(all, poll, [&](const auto& task, const Sample& sample) {
      return (stride == 1 || metric.average(task.rows, task.constant, poll)) && read_all(task, sample, poll);
    });
    if (!begun) stride = 0;
    return begun;
  }

  /// f(task, sample) on the rows of the present sample: those of the problem, or copies. False when stopped.
  template <Rows R, class F>
  bool on_sample(const Task<R>& all, Poll& poll, F&& f) {
    const Sample sample(all.problem, stride);
    if (stride == 1) return f(all, sample);
    const auto row_of = [&](std::int64_t k) { return sample.row(k); };
    if (copies_->empty() && !copies_->hold(all.rows, sample.size, row_of, n_threads_, poll)) return false;
    const auto copies = copies_->view(all.rows);
    return f(all.with(copies), sample);
  }

  /// The next smaller stride whose sample is worth solving by itself.
  template <Rows R>
  static std::int64_t next_stride(const Task<R>& all, std::int64_t stride) {
    for (stride /= kNextStride; stride > 1; stride /= kNextStride) {
      if (!samples(all.problem.size(), all.rows.n_features(), stride)) continue;
      const Sample sample(all.problem, stride);
      const auto [low, high] = std::minmax_element(sample.target.begin(), sample.target.end());
      if (*low < *high && can_copy(all.rows, sample)) return stride;
    }
    return 1;
  }

  template <Rows R>
  static bool can_copy(const R& rows, const Sample& sample) {
    for (std::int64_t k = 0; k < sample.size; ++k) {
      if (!RowCopies::can_hold(rows, sample.row(k))) return false;
    }
    return true;
  }

  /// The sample is solved well enough for the next one, or as well as it can be.
  bool solved() const { return zone_gap + rest_gap <= kSampleTolerance * dual || stuck_; }

  /// The next sample, from the present w. Multipliers begin in the middle of the box: a row is in its zone if its slack is about zero.
  template <Rows R>
  bool next_sample(const Task<R>& all, Poll& poll) {
    if (all.problem.size() / stride >= kFaithful * all.rows.n_features()) rate = std::min(kByMatrix.faster * rate, kLastRate);
    stride = next_stride(all, stride);
    copies_->release();
    const bool begun = on_sample(all, poll, [&](const auto& task, const Sample& sample) {
      const bool is_hinge = task.problem.loss.is_hinge();
      for (std::int64_t k = 0; k < sample.size; ++k) a[k] = is_hinge ? 0.5 * sample.cost[k] : 0.0;
      metric.adapt(task.rows, task.constant);
      return read_all(task, sample, poll);
    });
    if (!begun) give_up(all.problem);
    return begun;
  }

  /// Reads all rows at the present w.
  template <Rows R>
  bool read_all(const Task<R>& task, const Sample& sample, Poll& poll) {
    watch.begin(w, sample.size);
    const auto size = static_cast<std::size_t>(sample.size);
    if (z.size() != size) z = Varying<double>(size);  // anew: resized, it would be copied
    if (lengths.size() != size) lengths = Varying<float>(size);
    radius = kInfinity;
    curvature_.forget();
    if (!task.problem.loss.is_hinge()) std::fill(a.begin(), a.end(), 0.0);
    std::fill(sum.begin(), sum.end(), 0.0);
    total = 0.0;
    touched += sample.size;
    const Metric::OfRows of_rows(metric);
    const bool are_short = task.stored <= kShort;
    const auto read = [&](std::int64_t k, std::int64_t end, ZoneBlock& block, double* before, Poll& own) {
      std::int64_t coming[kMostAtOnce + kPrefetchDistance];
      const std::int64_t known = std::min(end + kPrefetchDistance, sample.size) - k;
      std::iota(coming, coming + known, k);
      slacks(task, sample, end - k, std::span<const std::int64_t>(coming, static_cast<std::size_t>(known)), w, &z[k]);
      for (; k < end; ++k) {
        const std::int64_t of_next_block = k + ZoneBlock::kMost;
        if (are_short && of_next_block < sample.size) task.rows.prefetch(of_next_block);  // memory would be idle otherwise
        lengths[k] = of_rows.squared(task.rows, k, task.constant);
        before[block.size()] = 0.0;
        block.add(k, sample.cost[k], a[k], z[k]);
        if (own(task.rows.stored(k))) return false;
      }
      return true;
    };
    return sum_moved(task, sample, sample.size, poll, read);
  }

  /// Some rows have moved and others have not: w alone is what a next epoch would begin with.
  void give_up(const Problem& problem) {
    stride = 0;
    for (std::int64_t i = 0; i < problem.size(); ++i) a[i] = 0.5 * problem.cost[i];
  }

  // ---- Steps

  /// Steps on a sample until it is solved well enough; on all rows until the epoch ends.
  template <Rows R>
  bool steps_on(const Task<R>& task, const Sample& sample, std::int64_t last, Poll& poll) {
    curvature_.forget_products();
    if (!*zone_known_) find_zone_rows(task.problem, sample);
    const double wanted = stride > 1 ? 0.0 : 0.25 * (zone_gap + rest_gap);
    for (int steps = 0; steps < kMostSteps && touched < last; ++steps) {
      if (!step(task, sample, poll)) return false;
      if (zone_gap + rest_gap <= wanted || stuck_ || (stride > 1 && solved())) break;
    }
    return true;
  }

  template <Rows R>
  bool step(const Task<R>& task, const Sample& sample, Poll& poll) {
    if (minimised && !next_round(task, sample, poll)) return false;
    const std::vector<double> gradient = gradient_of(task.problem);
    const double curved = Zone::of(task.problem.loss, 1.0, rate).weight;
    const double ridge = task.problem.free_intercept ? kBarelyCurved * curved * task.problem.total_cost : 1.0;
    const System system{gradient, curved, ridge, task.constant, task.problem.free_intercept, task.stored, task.m()};
    const auto found = curvature_.direction(task.rows, in_zone_, system, iterations, poll, touched);
    if (!found) return false;
    const std::vector<double>& p = *found;
    const double slope = dot(gradient, p);
    stuck_ = !(slope < 0.0);
    if (!stuck_ && !move_along(task, sample, p, slope, poll)) return false;
    if (stuck_) minimised = true;
    return true;
  }

  /// To the minimum on the ray, but not farther than `radius`.
  template <Rows R>
  bool move_along(const Task<R>& task, const Sample& sample, const std::vector<double>& p, double slope, Poll& poll) {
    const double length = std::sqrt(squared_norm(std::span(p).first(p.size() - 1)) + task.scale * p.back() * p.back());
    const double longest = std::min(1.0, radius / length);
    const auto distance = [&](std::int64_t k) {
      const Zone own = zone(task.problem, sample, k);
      return Watch::Distance{own.outside(a[k], z[k]), own.weight * own.weight * static_cast<double>(lengths[k])};
    };
    if (!watch.wake(sample.size, {w, p, longest, metric}, distance, n_threads_, poll, awake_)) return false;
    Changes changes;
    if (!read_changes(task, sample, p, longest, poll, changes)) return false;
    moving_ = std::move(changes.moving);
    const double t = changes.search.minimum(slope, regular(task.problem, p), longest);
    stuck_ = t == 0.0;
    if (stuck_) return true;
    for (std::size_t j = 0; j < w.size(); ++j) w[j] += t * p[j];
    metric.note(p, t);
    radius = kLonger * t * length;
    if (watch.full(task.stored * task.m())) return read_all_again(task, sample, poll);
    watch.move_to(w);
    return move(task, sample, t, poll);
  }

  /// Too many places to remember: one is enough when all rows are read there.
  template <Rows R>
  bool read_all_again(const Task<R>& task, const Sample& sample, Poll& poll) {
    const double kept = radius;
    const bool done = read_all(task, sample, poll);
    radius = kept;
    return done;
  }

  std::vector<double> gradient_of(const Problem& problem) const {
    std::vector<double> gradient(w.size());
    for (std::size_t j = 0; j < w.size(); ++j) gradient[j] = w[j] - sum[j];
    if (problem.free_intercept) gradient.back() = -sum.back();
    return gradient;
  }

  /// |v|^2 without a free b.
  static double regular(const Problem& problem, std::span<const double> v) {
    return squared_norm(problem.free_intercept ? v.first(v.size() - 1) : v);
  }

  /// Of b among weights of scale 1: the inverse mean of |x|^2 balances the two terms that bound a change of w.x + b.
  template <Rows R>
  static double scale_of_b(const R& rows, const Problem& problem) {
    if (!problem.free_intercept) return 1.0;
    const double squares = interleaved_sum(static_cast<std::size_t>(rows.size()),
                                           [&](std::size_t i) { return rows.squared_norm(static_cast<std::int64_t>(i)); });
    const double scale = static_cast<double>(rows.size()) / squares;
    return scale > 0.0 && std::isfinite(scale) ? scale : 1.0;
  }

  /// Parts of so many rows of the sample, for a sum with `width` numbers.
  template <Rows R>
  static Parts parts_of(const Task<R>& task, std::int64_t count, std::size_t width) {
    return Parts::of(count, static_cast<std::int64_t>(task.stored * static_cast<double>(count)),
                     static_cast<std::int64_t>(width));
  }

  /// What rows that are awake do on a ray.
  struct Changes {
    ZoneSearch search;
    std::vector<RowNumber> moving;

    void merge(const Changes& other) {
      search.merge(other.search);
      moving.insert(moving.end(), other.moving.begin(), other.moving.end());
    }
  };

  /// How the slacks of the rows that are awake change along p; the slacks of those that were asleep.
  template <Rows R>
  bool read_changes(const Task<R>& task, const Sample& sample, std::span<const double> p, double longest, Poll& poll,
                    Changes& changes) {
    const std::uint8_t here = watch.here();
    const auto count = static_cast<std::int64_t>(awake_.size());
    change_.resize(awake_.size());
    touched += count;
    const auto add = [&](Changes& part, std::int64_t begin, std::int64_t end, Poll& own) {
      ZoneBlock block(task.problem.loss, rate);
      for (std::int64_t first = begin; first < end; first += ZoneBlock::kMost) {
        const std::int64_t size = std::min(end - first, ZoneBlock::kMost);
        const auto rows = std::span(awake_).subspan(static_cast<std::size_t>(first));
        const auto known = static_cast<std::size_t>(std::min(end - first, size + kPrefetchDistance));
        for (const RowNumber k : rows.subspan(size, std::min(end - first - size, ZoneBlock::kMost))) prefetch(sample, k);
        double* change = &change_[static_cast<std::size_t>(first)];
        slacks(task, sample, size, std::span<const RowNumber>(rows.first(known)), p, change);
        RowNumber elsewhere[ZoneBlock::kMost];
        std::int64_t n = 0;
        for (std::int64_t j = 0; j < size; ++j) {
          elsewhere[n] = rows[static_cast<std::size_t>(j)];
          n += watch.read_at(elsewhere[n]) != here;
        }
        double slack[ZoneBlock::kMost];
        slacks(task, sample, n, std::span<const RowNumber>(elsewhere, static_cast<std::size_t>(n)), w, slack);
        for (std::int64_t j = 0; j < n; ++j) z[elsewhere[j]] = slack[j];
        std::int64_t stored = 0;
        block.clear();
        for (std::int64_t j = 0; j < size; ++j) {
          const std::int64_t k = rows[static_cast<std::size_t>(j)];
          change[j] -= 1.0;
          block.add(k, sample.cost[k], a[k], z[k]);
          stored += task.rows.stored(k);
        }
        part.search.add(block, change, longest,
                        [&](std::int64_t j) { part.moving.push_back(static_cast<RowNumber>(first + j)); });
        if (own(stored)) return false;
      }
      return true;
    };
    return sum_over(parts_of(task, count, 0), n_threads_, poll, Changes{}, changes, add);
  }

  /// What rows add up to after a step.
  struct Moved {
    std::vector<double> sum;  // change of the sum of a+_i t_i x_i
    double total = 0.0;       // change of sum_i dual_term(a+_i)
    double zone_gap = 0.0;    // C_i max(0, z_i) - a+_i z_i
    std::int64_t changed = 0;
    std::vector<Weighted> in_zone = {};

    void merge(const Moved& other) {
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += other.sum[j];
      total += other.total;
      zone_gap += other.zone_gap;
      changed += other.changed;
      in_zone.insert(in_zone.end(), other.in_zone.begin(), other.in_zone.end());
    }
  };

  /// The slacks of the rows that are awake move by t times their change.
  template <Rows R>
  bool move(const Task<R>& task, const Sample& sample, double t, Poll& poll) {
    const auto shift = [&](std::int64_t first, std::int64_t end, ZoneBlock& block, double* before, Poll&) {
      double change[ZoneBlock::kMost];
      for (std::int64_t j = first; j < end; ++j) {
        const RowNumber at = moving_[static_cast<std::size_t>(j)];
        const std::int64_t k = awake_[at];
        change[j - first] = change_[at];
        block.add(k, sample.cost[k], a[k], z[k]);
      }
      block.next(before);
      block.move(t, change);
      return true;
    };
    if (!sum_moved(task, sample, static_cast<std::int64_t>(moving_.size()), poll, shift)) return false;
    const std::uint8_t here = watch.here();
    const auto shift_all = [&](std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t j = begin; j < end; ++j) {
        const std::int64_t k = awake_[static_cast<std::size_t>(j)];
        z[k] += t * change_[static_cast<std::size_t>(j)];
        watch.read_at(k) = here;
      }
      return !own(end - begin);
    };
    const auto count = static_cast<std::int64_t>(awake_.size());
    const bool done = for_parts(Parts::of(count, count, 0), n_threads_, poll, shift_all);
    if (!done) give_up(task.problem);
    return done;
  }

  /// `count` rows get new slacks, a block at a time: fill(first, end, block, before, poll) makes a block of some of them, with their a+
  /// before, and returns false when stopped.
  template <Rows R, class Fill>
  bool sum_moved(const Task<R>& task, const Sample& sample, std::int64_t count, Poll& poll, Fill&& fill) {
    const auto add = [&](Moved& part, std::int64_t begin, std::int64_t end, Poll& own) {
      ZoneBlock block(task.problem.loss, rate);
      double before[ZoneBlock::kMost];
      for (std::int64_t first = begin; first < end; first += ZoneBlock::kMost) {
        block.clear();
        if (!fill(first, std::min(end, first + ZoneBlock::kMost), block, before, own)) return false;
        if (!arrive(task, sample, block, before, part, own)) return false;
      }
      return true;
    };
    const Moved empty{.sum = std::vector<double>(w.size())};
    Moved all(empty);
    if (!sum_over(parts_of(task, count, w.size()), n_threads_, poll, empty, all, add)) {
      give_up(task.problem);
      return false;
    }
    take(all);
    zone_gap = std::max(0.0, all.zone_gap);
    estimate_gap(task);
    return true;
  }

  /// Rows that have new slacks are taken into account, given their a+ before. False when stopped.
  template <Rows R>
  bool arrive(const Task<R>& task, const Sample& sample, const ZoneBlock& block, const double* before, Moved& part,
              Poll& poll) {
    double next[ZoneBlock::kMost];
    block.next(next);
    part.zone_gap += block.gap(next);
    block.append_inside(part.in_zone);
    std::int64_t changed[ZoneBlock::kMost];
    double change[ZoneBlock::kMost];  // of a+_i t_i
    double grown[ZoneBlock::kMost];   // dual terms
    std::int64_t n = 0;
    std::int64_t stored = block.size();
    const std::uint8_t here = watch.here();
    const auto dual_term = [&](double a, std::int64_t k) { return a - task.problem.loss.dual_penalty(a, sample.cost[k]); };
    for (std::int64_t j = 0; j < block.size(); ++j) {
      const std::int64_t k = block.row(j);
      watch.read_at(k) = here;
      changed[n] = k;
      change[n] = (next[j] - before[j]) * sample.target[k];
      grown[n] = dual_term(next[j], k) - dual_term(before[j], k);
      n += next[j] != before[j];
    }
    for (std::int64_t c = 0; c < n; ++c) {
      part.total += grown[c];
      stored += task.rows.stored(changed[c]);
    }
    task.rows.add_each(std::span(changed, static_cast<std::size_t>(n)), change, part.sum);
    if (task.problem.free_intercept) {
      for (std::int64_t j = 0; j < n; ++j) part.sum.back() += change[j];
    }
    part.changed += n;
    return !poll(stored);
  }

  void take(Moved& moved) {
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += moved.sum[j];
    total += moved.total;
    touched += moved.changed;
    in_zone_ = std::move(moved.in_zone);
    *zone_known_ = true;
  }

  /// By the number of rows in J.
  template <Rows R>
  Pace pace(const Task<R>& task) const {
    return curvature_.has_room(task.m(), task.stored, static_cast<double>(in_zone_.size())) ? kByMatrix : kByGradients;
  }

  /// D(a+), and the parts of the gap that steps can lower.
  template <Rows R>
  void estimate_gap(const Task<R>& task) {
    const Problem& problem = task.problem;
    dual = total - 0.5 * regular(problem, sum);
    rest_gap = 0.5 * regular(problem, gradient_of(problem));
    if (problem.free_intercept && total > 0.0) {
      const double loss = std::max(0.0, dual + zone_gap + rest_gap - 0.5 * regular(problem, w));
      rest_gap += 2.0 * std::abs(sum.back()) / total * loss;
    }
    minimised = problem.loss.is_hinge() && rest_gap <= pace(task).minimised * zone_gap;
  }

  /// a = a+, and s grows: only rows in their zones get another a+.
  template <Rows R>
  bool next_round(const Task<R>& task, const Sample& sample, Poll& poll) {
    minimised = false;
    if (!task.problem.loss.is_hinge()) return true;
    const auto settle = [&](std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t k = begin; k < end; ++k) a[k] = zone(task.problem, sample, k).next(a[k], z[k]);
      return !own(end - begin);
    };
    if (!for_parts(Parts::of(sample.size, sample.size, 0), n_threads_, poll, settle)) {
      give_up(task.problem);
      return false;
    }
    rate = std::min(pace(task).faster * rate, kLastRate);
    const auto renew = [&](std::int64_t j, std::int64_t end, ZoneBlock& block, double* before, Poll&) {
      for (; j < end; ++j) {
        const auto [k, cost] = in_zone_[static_cast<std::size_t>(j)];
        before[block.size()] = a[k];
        block.add(k, cost, a[k], z[k]);
      }
      return true;
    };
    return sum_moved(task, sample, static_cast<std::int64_t>(in_zone_.size()), poll, renew);
  }

  void find_zone_rows(const Problem& problem, const Sample& sample) {
    in_zone_.clear();
    ZoneBlock block(problem.loss, rate);
    for (std::int64_t k = 0; k < sample.size; ++k) {
      block.add(k, sample.cost[k], a[k], z[k]);
      if (block.size() < ZoneBlock::kMost && k + 1 < sample.size) continue;
      block.append_inside(in_zone_);
      block.clear();
    }
  }
};

static_assert(Solver<Newton>);

}  // namespace hinge
