#pragma once
// DualAverage: multipliers for a primal method whose weights are no combination of the rows, or a poor one.
//
// Step t on row i has the subgradient -m s^_i slope t_i x_i (of the sum of losses, lambda w apart), with the slope of the loss
// there: 1 or 0 for the hinge. At the optimum lambda w is the mean of the steps' -gradients, so that the mean slope of a row's
// visits, times C_i, tends to its multiplier. Step t counts t times: early steps, far from the optimum, are forgotten soon.
//
//   share <- (1 - 2/(t+2)) share,   share_i += 2m/(t+2) slope;   multipliers C_i share_i
//
// (not yet clipped to the box). Without room (m = 0) none are kept.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/problem.hpp"

namespace hinge {

struct DualAverage {
  std::vector<double> share;  // times share_scale
  double share_scale = 1.0;

  explicit DualAverage(std::int64_t m) : share(static_cast<std::size_t>(m)) {}

  template <class F>
  void fields(F&& field) {
    field("share", share);
    field("share_scale", share_scale);
  }

  /// Step t = 0, 1, ... has visited row i.
  void visited(std::int64_t i, double slope, std::int64_t t) {
    if (share.empty()) return;
    const double gain = 2.0 / (static_cast<double>(t) + 2.0);
    if (gain == 1.0) {
      std::fill(share.begin(), share.end(), 0.0);
      share_scale = 1.0;
    } else {
      share_scale *= 1.0 - gain;
    }
    if (slope != 0.0) share[i] += gain * static_cast<double>(share.size()) * slope / share_scale;
    if (share_scale < 1e-100) {
      for (double& x : share) x *= share_scale;
      share_scale = 1.0;
    }
  }

  void write(const Problem& problem, std::span<double> multipliers) const {
    for (std::size_t i = 0; i < share.size(); ++i) multipliers[i] = problem.cost[i] * (share_scale * share[i]);
  }
};

}  // namespace hinge
