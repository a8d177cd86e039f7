#pragma once
// The cutting-plane method, one slack variable.
//
// Joachims, "Training Linear SVMs in Linear Time" (KDD 2006): the algorithm of SVM-perf.
//
//   1. Find the plane that touches the risk at v: the rows with t_i v.x_i < 1 (planes.hpp), or those of the best b (contact.hpp).
//   2. Add it to the bundle. Minimise 1/2 |v|^2 + max_j (b_j - v.a_j) for the next v.
//   3. Drop the planes that 50 solutions in a row have not used.
//
// P(v) is known from step 1, and the value of step 2 is a lower bound of P: the gap is at hand. P(v) does not fall steadily,
// so the best v so far is kept as w.
//
// Inputs: rows, problem. Nothing is drawn at random. Outputs: w, the multipliers of the bundle, P and D.
// No intercept, a penalised one through the rows, or a free one.

#include <cstdint>
#include <limits>
#include <vector>

#include "hinge/plane_method.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct CuttingPlane : PlaneMethod {
  CuttingPlane(const Problem& problem, std::int64_t n_features, std::int64_t keep_unused, std::int64_t n_threads)
      : PlaneMethod(problem, n_features, keep_unused, n_threads), margins_(static_cast<std::size_t>(problem.size())) {}

  /// For a state saved on a problem with other costs, labels or rows. P is known again after the next epoch.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    rebuild_planes(rows, problem, poll);
    primal = std::numeric_limits<double>::infinity();
    if (!problem.free_intercept) b = 0.0;
  }

  /// One plane. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    if (!find_margins(rows, problem, v, margins_, poll)) return false;
    contact_.find(problem, margins_, best_shift_);
    const double value = 0.5 * squared_norm(v) + contact_.risk;
    if (value < primal) {
      primal = value;
      w = v;
      b = contact_.shift;
    }
    return solve_with_contact(rows, problem, poll);
  }

 private:
  std::vector<double> margins_;  // t_i v.x_i
};

static_assert(Solver<CuttingPlane>);

}  // namespace hinge
