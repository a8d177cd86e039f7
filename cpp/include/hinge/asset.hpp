#pragma once
// ASSET: approximate stochastic subgradient estimation training.
//
// Lee & Wright, "ASSET: Approximate Stochastic Subgradient Estimation Training for Support Vector Machines". Algorithm 1,
// on rows that are features already: those of a kernel approximation, or any others. Minimises lambda/2 |w|^2 + mean loss,
// that is lambda P, over X = { |w| <= 1/sqrt(lambda), |b| <= B }. Step j = 1, 2, ...:
//
//   1. choose a row i
//   2. d = 1 if t_i (w.x_i + b) < 1, else 0                             (strict: a margin of exactly 1 is no loss)
//   3. w <- (1 - eta_j lambda) w + eta_j d s^_i t_i x_i,    b <- b + eta_j d s^_i t_i        (b only if it is free)
//   4. back into X
//   5. the output is the average of the iterates N-bar .. j, iterate j with weight eta_j
//
// ASSET    eta_j = D_X / (D_G sqrt(j)),   D_X^2 = 1/lambda + B^2,   D_G^2 = mean of |G|^2 over M random rows at (0, 0)
// ASSET*   eta_j = 1 / (lambda j), for an objective that is strongly convex: no free intercept
//
// At (0, 0) every row has a loss, so that |G|^2 = s^_i^2 (|x_i|^2 + 1), without the 1 if there is no free b. The paper prints
// the sum of these divided by M^2; a mean needs M. D_G is to bound the subgradients in all of X, where lambda w is a part of
// them: it is not where rows are shorter than sqrt(lambda). eta_j lambda <= 1 keeps such steps from overshooting w = 0.
//
// N-bar: with `average_last` = L it is m - L + 1 in each epoch, at whose ends models are evaluated (the experiments of the paper
// have L = 100). With L = 0 it is a fraction of j, as in Theorem 1: the largest power of 2 up to j/2. The sum of one
// octave of steps is kept while the next one is added up.
//
// The multipliers are a DualAverage, as for all methods with such steps.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "hinge/dual_average.hpp"
#include "hinge/epoch.hpp"
#include "hinge/loss.hpp"
#include "hinge/online.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/primal_iterate.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"

namespace hinge {

struct AssetOptions {
  Sampling sampling = Sampling::iid;
  std::int64_t average_last = 0;
};

/// eta_j = D_X / (D_G sqrt(j)); D_G is estimated before the first step.
struct RootRate {
  std::int64_t sample_size = 100;  // M
  double largest_b = 0.0;          // B
  double d_g = -1.0;               // not known yet

  bool ready() const { return d_g >= 0.0; }
  void forget() { d_g = -1.0; }

  template <Rows X>
  void estimate(const X& rows, const Problem& problem, Rng& rng) {
    const auto sample = draws(problem.size(), sample_size, rng);
    const double of_b = problem.free_intercept ? 1.0 : 0.0;
    double sum = 0.0;
    for (const std::int64_t i : sample) {
      const double weight = problem.relative_weight(i);
      sum += weight * weight * (rows.squared_norm(i) + of_b);
    }
    d_g = std::sqrt(sum / static_cast<double>(sample.size()));
  }

  /// total_cost is 1 / lambda
  double operator()(double total_cost, std::int64_t j) const {
    const double d_x = std::sqrt(total_cost + largest_b * largest_b);
    return std::min(d_x / (d_g * std::sqrt(static_cast<double>(j))), total_cost);
  }

  template <class F>
  void fields(F&& field) {
    field("d_g", d_g);
  }
};

/// eta_j = 1 / (lambda j)
struct StarRate {
  double largest_b = 0.0;  // there is no free intercept

  bool ready() const { return true; }
  void forget() {}
  template <Rows X>
  void estimate(const X&, const Problem&, Rng&) {}
  double operator()(double total_cost, std::int64_t j) const { return total_cost / static_cast<double>(j); }
  template <class F>
  void fields(F&&) {}
};

/// What a step needs to know of the problem.
struct AssetObjective {
  double lambda;
  double total_cost;  // 1 / lambda
  double radius2;     // of the ball that holds the optimum
  Loss loss;
  bool free_intercept;
};

/// The steps and the average, wherever the rows come from.
template <class Rate>
struct AssetIterate : PrimalIterate<> {
  Rate rate;
  bool octaves;  // average from the last but one power of 2

  double b = 0.0;
  // The sum of eta_j w_j since N-bar or the last power of 2 is scale_sum * v - u (primal_iterate.hpp), with these beside it:
  double eta_sum = 0.0;
  double b_sum = 0.0;
  // The octave before:
  std::vector<double> octave;
  double octave_eta = 0.0;
  double octave_b = 0.0;

  AssetIterate(std::int64_t n_features, Rate step_size, bool by_octaves)
      : PrimalIterate(0, n_features, Output::average),
        rate(step_size),
        octaves(by_octaves),
        octave(by_octaves ? v.size() : 0) {}

  template <class F>
  void fields(F&& field) {
    PrimalIterate::fields(field);
    rate.fields(field);
    field("b", b);
    field("eta_sum", eta_sum);
    field("b_sum", b_sum);
    field("octave", octave);
    field("octave_eta", octave_eta);
    field("octave_b", octave_b);
  }

  void check_restored() const {
    if (!(eta_sum >= 0.0 && octave_eta >= 0.0)) throw std::invalid_argument("sums of step sizes are out of range");
  }

  /// Step t + 1, on row i of `rows`; returns the slope of its loss before the step.
  template <Rows X>
  double step(const X& rows, std::int64_t i, double target, double weight, const AssetObjective& problem) {
    const double z = decision(rows, i);
    const double slope = problem.loss.slope(Loss::slack(target, z + b));  // 2.
    ++t;
    if (octaves && std::has_single_bit(static_cast<std::uint64_t>(t))) next_octave();
    const double eta = rate(problem.total_cost, t);
    const double keep = 1.0 - eta * problem.lambda;
    shrink(keep);  // 3.
    if (slope != 0.0) {
      const double step = eta * weight * slope;
      add(rows, i, target, step, keep * z);
      if (problem.free_intercept) b += step * target;
    }
    project(problem.radius2);  // 4.
    b = std::clamp(b, -rate.largest_b, rate.largest_b);
    scale_sum += eta * scale;  // 5.
    eta_sum += eta;
    b_sum += eta * b;
    return slope;
  }

  /// The averaged iterate.
  void write_weights(std::span<double> weights) const {
    const double total = octave_eta + eta_sum;
    for (std::size_t j = 0; j < v.size(); ++j) {
      const double before = octave.empty() ? 0.0 : octave[j];
      weights[j] = total > 0.0 ? (before + (scale_sum * v[j] - u[j])) / total : scale * v[j];
    }
  }
  double intercept() const {
    const double total = octave_eta + eta_sum;
    return total > 0.0 ? (octave_b + b_sum) / total : b;
  }

 protected:
  /// Nothing has been added up yet.
  void begin_average() {
    std::fill(u.begin(), u.end(), 0.0);
    scale_sum = eta_sum = b_sum = 0.0;
  }

  void forget_octave() {
    std::fill(octave.begin(), octave.end(), 0.0);
    octave_eta = octave_b = 0.0;
  }

 private:
  void next_octave() {
    for (std::size_t j = 0; j < v.size(); ++j) octave[j] = scale_sum * v[j] - u[j];
    octave_eta = eta_sum;
    octave_b = b_sum;
    begin_average();
  }
};

/// On a data set: every epoch takes m rows.
template <class Rate>
struct AssetSteps : AssetIterate<Rate> {
  using Base = AssetIterate<Rate>;
  AssetOptions options;
  Order order;
  Rng rng;
  DualAverage average;

  AssetSteps(const Problem& problem, std::int64_t n_features, Rate step_size, AssetOptions how, Order row_order, Rng random)
      : Base(n_features, step_size, how.average_last == 0),
        options(how),
        order(row_order),
        rng(random),
        average(problem.size()) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    Base::fields(field);
    average.fields(field);
    field("rng", rng);
  }

  void check_restored(const Problem&) const { Base::check_restored(); }

  /// On another problem the weights are a start like any other; the averages and D_G were those of the problem before.
  template <Rows X>
  void rebuild(const X&, const Problem& problem, Poll&) {
    this->rate.forget();
    this->b = problem.free_intercept ? std::clamp(this->b, -this->rate.largest_b, this->rate.largest_b) : 0.0;
    this->begin_average();
    this->forget_octave();
  }

  /// m rows. False when stopped by the poll.
  template <Rows X>
  bool run_epoch(const X& rows, const Problem& problem, Poll& poll) {
    const std::int64_t m = problem.size();
    if (!this->rate.ready()) this->rate.estimate(rows, problem, rng);
    const auto visit = order.sample(options.sampling, m, m, rng, poll);
    if (visit.empty()) return false;
    const AssetObjective objective{problem.lambda, problem.total_cost, problem.total_cost, problem.loss,
                                   problem.free_intercept};
    std::int64_t left = m;
    const auto take = [&](std::int64_t i) {
      if (left == options.average_last) this->begin_average();
      --left;
      const std::int64_t before = this->t;
      const double slope = this->step(rows, i, problem.target[i], problem.relative_weight(i), objective);
      average.visited(i, slope, before);
      ++this->touched;
    };
    return each_row(rows, visit, poll, take, problem.target, problem.cost);
  }

  void point(const Problem& problem, Point& out) const {
    this->write_weights(out.w);
    if (problem.free_intercept) out.b = this->intercept();
    average.write(problem, out.multipliers);
  }

  std::optional<Estimate> estimate(const Problem&) const { return std::nullopt; }
};

using Asset = AssetSteps<RootRate>;
using AssetStar = AssetSteps<StarRate>;

static_assert(Solver<Asset> && Solver<AssetStar>);

/// On a stream of rows whose mean squared norm is known: D_G needs no sample.
struct AssetStreamSteps : AssetIterate<RootRate> {
  struct Options {
    double largest_b;  // B
    double d_g;        // D_G
    bool free_intercept;
  };
  Options options;

  AssetStreamSteps(std::int64_t, std::int64_t n_features, Options how)
      : AssetIterate(n_features, RootRate{.largest_b = how.largest_b, .d_g = how.d_g}, true), options(how) {}

  /// The next row: number i of `rows`, its target and weight.
  template <Rows X>
  void present(const X& rows, std::int64_t i, double target, double weight, const Objective& problem) {
    ++touched;
    step(rows, i, target, weight,
         AssetObjective{problem.lambda, 1.0 / problem.lambda, problem.radius2, problem.loss, options.free_intercept});
  }
};

using AssetStream = StreamOf<AssetStreamSteps>;

}  // namespace hinge
