#pragma once
// How Bottou's programs choose a first step size: trials with 1 and its multiples by powers of 2.
//
// Of two neighbours, first 1 and 2, the pair moves down or up by a factor of 2 as long as its outer one is better. The lower one of
// the last pair is taken. Ours: no step size is above `largest`, an infinite cost is worse than any other, and the search ends.

#include <algorithm>
#include <cmath>

namespace hinge {

/// cost(eta, out) writes the cost of a trial, and returns false when told to stop. 0 when stopped.
template <class Cost>
double lower_of_best_pair(double largest, Cost&& cost) {
  constexpr int kDoublings = 200;  // at most: rows near the ends of float64 want extreme steps
  double low = std::min(1.0, 0.5 * largest);
  double low_cost = 0.0;
  double high_cost = 0.0;
  if (!cost(low, low_cost) || !cost(2.0 * low, high_cost)) return 0.0;
  const bool down = low_cost < high_cost || !std::isfinite(high_cost);
  if (!down && !(high_cost < low_cost)) return low;
  double inner = down ? high_cost : low_cost;
  double outer = down ? low_cost : high_cost;
  for (int doubling = 0; doubling < kDoublings; ++doubling) {
    const double next = down ? 0.5 * low : 4.0 * low;
    if (next > largest || !(next > 0.0)) break;
    inner = outer;
    if (!cost(next, outer)) return 0.0;
    low *= down ? 0.5 : 2.0;
    if (!(outer < inner) && std::isfinite(inner)) break;
  }
  return low;
}

}  // namespace hinge
