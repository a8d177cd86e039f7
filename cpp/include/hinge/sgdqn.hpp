#pragma once
// SGD-QN: stochastic gradient descent with a diagonal quasi-Newton matrix.
//
// Bordes, Bottou & Gallinari, "SGD-QN: Careful Quasi-Newton Stochastic Gradient Descent" (JMLR 2009); Bordes, Bottou, Gallinari,
// Chang & Smith, "Erratum: SGDQN is Less Careful than Expected" (JMLR 2010). Minimises lambda/2 |w|^2 + mean hinge, that is
// lambda P. Each feature has a step size gain_j / lambda. Step t = 0, 1, ... on row i:
//
//   1. w_j <- (1 - skip gain_j) w_j                    every `skip` steps, which costs as much as 16 steps on a row
//   2. w_j <- w_j + s^_i t_i x_ij gain_j / lambda      if t_i w.x_i < 1 at the beginning of the step
//
// and in the step after 1 a lesson on the curvature: h_j = (change of the gradient)_j / (change of w)_j, relative to lambda. That is 1
// where x_ij = 0, and more where a row crosses the margin. A variant says how the gains follow from the h, and what the first ones
// are. Three are programs of the authors:
//
//   Published  gain_j = d_j / (t + t_0) with the mean d_j of 1/h_j, at least 1/100. The lesson is that of a row's own step, and is
//              learned only if the row crosses the margin in it. t_0 = lambda^(-3/4), for rows of length 1. (LibSGDQN of 2008)
//   Erratum    gain_j = 1 / d_j, d_j = t_0 + sum of the h_j over the steps, h_j in [0.1, 100]: it can only fall. The lesson is that
//              of the next row, between w before 1 and w after 2; one without a crossing is not learned, and the next that is
//              learned counts for all steps since the last. t_0 is the best of 1, 10, ..., 10^10 on a tenth of the rows.
//              (LibSGDQN after the erratum)
//   Sgd2       as Erratum, but each lesson is learned, for `skip` steps; 1/t_0 is chosen as in SvmSgd. (Bottou's sgd-2)
//   Mixed      lessons of Sgd2, t_0 as in Erratum, but the trials keep C instead of lambda: they are a problem of the sampled rows
//              alone, five epochs of it, and the best t_0 grows with the number of rows. The trials of Erratum are half an epoch of
//              training, too little to tell: where rows are many, their t_0 is too large and the steps too small. (ours)
//
// Ours in all of them: steps are counted on from epoch to epoch, for problems of fewer rows than `skip`; 1 never turns w around; a
// tenth of the rows are at least a thousand.
//
// w is no combination of the rows with non-negative coefficients: the multipliers are a DualAverage.
//
// W is the type of w and d: float (as in the programs) or double. No intercept, or a penalised one through the rows.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "hinge/calibrate.hpp"
#include "hinge/dual_average.hpp"
#include "hinge/epoch.hpp"
#include "hinge/loss.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/sums.hpp"

namespace hinge {

/// The gain is d_j / (t + t_0), d_j a mean of 1/h_j.
struct AveragedGains {
  static constexpr bool kOfNextRow = false;

  template <class S>
  static void begin(S& run) {
    std::fill(run.d.begin(), run.d.end(), 1);
  }
  template <class S>
  static double gain(const S& run, std::size_t j) {
    return run.d[j] / run.now();
  }
  /// A step of length d_j s^_i t_i x_ij / (lambda (t + t_0)) has brought row i over the margin.
  template <class S, Rows R>
  static void learn(S& run, const R& rows, std::int64_t i) {
    const auto skip = static_cast<double>(run.skip);
    const double now = run.now();
    const double share = now > skip ? 2.0 * skip / (now + skip) : skip / (now + skip);
    run.lesson.clear();
    rows.for_each(i,
                  [&](std::int64_t j, double x) { run.lesson.push_back(x != 0.0 ? 1.0 / (1.0 + now / run.d[j]) - 1.0 : 0.0); });
    for (auto& d : run.d) d = static_cast<typename S::Weight>(d + share * (1.0 - d));
    auto less = run.lesson.begin();
    rows.for_each(i, [&](std::int64_t j, double) {
      run.d[j] = static_cast<typename S::Weight>(std::max(run.d[j] + share * *less++, kLeast));
    });
  }
  static constexpr double kLeast = 0.01;
};

/// The gain is 1 / d_j, d_j the sum of t_0 and of h_j over the steps.
template <bool kEachLesson>
struct SummedGains {
  static constexpr bool kOfNextRow = true;
  static constexpr double kLeast = 0.1;
  static constexpr double kMost = 100.0;

  template <class S>
  static void begin(S& run) {
    std::fill(run.d.begin(), run.d.end(), static_cast<typename S::Weight>(run.t0));
  }
  template <class S>
  static double gain(const S& run, std::size_t j) {
    return 1.0 / run.d[j];
  }
  /// `strength` is s^_i t_i / lambda times the change of the loss's slope at row i, between run.before and w.
  template <class S, Rows R>
  static void learn(S& run, const R& rows, std::int64_t i, double strength) {
    if (!kEachLesson && strength == 0.0) return;
    const auto steps = static_cast<double>(kEachLesson ? run.skip : run.t + 1 - run.learned);
    run.learned = run.t + 1;
    for (auto& d : run.d) d = static_cast<typename S::Weight>(d + steps);
    if (strength == 0.0) return;
    rows.for_each(i, [&](std::int64_t j, double x) {
      if (x == 0.0) return;
      const double change = static_cast<double>(run.before[j]) - static_cast<double>(run.w[j]);
      const double h = change != 0.0 ? 1.0 + strength * x / change : kMost;
      const double seen = h <= kMost ? std::max(h, kLeast) : kMost;  // also if it is no number
      run.d[j] = static_cast<typename S::Weight>(run.d[j] + steps * (seen - 1.0));
    });
  }
};

constexpr double kLargestT0 = 1e15;

/// For rows of length 1: the first steps are as large as |w| typically is.
struct TypicalStart {
  template <class S, Rows R>
  static bool choose(S& run, const R&, const Problem& problem, Poll&) {
    const double root = std::sqrt(1.0 / problem.lambda);
    run.t0 = std::clamp(root * std::sqrt(root), 1.0, kLargestT0);  // lambda^(-3/4)
    return true;
  }
};

/// The best of 1, 10, ..., 10^10 after five epochs on a tenth of the rows, at the lambda of all rows or at the same C.
template <bool kSameC>
struct SearchedStart {
  static constexpr int kPowers = 10;
  static constexpr int kEpochs = 5;
  static constexpr std::int64_t kFew = 1000;

  template <class S, Rows R>
  static bool choose(S& run, const R& rows, const Problem& problem, Poll& poll) {
    const auto sample = run.first_rows(problem.size(), std::max(problem.size() / 10, kFew), poll);
    if (sample.empty()) return false;
    const double share = static_cast<double>(sample.size()) / static_cast<double>(problem.size());
    Problem part = problem;
    if (kSameC) part.lambda /= share;
    double lowest = std::numeric_limits<double>::infinity();
    double best = 1.0;
    double t0 = 1.0;
    for (int power = 0; power <= kPowers; ++power, t0 *= 10.0) {
      double cost = 0.0;
      if (!run.try_t0(rows, part, sample, t0, kEpochs, cost, poll)) return false;
      if (!(cost < lowest)) continue;
      lowest = cost;
      best = t0;
    }
    run.t0 = kSameC ? best / share : best;
    return true;
  }
};

/// 1 / (lambda t_0) as SvmSgd's program chooses its first step size, on the first thousand rows of an epoch.
struct DoubledStart {
  static constexpr std::int64_t kRows = 1000;

  template <class S, Rows R>
  static bool choose(S& run, const R& rows, const Problem& problem, Poll& poll) {
    const auto sample = run.first_rows(problem.size(), kRows, poll);
    if (sample.empty()) return false;
    const auto t0_of = [&](double eta) { return std::clamp(1.0 / (problem.lambda * eta), 1.0, kLargestT0); };
    const double eta = lower_of_best_pair(1.0 / problem.lambda, [&](double step, double& cost) {
      return run.try_t0(rows, problem, sample, t0_of(step), 1, cost, poll);
    });
    if (eta > 0.0) run.t0 = t0_of(eta);
    return eta > 0.0;
  }
};

struct Published {
  using Gains = AveragedGains;
  using Start = TypicalStart;
};
struct Erratum {
  using Gains = SummedGains<false>;
  using Start = SearchedStart<false>;
};
struct Sgd2 {
  using Gains = SummedGains<true>;
  using Start = DoubledStart;
};
struct Mixed {
  using Gains = SummedGains<true>;
  using Start = SearchedStart<true>;
};

template <class W, class Variant>
struct SgdQn {
  using Weight = W;
  using Gains = typename Variant::Gains;

  Order order;
  Rng rng;

  std::vector<W> w;
  std::vector<W> d;       // the gains follow from it
  std::vector<W> before;  // w before the last shrinking, if lessons are those of the next row
  double t0 = 0.0;        // 0: not chosen
  std::int64_t t = 0;
  std::int64_t learned = 0;  // steps until the last lesson
  std::int64_t skip = 0;
  std::int64_t count = 0;     // steps until the next shrinking
  std::int64_t watching = 0;  // 1: this step has a lesson
  DualAverage average;
  std::int64_t touched = 0;    // rows read
  std::vector<double> lesson;  // of one row

  SgdQn(const Problem& problem, std::int64_t n_features, Order row_order, Rng random)
      : order(row_order),
        rng(random),
        w(static_cast<std::size_t>(n_features) + 1),
        d(w.size(), W{1}),
        before(Gains::kOfNextRow ? w.size() : 0),
        average(problem.size()) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    field("w", w);
    field("d", d);
    field("before", before);
    average.fields(field);
    field("t0", t0);
    field("t", t);
    field("learned", learned);
    field("skip", skip);
    field("count", count);
    field("watching", watching);
    field("rng", rng);
  }

  void check_restored(const Problem&) const {
    if (!(t0 >= 0.0 && std::isfinite(t0)) || (t0 > 0.0 && skip < 1)) throw std::invalid_argument("t0 or skip out of range");
    if (!std::all_of(d.begin(), d.end(), [](W x) { return x > W{0} && std::isfinite(x); })) {
      throw std::invalid_argument("d out of range");
    }
    if (learned > t + 1) throw std::invalid_argument("learned out of range");
  }

  /// On another problem: w stays as the start, the schedule is made anew.
  template <Rows R>
  void rebuild(const R&, const Problem&, Poll&) {
    t0 = 0.0;
  }

  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    if (t0 == 0.0 && !prepare(rows, problem, poll)) return false;
    const auto visit = order.of_all(problem.size(), rng, poll);
    if (visit.empty()) return false;
    return present(rows, problem, visit, poll);
  }

  void point(const Problem& problem, Point& out) const {
    std::copy(w.begin(), w.end(), out.w.begin());
    average.write(problem, out.multipliers);
  }

  std::optional<Estimate> estimate(const Problem&) const { return std::nullopt; }

  double now() const { return static_cast<double>(t) + t0; }

  /// For trials: the first rows of an epoch. None when told to stop.
  std::vector<std::int64_t> first_rows(std::int64_t m, std::int64_t most, Poll& poll) {
    auto rows = order.of_all(m, rng, poll);
    rows.resize(static_cast<std::size_t>(std::min(static_cast<std::int64_t>(rows.size()), most)));
    return rows;
  }

  /// The objective on these rows after epochs over them, from w = 0. False when told to stop.
  template <Rows R>
  bool try_t0(const R& rows, const Problem& problem, std::span<const std::int64_t> sample, double t_0, int epochs, double& cost,
              Poll& poll) {
    SgdQn trial(*this);
    trial.average = DualAverage(0);
    trial.touched = 0;
    std::fill(trial.w.begin(), trial.w.end(), W{0});
    trial.begin(t_0);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      if (!trial.present(rows, problem, sample, poll)) return false;
    }
    touched += trial.touched + static_cast<std::int64_t>(sample.size());
    double loss = 0.0;
    for (const std::int64_t i : sample) {
      loss += problem.relative_weight(i) * problem.loss.value(Loss::slack(problem.target[i], rows.dot(i, trial.w)));
    }
    cost = 0.5 * problem.lambda * squared_norm(trial.w) + loss / static_cast<double>(sample.size());
    return true;
  }

 private:
  template <Rows R>
  bool prepare(const R& rows, const Problem& problem, Poll& poll) {
    std::int64_t stored = 0;
    for (std::int64_t i = 0; i < problem.size(); ++i) stored += rows.stored(i);
    const double per_row = std::max(1.0, static_cast<double>(stored) / static_cast<double>(problem.size()));
    skip = static_cast<std::int64_t>(std::max(1.0, 16.0 * static_cast<double>(w.size()) / per_row));
    if (!Variant::Start::choose(*this, rows, problem, poll)) return false;
    begin(t0);
    return true;
  }

  /// The schedule from its first step on.
  void begin(double t_0) {
    t0 = t_0;
    t = 0;
    learned = 0;
    count = skip;
    watching = 0;
    Gains::begin(*this);
  }

  /// These rows, one after the other.
  template <Rows R>
  bool present(const R& rows, const Problem& problem, std::span<const std::int64_t> visit, Poll& poll) {
    const auto take = [&](std::int64_t i) {
      step(rows, problem, i);
      ++touched;
    };
    return each_row(rows, visit, poll, take, problem.target, problem.cost);
  }

  template <Rows R>
  void step(const R& rows, const Problem& problem, std::int64_t i) {
    const double target = problem.target[i];
    const auto has_loss = [&](const std::vector<W>& at) { return target * rows.dot(i, at) < 1.0; };
    const bool loss = has_loss(w);
    average.visited(i, loss ? 1.0 : 0.0, t);
    const double strength = problem.relative_weight(i) * target / problem.lambda;
    const bool lesson_due = watching != 0;
    watching = 0;
    if constexpr (Gains::kOfNextRow) {
      if (lesson_due)
        Gains::learn(*this, rows, i, strength * (static_cast<double>(loss) - static_cast<double>(has_loss(before))));
      if (--count <= 0) shrink();
      if (loss) move(rows, i, strength);
    } else {  // the step with a lesson is not counted
      if (!lesson_due && --count <= 0) shrink();
      if (loss) move(rows, i, strength);
      if (lesson_due && loss && !has_loss(w)) Gains::learn(*this, rows, i);
    }
    ++t;
  }

  /// 1.
  void shrink() {
    if constexpr (Gains::kOfNextRow) before = w;
    const auto steps = static_cast<double>(skip);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] = static_cast<W>(w[j] * std::max(0.0, 1.0 - steps * Gains::gain(*this, j)));
    count = skip;
    watching = 1;
  }

  /// 2.
  template <Rows R>
  void move(const R& rows, std::int64_t i, double strength) {
    rows.for_each(i, [&](std::int64_t j, double x) {
      w[j] = static_cast<W>(w[j] + strength * x * Gains::gain(*this, static_cast<std::size_t>(j)));
    });
  }
};

static_assert(Solver<SgdQn<double, Published>> && Solver<SgdQn<float, Erratum>> && Solver<SgdQn<double, Sgd2>>);

}  // namespace hinge
