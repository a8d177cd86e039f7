#pragma once
// Sample: every stride-th row of a problem, with its cost raised accordingly. With stride 1 it is the problem itself.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "hinge/problem.hpp"

namespace hinge {

struct Sample {
  std::int64_t stride;
  std::int64_t size;
  Costs cost;
  std::span<const double> target;

  Sample(const Problem& problem, std::int64_t every)
      : stride(every), size(size_of(problem.size(), every)), cost(problem.cost), target(problem.target) {
    if (stride == 1) return;
    const bool same = problem.cost.numbers().size() == 1;
    costs_.resize(same ? 1 : static_cast<std::size_t>(size));
    targets_.resize(static_cast<std::size_t>(size));
    for (std::int64_t k = 0; k < std::ssize(costs_); ++k) costs_[k] = static_cast<double>(stride) * problem.cost[row(k)];
    for (std::int64_t k = 0; k < size; ++k) targets_[k] = problem.target[row(k)];
    cost = same ? Costs::same(costs_.front()) : Costs(costs_);
    target = targets_;
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  /// Of m rows.
  static std::int64_t size_of(std::int64_t m, std::int64_t stride) { return (m - stride / 2 + stride - 1) / stride; }

  /// The row of the problem.
  std::int64_t row(std::int64_t k) const { return stride / 2 + k * stride; }

 private:
  std::vector<double> costs_;  // side by side: those of the problem lie a cache line apart
  std::vector<double> targets_;
};

}  // namespace hinge
