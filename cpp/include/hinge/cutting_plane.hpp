#pragma once
// The cutting-plane method, one slack variable.
//
// Joachims, "Training Linear SVMs in Linear Time" (KDD 2006): the algorithm of SVM-perf.
//
//   1. Find the plane that touches the risk at v: the rows with t_i v.x_i < 1 (planes.hpp).
//   2. Add it to the bundle. Minimise 1/2 |v|^2 + max_j (b_j - v.a_j) for the next v.
//   3. Drop the planes that 50 solutions in a row have not used.
//
// P(v) is known from step 1, and the value of step 2 is a lower bound of P: the gap is at hand. P(v) does not fall steadily,
// so the best v so far is kept as w.
//
// Inputs: rows, problem. Nothing is drawn at random. Outputs: w, the multipliers of the bundle, P and D.
// No intercept, or a penalised one through the rows.

#include <cstdint>
#include <limits>

#include "hinge/plane_method.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct CuttingPlane : PlaneMethod {
  using PlaneMethod::PlaneMethod;

  /// For a state saved on a problem with other costs, labels or rows. P is known again after the next epoch.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    rebuild_planes(rows, problem, poll);
    primal = std::numeric_limits<double>::infinity();
  }

  /// One plane. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    return touch(rows, problem, poll) && solve_with_cut(poll);
  }

 private:
  /// P and the plane at v, in one pass.
  template <Rows R>
  bool touch(const R& rows, const Problem& problem, Poll& poll) {
    double loss = 0.0;
    cut.offset = 0.0;
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      const double margin = problem.target[i] * rows.dot(i, v);
      const bool inside = margin < 1.0;
      if (inside) {
        loss += problem.cost[i] * (1.0 - margin);
        cut.offset += problem.cost[i];
      }
      if (inside != contains(cut.members, i)) cut.flip(rows, problem, i);
      ++touched;
      if (poll(rows.stored(i))) return false;
    }
    const double value = 0.5 * squared_norm(v) + loss;
    if (value < primal) {
      primal = value;
      w = v;
    }
    return true;
  }
};

static_assert(Solver<CuttingPlane>);

}  // namespace hinge
