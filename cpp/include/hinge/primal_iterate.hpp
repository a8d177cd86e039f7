#pragma once
// PrimalIterate: the weights of a subgradient method, and the multipliers that follow them.
//
// Every method of this family moves by  w <- keep * w + sum step_i t_i x_i, then perhaps back into a ball. With
//
//   w = scale * v,   v = sum_i c_i t_i x_i,   c_i >= 0,   |w|^2 tracked,
//
// shrinking and projecting cost O(1), and a step the non-zeros of its rows. scale * c are multipliers, not yet clipped to
// their box; without room for c (m = 0) none are kept. Outputs: the last iterate, the average of all iterates, or the iterate
// of a uniformly random step.
//
// W is the type of the weights: double, or float for half the memory traffic. Sums are in double either way.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

enum class Output { last, average, random };

template <class W = double>
struct PrimalIterate {
  Output output;

  std::vector<W> v;
  std::vector<double> c;
  double scale = 1.0;
  double norm2 = 0.0;  // |w|^2, tracked
  std::int64_t t = 0;  // steps
  // The sum of all iterates is scale_sum * v - u, and of the multipliers scale_sum * c - e: a change made at a step must
  // not count in the iterates before it. For the output of a random step, u and e hold that iterate itself.
  std::vector<double> u;
  std::vector<double> e;
  double scale_sum = 0.0;
  std::int64_t touched = 0;  // rows read

  PrimalIterate(std::int64_t m, std::int64_t n_features, Output which)
      : output(which), v(static_cast<std::size_t>(n_features) + 1), c(static_cast<std::size_t>(m)) {
    if (output == Output::last) return;
    u.resize(v.size());
    e.resize(c.size());
  }

  template <class F>
  void fields(F&& field) {
    field("v", v);
    field("c", c);
    field("scale", scale);
    field("norm2", norm2);
    field("t", t);
    field("u", u);
    field("e", e);
    field("scale_sum", scale_sum);
  }

  /// For a state saved on a problem with other costs, labels or rows: what follows from the multipliers, computed anew.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    combine_into<W>(rows, problem, c, v, poll);
    if (!u.empty()) combine_into<double>(rows, problem, e, u, poll);
    norm2 = scale * scale * squared_norm(v);
  }

  /// The iterate asked for, and its multipliers (not yet clipped to the box).
  void point(std::span<double> weights, std::span<double> multipliers) const {
    write_weights(weights);
    write(c, e, multipliers);
  }

  /// w.x_i
  template <Rows R>
  double decision(const R& rows, std::int64_t i) const {
    return scale * rows.dot(i, v);
  }

  void write_weights(std::span<double> weights) const { write(v, u, weights); }

 protected:
  /// w <- keep * w. A factor of exactly 0 (a step of size 1/lambda, the first one for most) erases everything: v begins anew.
  void shrink(double keep) {
    if (keep == 0.0) {
      if (scale_sum != 0.0) write_out_sum();
      std::fill(v.begin(), v.end(), W{0});
      std::fill(c.begin(), c.end(), 0.0);
      scale = 1.0;
      norm2 = 0.0;
      return;
    }
    scale *= keep;
    norm2 *= keep * keep;
    fold_tiny_scale();
  }

  /// w <- w + step t_i x_i, where w.x_i is `before`.
  template <Rows R>
  void add(const R& rows, const Problem& problem, std::int64_t i, double step, double before) {
    add(rows, i, problem.target[i], step, before);
  }

  /// The same for a row of a given target.
  template <Rows R>
  void add(const R& rows, std::int64_t i, double target, double step, double before) {
    norm2 += 2.0 * step * target * before + step * step * rows.squared_norm(i);
    const double change = step / scale;
    rows.add(i, change * target, v);
    if (output == Output::average) rows.add(i, change * target * scale_sum, u);
    if (c.empty()) return;
    c[i] += change;
    if (output == Output::average) e[i] += change * scale_sum;
  }

  /// Back into the ball of squared radius `radius2`; sum_i C_i = 1/lambda is that of a ball that holds the optimum.
  void project(double radius2) {
    if (!(norm2 > radius2)) return;
    scale *= std::sqrt(radius2 / norm2);
    norm2 = radius2;
    fold_tiny_scale();
  }

  /// Keep what the average needs of the iterate of step t.
  void record() {
    if (output == Output::average) scale_sum += scale;
  }

  /// Keep what the output needs of it.
  void record(Rng& rng) {
    record();
    if (output == Output::random && rng.below(t) == 0) {
      for (std::size_t j = 0; j < v.size(); ++j) u[j] = scale * v[j];
      for (std::size_t j = 0; j < c.size(); ++j) e[j] = scale * c[j];
    }
  }

 private:
  template <class V, Rows R>
  static void combine_into(const R& rows, const Problem& problem, std::span<const double> coefficients, std::span<V> sum,
                           Poll& poll) {
    std::fill(sum.begin(), sum.end(), V{0});
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      if (coefficients[i] == 0.0) continue;
      rows.add(i, coefficients[i] * problem.target[i], sum);
      if (poll(rows.stored(i))) return;
    }
  }

  template <class V>
  void write(const std::vector<V>& now, std::span<const double> kept, std::span<double> out) const {
    const auto steps = static_cast<double>(std::max<std::int64_t>(t, 1));
    for (std::size_t j = 0; j < out.size(); ++j) {
      out[j] = output == Output::last     ? scale * now[j]
               : output == Output::random ? kept[j]
                                          : (scale_sum * now[j] - kept[j]) / steps;
    }
  }

  /// The sum of the iterates so far becomes -u, and no longer rests on v.
  void write_out_sum() {
    for (std::size_t j = 0; j < v.size(); ++j) u[j] -= scale_sum * v[j];
    for (std::size_t i = 0; i < c.size(); ++i) e[i] -= scale_sum * c[i];
    scale_sum = 0.0;
  }

  /// 1/t times many projections may underflow: fold the scale into v and c long before. The sum of the iterates cancels
  /// as many digits as the scale has lost, so that it is written out much sooner, and begins anew. So does a vector in
  /// single precision, whose range is short.
  void fold_tiny_scale() {
    const bool average = output == Output::average;
    if (scale >= (average ? 1e-6 : sizeof(W) < sizeof(double) ? 1e-15 : 1e-100)) return;
    if (average) write_out_sum();
    for (W& x : v) x = static_cast<W>(x * scale);
    for (double& x : c) x *= scale;
    scale = 1.0;
  }
};

}  // namespace hinge
