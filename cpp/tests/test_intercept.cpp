#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "hinge/intercept.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

constexpr Loss kHinge = Loss::Kind::hinge;
constexpr Loss kSquared = Loss::Kind::squared_hinge;

struct Sample {
  std::vector<double> z;
  std::vector<double> target;
  std::vector<double> cost;
  Loss which = kHinge;

  double loss(double b) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) sum += cost[i] * which.value(Loss::slack(target[i], z[i] + b));
    return sum;
  }

  double derivative(double b) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) sum -= cost[i] * target[i] * which.slope(Loss::slack(target[i], z[i] + b));
    return sum;
  }

  double best() const {
    std::vector<Breakpoint> points;
    for (std::size_t i = 0; i < z.size(); ++i) points.push_back({target[i] - z[i], cost[i], target[i] > 0.0});
    return best_intercept(points, which);
  }

  /// By a window around the b of a sample, if there are many rows.
  double best_by_window(std::int64_t n_threads) const {
    Poll poll = never();
    double b = 0.0;
    check(best_intercept(Problem(target, Costs(cost), which, true), z, n_threads, poll, b), "not stopped");
    return b;
  }
};

Sample random_sample(Rng& rng, Loss loss, std::int64_t n, bool ties, bool weighted) {
  Sample sample{{}, {}, {}, loss};
  for (std::int64_t i = 0; i < n; ++i) {
    sample.z.push_back(ties ? static_cast<double>(rng.below(4)) : 4.0 * rng.uniform() - 2.0);
    sample.target.push_back(rng.below(2) == 0 ? 1.0 : -1.0);
    sample.cost.push_back(weighted ? 0.01 + rng.uniform() : 1.0);
  }
  return sample;
}

void no_breakpoint_is_better() {
  Rng rng = make_rng(1);
  for (const Loss loss : {kHinge, kSquared}) {
    for (int trial = 0; trial < 2000; ++trial) {
      const Sample sample = random_sample(rng, loss, 1 + rng.below(12), trial % 2, trial % 3 == 0);
      const double least = sample.loss(sample.best());
      for (std::size_t i = 0; i < sample.z.size(); ++i) {
        const double at = sample.target[i] - sample.z[i];
        check(least <= sample.loss(at) + 1e-12, "no breakpoint has a smaller loss than the b chosen");
      }
    }
  }
}

void derivative_of_the_squared_hinge_changes_sign() {
  Rng rng = make_rng(3);
  for (int trial = 0; trial < 3000; ++trial) {
    const Sample sample = random_sample(rng, kSquared, 1 + rng.below(trial % 10 == 0 ? 300 : 12), trial % 2, trial % 3 == 0);
    const double b = sample.best();
    const double scale = 1e-11 * static_cast<double>(sample.z.size());
    check_close(sample.derivative(b), 0.0, scale, "the derivative is zero at b");
    check(sample.derivative(b - 1e-3) <= scale, "left of b it is not positive");
    check(sample.derivative(b + 1e-3) >= -scale, "right of b it is not negative");
  }
}

void tied_breakpoints_of_the_squared_hinge() {
  const Sample all_equal{{0.0, 2.0, 2.0}, {-1.0, 1.0, 1.0}, {1.0, 2.0, 3.0}, kSquared};  // breakpoints -1, -1, -1
  check(all_equal.best() == -1.0, "one place for all: that is b");
  const Sample pairs{{0.0, 0.0, 0.0, 0.0}, {1.0, 1.0, -1.0, -1.0}, {1.0, 1.0, 1.0, 1.0}, kSquared};  // 1, 1, -1, -1
  check_close(pairs.best(), 0.0, 1e-15, "as far from the one tie as from the other");
  const Sample uneven{{0.0, 0.0, 0.0}, {1.0, -1.0, -1.0}, {1.0, 1.0, 1.0}, kSquared};
  check_close(uneven.best(), -1.0 / 3.0, 1e-15, "the mean of the breakpoints");
}

void middle_of_a_flat_minimum() {
  for (const Loss loss : {kHinge, kSquared}) {
    const Sample sample{{3.0, -3.0}, {1.0, -1.0}, {1.0, 1.0}, loss};  // no loss for b in [-2, 2]
    check_close(sample.best(), 0.0, 1e-15, "b is the middle of a flat minimum");
    const Sample more{{3.0, 5.0, -3.0, -8.0}, {1.0, 1.0, -1.0, -1.0}, {1e-9, 1e9, 1.0, 3.0}, loss};
    check_close(more.best(), 0.0, 1e-12, "whatever the costs are");
  }
}

void one_class() {
  Rng rng = make_rng(5);
  for (const Loss loss : {kHinge, kSquared}) {
    const Sample positive{{0.5, 2.0}, {1.0, 1.0}, {1.0, 1.0}, loss};
    check_close(positive.loss(positive.best()), 0.0, 1e-15, "one class alone has no loss");
    const Sample negative{{0.5, 2.0}, {-1.0, -1.0}, {1.0, 1.0}, loss};
    check_close(negative.loss(negative.best()), 0.0, 1e-15, "one class alone has no loss");
    const Sample single{{0.5}, {1.0}, {2.0}, loss};
    check_close(single.loss(single.best()), 0.0, 1e-15, "one row alone has no loss");
    for (const double target : {-1.0, 1.0}) {  // what rounding leaves of costs that came and went must not make a b
      Sample wild{{}, {}, {}, loss};
      double nearest = 1e3;  // of the decisions to the wrong side
      for (int i = 0; i < 400; ++i) {
        wild.z.push_back(target * 1e3 * rng.uniform());
        wild.target.push_back(target);
        wild.cost.push_back(std::pow(10.0, 30.0 * rng.uniform() - 15.0));
        nearest = std::min(nearest, target * wild.z.back());
      }
      const double b = wild.best();
      const double without_loss = target * (1.0 - nearest);
      check(std::abs(b) <= 1001.0, "b stays among the breakpoints");
      check(wild.loss(b) <= wild.loss(without_loss) + 1e-9, "and one class alone has no loss");
      if (!loss.is_hinge()) check(b == without_loss, "the smallest b without loss");
    }
  }
}

void order_of_rows_is_nothing() {
  Rng rng = make_rng(2);
  for (const Loss loss : {kHinge, kSquared}) {
    for (int trial = 0; trial < 200; ++trial) {
      const Sample sample = random_sample(rng, loss, 9, false, false);
      const Sample reversed{
          {sample.z.rbegin(), sample.z.rend()}, {sample.target.rbegin(), sample.target.rend()}, sample.cost, loss};
      if (loss.is_hinge()) check(sample.best() == reversed.best(), "equal problems have equal intercepts");
      check_close(sample.best(), reversed.best(), 1e-14, "equal problems have equal intercepts");
    }
  }
}

/// One row of the cost 1e12 and two of 1e-3, at the places where w = 1e-6 puts X = [0, -1e6, -2e6]: the small ones count too.
void tiny_costs_count_beside_huge_ones() {
  const Sample hinge{{0.0, -1.0, -2.0}, {1.0, -1.0, -1.0}, {1e12, 1e-3, 1e-3}, kHinge};  // breakpoints 1, 0, 1
  check(hinge.best() == 1.0, "left of 1 the cost of 1e12 counts, right of it those of 1e-3");
  const Sample wide{{0.0, -2.0, -4.0}, {1.0, -1.0, -1.0}, {1e12, 1e-3, 1e-3}, kHinge};  // breakpoints 1, 1, 3
  check(wide.best() == 1.0, "a slope of 1e-3 is none beside 1e12, but it is not zero");
  const Sample below{{0.0, std::nextafter(-2.0, 0.0), -4.0}, {1.0, -1.0, -1.0}, {1e12, 1e-3, 1e-3}, kHinge};  // 1, 1 - 2^-53, 3
  check(below.best() == 1.0, "nor is it where it comes in two steps");
  const Sample apart{{0.0, -3.0, -4.0}, {1.0, -1.0, -1.0}, {1e12, 1e-3, 1e-3}, kHinge};  // breakpoints 1, 2, 3
  check(apart.best() == 1.5, "between 1 and 2 there is no loss, to the right there is");
  const Sample squared{{0.0, -1.0, -2.0}, {1.0, -1.0, -1.0}, {1e12, 1e-3, 1e-3}, kSquared};
  check_close(squared.best(), 1.0, 1e-12, "the squared hinge likewise");
}

/// Many rows, of which most lie outside of the window; where the window misses b, all rows are looked at.
void a_window_finds_the_same_b() {
  Rng rng = make_rng(11);
  for (const Loss loss : {kHinge, kSquared}) {
    for (int trial = 0; trial < 24; ++trial) {
      Sample sample = random_sample(rng, loss, 16384 + rng.below(20000), trial % 4 == 1, trial % 3 == 0);
      const std::size_t n = sample.z.size();
      for (std::size_t i = 0; i < n; ++i) {
        if (trial % 6 == 2) sample.z[i] += 10.0 * sample.target[i];                    // separated: no loss at b
        if (trial % 6 == 3) sample.target[i] = i < n / 100 ? 1.0 : -1.0;               // few of one class
        if (trial % 6 == 4 && i % (n / 4096) != 0) sample.z[i] += 50.0;                // the sample is of no use
        if (trial % 6 == 5) sample.z[i] *= std::pow(10.0, 8.0 * rng.uniform() - 4.0);  // places far apart
      }
      const double exact = sample.best();
      const double found = sample.best_by_window(1 + trial % 2);
      if (loss.is_hinge() && trial % 3 != 0) check(found == exact, "equal costs: the very same b");
      check(sample.loss(found) <= sample.loss(exact) * (1.0 + 1e-12), "no more loss");
      check(sample.best_by_window(3) == found, "the same bits for any number of threads");
    }
  }
}

void no_number_among_the_breakpoints() {
  for (const Loss loss : {kHinge, kSquared}) {
    for (const double bad : {static_cast<double>(NAN), HUGE_VAL, -HUGE_VAL}) {
      Rng rng = make_rng(7);
      Sample sample = random_sample(rng, loss, 40, false, false);
      sample.z[17] = bad;
      check(std::isnan(sample.best()), "b is no number either");
      Sample many = random_sample(rng, loss, 20000, false, false);
      many.z[17003] = bad;
      check(std::isnan(many.best_by_window(2)), "nor of many rows");
    }
  }
}

}  // namespace

int main() {
  return run_all({{"no breakpoint is better", no_breakpoint_is_better},
                  {"the derivative of the squared hinge changes sign", derivative_of_the_squared_hinge_changes_sign},
                  {"tied breakpoints of the squared hinge", tied_breakpoints_of_the_squared_hinge},
                  {"middle of a flat minimum", middle_of_a_flat_minimum},
                  {"one class", one_class},
                  {"the order of rows is nothing", order_of_rows_is_nothing},
                  {"tiny costs count beside huge ones", tiny_costs_count_beside_huge_ones},
                  {"a window finds the same b", a_window_finds_the_same_b},
                  {"no number among the breakpoints", no_number_among_the_breakpoints}});
}
