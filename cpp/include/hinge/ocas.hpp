#pragma once
// OCAS: the optimised cutting-plane algorithm.
//
// Franc & Sonnenburg, "Optimized Cutting Plane Algorithm for Support Vector Machines" (ICML 2008).
//
//   1. Line search: the exact minimum of P on the ray from the best w so far to v, the solution of the reduced problem
//      (line_search.hpp), is the new best w. So P falls with every plane.
//   2. The plane that touches the risk at (1 - mu) w + mu v, a little beyond the best w (planes.hpp).
//   3. Add it to the bundle. Minimise 1/2 |v|^2 + max_j (b_j - v.a_j) for the next v, and the lower bound of P.
//   4. Drop the planes that 50 solutions in a row have not used.
//
// The margins t_i w.x_i are kept, so an epoch computes those of v only; margins of points between are combinations. The
// plane is that of the epoch before, but for the rows that come or go.
//
// Inputs: rows, problem. Nothing is drawn at random. Outputs: w, the multipliers of the bundle, P and D.
// No intercept, or a penalised one through the rows.

#include <algorithm>
#include <cstdint>
#include <span>
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
  std::vector<double> margins;  // t_i w.x_i

  Ocas(const Problem& problem, std::int64_t n_features, double beyond, std::int64_t keep_unused)
      : PlaneMethod(problem, n_features, keep_unused),
        mu(beyond),
        margins(static_cast<std::size_t>(problem.size())),
        beyond_(margins),
        target_(cut.members) {}

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
    if (find_margins(rows, problem, w, poll)) {
      margins = beyond_;
    } else {
      std::fill(w.begin(), w.end(), 0.0);
      std::fill(margins.begin(), margins.end(), 0.0);
    }
    primal = value(problem);
  }

  /// One plane. False when stopped by the poll.
  template <Rows R>
  bool run_epoch(const R& rows, const Problem& problem, Poll& poll) {
    if (!find_margins(rows, problem, v, poll)) return false;
    improve(problem);
    return cut.move(rows, problem, target_, touched, poll) && solve_with_cut(poll);
  }

 private:
  /// To beyond_.
  template <Rows R>
  bool find_margins(const R& rows, const Problem& problem, std::span<const double> at, Poll& poll) {
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      beyond_[i] = problem.target[i] * rows.dot(i, at);
      ++touched;
      if (poll(rows.stored(i))) return false;
    }
    return true;
  }

  /// Step 1, and the rows of step 2. beyond_ holds the margins of v; it ends as those of the point beyond w.
  void improve(const Problem& problem) {
    std::vector<double> way(v);
    for (std::size_t j = 0; j < w.size(); ++j) way[j] -= w[j];
    const double k = search_(problem, margins, beyond_, dot(w, way), dot(way, way));
    for (std::size_t j = 0; j < w.size(); ++j) w[j] += k * way[j];
    for (std::size_t i = 0; i < margins.size(); ++i) {
      margins[i] += k * (beyond_[i] - margins[i]);
      beyond_[i] = margins[i] + mu * (beyond_[i] - margins[i]);
    }
    primal = value(problem);
    find_rows(problem);
  }

  /// P(w)
  double value(const Problem& problem) const {
    const double* margin = margins.data();
    const double* cost = problem.cost.data();
    const auto loss = [=](std::size_t i) { return cost[i] * std::max(0.0, 1.0 - margin[i]); };
    return 0.5 * squared_norm(w) + interleaved_sum(margins.size(), loss);
  }

  /// The rows with a margin below 1 at the point beyond w, and the offset of their plane.
  void find_rows(const Problem& problem) {
    const double* margin = beyond_.data();
    const double* costs = problem.cost.data();
    const auto share = [=](std::size_t i) {
      const double cost = costs[i];
      return margin[i] < 1.0 ? cost : 0.0;
    };
    cut.offset = interleaved_sum(beyond_.size(), share);
    for (std::size_t word = 0; word < target_.size(); ++word) {
      const std::size_t n = std::min<std::size_t>(64, beyond_.size() - 64 * word);
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < n; ++i) bits |= std::uint64_t{margin[64 * word + i] < 1.0} << i;
      target_[word] = bits;
    }
  }

  std::vector<double> beyond_;         // margins of the epoch at work
  std::vector<std::uint64_t> target_;  // rows of its plane
  LineSearch search_;
};

static_assert(Solver<Ocas>);

}  // namespace hinge
