#pragma once
// What an evaluation makes of multipliers: D at them, and P at the weights that they give.

#include <vector>

#include "check.hpp"
#include "hinge/evaluate.hpp"
#include "toys.hpp"

namespace hinge::test {

/// The relative gap (P - D) / D; checks D <= P on the way.
template <Rows R>
double certified_gap(const R& rows, const Problem& problem, std::vector<double> multipliers) {
  Poll poll = never();
  std::vector<double> w(static_cast<std::size_t>(rows.n_features()) + 1);
  Dual lower{};
  Primal upper{};
  check(dual(rows, problem, multipliers, w, lower, poll) && primal(rows, problem, w, nullptr, upper, poll),
        "an evaluation that nobody stops is finished");
  check(lower.value <= upper.value, "D <= P");
  return (upper.value - lower.value) / lower.value;
}

}  // namespace hinge::test
