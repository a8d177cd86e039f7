#pragma once
// The contract of a solver: one algorithm at work on one problem, in epochs. Everything else (the loop, the certificate, saving,
// stopping) is written once for all of them.
//
//   run_epoch       one epoch; false when stopped by the poll, with a valid point but perhaps useless estimates
//   point           weights w, multipliers a (clipped and repaired by whoever evaluates them), an intercept b of its own if it has one
//   estimate        P and D, roughly, from what the epoch has computed anyway; nothing if it cannot tell
//   rebuild         what follows from the multipliers, computed anew: it has drifted, or the state is that of another problem
//   fields          what a saved run consists of: field(name, member) for each member
//   check_restored  throws std::invalid_argument if the restored fields do not fit each other
//   touched         rows read so far
//   release         gives back the memory that only epochs need: an evaluation follows (only a solver that has much of it)
//   finished        whether its own rule has ended the run (only a solver that has such a rule)
//
// Its constructor takes the problem, the number of features and the options that the binding names:
// S(const Problem&, std::int64_t n_features, options...). A solver can be copied: restoring a state works on a copy, so that a
// damaged one changes nothing.

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"

namespace hinge {

/// What a solver offers for evaluation: n_features + 1 weights and m multipliers, zero before the solver writes them.
struct Point {
  std::vector<double> w;
  std::vector<double> multipliers;
  double b = 0.0;

  Point(std::int64_t m, std::int64_t n_features)
      : w(static_cast<std::size_t>(n_features) + 1), multipliers(static_cast<std::size_t>(m)) {}
};

struct Estimate {
  double primal;
  double dual;
};

template <class S>
concept Solver = std::copyable<S> && requires(S& solver, const S& same, const DenseRows<double>& rows, const Problem& problem,
                                              Poll& poll, Point& out) {
  { solver.run_epoch(rows, problem, poll) } -> std::same_as<bool>;
  { same.point(problem, out) } -> std::same_as<void>;
  { same.estimate(problem) } -> std::same_as<std::optional<Estimate>>;
  { solver.rebuild(rows, problem, poll) } -> std::same_as<void>;
  solver.fields([](const char*, auto&) {});
  { same.check_restored(problem) } -> std::same_as<void>;
  { same.touched } -> std::convertible_to<std::int64_t>;
};

}  // namespace hinge
