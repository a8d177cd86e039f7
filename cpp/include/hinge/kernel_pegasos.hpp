#pragma once
// Pegasos with Mercer kernels.
//
// Shalev-Shwartz, Singer & Srebro (ICML 2007), section "Using Mercer kernels": w is a combination of the rows seen so far, so that
// their coefficients are all that is stored, and products with w are sums of kernel values. With
//
//   w = scale * sum over the support set I of c_s t_s phi(x_s),   |w|^2 tracked,
//
// step t = 1, 2, ... minimises lambda/2 |w|^2 + mean loss, that is lambda P:
//
//   1. choose a row i;   z = <w, phi(x_i)> = scale * sum_s c_s t_s k(x_s, x_i)
//   2. w <- (1 - 1/t) w, and + eta_t s^_i t_i phi(x_i) if t_i (z + b) < 1   (strict),   eta_t = 1/(lambda t)
//   3. w <- min(1, 1/(sqrt(lambda) |w|)) w                                  (optional)
//
// A step costs as many kernel values as there are rows in I. At t = 1 the factor 1 - 1/t is exactly 0: I begins anew.
// A free intercept moves by b += eta_t s^_i t_i, as in pegasos.hpp.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "hinge/kernel_rows.hpp"
#include "hinge/loss.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/state.hpp"

namespace hinge {

struct KernelPegasosOptions {
  Sampling sampling = Sampling::iid;
  bool projection = true;
  std::int64_t cache_bytes = std::int64_t{1} << 28;
};

struct KernelPegasos {
  KernelPegasosOptions options;
  Order order;
  Rng rng;
  KernelCache cache;

  std::vector<double> c;
  Varying<std::int64_t> support;  // I, in the order in which its rows came
  double scale = 1.0;
  double norm2 = 0.0;  // |w|^2, tracked
  double b = 0.0;
  std::int64_t t = 0;
  std::int64_t touched = 0;

  KernelPegasos(const Problem& problem, std::int64_t, Kernel kernel, KernelPegasosOptions how, Order row_order, Rng random)
      : options(how),
        order(row_order),
        rng(random),
        cache(kernel, problem.size(), how.cache_bytes, 1),
        c(static_cast<std::size_t>(problem.size())) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    field("c", c);
    field("support", support);
    field("scale", scale);
    field("norm2", norm2);
    field("b", b);
    field("t", t);
    field("rng", rng);
  }

  void check_restored(const Problem& problem) const {
    expect_distinct(support, problem.size());
    const auto outside = static_cast<std::size_t>(std::count_if(c.begin(), c.end(), [](double x) { return x != 0.0; }));
    if (outside > support.size()) throw std::invalid_argument("saved state: coefficients outside of the support set");
  }

  void point(const Problem& problem, Point& out) const {
    out.w.resize(c.size());
    for (std::size_t i = 0; i < c.size(); ++i) {
      out.multipliers[i] = scale * c[i];
      out.w[i] = out.multipliers[i] * problem.target[i];
    }
    if (problem.free_intercept) out.b = b;
  }

  std::optional<Estimate> estimate(const Problem&) const { return std::nullopt; }

  /// For a state saved with other costs, targets or rows: |w|^2 anew.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    if (!problem.free_intercept) b = 0.0;
    Point at(problem.size(), 0);
    point(problem, at);
    std::vector<double> z(c.size());
    if (!kernel_sums(rows, cache.kernel(), at.w, z, poll, 1)) return;
    norm2 = std::max(0.0, dot(at.w, z));
  }

  /// m rows. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    const auto visit = order.sample(options.sampling, problem.size(), problem.size(), rng, poll);
    if (visit.empty()) return false;
    for (const std::int64_t i : visit) {
      step(rows, problem, i);
      ++touched;
      if (poll(static_cast<std::int64_t>(support.size()) * (rows.stored(i) / 4 + 8))) return false;
    }
    return true;
  }

 private:
  template <Rows R>
  void step(const R& rows, const Problem& problem, std::int64_t i) {
    const double z = decision(rows, problem, i);  // 1.
    const double slope = problem.loss.slope(Loss::slack(problem.target[i], z + b));
    ++t;
    const double keep = 1.0 - 1.0 / static_cast<double>(t);  // exactly 0 at t = 1
    shrink(keep);
    if (slope != 0.0) add(rows, problem, i, keep * z);       // 2.
    if (options.projection && norm2 > problem.total_cost) {  // 3.
      scale *= std::sqrt(problem.total_cost / norm2);
      norm2 = problem.total_cost;
    }
    if (scale < 1e-100) {
      for (double& x : c) x *= scale;
      scale = 1.0;
    }
  }

  template <Rows R>
  double decision(const R& rows, const Problem& problem, std::int64_t i) {
    const float* values = cache.on(rows, i, support);
    double sum = 0.0;
    for (const std::int64_t s : support) sum += c[s] * problem.target[s] * static_cast<double>(values[s]);
    return scale * sum;
  }

  void shrink(double keep) {
    if (keep == 0.0) {
      std::fill(c.begin(), c.end(), 0.0);
      support.clear();
      scale = 1.0;
      norm2 = 0.0;
      return;
    }
    scale *= keep;
    norm2 *= keep * keep;
  }

  /// w <- w + eta_t s^_i t_i phi(x_i), where <w, phi(x_i)> is `before`.
  template <Rows R>
  void add(const R& rows, const Problem& problem, std::int64_t i, double before) {
    const double target = problem.target[i];
    const double step = problem.total_cost / static_cast<double>(t) * problem.relative_weight(i);
    norm2 += 2.0 * step * target * before + step * step * kernel_diagonal(rows, cache.kernel(), i);
    if (c[i] == 0.0) support.push_back(i);
    c[i] += step / scale;
    if (problem.free_intercept) b += step * target;
  }
};

static_assert(Solver<KernelPegasos>);

}  // namespace hinge
