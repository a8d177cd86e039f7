#pragma once
// Online: the online support vector machine, one row or a small batch at a time.
//
// Bagnell, "Notes on efficient online SVM implementation" (2010).
// Minimises lambda/2 |w|^2 + mean loss. Step t = 1, 2, ... takes the next k rows, with alpha_t = 1/(lambda t):
//
//   1. violators: those of the k rows with t (w.x + b) < 1                  (strict: a margin of exactly 1 is no loss)
//   2. w <- (1 - alpha_t lambda) w + alpha_t/k sum over the violators of s_i slope_i t_i x_i     (hinge: slope_i = 1)
//   3. w <- min(1, 1/(sqrt(lambda) |w|)) w                                  (optional)
//
// The notes project to a "ball of size sqrt(lambda)"; its radius is 1/sqrt(lambda), as in their line 12. With weights s_i
// the ball that holds the optimum has the squared radius (mean s_i)/lambda.
//
// w stays the same while a batch is collected, so a batch may begin in one chunk of rows and end in another: what is kept of
// its violators is the sum g of s_i slope_i t_i x_i. A batch of one row is added at once.
//
// Intercept: none or a constant feature (through the rows); free, by subgradient steps b += alpha_t/k sum s_i slope_i t_i.
// Nothing shrinks a free b, and its first steps of size 1/lambda would take for ever to come back from: with the projection it
// is held to |b| <= 1 + |w| max |x_i|, where the best b of any w lies (among the t_i - w.x_i).
//
// Output: the last iterate, or the average of all.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "hinge/epoch.hpp"
#include "hinge/loss.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/primal_iterate.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/sparse_sum.hpp"
#include "hinge/state.hpp"

namespace hinge {

struct OnlineOptions {
  std::int64_t batch = 1;  // k
  bool projection = true;
  bool free_intercept = false;
  bool average = false;
};

/// What the rows belong to: lambda, the squared radius of a ball that holds the optimum, and the loss.
struct Objective {
  double lambda;
  double radius2;
  Loss loss;
};

/// The steps, wherever the rows come from.
struct OnlineSteps : PrimalIterate<> {
  using Options = OnlineOptions;
  OnlineOptions options;
  double b = 0.0;
  double b_sum = 0.0;     // over all iterates
  double longest2 = 0.0;  // if b is free: the largest |x_i|^2 so far

  // The batch that is being collected:
  std::int64_t waiting = 0;         // its rows so far
  SparseSum g;                      // sum of s_i slope_i t_i x_i over its violators
  double w_g = 0.0;                 // w.g
  double g_b = 0.0;                 // sum of s_i slope_i t_i over its violators
  Varying<std::int64_t> violators;  // if multipliers are kept: which rows, and s_i slope_i
  Varying<double> violator_weights;

  OnlineSteps(std::int64_t m, std::int64_t n_features, OnlineOptions how)
      : PrimalIterate(m, n_features, how.average ? Output::average : Output::last),
        options(how),
        g(how.batch > 1 ? v.size() : 0) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    PrimalIterate::fields(field);
    field("b", b);
    field("b_sum", b_sum);
    field("longest2", longest2);
    field("waiting", waiting);
    g.fields(field);
    field("w_g", w_g);
    field("g_b", g_b);
    field("violators", violators);
    field("violator_weights", violator_weights);
  }

  void check_restored() const {
    const auto m = static_cast<std::int64_t>(c.size());
    const bool rows = std::all_of(violators.begin(), violators.end(), [&](std::int64_t i) { return 0 <= i && i < m; });
    if (waiting < options.batch && rows && violators.size() == violator_weights.size() && g.consistent()) return;
    throw std::invalid_argument("the unfinished batch is corrupt, or of another batch size");
  }

  /// The next row: number i of `rows`, its target and weight.
  template <Rows R>
  void present(const R& rows, std::int64_t i, double target, double weight, const Objective& problem) {
    ++touched;
    if (options.free_intercept) longest2 = std::max(longest2, rows.squared_norm(i));
    const double z = decision(rows, i);
    const double slope = problem.loss.slope(Loss::slack(target, z + b));  // 1.
    if (options.batch == 1) {
      const double keep = begin_step();
      if (slope != 0.0) {
        const double step = weight * size_of_step(problem) * slope;
        add(rows, i, target, step, keep * z);
        if (options.free_intercept) b += step * target;
      }
      end_step(problem);
      return;
    }
    if (slope != 0.0) hold(rows, i, target, weight * slope, z);
    if (++waiting < options.batch) return;
    const double keep = begin_step();
    add_batch(keep, size_of_step(problem) / static_cast<double>(options.batch));
    end_step(problem);
    forget_batch();
  }

  /// b of the iterate asked for.
  double intercept() const { return options.average ? b_sum / static_cast<double>(std::max<std::int64_t>(t, 1)) : b; }

 protected:
  void forget_batch() {
    waiting = 0;
    g.clear();
    w_g = 0.0;
    g_b = 0.0;
    violators.clear();
    violator_weights.clear();
  }

 private:
  double size_of_step(const Objective& problem) const { return 1.0 / (problem.lambda * static_cast<double>(t)); }

  /// 2a. w <- (1 - alpha_t lambda) w; the factor is exactly 0 at t = 1.
  double begin_step() {
    ++t;
    const double keep = 1.0 - 1.0 / static_cast<double>(t);
    shrink(keep);
    return keep;
  }

  template <Rows R>
  void hold(const R& rows, std::int64_t i, double target, double weight, double z) {
    const double signed_weight = weight * target;
    g.add(rows, i, signed_weight);
    w_g += signed_weight * z;
    g_b += signed_weight;
    if (c.empty()) return;
    violators.push_back(i);
    violator_weights.push_back(weight);
  }

  /// 2b. w <- w + step g
  void add_batch(double keep, double step) {
    norm2 += 2.0 * step * (keep * w_g) + step * step * g.squared_norm();
    const double change = step / scale;
    g.add_to(v, change);
    if (options.average) g.add_to(u, change * scale_sum);
    if (options.free_intercept) b += step * g_b;
    for (std::size_t j = 0; j < violators.size(); ++j) {
      const double more = change * violator_weights[j];
      c[violators[j]] += more;
      if (options.average) e[violators[j]] += more * scale_sum;
    }
  }

  void end_step(const Objective& problem) {
    if (options.projection) {  // 3.
      project(problem.radius2);
      const double most = 1.0 + std::sqrt(std::max(norm2, 0.0) * longest2);
      b = std::clamp(b, -most, most);
    }
    record();
    b_sum += b;
  }
};

/// On a data set: every epoch visits all rows in an order. A batch may span two epochs.
struct Online : OnlineSteps {
  Order order;
  Rng rng;

  Online(const Problem& problem, std::int64_t n_features, OnlineOptions how, Order row_order, Rng random)
      : OnlineSteps(problem.size(), n_features, how), order(row_order), rng(random) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    OnlineSteps::fields(field);
    field("rng", rng);
  }

  void check_restored(const Problem&) const { OnlineSteps::check_restored(); }

  void point(const Problem& problem, Point& out) const {
    OnlineSteps::point(out.w, out.multipliers);
    if (problem.free_intercept) out.b = intercept();
  }

  std::optional<Estimate> estimate(const Problem&) const { return std::nullopt; }

  /// The batch of another problem is forgotten.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    if (!problem.free_intercept) b = b_sum = 0.0;
    longest2 = 0.0;
    forget_batch();
    PrimalIterate::rebuild(rows, problem, poll);
  }

  /// False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    const auto visit = order.of_all(problem.size(), rng, poll);
    const Objective objective{problem.lambda, problem.total_cost, problem.loss};
    const auto take = [&](std::int64_t i) { present(rows, i, problem.target[i], problem.relative_weight(i), objective); };
    return !visit.empty() && each_row(rows, visit, poll, take, problem.target, problem.cost);
  }
};

static_assert(Solver<Online>);

/// On a stream: rows come in chunks and are not kept. Steps is who learns from them: OnlineSteps, or another with its methods. One model per class against the rest, or one for two classes; every
/// row goes to all of them before the next one, so that they have always seen the same rows.
template <class Steps>
struct StreamOf {
  using Options = typename Steps::Options;
  double lambda;
  double rho;               // the constant feature of a penalised intercept
  std::int64_t seen = 0;    // rows
  double weight_sum = 0.0;  // of the rows seen
  Loss loss;
  std::vector<Steps> models;

  StreamOf(std::int64_t n_models, std::int64_t n_features, double lambda_, double constant, Options how,
           Loss which = Loss::Kind::hinge)
      : lambda(lambda_), rho(constant), loss(which), models(static_cast<std::size_t>(n_models), Steps(0, n_features, how)) {}

  std::int64_t n_features() const { return static_cast<std::int64_t>(models[0].v.size()) - 1; }
  std::int64_t steps() const { return models[0].t; }

  /// w of model k, as asked for; returns b.
  double write(std::size_t k, std::span<double> w) const {
    models[k].write_weights(w);
    return models[k].intercept();
  }

  /// The rows of a chunk, those in `visit` in that order: classes[i] and weights[i] > 0 belong to row i. Returns how many
  /// rows were taken: fewer than all when stopped by the poll.
  template <Rows R>
  std::int64_t present(const R& rows, std::span<const std::int64_t> visit, std::span<const std::int64_t> classes,
                       std::span<const double> weights, Poll& poll) {
    const std::int64_t before = seen;
    const auto n_models = static_cast<std::int64_t>(models.size());
    const auto step = [&](std::int64_t i) {
      ++seen;
      weight_sum += weights[i];
      const Objective objective{lambda, weight_sum / static_cast<double>(seen) / lambda, loss};
      for (std::int64_t k = 0; k < n_models; ++k) {
        const std::int64_t positive = n_models == 1 ? 1 : k;
        models[k].present(rows, i, classes[i] == positive ? 1.0 : -1.0, weights[i], objective);
      }
    };
    const auto stop = [&](std::int64_t work) { return poll(n_models * work); };
    each_row(rows, visit, stop, step, classes, weights);
    return seen - before;
  }
};

using OnlineStream = StreamOf<OnlineSteps>;

}  // namespace hinge
