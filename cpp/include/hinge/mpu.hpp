#pragma once
// Margin perceptron with unlearning.
//
// Panagiotakopoulos & Tsampouka, "The Margin Perceptron with Unlearning" (ICML 2010).
//
// Multipliers are multiples of a step: a_k = h_k I_k with integer counts 0 <= I_k <= N and h_k = C_k / N, N a power of two
// (so that h_k I_k = C_k exactly at I_k = N). With q_k = |x_k|^2 and p = t_k (w.x_k + b), a visit of row k
//
//   learns     if p <= 1 and I_k < N:          counts until p > 1              (a margin of exactly 1 counts as an error)
//   unlearns   if p > 1 + h_k q_k and I_k > 0: counts until p <= 1 + h_k q_k
//
// each time as many as one inner product shows to be due (Proposition 3 of the authors' SGD paper, without shrinking).
//
// It ends. One count learned changes sum_k (1 + h_k q_k / 2) a_k - |w|^2 / 2 by h_k (1 - p) >= 0, one unlearned by
// h_k (p - 1 - h_k q_k) > 0, and there are finitely many counts. (With the threshold 1 + h_k q_k / 2, where giving a count
// back begins to raise D itself, a row may go to and fro for ever: the last count learned may lower D.)
//
// What it leaves. If no row moves, the gap sum_k (C_k max(0, 1 - p_k) + a_k (p_k - 1)) is at most sum_k a_k h_k q_k. With
// z = max_k h_k q_k, |w|^2 = sum_k a_k p_k <= (1 + z) sum_k a_k, so D >= (1 - z)/2 sum_k a_k and the relative gap is at most
// delta = 2 z / (1 - z): the accuracy known before the run.
//
// The step. Large steps move far and seldom, so a run begins with few counts, and doubles them (the multipliers stay)
// whenever the gap of an epoch is within what the step may leave. No accuracy has to be known, and none stops it. That is ours:
// the paper's step is fixed, and the run ends when no row moves in an epoch over all rows (`refining` false).
//
// The active set. A row at a bound that did not move, and whose margin is farther from 1 than those of the rows that moved
// in the epoch before were on average, leaves (the threshold is ours). All rows come back when the active ones are settled
// (state.hpp), when as many rows as two full epochs have were read, or when none moves; and whenever the caller's check on all rows
// disagrees.
//
// Free intercept: the method of multipliers (free_intercept.hpp). q_k grows by kappa, so that h_k q_k is what one count moves p by,
// b included. All of the above then holds between two epochs, of the problem with a constant feature sqrt(kappa) and this b; and
// all rows come back when b has moved by half the mean |p - 1| of the rows that moved, since rows left out cannot answer it.
//
// Outputs: the multipliers, w = w(a) up to rounding, and an estimate of the gap as in dcd.hpp. No intercept, a penalised one
// through the rows, or a free one.
//
// W is the type of w: double, or float as in the comparison of the authors' SGD paper. Multipliers and sums are in double.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "hinge/epoch.hpp"
#include "hinge/free_intercept.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/state.hpp"
#include "hinge/sums.hpp"

namespace hinge {

template <class W = double>
struct Mpu : FreeIntercept {
  Order order;
  Rng rng;

  bool refining;                     // N doubles
  std::int64_t N;                    // counts that make up C_k
  std::vector<std::int64_t> counts;  // I_k
  std::vector<W> w;
  ActiveRows active;
  double width = kInfinity;  // a row at a bound leaves when its margin is farther from 1
  double gap = kInfinity;    // estimate of the last epoch
  std::int64_t reduced = 0;  // rows read since the last epoch over all rows
  double full_b = 0.0;       // b after the last epoch over all rows
  double dual = 0.0;         // D(a), tracked
  bool at_rest = false;      // with a fixed step: no row has moved in the last epoch, which was over all rows
  std::int64_t touched = 0;  // rows read

  Mpu(const Problem& problem, std::int64_t n_features, std::int64_t n_counts, bool with_refining, double penalty,
      Order row_order, Rng random)
      : order(row_order),
        rng(random),
        refining(with_refining),
        N(n_counts),
        counts(static_cast<std::size_t>(problem.size())),
        w(static_cast<std::size_t>(n_features) + 1),
        active(problem.size()) {
    kappa = penalty;
    check_counts();
  }

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    field("N", N);
    field("counts", counts);
    field("w", w);
    field("b", b);
    field("residue", residue);
    field("last_residue", last_residue);
    field("rate", rate);
    field("active", active);
    field("width", width);
    field("gap", gap);
    field("full_gap", active.full_gap);
    field("reduced", reduced);
    field("full_b", full_b);
    field("dual", dual);
    field("rng", rng);
  }

  void check_restored(const Problem&) const {
    check_counts();
    active.check_restored();
  }

  void point(const Problem& problem, Point& out) const {
    std::copy(w.begin(), w.end(), out.w.begin());
    out.b = problem.free_intercept ? b : 0.0;
    for (std::int64_t k = 0; k < problem.size(); ++k) out.multipliers[k] = multiplier(problem, k);
  }

  std::optional<Estimate> estimate(const Problem&) const { return Estimate{dual + gap, dual}; }

  /// Another epoch would change nothing.
  bool finished() const { return at_rest; }

  /// All rows come back, and what follows from the counts is computed anew: it may have drifted, or the state may have been
  /// saved on a problem with other costs, labels or rows.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    std::vector<W> sum(w.size());  // beside w, which stays as it is when the poll stops the work
    double balance = 0.0;
    double total = 0.0;
    for (std::int64_t k = 0; k < problem.size(); ++k) {
      if (counts[k] == 0) continue;
      const double a = multiplier(problem, k);
      rows.add(k, a * problem.target[k], sum);
      balance += a * problem.target[k];
      total += a;
      if (poll(rows.stored(k))) return;
    }
    w = std::move(sum);
    residue = balance;
    if (!problem.free_intercept) b = 0.0;
    dual = total - 0.5 * squared_norm(w);
    activate_all();
  }

  /// One epoch over the active rows. False when stopped by the poll: counts and w are valid, the estimates are not.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    std::vector<std::int64_t> visit(active.size());
    if (!order.arrange(active, visit, rng, poll)) return false;
    double share = 0.0;      // of the gap
    double allowed = 0.0;    // what the step may leave of it
    double violation = 0.0;  // |p - 1|, summed over the rows that moved
    std::int64_t n_moved = 0;
    Jump jump;
    const auto visit_row = [&](std::int64_t k, std::int64_t next) __attribute__((always_inline)) {
      const double g = problem.target[k] * (rows.dot(k, w, next) + b) - 1.0;
      const double a = multiplier(problem, k);
      const double zone = step(problem, k) * (rows.squared_norm(k) + kappa);
      share += problem.loss.gap_share(a, g, problem.cost[k]);
      allowed += a * zone;
      ++touched;
      if (const std::int64_t due = counts_due(k, g, zone); due != 0) {
        move(rows, problem, k, g, due);
        violation += std::abs(g);
        ++n_moved;
      } else {
        if ((counts[k] == 0 && g > width) || (counts[k] == N && -g > width)) active.leave(k);
        if (kappa > 0.0 && counts[k] < N) jump.add(-problem.target[k], g);        // it learns when p falls to 1
        if (kappa > 0.0 && counts[k] > 0) jump.add(problem.target[k], zone - g);  // and unlearns beyond the zone
      }
    };
    if (!each_row(rows, visit, poll, visit_row, counts, problem.target, problem.cost)) {
      active.stay();
      return false;
    }
    const bool full = active.full();
    active.depart();
    width = n_moved > 0 ? violation / static_cast<double>(n_moved) : 0.0;
    follow(n_moved == 0 ? jump : Jump{});
    gap = share + cost_of_residue();
    return_rows(full, static_cast<std::int64_t>(visit.size()), n_moved);
    if (refining && share <= allowed) refine();
    at_rest = !refining && full && n_moved == 0 && kappa == 0.0;
    return true;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr std::int64_t kMostCounts = std::int64_t{1} << 52;  // all counts are exact in float64

  double step(const Problem& problem, std::int64_t k) const { return problem.cost[k] / static_cast<double>(N); }
  double multiplier(const Problem& problem, std::int64_t k) const { return step(problem, k) * static_cast<double>(counts[k]); }

  void check_counts() const {
    if (N < 1 || N > kMostCounts || !std::has_single_bit(static_cast<std::uint64_t>(N))) {
      throw std::invalid_argument("N must be a power of two of at most 2^52");
    }
    if (std::any_of(counts.begin(), counts.end(), [&](std::int64_t count) { return count < 0 || count > N; })) {
      throw std::invalid_argument("counts must lie between 0 and N");
    }
  }

  /// How many counts row k learns (or unlearns: negative), with g = p - 1 and zone = h_k q_k. Rows of zeros learn all.
  std::int64_t counts_due(std::int64_t k, double g, double zone) const {
    if (g <= 0.0 && counts[k] < N) return at_most(N - counts[k], std::floor(-g / zone) + 1.0);
    if (g > zone && counts[k] > 0) return -at_most(counts[k], std::max(std::ceil(g / zone) - 1.0, 1.0));
    return 0;
  }

  /// `wanted` may be infinite, or no number.
  static std::int64_t at_most(std::int64_t room, double wanted) {
    return wanted < static_cast<double>(room) ? static_cast<std::int64_t>(wanted) : room;
  }

  template <Rows R>
  void move(const R& rows, const Problem& problem, std::int64_t k, double g, std::int64_t due) {
    const double target = problem.target[k];
    const double change = step(problem, k) * static_cast<double>(due);
    rows.add(k, change * target, w);
    dual -= change * (g - target * b + 0.5 * change * rows.squared_norm(k));
    moved(change * target);
    counts[k] += due;
  }

  /// Rows leave again if their margins are farther from 1 than `farthest`.
  void activate_all(double farthest = kInfinity) {
    at_rest = false;
    active.take_all();
    width = farthest;
  }

  void return_rows(bool full, std::int64_t n_visited, std::int64_t n_moved) {
    if (full) {
      active.full_gap = gap;
      full_b = b;
      reduced = 0;
      return;
    }
    reduced += n_visited;
    const bool enough = reduced >= 2 * static_cast<std::int64_t>(counts.size());
    if (n_moved == 0) {
      activate_all();
    } else if (enough || active.settled(gap) || std::abs(b - full_b) > 0.5 * width) {
      activate_all(ActiveRows::kFarAgain * width);
    }
  }

  /// Half the step, the same multipliers.
  void refine() {
    if (N == kMostCounts) return;
    N *= 2;
    for (std::int64_t& count : counts) count *= 2;
  }
};

static_assert(Solver<Mpu<double>> && Solver<Mpu<float>>);

}  // namespace hinge
