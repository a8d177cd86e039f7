#pragma once
// Pegasos: primal estimated sub-gradient solver for SVM.
//
// Shalev-Shwartz, Singer & Srebro (ICML 2007); Rupnik, "Stochastic subgradient approach for solving linear SVMs".
// Minimises lambda/2 |w|^2 + mean hinge, that is lambda P. Step t = 1, 2, ...:
//
//   1. choose A_t, k rows
//   2. A_t+ = rows of A_t with y (w.x + b) < 1                       (strict: a margin of exactly 1 is no loss)
//   3. w <- (1 - 1/t) w + eta_t/k sum over A_t+ of s^_i y_i x_i,   eta_t = 1/(lambda t)
//   4. w <- min(1, 1/(sqrt(lambda) |w|)) w                           (optional)
//
// w = scale * v with |w|^2 tracked, so a step costs O(non-zeros of A_t). At t = 1 the factor 1 - 1/t is exactly 0: the
// start is erased, except through the choice of the first violators, and v begins anew. The multipliers follow w:
// w = scale * sum_i c_i y_i x_i with c_i >= 0.
//
// Intercept: none or a constant feature (through the rows); free, by subgradient steps b += eta_t/k sum s^_i y_i; or
// free and exact: b minimises the loss of A_t at each step (a weighted median), and the rows exactly on the margin take
// the fraction of a violation that makes sum s^_i y_i = 0, which is the subgradient of that minimum.
//
// Outputs: the last iterate, the average of all iterates, or the iterate of a uniformly random step.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "hinge/intercept.hpp"
#include "hinge/objective.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"

namespace hinge {

enum class Sampling { iid, epoch };
enum class Bias { none, subgradient, exact };
enum class Output { last, average, random };

struct PegasosOptions {
  std::int64_t k = 1;
  Sampling sampling = Sampling::iid;
  bool projection = true;
  bool advance_without_loss = true;  // false: a step without loss changes nothing, t included
  Bias bias = Bias::none;
  Output output = Output::last;
  bool random_start = false;
};

struct Pegasos {
  PegasosOptions options;
  Order order;
  Rng rng;

  std::vector<double> v;
  std::vector<double> c;
  double scale = 1.0;
  double norm2 = 0.0;  // |w|^2, tracked
  double b = 0.0;
  std::int64_t t = 0;
  // The sum of all iterates is scale_sum * v - u, and of the multipliers scale_sum * c - e: a change made at a step must
  // not count in the iterates before it. For the output of a random step, u and e hold that iterate itself.
  std::vector<double> u;
  std::vector<double> e;
  double scale_sum = 0.0;
  std::int64_t touched = 0;  // rows read

  Pegasos(const Problem& problem, std::int64_t n_features, PegasosOptions how, Order row_order, Rng random)
      : options(how),
        order(row_order),
        rng(random),
        v(static_cast<std::size_t>(n_features) + 1),
        c(static_cast<std::size_t>(problem.size())) {
    if (options.output != Output::last) {
      u.resize(v.size());
      e.resize(c.size());
    }
    if (options.random_start) start_in_ball(std::sqrt(problem.total_cost));
  }

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    field("v", v);
    field("c", c);
    field("scale", scale);
    field("norm2", norm2);
    field("b", b);
    field("t", t);
    field("u", u);
    field("e", e);
    field("scale_sum", scale_sum);
  }

  /// For a state saved on a problem with other costs, labels or rows: what follows from the multipliers, computed anew.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    if (!problem.free_intercept) b = 0.0;
    combine_into(rows, problem, c, v, poll);
    if (!u.empty()) combine_into(rows, problem, e, u, poll);
    norm2 = scale * scale * squared_norm(v);
  }

  /// About m rows in steps of k. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    const auto visit = draw(problem.size(), poll);
    if (visit.empty()) return false;
    const auto n = static_cast<std::int64_t>(visit.size());
    for (std::int64_t begin = 0; begin < n; begin += options.k) {
      const std::int64_t length = std::min(options.k, n - begin);
      if (begin + length < n) rows.prefetch(visit[static_cast<std::size_t>(begin + length)]);
      const auto batch = std::span(visit).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length));
      if (!step(rows, problem, batch, poll)) return false;
      touched += length;
    }
    return true;
  }

  /// The iterate asked for, and its multipliers (not yet clipped to the box).
  void point(std::span<double> weights, std::span<double> multipliers) const {
    output(v, u, weights);
    output(c, e, multipliers);
  }

 private:
  struct Violator {
    std::int64_t row;
    double z;
    double fraction;  // of its relative weight: 1, or less on the margin of an exact intercept
  };

  template <Rows R>
  static void combine_into(const R& rows, const Problem& problem, std::span<const double> coefficients, std::span<double> sum,
                           Poll& poll) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      if (coefficients[i] == 0.0) continue;
      rows.add(i, coefficients[i] * problem.y[i], sum);
      if (poll(rows.stored(i))) return;
    }
  }

  std::vector<double> z_;  // scratch of one step
  std::vector<Violator> violators_;

  /// 1. The rows of this epoch; k = m is the deterministic variant, all rows in their order.
  std::vector<std::int64_t> draw(std::int64_t m, Poll& poll) {
    if (options.k < m && options.sampling == Sampling::iid) return draws(m, (m + options.k - 1) / options.k * options.k, rng);
    if (options.k < m) return order.of_all(m, rng, poll);
    std::vector<std::int64_t> all(static_cast<std::size_t>(m));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
  }

  template <Rows R>
  bool step(const R& rows, const Problem& problem, std::span<const std::int64_t> batch, Poll& poll) {
    if (!find_violators(rows, problem, batch, poll)) return false;
    if (violators_.empty() && !options.advance_without_loss) return true;
    ++t;
    const double keep = 1.0 - 1.0 / static_cast<double>(t);
    shrink(keep);
    add_violators(rows, problem, keep, static_cast<double>(batch.size()));
    if (options.projection) project(problem.total_cost);
    record();
    return true;
  }

  /// 2. Rows with loss at w. False when stopped by the poll, with nothing changed.
  template <Rows R>
  bool find_violators(const R& rows, const Problem& problem, std::span<const std::int64_t> batch, Poll& poll) {
    violators_.clear();
    z_.clear();
    for (const std::int64_t i : batch) {
      z_.push_back(scale * rows.dot(i, v));
      if (poll(rows.stored(i))) return false;
    }
    if (options.bias == Bias::exact) {
      find_violators_at_best_b(problem, batch);
      return true;
    }
    for (std::size_t j = 0; j < batch.size(); ++j) {
      if (problem.y[batch[j]] * (z_[j] + b) < 1.0) violators_.push_back({batch[j], z_[j], 1.0});
    }
    return true;
  }

  void find_violators_at_best_b(const Problem& problem, std::span<const std::int64_t> batch) {
    std::vector<Breakpoint> points;
    double positive = 0.0;
    for (std::size_t j = 0; j < batch.size(); ++j) {
      const double weight = problem.relative_weight(batch[j]);
      points.push_back({problem.y[batch[j]] - z_[j], weight});
      if (problem.y[batch[j]] > 0) positive += weight;
    }
    b = best_intercept(points, positive);
    // 1 - y (z + b), with the sign of the comparison of b with the breakpoint: zero exactly for the rows that b rests on.
    const auto slack = [&](std::size_t j) { return problem.y[batch[j]] * ((problem.y[batch[j]] - z_[j]) - b); };
    double imbalance = 0.0;            // sum s^_i y_i over the rows with loss
    double on_margin[2] = {0.0, 0.0};  // weight of the rows exactly on it: negative, positive
    for (std::size_t j = 0; j < batch.size(); ++j) {
      const double weight = problem.relative_weight(batch[j]);
      if (slack(j) > 0.0) imbalance += problem.y[batch[j]] * weight;
      if (slack(j) == 0.0) on_margin[problem.y[batch[j]] > 0] += weight;
    }
    const std::int8_t side = imbalance > 0.0 ? -1 : 1;
    const double available = on_margin[side > 0];
    const double fraction = available > 0.0 ? std::min(1.0, std::abs(imbalance) / available) : 0.0;
    for (std::size_t j = 0; j < batch.size(); ++j) {
      if (slack(j) > 0.0) violators_.push_back({batch[j], z_[j], 1.0});
      if (slack(j) == 0.0 && problem.y[batch[j]] == side && fraction > 0.0) violators_.push_back({batch[j], z_[j], fraction});
    }
  }

  /// 3a. w <- keep * w; keep is exactly 0 at t = 1.
  void shrink(double keep) {
    if (keep == 0.0) {
      std::fill(v.begin(), v.end(), 0.0);
      std::fill(c.begin(), c.end(), 0.0);
      scale = 1.0;
      norm2 = 0.0;
      return;
    }
    scale *= keep;
    norm2 *= keep * keep;
    fold_tiny_scale();
  }

  /// 3b. w <- w + eta_t/k sum s^_i y_i x_i
  template <Rows R>
  void add_violators(const R& rows, const Problem& problem, double keep, double k) {
    const double eta = 1.0 / (problem.lambda * static_cast<double>(t));
    bool first = true;  // w.x of the first one is known: nothing has been added since
    for (const auto& [i, z, fraction] : violators_) {
      const double label = problem.y[i];
      const double step = eta / k * (problem.relative_weight(i) * fraction);
      const double before = first ? keep * z : scale * rows.dot(i, v);
      first = false;
      norm2 += 2.0 * step * label * before + step * step * rows.squared_norm(i);
      const double change = step / scale;
      rows.add(i, change * label, v);
      c[i] += change;
      if (options.output == Output::average) {
        rows.add(i, change * label * scale_sum, u);
        e[i] += change * scale_sum;
      }
      if (options.bias == Bias::subgradient) b += step * label;
    }
  }

  /// 4. Back into the ball of radius 1/sqrt(lambda).
  void project(double radius2) {
    if (!(norm2 > radius2)) return;
    scale *= std::sqrt(radius2 / norm2);
    norm2 = radius2;
    fold_tiny_scale();
  }

  /// Keep what the output needs of this iterate.
  void record() {
    if (options.output == Output::average) scale_sum += scale;
    if (options.output == Output::random && rng.below(t) == 0) {
      for (std::size_t j = 0; j < v.size(); ++j) u[j] = scale * v[j];
      for (std::size_t j = 0; j < c.size(); ++j) e[j] = scale * c[j];
    }
  }

  void output(std::span<const double> now, std::span<const double> kept, std::span<double> out) const {
    const auto steps = static_cast<double>(std::max<std::int64_t>(t, 1));
    for (std::size_t j = 0; j < out.size(); ++j) {
      out[j] = options.output == Output::last     ? scale * now[j]
               : options.output == Output::random ? kept[j]
                                                  : (scale_sum * now[j] - kept[j]) / steps;
    }
  }

  /// 1/t times many projections may underflow: fold the scale into v and c long before. The sum of the iterates cancels
  /// as many digits as the scale has lost, so that it is written out much sooner, and begins anew.
  void fold_tiny_scale() {
    const bool average = options.output == Output::average;
    if (scale >= (average ? 1e-6 : 1e-100)) return;
    if (average) {
      for (std::size_t j = 0; j < v.size(); ++j) u[j] -= scale_sum * v[j];
      for (std::size_t i = 0; i < c.size(); ++i) e[i] -= scale_sum * c[i];
      scale_sum = 0.0;
    }
    for (double& x : v) x *= scale;
    for (double& x : c) x *= scale;
    scale = 1.0;
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
};

}  // namespace hinge
