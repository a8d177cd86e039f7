#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/line_search.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// Margins at both ends of a line, and |w + k (v - w)|^2 / 2 = quadratic in k.
struct Line {
  std::vector<double> target;
  std::vector<double> cost;
  std::vector<double> at_w;
  std::vector<double> at_v;
  double slope;      // w.(v - w)
  double curvature;  // |v - w|^2

  /// phi, but for 1/2 |w|^2
  double phi(double k) const {
    double sum = slope * k + 0.5 * curvature * k * k;
    for (std::size_t i = 0; i < target.size(); ++i) sum += cost[i] * std::max(0.0, 1.0 - (at_w[i] + k * (at_v[i] - at_w[i])));
    return sum;
  }

  double search() const {
    const Problem problem(target, Costs(cost), Loss::Kind::hinge, false);
    LineSearch line_search;
    line_search(problem, at_w, at_v, slope, curvature);
    return line_search(problem, at_w, at_v, slope, curvature);  // again, with what the first search has left behind
  }
};

Line random_line(std::uint64_t seed) {
  Rng rng = make_rng(seed);
  Line line;
  const std::int64_t m = 1 + rng.below(200);
  for (std::int64_t i = 0; i < m; ++i) {
    line.target.push_back(rng.below(2) == 0 ? 1.0 : -1.0);
    line.cost.push_back(0.1 + rng.uniform());
    // Halves: many rows lie exactly on the margin, stay where they are, or meet it at the same place.
    const auto draw = [&] { return seed % 2 ? 4.0 * rng.uniform() - 1.0 : 0.5 * static_cast<double>(rng.below(9)) - 1.0; };
    line.at_w.push_back(draw());
    line.at_v.push_back(draw());
  }
  line.slope = 4.0 * rng.uniform() - 2.0;
  line.curvature = 0.01 + 5.0 * rng.uniform();
  return line;
}

void no_place_is_better() {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Line line = random_line(seed);
    const double k = line.search();
    check(k >= 0.0 && std::isfinite(k), "k >= 0");
    moved += k > 0.0 ? 1 : 0;
    const double lowest = line.phi(k);
    const std::string where = "seed " + std::to_string(seed);
    for (const double other : {0.0, 0.9 * k, 0.999 * k, 1.001 * k, 1.1 * k, k + 1e-3, k + 1.0}) {
      check(lowest <= line.phi(other) + 1e-10 * (1.0 + std::abs(lowest)), where + ": phi is smallest at k");
    }
    for (std::size_t i = 0; i < line.target.size(); ++i) {
      const double at = (1.0 - line.at_w[i]) / (line.at_v[i] - line.at_w[i]);
      if (!(at >= 0.0 && std::isfinite(at))) continue;
      check(lowest <= line.phi(at) + 1e-10 * (1.0 + std::abs(lowest)), where + ": no jump is a better place");
    }
  }
  check(moved > 100, "the lines were no test");
}

void lines_that_lead_nowhere() {
  Line line = random_line(1);
  line.at_v = line.at_w;
  line.slope = line.curvature = 0.0;
  check(line.search() == 0.0, "v = w: stay");
  line = random_line(1);
  line.slope = 1e6;
  check(line.search() == 0.0, "uphill: stay");
  line = random_line(1);
  std::fill(line.at_v.begin(), line.at_v.end(), static_cast<double>(NAN));
  check(line.search() == 0.0, "margins that are no numbers: stay");
}

}  // namespace

int main() {
  return run_all({{"no place is better", no_place_is_better}, {"lines that lead nowhere", lines_that_lead_nowhere}});
}
