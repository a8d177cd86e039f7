#pragma once
// Norma and Zhang's method: stochastic subgradient descent, one row a step, with other step sizes than Pegasos.
//
// Kivinen, Smola & Williamson, "Online Learning with Kernels" (2004); Zhang, "Solving Large Scale Linear Prediction
// Problems Using Stochastic Gradient Descent Algorithms" (ICML 2004); both as compared in the Pegasos paper.
// Minimises lambda/2 |w|^2 + mean loss, that is lambda P. Step t = 1, 2, ...:
//
//   1. choose a row i
//   2. w <- (1 - eta_t lambda) w + eta_t s^_i slope_i t_i x_i,   slope_i the slope of the loss at t_i w.x_i before
//      (hinge: 1 if that is below 1, strictly, as in Pegasos; its square: 2 (1 - t_i w.x_i) there)
//   3. w <- min(1, 1/(sqrt(lambda) |w|)) w                                              (optional)
//
// Rates: Norma eta_t = p / (lambda sqrt(t)), 0 < p < 1; Zhang eta_t = eta, with eta lambda < 1.
//
// The multipliers are a DualAverage: with these rates the combination of rows that makes up w rests on few recent steps.
//
// No intercept, or a penalised one through the rows.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

#include "hinge/dual_average.hpp"
#include "hinge/epoch.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/primal_iterate.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"

namespace hinge {

/// The size of step t = 1, 2, ...
template <class R>
concept Rate = requires(const R& rate, double lambda, std::int64_t t) {
  { rate(lambda, t) } -> std::same_as<double>;
};

struct NormaRate {
  double p;
  double operator()(double lambda, std::int64_t t) const { return p / (lambda * std::sqrt(static_cast<double>(t))); }
};

struct ConstantRate {
  double eta;
  double operator()(double, std::int64_t) const { return eta; }
};

struct GradientOptions {
  Sampling sampling = Sampling::iid;
  bool projection = false;
  Output output = Output::last;
  bool multipliers = true;  // false: for a trial that needs no dual point
};

template <Rate R, class W = double>
struct GradientDescent : PrimalIterate<W> {
  R rate;
  GradientOptions options;
  Order order;
  Rng rng;
  DualAverage average;

  using PrimalIterate<W>::t;
  using PrimalIterate<W>::touched;

  GradientDescent(const Problem& problem, std::int64_t n_features, R step_size, GradientOptions how, Order row_order,
                  Rng random)
      : PrimalIterate<W>(0, n_features, how.output),
        rate(step_size),
        options(how),
        order(row_order),
        rng(random),
        average(how.multipliers ? problem.size() : 0) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    PrimalIterate<W>::fields(field);
    average.fields(field);
    field("rng", rng);
  }

  void check_restored(const Problem&) const {}

  /// On another problem the weights are a start like any other.
  template <Rows X>
  void rebuild(const X&, const Problem&, Poll&) {}

  /// m rows. False when stopped by the poll.
  template <Rows X>
  bool run_epoch(const X& rows, const Problem& problem, Poll& poll) {
    const auto visit = order.sample(options.sampling, problem.size(), problem.size(), rng, poll);
    if (visit.empty()) return false;
    return present(rows, problem, visit, poll);
  }

  /// These rows, one after the other.
  template <Rows X>
  bool present(const X& rows, const Problem& problem, std::span<const std::int64_t> visit, Poll& poll) {
    const auto take = [&](std::int64_t i) {
      step(rows, problem, i);
      ++touched;
    };
    return each_row(rows, visit, poll, take, problem.target, problem.cost);
  }

  void point(const Problem& problem, Point& out) const {
    this->write_weights(out.w);
    average.write(problem, out.multipliers);
  }

  std::optional<Estimate> estimate(const Problem&) const { return std::nullopt; }

 private:
  template <Rows X>
  void step(const X& rows, const Problem& problem, std::int64_t i) {
    const double z = this->decision(rows, i);
    const double slope = problem.loss.slope(Loss::slack(problem.target[i], z));
    average.visited(i, slope, t);
    const double eta = rate(problem.lambda, ++t);
    const double keep = 1.0 - eta * problem.lambda;
    this->shrink(keep);
    if (slope != 0.0) this->add(rows, problem, i, eta * problem.relative_weight(i) * slope, keep * z);
    if (options.projection) this->project(problem.total_cost);
    this->record(rng);
  }
};

using Norma = GradientDescent<NormaRate>;
using Zhang = GradientDescent<ConstantRate>;

static_assert(Solver<Norma> && Solver<Zhang>);

}  // namespace hinge
