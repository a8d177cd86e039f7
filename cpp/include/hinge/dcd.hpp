#pragma once
// Dual coordinate descent with shrinking.
//
// Hsieh, Chang, Lin, Keerthi & Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM" (ICML 2008),
// Algorithms 1 and 3.
//
//   maximise D(a) over 0 <= a_i <= box_i, one a_i at a time:
//   g = t_i (w.x_i + b) - 1 + diagonal_i a_i,   a_i <- clip(a_i - g / q_i, 0, box_i),   w += (change of a_i) t_i x_i.
//
// Box and diagonal are those of the loss (loss.hpp): C_i and 0 for the hinge, none and 1 / (2 C_i) for its square;
// q_i = |x_i|^2 + diagonal_i.
//
// Shrinking: a row at a bound leaves the active set if its gradient is larger than a quarter of what projected gradients were on
// average in the last epoch. It is a guess. When the active rows are settled (state.hpp), or the caller's check on all rows disagrees
// (`rebuild`), the next epoch is a survey: all rows are looked at, and those that are not far away come back. With eps > 0 instead the
// rule is that of the paper and of liblinear: gradients are compared with the extreme ones of the last epoch, and when these lie within
// eps of each other, all rows come back and the extremes are forgotten, or the run ends if none was left out.
//
// Free intercept: the method of multipliers (free_intercept.hpp). q_i grows by kappa.
//
// Over-relaxation: in a run that lasts, steps go beyond the maximum along their coordinate,
//
//   a_i <- clip(a_i - k g / q_i, 0, box_i),   1 < k < 2.
//
// D still rises, by k (2 - k) g^2 / (2 q_i) if the box does not cut the step short.
//
// Lanes: before that, two threads may work side by side on the rows of an epoch (lanes.hpp).
//
// Polish: now and then all free multipliers move at once (face.hpp). That, lanes, surveys, over-relaxation, the rule by which rows leave,
// and the order in blocks (order.hpp) are ours; without them, with eps and with a permutation per epoch, this is Algorithm 3 as published.
//
// Outputs: the multipliers a (always inside the box), w = w(a) up to rounding, and an estimate of the gap,
//   P - D = sum_i gap_share_i          (hinge: C_i max(0, -g_i) + a_i g_i),
// each row's share taken when the row was visited (it is zero for a row that was rightly shrunk away). For a free
// intercept it includes roughly what repairing sum_i a_i t_i = 0 will cost.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "hinge/epoch.hpp"
#include "hinge/face.hpp"
#include "hinge/free_intercept.hpp"
#include "hinge/lanes.hpp"
#include "hinge/order.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/state.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct Dcd : DualIterate {
  Order order;
  Rng rng;
  bool shrinking;
  bool polish;
  double eps;  // 0: rows come back by the gap
  Lanes lanes;

  ActiveRows active;
  double shrink_above = kInfinity;   // a row at a = 0 leaves when its gradient is above
  double shrink_below = -kInfinity;  // a row at a = box leaves when its gradient is below
  double gap = kInfinity;            // estimate of the last epoch
  double full_b = 0.0;               // b after the last epoch over all rows
  double credit = 0.0;               // what a climb on the face may cost, in rows
  bool survey_due = false;           // the next epoch is a survey
  bool within_eps = false;           // the projected gradients of all rows are
  double passes = 0.0;               // over the rows
  std::int64_t touched = 0;          // rows read

  /// Memory that every epoch needs again.
  struct Scratch {
    std::vector<std::int64_t> visit;  // the active rows, in the order of the epoch
    std::vector<double> w;            // of the second lane
  };
  Fleeting<Scratch> scratch;

  Dcd(const Problem& problem, std::int64_t n_features, bool with_shrinking, bool with_polish, double spread, double penalty,
      std::int64_t block, Order row_order, Rng random, std::int64_t n_threads)
      : order(row_order),
        rng(random),
        shrinking(with_shrinking),
        polish(with_polish),
        eps(spread),
        lanes{block, n_threads},
        active(problem.size()) {
    if (!(eps >= 0.0)) throw std::invalid_argument("eps must not be negative");
    if (block < 0) throw std::invalid_argument("block must not be negative");
    if (n_threads < 1) throw std::invalid_argument("n_threads must be positive");
    kappa = penalty;
    a.resize(static_cast<std::size_t>(problem.size()));
    w.resize(static_cast<std::size_t>(n_features) + 1);
  }

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    field("a", a);
    field("w", w);
    field("b", b);
    field("residue", residue);
    field("last_residue", last_residue);
    field("rate", rate);
    field("active", active);
    field("shrink_above", shrink_above);
    field("shrink_below", shrink_below);
    field("gap", gap);
    field("full_gap", active.full_gap);
    field("full_b", full_b);
    field("survey_due", survey_due);
    field("dual", dual);
    field("summit", summit);
    field("credit", credit);
    field("passes", passes);
    field("rng", rng);
  }

  void check_restored(const Problem&) const {
    active.check_restored();
    const auto is_multiplier = [](double x) { return x >= 0.0 && std::isfinite(x); };
    if (!std::all_of(a.begin(), a.end(), is_multiplier)) {
      throw std::invalid_argument("saved state: multipliers must be finite and not negative");
    }
    if (!(passes >= 0.0)) throw std::invalid_argument("saved state: passes must not be negative");
  }

  void point(const Problem& problem, Point& out) const {
    out.w = w;
    out.multipliers = a;
    out.b = problem.free_intercept ? b : 0.0;
  }

  std::optional<Estimate> estimate(const Problem&) const { return Estimate{dual + gap, dual}; }

  /// All rows come back, for a survey if it is known what is far. What follows from the multipliers is computed anew: it may have
  /// drifted, or the state may have been saved on a problem with other costs, labels or rows.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    std::vector<double> sum(w.size());  // beside w, which stays as it is when the poll stops the work
    double balance = 0.0;
    double total = 0.0;
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      a[i] = std::min(a[i], problem.box(i));
      if (a[i] == 0.0) continue;
      rows.add(i, a[i] * problem.target[i], sum);
      balance += a[i] * problem.target[i];
      total += a[i] - problem.loss.dual_penalty(a[i], problem.cost[i]);
      if (poll(rows.stored(i))) return;
    }
    w = std::move(sum);
    residue = balance;
    dual = total - 0.5 * squared_norm(w);
    if (!problem.free_intercept) b = 0.0;
    if (eps == 0.0) active.take_all();
    survey_due = shrinking && eps == 0.0 && shrink_above < kInfinity;
  }

  /// The rule of the paper says that this is the solution.
  bool finished() const { return within_eps; }

  /// One epoch over the active rows, or a survey of all. False when stopped by the poll: a and w are valid, the estimates are not.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    const std::int64_t before = touched;
    const bool finished = survey_due ? survey(rows, problem, poll) : ascend(rows, problem, poll);
    passes += static_cast<double>(touched - before) / static_cast<double>(problem.size());
    return finished;
  }

 private:
  /// Every active row makes its step.
  template <Rows R>
  bool ascend(const R& rows, const Problem& problem, Poll& poll) {
    std::vector<std::int64_t>& visit = scratch->visit;
    visit.resize(active.size());
    if (!order.arrange(active, visit, rng, poll)) return false;
    const auto n = static_cast<std::int64_t>(visit.size());
    Accounts accounts;
    const bool finished = lasts() || lanes.too_few(n) ? one_after_the_other(rows, problem, visit, poll, accounts)
                                                      : side_by_side(rows, problem, visit, poll, accounts);
    touched += accounts.touched;
    if (!finished) {
      active.stay();
      return false;
    }
    const bool full = active.full();
    active.depart();
    const auto [highest, lowest] = accounts.extremes;
    const bool stuck = highest <= 0.0 && lowest >= 0.0;
    follow(stuck ? accounts.jump : Jump{});
    gap = accounts.share + cost_of_residue();
    if (eps > 0.0) {
      shrink_beyond(highest > 0.0 ? highest : kInfinity, lowest < 0.0 ? lowest : -kInfinity);
      return_rows_within_eps(full, highest - lowest);
    } else {
      const double width = accounts.n_moved > 0 ? kFar * accounts.violation / static_cast<double>(accounts.n_moved) : kInfinity;
      shrink_beyond(width, -width);
      judge(full, std::max(highest, -lowest));
    }
    if (polish && n > 0) climb(rows, problem, n, accounts.stored, poll);
    return true;
  }

  /// All rows are looked at, in the order of memory and without a step. That takes a third of the time of an epoch that makes steps, and
  /// the gap found is the one of this very point. Seconds to gaps of 1e-2, 1e-3 and 1e-6 at C = 0.05 and 1 with and without a free b,
  /// evaluations included, geometric means relative to epochs with steps over all rows instead: Adult 0.96 (at C = 0.05: 0.93), Web 0.93,
  /// IJCNN1 0.90, 20 newsgroups 1.01.
  template <Rows R>
  bool survey(const R& rows, const Problem& problem, Poll& poll) {
    using Share = TotalOf<std::array<double, 1>>;
    active.take_all();
    touched += problem.size();
    Share share{};
    const auto look = [&](Share& part, std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double g = gradient(problem, i, rows.dot(i, w) + b, a[i]);
        part.values[0] += problem.loss.gap_share(a[i], g, problem.cost[i]);
        if (is_far(g, a[i], problem.box(i), ActiveRows::kFarAgain)) active.leave(i);
        if (own(rows.stored(i))) return false;
      }
      return true;
    };
    survey_due = false;
    if (!sum_over(Parts::of(rows.size(), rows.total_stored(), 0), lanes.n_threads, poll, Share{}, share, look)) {
      active.stay();
      return false;
    }
    active.depart();
    gap = share.values[0] + cost_of_residue();
    looked_at_all();
    earn(problem.size(), problem.size());
    return true;
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  /// Rows leave beyond this share of the mean projected gradient. Seconds to gaps of 1e-2, 1e-3 and 1e-6 at C = 0.05, 1 and 10 with and
  /// without a free b, evaluations included, geometric means relative to those with the paper's rule (the extremes): Adult 0.64, Web
  /// 0.41, IJCNN1 0.64, 20 newsgroups 0.84, RCV1-like 100,000 0.85. With 1: 0.68, 0.51, 0.74, 0.92, 0.92. With an eighth as with a quarter.
  static constexpr double kFar = 0.25;

  /// Whether the run is a long one: its steps are over-relaxed, in one lane. A small problem is solved on the face instead, and exact steps
  /// finish it.
  bool lasts() const {
    const bool small = polish && std::ssize(a) <= kFew;
    return eps == 0.0 && passes > kPatience && !small;
  }

  /// A run that is not done after so many passes is a hard one. Most are done before; with longer steps from the second pass on, default
  /// calls took up to 1.45 times as long on IJCNN1 and Web, probably since the estimated gap is rougher and evaluations come too early.
  static constexpr double kPatience = 8.0;
  /// Rows read to gaps of 1e-3 and 1e-6 with k, relative to those with exact steps, at C = 1, 10, 100 with and without a free b
  /// (geometric means; five seeds, one for RCV1-like 100,000):
  ///
  ///                     1.5                                     1.6                                     1.8
  ///   20 newsgroups     1.00 1.03 0.84  and  0.82 0.76 0.72     1.00 1.04 0.82  and  0.81 0.72 0.69     1.00 1.13 0.83  and  0.82 0.68 0.64
  ///   RCV1-like         1.00 0.80 0.71  and  0.87 0.72 0.65     1.00 0.78 0.67  and  0.86 0.68 0.61     1.00 0.81 0.65  and  1.00 0.64 0.57
  static constexpr double kRelaxed = 1.6;

  /// What a row does when its turn comes.
  struct Turn {
    double g;
    double projected;  // the part of g that the box lets it follow
    double next;       // its new multiplier
    bool leaves;
  };

  /// What an epoch finds out about its rows.
  struct Accounts {
    struct Extremes {
      double highest = -kInfinity;
      double lowest = kInfinity;
    };

    Extremes extremes = {};    // of the projected gradients
    double violation = 0.0;    // the sum of their absolute values
    std::int64_t n_moved = 0;  // how many are not zero
    double share = 0.0;        // of the gap
    double gained = 0.0;       // D without -|w|^2 / 2
    Jump jump = {};
    std::int64_t stored = 0;
    std::int64_t touched = 0;

    void merge(const Accounts& other) {
      extremes = {std::max(extremes.highest, other.extremes.highest), std::min(extremes.lowest, other.extremes.lowest)};
      violation += other.violation;
      n_moved += other.n_moved;
      share += other.share;
      gained += other.gained;
      jump.merge(other.jump);
      stored += other.stored;
      touched += other.touched;
    }
  };

  /// Where rows make their steps.
  struct alignas(64) Lane {
    double* w;
    double b;
    double residue;
    double dual;    // D, if there is one lane
    double weight;  // how often its steps count: 2 in two lanes
    double relaxation = 1.0;
    Accounts accounts = {};
  };

  template <Rows R>
  bool one_after_the_other(const R& rows, const Problem& problem, std::span<const std::int64_t> visit, Poll& poll,
                           Accounts& accounts) {
    Lane lane{w.data(), b, residue, dual, 1.0, lasts() ? kRelaxed : 1.0};
    const bool finished = take_all(rows, problem, visit, poll, lane);
    b = lane.b;
    residue = lane.residue;
    dual = lane.dual;
    accounts = lane.accounts;
    return finished;
  }

  template <Rows R>
  bool side_by_side(const R& rows, const Problem& problem, std::span<const std::int64_t> visit, Poll& poll,
                    Accounts& accounts) {
    const double half_norm = 0.5 * squared_norm(w);
    scratch->w = w;
    std::array<Lane, Lanes::kCount> lane{Lane{w.data(), b, residue, 0.0, 2.0}, Lane{scratch->w.data(), b, 0.0, 0.0, 2.0}};
    const Parts halves{static_cast<std::int64_t>(w.size()), Lanes::kCount};
    const auto take = [&](std::int64_t k, std::span<const std::int64_t> part) {
      take_all(rows, problem, part, Never{}, lane[static_cast<std::size_t>(k)]);
    };
    const auto merge = [&](std::int64_t k) {
      for (std::int64_t j = halves.begin(k); j < halves.end(k); ++j) {
        lane[0].w[j] = lane[1].w[j] = 0.5 * (lane[0].w[j] + lane[1].w[j]);
      }
      if (k == 0) lane[0].b = lane[1].b = 0.5 * (lane[0].b + lane[1].b);
    };
    const bool finished = lanes.each(visit, Lanes::mean_stored(rows), poll, take, merge);
    b = lane[0].b;
    residue = lane[0].residue + lane[1].residue;
    accounts = lane[0].accounts;
    accounts.merge(lane[1].accounts);
    dual += accounts.gained + (half_norm - 0.5 * squared_norm(w));
    return finished;
  }

  template <Rows R, class Stop>
  bool take_all(const R& rows, const Problem& problem, std::span<const std::int64_t> visit, Stop&& stop, Lane& lane) {
    const auto step = [&](std::int64_t i, std::int64_t next)
                          __attribute__((always_inline)) { take(rows, problem, i, next, lane); };
    return each_row(rows, visit, stop, step, a, problem.target, problem.cost);
  }

  /// The turn of row i. Row `next` is fetched meanwhile.
  template <Rows R>
  [[gnu::always_inline]] void take(const R& rows, const Problem& problem, std::int64_t i, std::int64_t next, Lane& lane) {
    Accounts& accounts = lane.accounts;
    accounts.stored += rows.stored(i);
    ++accounts.touched;
    const double decision = rows.with_constant(rows.product(i, lane.w, next), lane.w) + lane.b;
    const Turn turn = turn_of(rows, problem, i, decision, a[i], lane.relaxation);
    accounts.share += problem.loss.gap_share(a[i], turn.g, problem.cost[i]);
    if (turn.leaves) {
      active.leave(i);
      return;
    }
    accounts.extremes.highest = std::max(accounts.extremes.highest, turn.projected);
    accounts.extremes.lowest = std::min(accounts.extremes.lowest, turn.projected);
    if (turn.projected != 0.0) {
      accounts.violation += std::abs(turn.projected);
      ++accounts.n_moved;
      move(rows, problem, i, turn, lane);
    } else if (kappa > 0.0) {
      accounts.jump.add(a[i] == 0.0 ? -problem.target[i] : problem.target[i], std::abs(turn.g));
    }
  }

  [[gnu::always_inline]] static double gradient(const Problem& problem, std::int64_t i, double decision, double multiplier) {
    const double diagonal = problem.loss.diagonal(problem.cost[i]);
    const double g = problem.target[i] * decision - 1.0;
    return diagonal != 0.0 ? g + diagonal * multiplier : g;
  }

  /// Whether a row rests at a bound, so many times farther from a move than where rows leave.
  [[gnu::always_inline]] bool is_far(double g, double multiplier, double box, double times) const {
    return (multiplier == 0.0 && g > times * shrink_above) || (multiplier == box && g < times * shrink_below);
  }

  /// The maximum along coordinate i, or beyond it, where decision = w.x_i + b.
  template <Rows R>
  [[gnu::always_inline]] Turn turn_of(const R& rows, const Problem& problem, std::int64_t i, double decision, double multiplier,
                                      double relaxation) const {
    const double cost = problem.cost[i];
    const double box = problem.loss.box(cost);
    const double diagonal = problem.loss.diagonal(cost);
    const double g = gradient(problem, i, decision, multiplier);
    if (shrinking && is_far(g, multiplier, box, 1.0)) return {g, 0.0, multiplier, true};
    const double projected = multiplier == 0.0 ? std::min(g, 0.0) : multiplier == box ? std::max(g, 0.0) : g;
    if (projected == 0.0) return {g, 0.0, multiplier, false};
    const double q = rows.squared_norm(i) + kappa + diagonal;
    return {g, projected, problem.loss.best_multiplier(multiplier, relaxation * g, q, cost), false};
  }

  /// The row makes its step.
  template <Rows R>
  [[gnu::always_inline]] void move(const R& rows, const Problem& problem, std::int64_t i, const Turn& turn, Lane& lane) {
    const double target = problem.target[i];
    const double cost = problem.cost[i];
    const double change = turn.next - a[i];
    if (change == 0.0) return;
    const double counted = lane.weight * change * target;
    rows.add(i, counted, std::span(lane.w, w.size()));
    lane.dual -= change * (turn.g - target * lane.b + 0.5 * change * (rows.squared_norm(i) + problem.loss.diagonal(cost)));
    lane.b += kappa * counted;
    lane.residue += change * target;
    lane.accounts.gained += change - (problem.loss.dual_penalty(turn.next, cost) - problem.loss.dual_penalty(a[i], cost));
    a[i] = turn.next;
  }

  void shrink_beyond(double highest, double lowest) {
    shrink_above = highest;
    shrink_below = lowest;
  }

  void looked_at_all() {
    active.full_gap = gap;
    full_b = b;
  }

  /// A survey is due when the active rows are settled, or when b has moved by half the largest violation among them: rows left out
  /// cannot answer a move of b.
  void judge(bool full, double violation) {
    if (full)
      looked_at_all();
    else
      survey_due = active.settled(gap) || std::abs(b - full_b) > 0.5 * violation;
  }

  /// All rows come back, or the run ends, when the projected gradients are this close.
  void return_rows_within_eps(bool full, double range) {
    within_eps = full && range <= eps;
    if (full || range > eps) return;
    active.take_all();
    shrink_beyond(kInfinity, -kInfinity);
  }

  // What a climb costs, in units of one row's dot product:
  /// Rows of a problem that is so small that steps on the face cost nothing.
  static constexpr std::int64_t kFew = 1000;
  /// On others a climb may cost this share of the rows read since the last one: most of the time coordinate steps would have
  /// arrived as soon. To 1e-6 on Adult and ijcnn1 with C from 0.05 to 10, it takes 1.0 to 1.2 times as long as without any climb; when
  /// epochs over few rows earned as much as longer ones, and climbs might cost four times that, it took 2.1 to 2.8 times as long.
  static constexpr double kShare = 0.5;
  /// A dot product costs as much as reading so many values more than the row has: finding the row in memory.
  static constexpr double kValuesPerRow = 16.0;
  /// Steps that a small problem may take whatever they cost.
  static constexpr double kAlways = 100.0;
  /// No climb takes more: each step but the last makes the face smaller.
  static constexpr double kMostSteps = static_cast<double>(Face::kLargest);

  void earn(std::int64_t m, std::int64_t n_visited) {
    credit += m <= kFew ? static_cast<double>(m) : kShare * static_cast<double>(n_visited);
  }

  /// A climb on the face of the free multipliers, once epochs have earned it.
  template <Rows R>
  void climb(const R& rows, const Problem& problem, std::int64_t n_visited, std::int64_t n_stored, Poll& poll) {
    const std::int64_t m = problem.size();
    earn(m, n_visited);
    const auto is_free = [&](std::int64_t i) { return Face::is_free(problem, *this, i); };
    const auto n_free = std::count_if(active.begin(), active.end(), is_free);
    if (n_free == 0 || n_free > static_cast<std::int64_t>(Face::kLargest)) return;
    const auto f = static_cast<double>(n_free);
    const double per_row = static_cast<double>(n_stored) / static_cast<double>(n_visited) + kValuesPerRow;
    const double one_step = f + f * f * f / (3.0 * per_row);  // r, and the Cholesky factor
    if (!(credit >= 0.5 * f * f + one_step)) return;          // f^2 / 2: half of K, which is symmetric
    const double affordable = credit / one_step;
    const double at_least = m <= kFew ? std::min(f, kAlways) : 1.0;
    Face::climb(rows, problem, *this, static_cast<int>(std::clamp(affordable, at_least, kMostSteps)), poll);
    credit = 0.0;
  }
};

static_assert(Solver<Dcd>);

}  // namespace hinge
