#pragma once
// The two sides of a certificate, in float64 with the rounding counted: the primal errs upwards (primal.hpp), the dual downwards (dual.hpp).
// Here they are evaluated together.
//
// Each side is a sum over rows: threads, chunks of a file and workers of a cluster add their rows and merge (parts.hpp).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hinge/dual.hpp"
#include "hinge/poll.hpp"
#include "hinge/primal.hpp"
#include "hinge/problem.hpp"
#include "hinge/row_blocks.hpp"
#include "hinge/rows.hpp"

namespace hinge {

/// The sum of the dual, and the decisions z = v.x_i of all rows: each is read from memory once for both.
struct DecidingSum : DualSum {
  std::span<const double> v;
  std::span<double> z;

  DecidingSum(std::int64_t n_features, std::span<const double> weights, std::span<double> out)
      : DualSum(n_features), v(weights), z(out) {}

  template <Rows R>
  bool add(const R& rows, const Problem& problem, std::int64_t begin, std::int64_t end, const double* a, Poll& poll) {
    return !poll(decide(rows, begin, end, v, z)) && DualSum::add(rows, problem, begin, end, a, poll);
  }
};

/// P at the weights v, at the best b if the intercept is free, and D at the given multipliers, which `a` receives as `dual` makes them: the
/// same bits as `primal` and `dual`, in one pass over the rows. It takes 0.8 of their time on RCV1-like 100,000 and on Covertype, and as
/// long as they do where rows stay in the cache. Decisions and a are not in memory at the same time. False when stopped by the poll.
template <Rows R>
bool both_sides(const R& rows, const Problem& problem, std::span<const double> v, Primal& upper, std::span<const double> given,
                std::vector<double>& a, std::span<double> w, Dual& lower, Poll& poll, std::int64_t n_threads = 1) {
  Feasible feasible(problem, given);
  std::optional<Decisions> z(rows.size());
  DecidingSum sum(rows.n_features(), v, z->all());
  if (!feasible.balance(rows, poll, n_threads) ||
      !sum_blocks(rows, problem, feasible, parts_of(rows, rows.n_features()), n_threads, poll, sum) ||
      !primal_at_best(rows, problem, v, z->all(), upper, poll, n_threads)) {
    return false;
  }
  z.reset();
  a.resize(given.size());
  return detail::bound(rows, problem, feasible, sum, a, w, lower, poll, n_threads);
}

}  // namespace hinge
