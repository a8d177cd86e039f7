#pragma once
// P at a model, rounded up: the upper side of a certificate.
//
// A sum over rows: `add` takes a block of them, `merge` another sum, `bound` adds up what is left and rounds to the safe side.

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "hinge/intercept.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/processor.hpp"
#include "hinge/rounding.hpp"
#include "hinge/row_blocks.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct Primal {
  double value;     // at least P(w, b); infinite where the data are no numbers
  double rounding;  // what `value` was raised by
  double b;
};

/// sum_i C_i loss(s_i), as computed and raised by what rounding may hide.
struct PrimalSum {
  double n_weights;
  double norm2;   // |w|^2
  double length;  // an upper bound of |w|
  double b;
  WideSum loss;
  WideSum raised;
  std::int64_t n = 0;

  PrimalSum(std::span<const double> w, double intercept)
      : n_weights(static_cast<double>(w.size())), norm2(squared_norm(w)), length(length_bound(w, norm2)), b(intercept) {}

  /// The rows begin .. end-1, at most kBlock of them, with the decisions z = w.x_i. False when stopped by the poll.
  template <Rows R>
  bool add(const R& rows, const Problem& problem, std::int64_t begin, std::int64_t end, const double* z, Poll& poll) {
    const RowBlock block(rows, problem, begin, end);
    double computed[kBlock];
    double at_most[kBlock];
    losses(block, problem.loss, length, b, z, computed, at_most);
    loss.add({computed, static_cast<std::size_t>(block.size)});
    raised.add({at_most, static_cast<std::size_t>(block.size)});
    n += block.size;
    return !poll(block.size);
  }

  /// C_i loss(s_i) of each row, as computed, and what it may be at most.
  HINGE_FOR_EACH_PROCESSOR static void losses(const RowBlock& block, Loss loss, double length, double b,
                                              const double* __restrict z, double* __restrict computed,
                                              double* __restrict at_most) {
    for (std::int64_t k = 0; k < block.size; ++k) {
      const double roundings = block.stored[k] + static_cast<double>(kDecisionRoundings);
      const double slack = Loss::slack(block.target[k], z[k] + b);
      const double error = roundings * (kRoundoff * length * norm_bound(block.squared_norm[k], block.stored[k]) + kUnderflow) +
                           2.0 * kRoundoff * (1.0 + std::abs(z[k]) + std::abs(b));
      computed[k] = block.cost[k] * loss.value(slack);
      at_most[k] = block.cost[k] * loss.value(slack + error);
    }
  }

  void merge(const PrimalSum& other) {
    loss.merge(other.loss);
    raised.merge(other.raised);
    n += other.n;
  }

  Primal bound() const {
    const double half = 0.5 * norm2;
    const double value = half + loss.value();
    const double of_sums = Sum::hidden_error(static_cast<double>(n)) + Sum::hidden_error(n_weights);
    const double up = (half + raised.value()) * (1.0 + kSomeRoundings + of_sums) + kTiny;
    if (!(up < std::numeric_limits<double>::infinity())) return {INFINITY, INFINITY, b};  // NaN too
    return {up, up - value, b};
  }
};

/// P at (w, b). `z` holds the decisions w.x_i. False when stopped by the poll.
template <Rows R>
bool primal_at(const R& rows, const Problem& problem, std::span<const double> w, std::span<const double> z, double b,
               Primal& result, Poll& poll, std::int64_t n_threads = 1) {
  PrimalSum sum(w, b);
  if (!sum_blocks(rows, problem, z, parts_of(rows, 0), n_threads, poll, sum)) return false;
  result = sum.bound();
  return true;
}

/// Room for a number for each row, all of which are written to.
class Decisions {
 public:
  explicit Decisions(std::int64_t m)
      : memory_(std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(m))), size_(static_cast<std::size_t>(m)) {}
  std::span<double> all() const { return {memory_.get(), size_}; }

 private:
  std::unique_ptr<double[]> memory_;
  std::size_t size_;
};

/// P at w, given the decisions z, at the exact minimiser b(w) if the intercept is free. False when stopped by the poll.
template <Rows R>
bool primal_at_best(const R& rows, const Problem& problem, std::span<const double> w, std::span<const double> z, Primal& result,
                    Poll& poll, std::int64_t n_threads) {
  double b = 0.0;
  if (problem.free_intercept && !best_intercept(problem, z, n_threads, poll, b)) return false;
  return primal_at(rows, problem, w, z, b, result, poll, n_threads);
}

/// P at w and b; without a given b, at the best one. False when stopped by the poll.
template <Rows R>
bool primal(const R& rows, const Problem& problem, std::span<const double> w, const double* given_b, Primal& result, Poll& poll,
            std::int64_t n_threads = 1) {
  const Decisions z(rows.size());
  if (!decisions(rows, w, z.all(), poll, n_threads)) return false;
  if (given_b == nullptr) return primal_at_best(rows, problem, w, z.all(), result, poll, n_threads);
  return primal_at(rows, problem, w, z.all(), *given_b, result, poll, n_threads);
}

}  // namespace hinge
