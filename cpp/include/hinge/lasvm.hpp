#pragma once
// LASVM: an online method for exact kernel machines, and its finishing step.
//
// Bordes, Ertekin, Weston & Bottou, "Fast Kernel Classifiers with Online and Active Learning", JMLR 6, 2005. The function is
// f(x) = sum_s alpha_s k(x_s, x) + b with signed multipliers alpha_s = a_s t_s (kernel_dual.hpp has the dual and its derivatives g).
// The support set S holds the rows that may have alpha_s != 0; g is known on S only.
//
//   process(k)    k enters S with g_k = t_k - sum_s alpha_s k(x_s, x_k); then the pair of k and the most violating row of S moves
//   reprocess     the most violating pair of S moves; rows with alpha = 0 that violate nothing leave S
//   online epoch  for each row k of a permutation: process(k), reprocess
//   finishing     g of all rows, and steps on working sets of the most violating ones, until the gap is closed
//
// A pair violates if g_i - g_j > tau, alpha_i < upper_i and alpha_j > lower_j. Without a free intercept single rows move instead.
//
// The finishing step of the paper is reprocess until no pair of S violates, which says nothing of rows outside S. Ours looks at all
// rows, and moves many at once: decomposition.hpp.
//
// Kernel rows are kept in single precision. g drifts from the exact one by that, and by what rounding adds: `rebuild` computes it
// anew in double precision, after an exact evaluation has found a gap that was still too large. So steps with rounded rows end at
// the exact optimum, as in iterative refinement.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "hinge/decomposition.hpp"
#include "hinge/kernel_dual.hpp"
#include "hinge/kernel_rows.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/state.hpp"

namespace hinge {

struct LasvmOptions {
  std::int64_t online_epochs = 1;
  double tau = 1e-3;
  std::int64_t working_set = 1024;  // rows at most: they must fit into the cache
  std::int64_t cache_bytes = std::int64_t{1} << 28;
  double tol = 1e-3;  // relative gap at which an epoch of the finishing step ends
  std::int64_t n_threads = 1;
};

/// Rows in the order in which they came, each at most once.
struct SupportSet {
  Varying<std::int64_t> rows;

  explicit SupportSet(std::int64_t m) : holds_(static_cast<std::size_t>(m)) {}

  bool holds(std::int64_t i) const { return holds_[static_cast<std::size_t>(i)]; }
  void add(std::int64_t i) {
    holds_[static_cast<std::size_t>(i)] = true;
    rows.push_back(i);
  }
  template <class Leaves>
  void remove_if(Leaves&& leaves) {
    std::erase_if(rows, [&](std::int64_t i) {
      const bool gone = leaves(i);
      if (gone) holds_[static_cast<std::size_t>(i)] = false;
      return gone;
    });
  }
  /// After `rows` was restored.
  void index() {
    std::fill(holds_.begin(), holds_.end(), false);
    for (const std::int64_t i : rows) holds_[static_cast<std::size_t>(i)] = true;
  }

 private:
  std::vector<char> holds_;
};

struct Lasvm {
  LasvmOptions options;
  Order order;
  Rng rng;

  KernelDual dual;  // g of the rows of S; of all rows when finishing
  SupportSet support;
  Decomposition decomposition;
  std::int64_t epochs = 0;
  bool finishing = false;
  std::int64_t touched = 0;

  Lasvm(const Problem& problem, std::int64_t, Kernel kernel, LasvmOptions how, Order row_order, Rng random)
      : options(how),
        order(row_order),
        rng(random),
        dual(problem, KernelCache(kernel, problem.size(), how.cache_bytes, kLeastRows)),
        support(problem.size()),
        decomposition(std::min({how.working_set, problem.size(), dual.cache.capacity()})) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    field("alpha", dual.alpha);
    field("g", dual.g);
    field("support", support.rows);
    field("rows_at_work", decomposition.rows_at_work);
    field("epochs", epochs);
    field("finishing", finishing);
    field("rng", rng);
  }

  void check_restored(const Problem& problem) const {
    expect_distinct(support.rows, problem.size());
    expect_distinct(decomposition.rows_at_work, problem.size());
  }

  /// The coefficients of f in the rows, and the multipliers.
  void point(const Problem& problem, Point& out) const {
    out.w = dual.alpha;
    for (std::int64_t i = 0; i < problem.size(); ++i) out.multipliers[i] = dual.alpha[i] * problem.target[i];
    if (finishing) out.b = dual.intercept(problem);
  }

  std::optional<Estimate> estimate(const Problem& problem) const {
    if (!finishing) return std::nullopt;
    return now(problem);
  }

  /// g of all rows, so that the finishing step can begin, or go on where g has drifted.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    dual.make_feasible(problem);
    finishing = dual.recompute(rows, problem, poll, options.n_threads);
  }

  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    if (!finishing && epochs < options.online_epochs) {
      ++epochs;
      return online_epoch(rows, problem, poll);
    }
    if (!finishing) rebuild(rows, problem, poll);
    return finishing && finish(rows, problem, poll);
  }

 private:
  static constexpr std::int64_t kLeastRows = 4;  // in the cache

  Estimate now(const Problem& problem) const { return dual.objective(problem, dual.intercept(problem)); }

  /// Steps on about m rows, or until the gap is that asked for, or a quarter of what it was. False when stopped by the poll.
  template <Rows R>
  bool finish(const R& rows, const Problem& problem, Poll& poll) {
    const Estimate before = now(problem);
    const double quarter = 0.25 * (before.primal - before.dual);
    const bool above = before.primal - before.dual > options.tol * before.dual;
    for (std::int64_t read = 0; read < problem.size();) {
      if (!decomposition.choose(rows, problem, dual)) {
        touched += problem.size();  // all were looked at: it is time for an exact evaluation
        break;
      }
      if (!decomposition.step(rows, problem, dual, poll, options.n_threads)) return false;
      read += static_cast<std::int64_t>(decomposition.rows_at_work.size());
      touched += static_cast<std::int64_t>(decomposition.rows_at_work.size());
      const auto [primal, lower] = now(problem);
      if (primal - lower <= (above ? std::max(quarter, options.tol * lower) : quarter)) break;
    }
    return true;
  }

  template <Rows R>
  bool online_epoch(const R& rows, const Problem& problem, Poll& poll) {
    support.index();
    const auto visit = order.of_all(problem.size(), rng, poll);
    if (visit.empty()) return false;
    for (const std::int64_t k : visit) {
      process(rows, problem, k);
      reprocess(rows, problem);
      ++touched;
      if (poll(static_cast<std::int64_t>(support.rows.size()) * (rows.stored(k) / 4 + 8))) return false;
    }
    return true;
  }

  template <Rows R>
  void process(const R& rows, const Problem& problem, std::int64_t k) {
    if (support.holds(k)) return;
    const float* values = dual.cache.on(rows, k, support.rows);
    double z = 0.0;
    for (const std::int64_t s : support.rows) z += dual.alpha[s] * static_cast<double>(values[s]);
    dual.g[k] = problem.target[k] - z;
    support.add(k);
    if (!problem.free_intercept) return move_single(rows, problem, k);
    const auto [i, j] = extremes(problem);
    if (problem.target[k] > 0.0) {
      move_pair(rows, problem, k, j);
    } else {
      move_pair(rows, problem, i, k);
    }
  }

  template <Rows R>
  void reprocess(const R& rows, const Problem& problem) {
    if (!problem.free_intercept) {
      if (const std::int64_t i = largest_gain(rows, problem); i >= 0) move_single(rows, problem, i);
      support.remove_if([&](std::int64_t s) { return dual.alpha[s] == 0.0 && problem.target[s] * dual.g[s] <= 0.0; });
      return;
    }
    const auto [i, j] = extremes(problem);
    move_pair(rows, problem, i, j);
    const auto [high, low] = extremes(problem);
    if (high < 0 || low < 0) return;
    const double most = dual.g[high];
    const double least = dual.g[low];
    support.remove_if([&](std::int64_t s) {
      return dual.alpha[s] == 0.0 && (problem.target[s] > 0.0 ? dual.g[s] <= least : dual.g[s] >= most);
    });
  }

  KernelDual::Extremes extremes(const Problem& problem) const {
    KernelDual::Extremes found;
    for (const std::int64_t s : support.rows) dual.look_at(problem, s, found);
    return found;
  }

  /// The pair moves if it violates by more than tau.
  template <Rows R>
  void move_pair(const R& rows, const Problem& problem, std::int64_t i, std::int64_t j) {
    if (i < 0 || j < 0 || !dual.can_rise(problem, i) || !dual.can_fall(problem, j)) return;
    if (!(dual.g[i] - dual.g[j] > options.tau)) return;
    const float* ki = dual.cache.on(rows, i, support.rows);
    const float* kj = dual.cache.on(rows, j, support.rows);
    const double diagonals = dual.curvature(rows, problem, i) + dual.curvature(rows, problem, j);
    const double step = pair_step({dual.g[i] - dual.g[j], diagonals, static_cast<double>(ki[j])},  //
                                  dual.alpha[i], KernelDual::upper(problem, i), dual.alpha[j], KernelDual::lower(problem, j));
    for (const std::int64_t s : support.rows) dual.g[s] -= step * (static_cast<double>(ki[s]) - static_cast<double>(kj[s]));
    dual.g[i] -= step * KernelDual::diagonal(problem, i);
    dual.g[j] += step * KernelDual::diagonal(problem, j);
  }

  template <Rows R>
  std::int64_t largest_gain(const R& rows, const Problem& problem) const {
    std::int64_t best = -1;
    double most = 0.0;
    for (const std::int64_t s : support.rows) {
      const double q = dual.curvature(rows, problem, s);
      const double step = dual.single_step(problem, s, q);
      const double gain = step * (dual.g[s] - 0.5 * step * q);
      if (gain > most) {
        most = gain;
        best = s;
      }
    }
    return best;
  }

  template <Rows R>
  void move_single(const R& rows, const Problem& problem, std::int64_t i) {
    const double step = dual.single_step(problem, i, dual.curvature(rows, problem, i));
    if (step == 0.0 || !(std::abs(dual.g[i]) > options.tau)) return;
    dual.alpha[i] = std::clamp(dual.alpha[i] + step, KernelDual::lower(problem, i), KernelDual::upper(problem, i));
    const float* values = dual.cache.on(rows, i, support.rows);
    for (const std::int64_t s : support.rows) dual.g[s] -= step * static_cast<double>(values[s]);
    dual.g[i] -= step * KernelDual::diagonal(problem, i);
  }
};

static_assert(Solver<Lasvm>);

}  // namespace hinge
