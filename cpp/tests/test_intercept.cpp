#include <vector>

#include "check.hpp"
#include "hinge/intercept.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

struct Sample {
  std::vector<double> z;
  std::vector<int> y;
  std::vector<double> cost;

  double loss(double b) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) sum += cost[i] * std::max(0.0, 1.0 - y[i] * (z[i] + b));
    return sum;
  }

  double best() const {
    std::vector<Breakpoint> points;
    double positive = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      points.push_back({y[i] - z[i], cost[i]});
      if (y[i] > 0) positive += cost[i];
    }
    return best_intercept(points, positive);
  }
};

void no_breakpoint_is_better() {
  Rng rng = make_rng(1);
  for (int trial = 0; trial < 2000; ++trial) {
    Sample sample;
    const std::int64_t n = 1 + rng.below(12);
    for (std::int64_t i = 0; i < n; ++i) {
      sample.z.push_back(trial % 2 ? static_cast<double>(rng.below(4)) : 4.0 * rng.uniform() - 2.0);  // with ties, and without
      sample.y.push_back(rng.below(2) == 0 ? 1 : -1);
      sample.cost.push_back(trial % 3 ? 1.0 : 0.01 + rng.uniform());
    }
    const double least = sample.loss(sample.best());
    for (std::size_t i = 0; i < sample.z.size(); ++i) {
      check(least <= sample.loss(sample.y[i] - sample.z[i]) + 1e-12, "no breakpoint has a smaller loss than the b chosen");
    }
  }
}

void middle_of_a_flat_minimum() {
  const Sample sample{{3.0, -3.0}, {1, -1}, {1.0, 1.0}};  // no loss for b in [-2, 2]
  check_close(sample.best(), 0.0, 1e-15, "b is the middle of a flat minimum");
}

void one_class() {
  const Sample positive{{0.5, 2.0}, {1, 1}, {1.0, 1.0}};
  check_close(positive.loss(positive.best()), 0.0, 1e-15, "one class alone has no loss");
  const Sample negative{{0.5, 2.0}, {-1, -1}, {1.0, 1.0}};
  check_close(negative.loss(negative.best()), 0.0, 1e-15, "one class alone has no loss");
  const Sample single{{0.5}, {1}, {2.0}};
  check_close(single.loss(single.best()), 0.0, 1e-15, "one row alone has no loss");
}

void order_of_rows_is_nothing() {
  Rng rng = make_rng(2);
  for (int trial = 0; trial < 200; ++trial) {
    Sample sample;
    for (int i = 0; i < 9; ++i) {
      sample.z.push_back(rng.uniform());
      sample.y.push_back(rng.below(2) == 0 ? 1 : -1);
      sample.cost.push_back(1.0);
    }
    Sample reversed{{sample.z.rbegin(), sample.z.rend()}, {sample.y.rbegin(), sample.y.rend()}, sample.cost};
    check(sample.best() == reversed.best(), "equal problems have equal intercepts");
  }
}

}  // namespace

int main() {
  return run_all({{"no breakpoint is better", no_breakpoint_is_better},
                  {"middle of a flat minimum", middle_of_a_flat_minimum},
                  {"one class", one_class},
                  {"the order of rows is nothing", order_of_rows_is_nothing}});
}
