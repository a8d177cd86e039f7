#pragma once
// D at multipliers, rounded down: the lower side of a certificate.
//
// Any multipliers will do: they are made feasible (feasible.hpp), and their best multiple counts. w(a) is built from them in compensated sums,
// so that D is that of these very multipliers. A sum over rows, like P (primal.hpp).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "hinge/feasible.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/processor.hpp"
#include "hinge/rounding.hpp"
#include "hinge/row_blocks.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct Dual {
  double value;     // at most D(a), and never negative: a = 0 is feasible
  double rounding;  // what `value` was lowered by
};

/// What D(a) consists of, for multipliers inside the box: w(a) in compensated sums, and sums that bound its error.
struct DualSum {
  Sums w;           // sum a_i t_i x_i
  WideSum total;    // sum a_i
  WideSum penalty;  // what the loss takes off it
  WideSum spread;   // sum a_i |x_i|: rounding errors of w are relative to this
  WideSum reach;    // sum (|x_i| + number of values): what underflow may lose is relative to this

  explicit DualSum(std::int64_t n_features) : w(static_cast<std::size_t>(n_features) + 1) {}

  /// The rows begin .. end-1, at most kBlock of them, with the multipliers a. False when stopped by the poll.
  template <Rows R>
  bool add(const R& rows, const Problem& problem, std::int64_t begin, std::int64_t end, const double* a, Poll& poll) {
    const RowBlock block(rows, problem, begin, end);
    std::int64_t list[kBlock];
    double scales[kBlock];
    std::int64_t n = 0;
    std::int64_t stored = block.size;
    for (std::int64_t k = 0; k < block.size; ++k) {
      list[n] = begin + k;
      scales[n] = block.target[k] * a[k];
      n += a[k] != 0.0;
      stored += a[k] != 0.0 ? rows.stored(begin + k) : 0;
    }
    for (std::int64_t k = 0; k < std::min(n, kAddedAtOnce); ++k) rows.prefetch(list[k]);  // while the other sums are computed
    double taken_off[kBlock];
    double spreads[kBlock];
    double reaches[kBlock];
    terms(block, problem.loss, a, taken_off, spreads, reaches);
    const auto count = static_cast<std::size_t>(block.size);
    total.add({a, count});
    if (!problem.loss.is_hinge()) penalty.add({taken_off, count});  // of the hinge they are zero
    spread.add({spreads, count});
    reach.add({reaches, count});
    rows.add_compensated(std::span(list, static_cast<std::size_t>(n)), scales, w);
    return !poll(stored);
  }

  /// What each row adds to the sums beside w and the total.
  HINGE_FOR_EACH_PROCESSOR static void terms(const RowBlock& block, Loss loss, const double* __restrict a,
                                             double* __restrict taken_off, double* __restrict spreads,
                                             double* __restrict reaches) {
    for (std::int64_t k = 0; k < block.size; ++k) {
      const double length = norm_bound(block.squared_norm[k], block.stored[k]);
      taken_off[k] = loss.dual_penalty(a[k], block.cost[k]);
      spreads[k] = a[k] * length;
      reaches[k] = a[k] != 0.0 ? length + (block.stored[k] + 1.0) : 0.0;
    }
  }

  void merge(const DualSum& other) {
    w.merge(other.w);
    total.merge(other.total);
    penalty.merge(other.penalty);
    spread.merge(other.spread);
    reach.merge(other.reach);
  }
};

namespace detail {

/// What the loss takes off the sum of these multipliers.
inline double penalty_of(const Problem& problem, std::span<const double> a) {
  Sum penalty;
  for (std::int64_t i = 0; i < problem.size(); ++i) penalty.add(problem.loss.dual_penalty(a[i], problem.cost[i]));
  return penalty.value();
}

/// The multiple of a with the largest dual: argmax over theta of theta T - theta^2 (penalty + |w|^2 / 2). In the box of the hinge
/// only multiples up to 1 are sure to stay.
inline double best_multiple(const Problem& problem, double total, double penalty, double norm2) {
  if (problem.loss.is_hinge()) return norm2 > total ? total / norm2 : 1.0;
  const double curvature = norm2 + 2.0 * penalty;
  const double theta = total / curvature;
  return curvature > 0.0 && std::isfinite(theta) && theta > 0.0 ? theta : 1.0;
}

/// Writes the best multiple of the feasible multipliers to a, makes w = w(a), and bounds D(a) from below, given their sums. Where no
/// positive bound comes out, a and w are set to zero: D(0) = 0. False when stopped by the poll.
template <Rows R>
bool bound(const R& rows, const Problem& problem, const Feasible& feasible, const DualSum& sum, std::span<double> a,
           std::span<double> w, Dual& result, Poll& poll, std::int64_t n_threads) {
  if (!feasible.write(rows, a, poll, n_threads)) return false;
  sum.w.write(w);
  double total = sum.total.value();
  double penalty = sum.penalty.value();
  double norm2 = squared_norm(w);
  const double theta = best_multiple(problem, total, penalty, norm2);
  if (theta != 1.0) {
    for (double& x : a) x *= theta;
    for (double& x : w) x *= theta;
    total *= theta;
    penalty = penalty_of(problem, a);  // squares of small multipliers had underflowed, and theta may be huge
    norm2 = squared_norm(w);           // so had squares of small weights
  }
  const double hidden = Sum::hidden_error(static_cast<double>(problem.size()));
  const double error =
      (kSomeRoundings + hidden) * (theta * sum.spread.value()) + kUnderflow * sum.reach.value() * std::max(1.0, theta);
  const double length = length_bound(w, norm2) + error;
  double charge = 0.0;
  if (problem.free_intercept) {
    ClassSums classes;
    if (!sum_blocks(rows, problem, a, parts_of(rows, 0), n_threads, poll, classes)) return false;
    charge = classes.residue_charge(length);
  }
  const double value = total - penalty - 0.5 * norm2;
  const double lowered = total * (1.0 - kSomeRoundings - hidden) - penalty * (1.0 + kSomeRoundings + hidden) -
                         0.5 * length * length * (1.0 + kFewRoundings) - charge - kTiny;
  if (lowered > 0.0 && std::isfinite(lowered)) {
    result = {lowered, value - lowered};
  } else {
    std::fill(a.begin(), a.end(), 0.0);
    std::fill(w.begin(), w.end(), 0.0);
    result = {0.0, 0.0};
  }
  return true;
}

}  // namespace detail

/// Make the multipliers `a` feasible in place (box, balance, best multiple), rebuild w = w(a) and bound D(a) from below. False when
/// stopped by the poll.
template <Rows R>
bool dual(const R& rows, const Problem& problem, std::span<double> a, std::span<double> w, Dual& result, Poll& poll,
          std::int64_t n_threads = 1) {
  Feasible feasible(problem, a);
  DualSum sum(rows.n_features());
  return feasible.balance(rows, poll, n_threads) &&
         sum_blocks(rows, problem, feasible, parts_of(rows, rows.n_features()), n_threads, poll, sum) &&
         detail::bound(rows, problem, feasible, sum, a, w, result, poll, n_threads);
}

}  // namespace hinge
