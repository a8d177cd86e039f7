#pragma once
// OCAS: the optimised cutting-plane algorithm.
//
// Franc & Sonnenburg, "Optimized Cutting Plane Algorithm for Support Vector Machines" (ICML 2008).
//
//   1. Line search: the exact minimum of P on the ray from the best w so far to v, the solution of the reduced problem
//      (line_search.hpp), is the new best w. So P falls with every plane.
//   2. The plane that touches the risk at (1 - mu) w + mu v, a little beyond the best w (contact.hpp).
//   3. Add it to the bundle. Minimise 1/2 |v|^2 + max_j (b_j - v.a_j) for the next v, and the lower bound of P.
//   4. Drop the planes that 50 solutions in a row have not used.
//
// The margins t_i w.x_i are kept, so an epoch computes those of v only; margins of points between are combinations. The
// plane is that of the epoch before, but for the rows that come or go.
//
// Free intercept: P is convex in w and b together, so on the ray b moves from the best for w to the best for v, and then to
// the best for the new w. Off the ray there may be a better b for the point of step 2; if P is lower there, that point is the
// new best w. Without this a run could stay for ever where the ray leads uphill and only another b leads down.
//
// Inputs: rows, problem. Nothing is drawn at random. Outputs: w, b, the multipliers of the bundle, P and D.
// No intercept, a penalised one through the rows, or a free one.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hinge/line_search.hpp"
#include "hinge/plane_method.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct Ocas : PlaneMethod {
  double mu;
  std::vector<double> margins;  // t_i (w.x_i + b)

  Ocas(const Problem& problem, std::int64_t n_features, double beyond, std::int64_t keep_unused, std::int64_t n_threads)
      : PlaneMethod(problem, n_features, keep_unused, n_threads),
        mu(beyond),
        margins(static_cast<std::size_t>(problem.size())),
        beyond_(margins) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    PlaneMethod::fields(field);
    field("margins", margins);
  }

  /// For a state saved on a problem with other costs, labels or rows: w stays, if there is time to evaluate it.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, Poll& poll) {
    rebuild_planes(rows, problem, poll);
    b = 0.0;
    if (find_margins(rows, problem, w, beyond_, poll)) {
      margins = beyond_;
    } else {
      std::fill(w.begin(), w.end(), 0.0);
      std::fill(margins.begin(), margins.end(), 0.0);
    }
    b += settle(problem, margins);
    primal = value(problem);
  }

  /// One plane. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    if (!find_margins(rows, problem, v, beyond_, poll)) return false;
    improve(problem);
    contact_.find(problem, beyond_, best_shift_);
    if (problem.free_intercept) go_beyond(problem);
    return solve_with_contact(rows, problem, poll);
  }

 private:
  /// The point of the contact, if it is better than w. It lies between w and v, and b has its best place there.
  void go_beyond(const Problem& problem) {
    std::vector<double> there(w);
    for (std::size_t j = 0; j < w.size(); ++j) there[j] += mu * (v[j] - w[j]);
    const double lower = 0.5 * squared_norm(there) + contact_.risk;
    if (!(lower < primal)) return;
    for (std::size_t i = 0; i < margins.size(); ++i) margins[i] = beyond_[i] + problem.target[i] * contact_.shift;
    b += mu * (b_of_v_ - b) + contact_.shift;
    w = std::move(there);
    primal = lower;
  }

  /// Step 1. beyond_ holds the margins of v; it ends as those of the point beyond w.
  void improve(const Problem& problem) {
    b_of_v_ = settle(problem, beyond_);
    std::vector<double> way(v);
    for (std::size_t j = 0; j < w.size(); ++j) way[j] -= w[j];
    const double k = search_(problem, margins, beyond_, dot(w, way), dot(way, way));
    for (std::size_t j = 0; j < w.size(); ++j) w[j] += k * way[j];
    for (std::size_t i = 0; i < margins.size(); ++i) margins[i] += k * (beyond_[i] - margins[i]);
    b += k * (b_of_v_ - b);
    b += settle(problem, margins);
    for (std::size_t i = 0; i < margins.size(); ++i) beyond_[i] = margins[i] + mu * (beyond_[i] - margins[i]);
    primal = value(problem);
  }

  /// To the best b, if it is free: by how much b has moved.
  double settle(const Problem& problem, std::span<double> at) {
    const double d = best_shift_(problem, at);
    if (d == 0.0) return 0.0;
    for (std::size_t i = 0; i < at.size(); ++i) at[i] += problem.target[i] * d;
    return d;
  }

  /// P(w, b)
  double value(const Problem& problem) const {
    const double* margin = margins.data();
    return 0.5 * squared_norm(w) + problem.cost.visit([&](auto cost) {
      return interleaved_sum(margins.size(), [=](std::size_t i) { return cost[i] * std::max(0.0, 1.0 - margin[i]); });
    });
  }

  std::vector<double> beyond_;  // margins of the epoch at work
  double b_of_v_ = 0.0;         // the best for v
  LineSearch search_;
};

static_assert(Solver<Ocas>);

}  // namespace hinge
