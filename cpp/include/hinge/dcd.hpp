#pragma once
// Dual coordinate descent with shrinking.
//
// Hsieh, Chang, Lin, Keerthi & Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM" (ICML 2008),
// Algorithms 1 and 3.
//
//   maximise D(a) over 0 <= a_i <= C_i, one a_i at a time:   g = y_i (w.x_i + b) - 1,   a_i <- clip(a_i - g / q_i, 0, C_i),
//   w += (change of a_i) y_i x_i.
//
// Shrinking: a row at a bound whose gradient lies beyond the extreme projected gradients of the last epoch leaves the
// active set. It is a guess: all rows come back when the active ones are settled (a tenth of the gap is left), and
// whenever the caller's check on all rows disagrees (`activate_all`).
//
// Free intercept: single coordinates cannot move along sum a_i y_i = 0, so the constraint is handled by the method of
// multipliers. b is the multiplier; the penalty kappa/2 (sum a_i y_i)^2 acts like a constant feature sqrt(kappa):
// q_i = |x_i|^2 + kappa, and b moves by kappa (change of a_i) y_i at each step, and by up to kappa sum a_i y_i after each
// epoch.
//
// Polish: now and then all free multipliers move at once (face.hpp).
//
// Outputs: the multipliers a (always inside the box), w = w(a) up to rounding, and an estimate of the gap,
//   P - D = sum_i (C_i max(0, -g_i) + a_i g_i),
// each row's share taken when the row was visited (it is zero for a row that was rightly shrunk away). For a free
// intercept it includes roughly what repairing sum_i a_i y_i = 0 will cost.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hinge/face.hpp"
#include "hinge/objective.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/state.hpp"

namespace hinge {

struct Dcd : DualIterate {
  Order order;
  Rng rng;
  bool shrinking;
  bool polish;

  double last_residue = 0.0;  // after the epoch before
  double rate = 1.0;          // of the multiplier b, relative to kappa
  ActiveRows active;
  double shrink_above = kInfinity;   // a row at a = 0 leaves when its gradient is above
  double shrink_below = -kInfinity;  // a row at a = C leaves when its gradient is below
  double gap = kInfinity;            // estimate of the last epoch
  double full_gap = kInfinity;       // of the last epoch over all rows
  double full_b = 0.0;               // b then
  double credit = 0.0;               // rows read since the last climb on the face
  std::int64_t touched = 0;          // rows read

  Dcd(const Problem& problem, std::int64_t n_features, bool with_shrinking, bool with_polish, double penalty, Order row_order,
      Rng random)
      : order(row_order), rng(random), shrinking(with_shrinking), polish(with_polish) {
    kappa = penalty;
    a.resize(static_cast<std::size_t>(problem.size()));
    w.resize(static_cast<std::size_t>(n_features) + 1);
    activate_all();
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
    field("full_gap", full_gap);
    field("full_b", full_b);
    field("dual", dual);
    field("summit", summit);
    field("credit", credit);
  }

  /// All rows come back, and what follows from the multipliers is computed anew: it may have drifted, or the state may
  /// have been saved on a problem with other costs, labels or rows.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    std::vector<double> sum(w.size());  // beside w, which stays as it is when the poll stops the work
    double balance = 0.0;
    double total = 0.0;
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      a[i] = std::min(a[i], problem.cost[i]);
      if (a[i] == 0.0) continue;
      rows.add(i, a[i] * problem.y[i], sum);
      balance += a[i] * problem.y[i];
      total += a[i];
      if (poll(rows.stored(i))) return;
    }
    w = std::move(sum);
    residue = balance;
    dual = total - 0.5 * squared_norm(w);
    if (!problem.free_intercept) b = 0.0;
    activate_all();
  }

  void activate_all() {
    active.take_all(static_cast<std::int64_t>(a.size()));
    shrink_above = kInfinity;
    shrink_below = -kInfinity;
  }

  /// One epoch over the active rows. False when stopped by the poll: a and w are valid, the estimates are not.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    std::vector<std::int64_t> visit(active.size());
    if (!order.arrange(active, visit, rng, poll)) return false;
    std::vector<std::int64_t> leaving;
    double highest = -kInfinity;  // of the projected gradients
    double lowest = kInfinity;
    double share = 0.0;
    std::int64_t stored = 0;
    const auto n = static_cast<std::int64_t>(visit.size());
    for (std::int64_t step = 0; step < n; ++step) {
      if (step + kPrefetchDistance < n) {
        const std::int64_t next = visit[step + kPrefetchDistance];
        rows.prefetch(next);
        __builtin_prefetch(&a[next]);
        __builtin_prefetch(&problem.cost[next]);
      }
      const std::int64_t i = visit[step];
      stored += rows.stored(i);
      const double g = problem.y[i] * (rows.dot(i, w) + b) - 1.0;
      share += std::max(0.0, -problem.cost[i] * g) + a[i] * g;
      ++touched;
      if (shrinking && leaves(problem, i, g)) {
        leaving.push_back(i);
      } else {
        const double projected = a[i] == 0.0 ? std::min(g, 0.0) : a[i] == problem.cost[i] ? std::max(g, 0.0) : g;
        highest = std::max(highest, projected);
        lowest = std::min(lowest, projected);
        if (projected != 0.0) move(rows, problem, i, g);
      }
      if (poll(rows.stored(i))) return false;
    }
    const bool full = active.size() == a.size();
    active.remove(leaving);
    shrink_above = highest > 0.0 ? highest : kInfinity;
    shrink_below = lowest < 0.0 ? lowest : -kInfinity;
    if (kappa > 0.0) update_multiplier();
    gap = kappa > 0.0 ? share + (1.0 + std::abs(b)) * std::abs(residue) : share;
    return_rows(full, std::max(highest, -lowest));
    if (polish && n > 0) climb(rows, problem, n, stored, poll);
    return true;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kSettled = 0.1;
  static constexpr std::int64_t kFew = 1000;  // rows: so few that steps on the face cost nothing

  bool leaves(const Problem& problem, std::int64_t i, double g) const {
    return (a[i] == 0.0 && g > shrink_above) || (a[i] == problem.cost[i] && g < shrink_below);
  }

  /// The exact maximum along coordinate i.
  template <Rows R>
  void move(const R& rows, const Problem& problem, std::int64_t i, double g) {
    const double label = problem.y[i];
    const double q = rows.squared_norm(i) + kappa;
    const double next = q > 0.0 ? std::min(std::max(a[i] - g / q, 0.0), problem.cost[i]) : problem.cost[i];
    const double change = next - a[i];
    if (change == 0.0) return;
    rows.add(i, change * label, w);
    dual -= change * (g - label * b + 0.5 * change * rows.squared_norm(i));
    b += kappa * change * label;
    residue += change * label;
    a[i] = next;
  }

  /// b follows the residue. A residue that changes its sign tells of a multiplier that overshoots: smaller steps until it
  /// settles.
  void update_multiplier() {
    rate = residue * last_residue < 0.0 ? 0.5 * rate : std::min(1.0, 1.5 * rate);
    b += rate * kappa * residue;
    last_residue = residue;
  }

  /// All rows come back when the active ones are settled, or when b has moved by half the largest violation among them:
  /// rows left out cannot answer a move of b.
  void return_rows(bool full, double violation) {
    if (full) {
      full_gap = gap;
      full_b = b;
    } else if (gap <= kSettled * full_gap || std::abs(b - full_b) > 0.5 * violation) {
      activate_all();
    }
  }

  /// A climb on the face of the free multipliers, once coordinate steps have done as much work as it takes.
  template <Rows R>
  void climb(const R& rows, const Problem& problem, std::int64_t n_visited, std::int64_t n_stored, Poll& poll) {
    const std::int64_t m = problem.size();
    credit += static_cast<double>(std::max(n_visited, std::min(m, 1000 + m / 8)));
    const auto is_free = [&](std::int64_t i) { return a[i] > 0.0 && a[i] < problem.cost[i]; };
    const auto n_free = std::count_if(active.begin(), active.end(), is_free);
    if (n_free == 0 || n_free > static_cast<std::int64_t>(Face::kLargest)) return;
    // In units of one row's dot product, which costs about as much as reading 16 values more.
    const auto f = static_cast<double>(n_free);
    const double per_row = static_cast<double>(n_stored) / static_cast<double>(n_visited) + 16.0;
    const double one_step = f + f * f * f / (3.0 * per_row);
    if (!(credit >= 0.5 * f * f + one_step)) return;
    const double affordable = 4.0 * credit / one_step;
    const double at_least = m <= kFew ? std::min(f, 100.0) : 1.0;
    Face::climb(rows, problem, *this, static_cast<int>(std::clamp(affordable, at_least, 400.0)), poll);
    credit = 0.0;
  }
};

}  // namespace hinge
