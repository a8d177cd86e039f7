#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/metric.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// Steps that are long in the first feature.
std::vector<double> step(std::int64_t d, Rng& rng) {
  std::vector<double> p(static_cast<std::size_t>(d) + 1);
  for (double& x : p) x = 2.0 * rng.uniform() - 1.0;
  p.front() *= 1000.0;
  return p;
}

/// The values of feature 0 are zero in all rows but every 50th.
Toy with_a_rare_feature(ToyOptions how) {
  Toy toy(3, how);
  for (std::int64_t i = 0; i < how.m; ++i) {
    double& x = toy.x[static_cast<std::size_t>(i * how.d)];
    toy.norms[static_cast<std::size_t>(i)] -= x * x;
    x = i % 50 == 7 ? 30.0 : 0.0;
    toy.norms[static_cast<std::size_t>(i)] += x * x;
  }
  return toy;
}

Metric adapted(const Toy& toy, double constant, Rng& rng) {
  Metric metric(static_cast<std::size_t>(toy.options.d) + 1);
  metric.make_plain(toy.options.free_intercept ? 0.3 : 1.0);
  Poll poll = never();
  check(metric.average(toy.rows(), constant, poll), "nobody has stopped it");
  for (int k = 0; k < 5; ++k) metric.note(step(toy.options.d, rng), 0.5);
  metric.adapt(toy.rows(), constant);
  return metric;
}

double median_length(const Metric& metric, const Toy& toy, double constant) {
  const Metric::OfRows of_rows(metric);
  std::vector<float> squares;
  for (std::int64_t i = 0; i < toy.options.m; ++i) squares.push_back(of_rows.squared(toy.rows(), i, constant));
  std::sort(squares.begin(), squares.end());
  return std::sqrt(static_cast<double>(squares[squares.size() / 2]));
}

void a_step_moves_no_row_farther_than_the_bound() {
  Rng rng = make_rng(2);
  for (const bool free : {false, true}) {
    for (const double rho : {0.0, 3.0}) {
      if (free && rho > 0.0) continue;
      const Toy toy = with_a_rare_feature({.m = 300, .d = 9, .rho = rho, .free_intercept = free});
      const double constant = free ? 1.0 : rho;
      Metric plain(10);
      plain.make_plain(free ? 0.3 : 1.0);
      for (const Metric& metric : {plain, adapted(toy, constant, rng)}) {
        const Metric::OfRows of_rows(metric);
        for (std::int64_t i = 0; i < toy.options.m; ++i) {
          const std::vector<double> p = step(9, rng);
          const double moved = std::abs(toy.dot(i, p) + (free ? p.back() : 0.0));
          const double bound =
              std::sqrt(static_cast<double>(of_rows.squared(toy.rows(), i, constant)) * metric.squared_length(p));
          check(moved <= bound, "row " + std::to_string(i) + " stays within the bound");
        }
      }
    }
  }
}

void a_rare_feature_does_not_concern_the_others() {
  Rng rng = make_rng(5);
  const Toy toy = with_a_rare_feature({.m = 300, .d = 9});
  Metric plain(10);
  plain.make_plain(1.0);
  const Metric metric = adapted(toy, 0.0, rng);
  const std::vector<double> p = step(9, rng);
  const auto bound = [&](const Metric& of) { return median_length(of, toy, 0.0) * std::sqrt(of.squared_length(p)); };
  check(10.0 * bound(metric) < bound(plain),
        "an ordinary row is known to be hardly moved by steps in a feature that it has not");
}

void scales_that_gain_nothing_are_not_taken() {
  const Toy toy(1, {.m = 300, .d = 9});
  Metric metric(10);
  metric.make_plain(1.0);
  Poll poll = never();
  metric.average(toy.rows(), 0.0, poll);
  const std::vector<double> even(10, 0.1);
  metric.note(even, 1.0);
  metric.adapt(toy.rows(), 0.0);
  check_close(metric.squared_length(even), 0.1, 1e-15, "still plain");
}

/// Scales that are learnt already give way to any better ones, and what they were learnt from counts no more.
void the_latest_steps_set_the_scales() {
  Rng rng = make_rng(7);
  const Toy toy = with_a_rare_feature({.m = 300, .d = 9});
  Metric metric = adapted(toy, 0.0, rng);
  std::vector<double> p(10, 0.1);
  p[1] = 0.4;
  const auto bound = [&] { return median_length(metric, toy, 0.0) * std::sqrt(metric.squared_length(p)); };
  const double before = bound();
  metric.note(p, 1.0);
  metric.adapt(toy.rows(), 0.0);
  check(bound() < before, "other steps, other scales");
  const double learnt = bound();
  metric.adapt(toy.rows(), 0.0);
  check(bound() == learnt, "no step since");
}

void without_steps_there_is_nothing_to_learn() {
  const Toy toy = with_a_rare_feature({.m = 300, .d = 9});
  Metric metric(10);
  metric.make_plain(1.0);
  Poll poll = never();
  metric.average(toy.rows(), 0.0, poll);
  metric.adapt(toy.rows(), 0.0);
  check_close(metric.squared_length(std::vector<double>(10, 1.0)), 10.0, 1e-15, "still plain");
  metric.check_restored();
}

void a_stop_is_obeyed() {
  const Toy toy = with_a_rare_feature({.m = 300, .d = 9});
  Metric metric(10);
  Poll poll = stopped();
  poll(std::int64_t{1} << 40);
  check(!metric.average(toy.rows(), 0.0, poll), "told to stop");
}

void the_last_scale_is_one_that_can_be_restored() {
  Metric metric(3);
  for (const double last : {1e-300, 1e300}) {
    metric.make_plain(last);
    metric.check_restored();
  }
}

}  // namespace

int main() {
  return run_all({{"a step moves no row farther than the bound", a_step_moves_no_row_farther_than_the_bound},
                  {"a rare feature does not concern the others", a_rare_feature_does_not_concern_the_others},
                  {"scales that gain nothing are not taken", scales_that_gain_nothing_are_not_taken},
                  {"the latest steps set the scales", the_latest_steps_set_the_scales},
                  {"without steps there is nothing to learn", without_steps_there_is_nothing_to_learn},
                  {"a stop is obeyed", a_stop_is_obeyed},
                  {"the last scale is one that can be restored", the_last_scale_is_one_that_can_be_restored}});
}
