#pragma once
// SvmSgd: stochastic gradient descent with Bottou's schedule.
//
// Bottou, "Stochastic gradient descent examples", version 2 of svmsgd. Minimises lambda/2 |w|^2 + mean loss, that is
// lambda P, by the steps of gradient.hpp in complete epochs, with
//
//   eta_t = eta_0 / (1 + lambda eta_0 t) = 1 / (lambda (t + t_0)),   t_0 = 1 / (lambda eta_0),   t = 0, 1, ...
//
// so that the first steps are as large as the data bear, and the late ones those of Pegasos. eta_0 is chosen on about a thousand
// rows by single passes over them, from w = 0, with 1 and its multiples by powers of 2. The cost of a pass is the objective on
// these rows after it. eta_0 lambda stays at most 1/2: w never changes its sign by shrinking.
//
//   sampled (ours)       rows drawn at random; rates that fall as in training; the best one.
//   first (the program)  the first rows of an epoch; a constant rate; the lower one of the best pair (calibrate.hpp).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "hinge/calibrate.hpp"
#include "hinge/gradient.hpp"

namespace hinge {

struct BottouRate {
  double eta0 = 0.0;  // 0: not chosen yet
  double operator()(double lambda, std::int64_t t) const { return eta0 / (1.0 + lambda * eta0 * static_cast<double>(t - 1)); }
};

enum class Calibration { sampled, first };

template <class W>
struct SvmSgd : GradientDescent<BottouRate, W> {
  using Descent = GradientDescent<BottouRate, W>;

  SvmSgd(const Problem& problem, std::int64_t n_features, std::int64_t sample_size, Calibration how, Output output,
         Order row_order, Rng random)
      : Descent(problem, n_features, BottouRate{}, {.sampling = Sampling::epoch, .output = output}, row_order, random),
        calibration_(how),
        sample_(std::min(sample_size, problem.size())) {}

  template <class F>
  void fields(F&& field) {
    Descent::fields(field);
    field("eta0", this->rate.eta0);
  }

  /// A step size saved with another lambda may be too large for this one.
  template <Rows X>
  void rebuild(const X&, const Problem& problem, Poll&) {
    this->rate.eta0 = std::min(this->rate.eta0, largest(problem));
  }

  void check_restored(const Problem&) const {
    if (!(this->rate.eta0 >= 0.0 && std::isfinite(this->rate.eta0))) throw std::invalid_argument("eta0 is out of range");
  }

  template <Rows X>
  bool run_epoch(const X& rows, const Problem& problem, Poll& poll) {
    if (this->rate.eta0 == 0.0) {
      const bool chosen =
          calibration_ == Calibration::sampled ? choose_best(rows, problem, poll) : choose_lower(rows, problem, poll);
      if (!chosen) return false;
    }
    return Descent::run_epoch(rows, problem, poll);
  }

 private:
  static constexpr int kDoublings = 200;  // at most: rows near the ends of float64 want extreme steps

  Calibration calibration_;
  std::int64_t sample_;

  static double largest(const Problem& problem) { return 0.5 / problem.lambda; }

  template <Rows X>
  bool choose_best(const X& rows, const Problem& problem, Poll& poll) {
    const auto sample = draws(problem.size(), sample_, this->rng);
    double best = std::min(1.0, largest(problem));
    double lowest = 0.0;
    if (!try_rate(rows, problem, sample, BottouRate{best}, lowest, poll)) return false;
    for (const double factor : {0.5, 2.0}) {
      const double start = best;
      for (int doubling = 0; doubling < kDoublings; ++doubling) {
        const double candidate = best * factor;
        if (candidate > largest(problem) || !(candidate > 0.0)) break;
        double cost = 0.0;
        if (!try_rate(rows, problem, sample, BottouRate{candidate}, cost, poll)) return false;
        if (!(cost < lowest) && std::isfinite(lowest)) break;
        best = candidate;
        lowest = cost;
      }
      if (best != start) break;  // smaller is better: larger need not be tried
    }
    this->rate.eta0 = best;
    return true;
  }

  template <Rows X>
  bool choose_lower(const X& rows, const Problem& problem, Poll& poll) {
    auto sample = this->order.of_all(problem.size(), this->rng, poll);
    if (sample.empty()) return false;
    sample.resize(static_cast<std::size_t>(sample_));
    this->rate.eta0 = lower_of_best_pair(largest(problem), [&](double eta, double& cost) {
      return try_rate(rows, problem, sample, ConstantRate{eta}, cost, poll);
    });
    return this->rate.eta0 > 0.0;
  }

  /// The objective on these rows after one pass over them.
  template <Rows X, Rate Trial>
  bool try_rate(const X& rows, const Problem& problem, std::span<const std::int64_t> sample, Trial rate, double& cost,
                Poll& poll) {
    GradientDescent<Trial, W> trial(problem, rows.n_features(), rate, {.sampling = Sampling::epoch, .multipliers = false},
                                    this->order, this->rng);
    if (!trial.present(rows, problem, sample, poll)) return false;
    this->touched += 2 * static_cast<std::int64_t>(sample.size());
    double loss = 0.0;
    for (const std::int64_t i : sample) {
      loss += problem.relative_weight(i) * problem.loss.value(Loss::slack(problem.target[i], trial.decision(rows, i)));
    }
    cost = 0.5 * problem.lambda * trial.norm2 + loss / static_cast<double>(sample.size());
    return true;
  }
};

static_assert(Solver<SvmSgd<double>> && Solver<SvmSgd<float>>);

}  // namespace hinge
