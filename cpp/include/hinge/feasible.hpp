#pragma once
// Multipliers made feasible: inside their boxes and, if the intercept is free, in balance.
//
//   0 <= a_i <= box_i,    sum_i a_i t_i = 0
//
// The class with the larger sum is scaled down. What rounding leaves of the residue is charged to D.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/processor.hpp"
#include "hinge/rounding.hpp"
#include "hinge/row_blocks.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

/// Sums of the multipliers of each class (t = -1, t = +1), and the largest one with the norm of its row.
struct ClassSums {
  WideSum sums[2];
  double largest[2] = {0.0, 0.0};
  double norm[2] = {0.0, 0.0};
  std::int64_t n = 0;

  template <Rows R>
  bool add(const R& rows, const Problem& problem, std::int64_t begin, std::int64_t end, const double* a, Poll& poll) {
    double of_side[2][kBlock];
    for (std::int64_t i = begin; i < end; ++i) {
      const double own = a[i - begin];
      const int side = problem.target[i] > 0.0;
      of_side[0][i - begin] = side == 0 ? own : 0.0;
      of_side[1][i - begin] = side == 1 ? own : 0.0;
      if (own > largest[side]) keep(side, own, norm_bound(rows, i));
      n += own != 0.0;
    }
    for (const int side : {0, 1}) sums[side].add({of_side[side], static_cast<std::size_t>(end - begin)});
    return !poll(end - begin);
  }

  void merge(const ClassSums& other) {
    for (const int side : {0, 1}) {
      sums[side].merge(other.sums[side]);
      if (other.largest[side] > largest[side]) keep(side, other.largest[side], other.norm[side]);
    }
    n += other.n;
  }

  /// One class has no multipliers, the other has: balanced as they are, all would be zero.
  bool one_is_empty() const { return empty(-1.0) != empty(1.0); }
  bool empty(double target) const { return largest[target > 0.0] == 0.0; }

  /// Scaling the class with the larger sum by this makes sum a_i t_i = 0 but for rounding.
  double factor(double target) const {
    const double own = sums[target > 0.0].value();
    const double other = sums[target <= 0.0].value();
    return own > other ? other / own : 1.0;
  }

  /// What D loses when the residue delta = sum a_i t_i is taken off one multiplier: an upper bound, inf if none is large enough.
  /// Which class it is taken off depends on the sign of delta, and that may be lost in rounding: the bound holds for both.
  /// `length` bounds |w|: delta is of the order of one rounding, so |w.x_j| <= |w| |x_j| is sharp enough.
  double residue_charge(double length) const {
    Sum residue = sums[1].total();
    residue.subtract(sums[0].total());
    const double total = sums[0].value() + sums[1].value();
    const double delta = std::abs(residue.value()) * (1.0 + kFewRoundings) + Sum::hidden_error(static_cast<double>(n)) * total;
    if (delta == 0.0) return 0.0;
    if (!(std::min(largest[0], largest[1]) >= delta)) return INFINITY;
    const double moved = delta * std::max(norm[0], norm[1]);  // bounds the change of w; delta^2 alone may underflow
    return (delta + length * moved + 0.5 * moved * moved) * (1.0 + kFewRoundings);
  }

 private:
  void keep(int side, double a, double length) {
    largest[side] = a;
    norm[side] = length;
  }
};

/// Multipliers as the dual counts them: inside their boxes and, if the intercept is free, in balance. They are computed whenever they are
/// asked for, and take no memory.
class Feasible {
 public:
  Feasible(const Problem& problem, std::span<const double> given) : problem_(problem), given_(given) {}

  /// Those of the rows begin .. end-1.
  void fill(std::int64_t begin, std::int64_t end, double* out) const {
    problem_.cost.visit([&](const auto& cost) {
      fill_each(begin, end, problem_.loss, problem_.target.data(), cost, given_.data(), *this, out);
    });
  }
  friend const double* block_of(const Feasible& values, std::int64_t begin, std::int64_t end, double* room) {
    values.fill(begin, end, room);
    return room;
  }

  /// Finds what balances them: a class without multipliers gets its costs, and that with the larger sum is scaled down. False when stopped
  /// by the poll.
  template <Rows R>
  bool balance(const R& rows, Poll& poll, std::int64_t n_threads) {
    if (!problem_.free_intercept) return true;
    ClassSums classes;
    if (!add_up(rows, poll, n_threads, classes)) return false;
    if (classes.one_is_empty()) {
      for (const int side : {0, 1}) filled_[side] = classes.empty(side == 0 ? -1.0 : 1.0);
      classes = {};
      if (!add_up(rows, poll, n_threads, classes)) return false;
    }
    for (const int side : {0, 1}) factor_[side] = classes.factor(side == 0 ? -1.0 : 1.0);
    return true;
  }

  /// `out` may be where they were given.
  template <Rows R>
  bool write(const R& rows, std::span<double> out, Poll& poll, std::int64_t n_threads) const {
    return for_parts(parts_of(rows, 0), n_threads, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
      fill(begin, end, &out[begin]);
      return !own(end - begin);
    });
  }

 private:
  const Problem& problem_;
  std::span<const double> given_;
  bool filled_[2] = {false, false};
  double factor_[2] = {1.0, 1.0};

  template <class Cost>
  HINGE_FOR_EACH_PROCESSOR static void fill_each(std::int64_t begin, std::int64_t end, Loss loss, const double* target,
                                                 const Cost& cost, const double* given, const Feasible& how, double* out) {
    const bool filled[2] = {how.filled_[0], how.filled_[1]};
    const double factor[2] = {how.factor_[0], how.factor_[1]};
    for (std::int64_t i = begin; i < end; ++i) {
      const double positive = given[i] > 0.0 ? given[i] : 0.0;  // NaN becomes 0
      const double own = std::min(positive, loss.box(cost[static_cast<std::size_t>(i)]));
      const double left = filled[0] ? cost[static_cast<std::size_t>(i)] : own;
      const double right = filled[1] ? cost[static_cast<std::size_t>(i)] : own;
      out[i - begin] = target[i] > 0.0 ? right * factor[1] : left * factor[0];
    }
  }

  template <Rows R>
  bool add_up(const R& rows, Poll& poll, std::int64_t n_threads, ClassSums& classes) const {
    return sum_blocks(rows, problem_, *this, parts_of(rows, 0), n_threads, poll, classes);
  }
};

}  // namespace hinge
