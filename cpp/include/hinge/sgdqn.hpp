#pragma once
// SGD-QN: stochastic gradient descent with a diagonal quasi-Newton matrix.
//
// Bordes, Bottou & Gallinari, "SGD-QN: Careful Quasi-Newton Stochastic Gradient Descent" (JMLR 2009), and the erratum
// "SGDQN is Less Careful than Expected" (JMLR 2010). Minimises lambda/2 |w|^2 + mean hinge, that is lambda P. B is
// diagonal, 1/lambda at first. Step t = 0, 1, ... on row i:
//
//   1. w <- w + s^_i t_i B x_i / (t + t_0)                                if t_i w.x_i < 1
//   2. every `skip` steps: w <- w - skip/(t + t_0) lambda B w            (the regulariser, at a sixteenth of the cost of 1)
//   3. at the step after: the curvature seen by it, h_j = (change of the gradient)_j / (change of w)_j, clipped to
//      [lambda, 100 lambda]. If step 1 lifted the margin over 1 that is lambda + s^_i x_ij / (change of w_j) where x_ij is
//      not 0, and lambda elsewhere. The mean r of the h is updated, and B = 1/r (the erratum: means of the curvature,
//      not of its inverse).
//
// So B is small where features are frequent, and they take small steps.
//
// t_0 makes the first steps as large as |w| typically is: eta_0 = (lambda/q)^(-1/4)/q, t_0 = 1/(lambda eta_0), with q the
// mean squared norm of the rows.
//
// w is no combination of the rows with non-negative coefficients: the multipliers are a DualAverage.
//
// W is the type of w, B and r: float (as in the paper) or double. No intercept, or a penalised one through the rows.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "hinge/dual_average.hpp"
#include "hinge/epoch.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"

namespace hinge {

template <class W>
struct SgdQn {
  Order order;
  Rng rng;

  std::vector<W> w;
  std::vector<W> r;  // mean curvature, relative to lambda: 1 to 100; B = 1/(lambda r)
  double t0 = 0.0;   // 0: not prepared
  std::int64_t t = 0;
  std::int64_t skip = 0;
  std::int64_t count = 0;     // steps until the next shrinking
  std::int64_t watching = 0;  // 1: the next step measures the curvature
  DualAverage average;
  std::int64_t touched = 0;  // rows read

  SgdQn(const Problem& problem, std::int64_t n_features, Order row_order, Rng random)
      : order(row_order),
        rng(random),
        w(static_cast<std::size_t>(n_features) + 1),
        r(w.size(), W{1}),
        average(problem.size()) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    field("w", w);
    field("r", r);
    average.fields(field);
    field("t0", t0);
    field("t", t);
    field("skip", skip);
    field("count", count);
    field("watching", watching);
    field("rng", rng);
  }

  void check_restored(const Problem&) const {
    const auto in_range = [](W x) { return x >= W{1} && x <= W{kMost}; };
    if (!(t0 >= 0.0 && std::isfinite(t0)) || (t0 > 0.0 && skip < 1)) throw std::invalid_argument("t0 or skip out of range");
    if (!std::all_of(r.begin(), r.end(), in_range)) throw std::invalid_argument("r out of range");
  }

  /// On another problem: w stays as the start, the schedule is made anew.
  template <Rows R>
  void rebuild(const R&, const Problem&, Poll&) {
    t0 = 0.0;
  }

  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    if (t0 == 0.0) prepare(rows, problem);
    const auto visit = order.of_all(problem.size(), rng, poll);
    if (visit.empty()) return false;
    const auto take = [&](std::int64_t i) {
      step(rows, problem, i);
      ++touched;
    };
    return each_row(rows, visit, poll, take, problem.target, problem.cost);
  }

  void point(const Problem& problem, Point& out) const {
    std::copy(w.begin(), w.end(), out.w.begin());
    average.write(problem, out.multipliers);
  }

  std::optional<Estimate> estimate(const Problem&) const { return std::nullopt; }

 private:
  static constexpr double kMost = 100.0;

  template <Rows R>
  void prepare(const R& rows, const Problem& problem) {
    double norms = 0.0;
    std::int64_t stored = 0;
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      norms += rows.squared_norm(i);
      stored += rows.stored(i);
    }
    const double q = norms / static_cast<double>(problem.size());
    const double root = std::sqrt(q / problem.lambda);
    t0 = std::clamp(root * std::sqrt(root), 1.0, 1e15);  // (q/lambda)^(3/4)
    const double per_row = std::max(1.0, static_cast<double>(stored) / static_cast<double>(problem.size()));
    skip = static_cast<std::int64_t>(std::max(1.0, 16.0 * static_cast<double>(w.size()) / per_row));
    count = skip;
    watching = 0;
  }

  template <Rows R>
  void step(const R& rows, const Problem& problem, std::int64_t i) {
    const double target = problem.target[i];
    const double now = static_cast<double>(t) + t0;
    const bool loss = target * rows.dot(i, w) < 1.0;
    average.visited(i, loss ? 1.0 : 0.0, t);
    if (loss) {
      const double size = problem.relative_weight(i) / (problem.lambda * now);
      rows.for_each(i, [&](std::int64_t j, double x) { w[j] = static_cast<W>(w[j] + size * target * x / r[j]); });
    }
    if (watching != 0) {
      if (loss && target * rows.dot(i, w) >= 1.0) learn_curvature(rows, i, now);
      watching = 0;
    }
    if (--count <= 0) {
      shrink(now);
      count = skip;
      watching = 1;
    }
    ++t;
  }

  void shrink(double now) {
    const double amount = static_cast<double>(skip) / now;
    for (std::size_t j = 0; j < w.size(); ++j) w[j] = static_cast<W>(w[j] * std::max(0.0, 1.0 - amount / r[j]));
  }

  template <Rows R>
  void learn_curvature(const R& rows, std::int64_t i, double now) {
    const auto s = static_cast<double>(skip);
    const double gain = now > s ? 2.0 * s / (now + s) : s / (now + s);
    for (W& x : r) x = std::max(W{1}, static_cast<W>(x + gain * (1.0 - x)));
    // relative to lambda: 1 + (t + t_0) r_j, on top of the 1 that is there already
    rows.for_each(i, [&](std::int64_t j, double x) {
      if (x != 0.0) r[j] = std::min(W{kMost}, static_cast<W>(r[j] + gain * (std::min(1.0 + now * r[j], kMost) - 1.0)));
    });
  }
};

static_assert(Solver<SgdQn<double>> && Solver<SgdQn<float>>);

}  // namespace hinge
