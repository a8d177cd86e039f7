#pragma once
// SGD-r, SGD-s, SGD-m: stochastic gradient descent as a perceptron with a growing margin threshold.
//
// Panagiotakopoulos & Tsampouka, "The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited".
//
// With eta_t = 1/(t+1) and w_t = a_t / (lambda t), a step on row k (y_k the row times its target) is
//
//   a_{t+1} = a_t + y_k   if a_t . y_k <= lambda t   (a margin error; equality counts, it makes t = 0 work),   else a_t.
//
// After T complete epochs the counts I_k of margin errors give feasible multipliers C I_k / T, hence the lower bound
//   L^T = C M / T - |w|^2 / 2,   M = sum_k I_k.
//
// A row presented l times in a row makes l+ margin errors (Proposition 3), found from one inner product. SGD-m presents
// rows l = 5 times in epochs T with 0 < T mod 9 < 5. Multipliers are then C_k I_k / T_eff with T_eff = t / m.
//
// Weights: row k counts s^_k times (s^_k = m s_k / sum s), so a step adds s^_k y_k and moves a . y_k by s^_k |y_k|^2.
//
// Inputs: rows, problem, order. Outputs: w = a_t / (lambda t), counts I_k, and the estimates J, L^T that cost nothing.
// No intercept, or a penalised one through the rows.
//
// W is the type of a_t: double, or float as in the paper's comparison with programs in single precision. Sums are in double.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "hinge/epoch.hpp"
#include "hinge/order.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/sums.hpp"

namespace hinge {

/// Proposition 3: the number l+ of margin errors in l presentations, with P = a_t . y_k - lambda t and q = |y_k|^2.
inline std::int64_t margin_errors(double P, double lambda, double q, std::int64_t l) {
  const double room = static_cast<double>(l - 1) * lambda - P;
  if (!(room >= 0.0)) return 0;
  const double errors = std::floor(room / std::max(q, lambda)) + 1.0;
  return errors < static_cast<double>(l) ? static_cast<std::int64_t>(errors) : l;
}

enum class Presentation { random, single, multiple };  // SGD-r, SGD-s, SGD-m

template <class W = double>
struct Sgd {
  Presentation presentation;
  Order order;
  Rng rng;

  std::vector<W> a;                  // a_t
  std::vector<std::int64_t> counts;  // I_k
  std::int64_t epoch = 0;            // T, passes begun
  std::int64_t t = 0;                // presentations so far
  double M = 0.0;                    // sum C_k I_k
  double r = 0.0;                    // |a_t|^2, tracked
  double loss = 0.0;                 // sum C_k hinge_k of the last epoch, each taken when its row was first presented
  std::int64_t touched = 0;          // rows read

  Sgd(const Problem& problem, std::int64_t n_features, Presentation how, Order row_order, Rng random)
      : presentation(how),
        order(row_order),
        rng(random),
        a(static_cast<std::size_t>(n_features) + 1),
        counts(static_cast<std::size_t>(problem.size())) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    field("a", a);
    field("counts", counts);
    field("epoch", epoch);
    field("t", t);
    field("M", M);
    field("r", r);
    field("loss", loss);
    field("rng", rng);
  }

  void check_restored(const Problem&) const {}

  /// For a state saved on a problem with other costs, labels or rows: what follows from the counts, computed anew.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    std::fill(a.begin(), a.end(), W{0});
    M = 0.0;
    for (std::int64_t k = 0; k < problem.size(); ++k) {
      if (counts[k] == 0) continue;
      const auto count = static_cast<double>(counts[k]);
      rows.add(k, count * problem.relative_weight(k) * problem.target[k], a);
      M += problem.cost[k] * count;
      if (poll(rows.stored(k))) return;
    }
    r = squared_norm(a);
  }

  /// How often each row is presented in epoch T (from 1 on).
  std::int64_t multiplicity(std::int64_t T) const {
    return presentation == Presentation::multiple && 0 < T % 9 && T % 9 < 5 ? 5 : 1;
  }

  /// False when stopped by the poll: the counts are then those of an unfinished epoch.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    const auto visit = presentation == Presentation::random ? draws(problem.size(), problem.size(), rng)
                                                            : order.of_all(problem.size(), rng, poll);
    if (visit.empty()) return false;
    const std::int64_t l = multiplicity(++epoch);
    loss = 0.0;
    const auto take = [&](std::int64_t k) {
      present(rows, problem, k, l);
      ++touched;
    };
    return each_row(rows, visit, poll, take, problem.target, problem.cost);
  }

  /// J and L^T, from quantities at hand. SGD-r does not visit all rows in an epoch, and cannot tell.
  std::optional<Estimate> estimate(const Problem& problem) const {
    if (presentation == Presentation::random || t == 0) return std::nullopt;
    const double half = half_norm2(problem);
    return Estimate{half + loss, M / T_eff() - half};
  }

  /// w = a_t / (lambda t), and a_k = C_k I_k / T_eff (inside the box after complete epochs of SGD-s and SGD-m).
  void point(const Problem& problem, Point& out) const {
    if (t == 0) return;
    for (std::size_t j = 0; j < a.size(); ++j) out.w[j] = a[j] / threshold(problem);
    for (std::size_t k = 0; k < counts.size(); ++k) {
      out.multipliers[k] = problem.cost[k] * (static_cast<double>(counts[k]) / T_eff());
    }
  }

 private:
  double T_eff() const { return static_cast<double>(t) / static_cast<double>(counts.size()); }
  double threshold(const Problem& problem) const { return problem.lambda * static_cast<double>(t); }
  double half_norm2(const Problem& problem) const {
    const double theta = threshold(problem);
    return r / (2.0 * theta * theta);
  }

  template <Rows R>
  void present(const R& rows, const Problem& problem, std::int64_t k, std::int64_t l) {
    const double target = problem.target[k];
    const double weight = problem.relative_weight(k);
    const double q = rows.squared_norm(k);
    const double p = target * rows.dot(k, a);
    const double theta = threshold(problem);
    if (p <= theta) loss += problem.cost[k] * (t > 0 ? 1.0 - p / theta : 1.0);
    const std::int64_t errors = margin_errors(p - theta, problem.lambda, weight * q, l);
    if (errors > 0) {
      const double change = static_cast<double>(errors) * weight;
      rows.add(k, change * target, a);
      r += 2.0 * change * p + change * change * q;
      counts[k] += errors;
      M += problem.cost[k] * static_cast<double>(errors);
    }
    t += l;
  }
};

static_assert(Solver<Sgd<double>> && Solver<Sgd<float>>);

}  // namespace hinge
