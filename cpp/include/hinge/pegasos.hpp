#pragma once
// Pegasos: primal estimated sub-gradient solver for SVM.
//
// Shalev-Shwartz, Singer & Srebro (ICML 2007); Rupnik, "Stochastic subgradient approach for solving linear SVMs".
// Minimises lambda/2 |w|^2 + mean loss, that is lambda P. Step t = 1, 2, ...:
//
//   1. choose A_t, k rows: drawn independently, k different rows drawn anew, or the next piece of an order of all rows
//   2. A_t+ = rows of A_t with t (w.x + b) < 1                       (strict: a margin of exactly 1 is no loss)
//   3. w <- (1 - 1/t) w + eta_t/k sum over A_t+ of s^_i slope_i t_i x_i,   eta_t = 1/(lambda t)     (hinge: slope_i = 1)
//   4. w <- min(1, 1/(sqrt(lambda) |w|)) w                           (optional)
//
// A step costs O(non-zeros of A_t) (primal_iterate.hpp). At t = 1 the factor 1 - 1/t is exactly 0: the start is erased,
// except through the choice of the first violators.
//
// Intercept: none or a constant feature (through the rows); free, by subgradient steps b += eta_t/k sum s^_i slope_i t_i;
// or free and exact (hinge only): b minimises the loss of A_t at each step (a weighted median), and the rows exactly on the
// margin take the fraction of a violation that makes sum s^_i t_i = 0, which is the subgradient of that minimum.
//
// Outputs: the last iterate, the average of all iterates, or the iterate of a uniformly random step. With w_1 the start and w_{t+1}
// what step t makes, the theorems speak of the mean of w_1 .. w_T, and this is that of w_2 .. w_{T+1}, which step T has made: the
// iterate before the first step is left out, and the last one counts.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "hinge/epoch.hpp"
#include "hinge/intercept.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/primal_iterate.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/sums.hpp"

namespace hinge {

enum class Bias { none, subgradient, exact };

struct PegasosOptions {
  std::int64_t k = 1;
  Sampling sampling = Sampling::iid;
  bool projection = true;
  bool advance_without_loss = true;  // false: a step without loss changes nothing, t included
  Bias bias = Bias::none;
  Output output = Output::last;
  bool random_start = false;
  std::vector<double> start = {};  // w_1, if the user has one
  std::int64_t steps = 0;          // T; 0: no limit
};

struct Pegasos : PrimalIterate<> {
  PegasosOptions options;
  Order order;
  Rng rng;

  double b = 0.0;

  Pegasos(const Problem& problem, std::int64_t n_features, PegasosOptions how, Order row_order, Rng random)
      : PrimalIterate(problem.size(), n_features, how.output), options(how), order(row_order), rng(random) {
    if (options.bias == Bias::exact && !problem.loss.is_hinge()) {
      throw std::invalid_argument("Pegasos: bias=\"exact\" is for the hinge loss only");
    }
    if (options.random_start) start_in_ball(std::sqrt(problem.total_cost));
    if (!options.start.empty()) start_at(options.start);
  }

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    PrimalIterate::fields(field);
    field("b", b);
    field("rng", rng);
  }

  void check_restored(const Problem&) const {}

  void point(const Problem& problem, Point& out) const {
    PrimalIterate::point(out.w, out.multipliers);
    if (problem.free_intercept) out.b = b;
  }

  std::optional<Estimate> estimate(const Problem&) const { return std::nullopt; }

  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    if (!problem.free_intercept) b = 0.0;
    PrimalIterate::rebuild(rows, problem, poll);
  }

  /// T steps were taken.
  bool finished() const { return options.steps > 0 && t >= options.steps; }

  /// About m rows in steps of k. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    if (finished()) return true;
    auto visit = draw(problem.size(), poll);
    if (visit.empty()) return false;
    if (options.steps > 0) visit.resize(std::min(visit.size(), static_cast<std::size_t>((options.steps - t) * options.k)));
    std::size_t left = visit.size();
    batch_.clear();
    z_.clear();
    const auto take = [&](std::int64_t i) {
      batch_.push_back(i);
      z_.push_back(decision(rows, i));
      ++touched;
      if (--left != 0 && static_cast<std::int64_t>(batch_.size()) < options.k) return;
      step(rows, problem);
      batch_.clear();
      z_.clear();
    };
    return each_row(rows, visit, poll, take, problem.target, problem.cost);
  }

 private:
  struct Violator {
    std::int64_t row;
    double z;
    double slope;  // of the loss; on the margin of an exact intercept one between the slopes on either side
  };

  // Of one step:
  std::vector<std::int64_t> batch_;  // A_t
  std::vector<double> z_;            // w.x of its rows
  std::vector<Violator> violators_;  // A_t+

  /// 1. The rows of this epoch; k = m is the deterministic variant, all rows in their order.
  std::vector<std::int64_t> draw(std::int64_t m, Poll& poll) {
    const std::int64_t n_steps = (m + options.k - 1) / options.k;
    if (options.k < m && options.sampling == Sampling::subset) return subsets(m, options.k, n_steps, rng);
    if (options.k < m) return order.sample(options.sampling, m, n_steps * options.k, rng, poll);
    std::vector<std::int64_t> all(static_cast<std::size_t>(m));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
  }

  template <Rows R>
  void step(const R& rows, const Problem& problem) {
    violators_.clear();
    if (options.bias == Bias::exact) {
      find_violators_at_best_b(problem);
    } else {
      find_violators(problem);
    }
    if (violators_.empty() && !options.advance_without_loss) return;
    ++t;
    const double keep = 1.0 - 1.0 / static_cast<double>(t);  // exactly 0 at t = 1
    shrink(keep);
    add_violators(rows, problem, keep, static_cast<double>(batch_.size()));
    if (options.projection) project(problem.total_cost);  // 4.
    record(rng);
  }

  /// 2. Rows with loss at w and b.
  void find_violators(const Problem& problem) {
    for (std::size_t j = 0; j < batch_.size(); ++j) {
      const double slope = problem.loss.slope(Loss::slack(problem.target[batch_[j]], z_[j] + b));
      if (slope != 0.0) violators_.push_back({batch_[j], z_[j], slope});
    }
  }

  /// 2. The same for the best b.
  void find_violators_at_best_b(const Problem& problem) {
    std::vector<Breakpoint> points;
    for (std::size_t j = 0; j < batch_.size(); ++j) {
      const double target = problem.target[batch_[j]];
      points.push_back({target - z_[j], problem.relative_weight(batch_[j]), target > 0.0});
    }
    b = best_intercept(points, problem.loss);
    // 1 - t (z + b), with the sign of the comparison of b with the breakpoint: zero exactly for the rows that b rests on.
    const auto slack = [&](std::size_t j) { return problem.target[batch_[j]] * ((problem.target[batch_[j]] - z_[j]) - b); };
    double imbalance = 0.0;            // sum s^_i t_i over the rows with loss
    double on_margin[2] = {0.0, 0.0};  // weight of the rows exactly on it: negative, positive
    for (std::size_t j = 0; j < batch_.size(); ++j) {
      const double weight = problem.relative_weight(batch_[j]);
      if (slack(j) > 0.0) imbalance += problem.target[batch_[j]] * weight;
      if (slack(j) == 0.0) on_margin[problem.target[batch_[j]] > 0.0] += weight;
    }
    const double side = imbalance > 0.0 ? -1.0 : 1.0;
    const double available = on_margin[side > 0.0];
    const double fraction = available > 0.0 ? std::min(1.0, std::abs(imbalance) / available) : 0.0;
    for (std::size_t j = 0; j < batch_.size(); ++j) {
      if (slack(j) > 0.0) violators_.push_back({batch_[j], z_[j], 1.0});
      if (slack(j) == 0.0 && problem.target[batch_[j]] == side && fraction > 0.0)
        violators_.push_back({batch_[j], z_[j], fraction});
    }
  }

  /// 3b. w <- w + eta_t/k sum s^_i slope_i t_i x_i
  template <Rows R>
  void add_violators(const R& rows, const Problem& problem, double keep, double k) {
    const double eta = 1.0 / (problem.lambda * static_cast<double>(t));
    bool first = true;  // w.x of the first one is known: nothing has been added since
    for (const auto& [i, z, slope] : violators_) {
      const double step = eta / k * (problem.relative_weight(i) * slope);
      add(rows, problem, i, step, first ? keep * z : decision(rows, i));
      first = false;
      if (options.bias == Bias::subgradient) b += step * problem.target[i];
    }
  }

  /// A random direction at a random distance, with integer randomness and square roots only.
  void start_in_ball(double radius) {
    for (std::size_t j = 0; j + 1 < v.size(); ++j) v[j] = 2.0 * rng.uniform() - 1.0;
    const double length = std::sqrt(squared_norm(v));
    const double target = radius * rng.uniform();
    if (length > 0.0) {
      for (double& x : v) x *= target / length;
    }
    norm2 = squared_norm(v);
  }

  /// The weight of a constant feature starts at zero.
  void start_at(const std::vector<double>& w) {
    if (w.size() + 1 != v.size()) throw std::invalid_argument("Pegasos: start has not one number per feature");
    std::copy(w.begin(), w.end(), v.begin());
    norm2 = squared_norm(v);
  }
};

static_assert(Solver<Pegasos>);

}  // namespace hinge
