#include <limits>
#include <vector>

#include "check.hpp"
#include "hinge/objective.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// Both sides at random w and a, whatever they are: calls f(toy, rows, primal, dual, a, w(a)).
template <class F>
void at_random_points(F&& f) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng = make_rng(1000 + seed);
    const double scale = seed % 3 == 0 ? 1e-3 : seed % 3 == 1 ? 1.0 : 1e3;
    const Toy toy(seed, {.m = 2 + rng.below(30),
                         .d = rng.below(9),
                         .density = 0.6,
                         .rho = seed % 5 == 1 ? 1.0 : 0.0,
                         .free_intercept = seed % 2 == 0,
                         .weighted = seed % 7 == 0,
                         .C = seed % 4 == 0 ? 100.0 : 0.1,
                         .scale = scale});
    const Problem problem = toy.problem();
    Poll poll = never();
    std::vector<double> a(toy.y.size());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = toy.cost[i] * (1.6 * rng.uniform() - 0.3);  // in the box, and outside
    const auto rows = toy.rows();
    std::vector<double> w(static_cast<std::size_t>(toy.options.d) + 1);
    Dual lower{};
    check(dual(rows, problem, a, w, lower, poll), "an evaluation that nobody stops is finished");
    std::vector<double> weights = w;
    for (double& x : weights) x *= 2.0 * rng.uniform();
    if (toy.options.rho == 0.0) weights.back() = 0.0;
    std::vector<double> z(toy.y.size());
    check(decisions(rows, weights, z, poll), "an evaluation that nobody stops is finished");
    f(toy, primal(rows, problem, weights, z), weights, lower, a, w);
  }
}

void dual_never_exceeds_primal() {
  at_random_points([](const Toy&, const Primal& upper, const auto&, const Dual& lower, const auto&, const auto&) {
    check(lower.value <= upper.value, "D <= P");
    check(lower.value >= 0.0 && lower.rounding >= 0.0 && upper.rounding >= 0.0, "D >= 0, and rounding errs to the safe side");
  });
}

void multipliers_are_feasible() {
  at_random_points([](const Toy& toy, const Primal&, const auto&, const Dual&, const std::vector<double>& a, const auto&) {
    double balance = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      check(a[i] >= 0.0 && a[i] <= toy.cost[i], "multipliers inside the box");
      balance += a[i] * toy.y[i];
      total += a[i];
    }
    if (toy.options.free_intercept) check(std::abs(balance) <= 1e-14 * total, "sum a_i y_i = 0 for a free intercept");
  });
}

void values_are_those_of_the_definition() {
  at_random_points([](const Toy& toy, const Primal& upper, const std::vector<double>& weights, const Dual& lower,
                      const std::vector<double>& a, const std::vector<double>& w) {
    const auto expected = toy.combine(a);
    double largest = 0.0;
    for (const double x : expected) largest = std::max(largest, std::abs(x));
    for (std::size_t j = 0; j < w.size(); ++j) check_close(w[j], expected[j], 1e-12 * (1.0 + largest), "w = w(a)");
    const double P = toy.primal_value(weights, upper.b);
    check_close(upper.value, P, 1e-10, "P by its definition");
    const double D = toy.dual_value(a);
    check(lower.value <= D + 1e-12 * (std::abs(D) + toy.problem().total_cost), "D is not above its definition");
    check_close(lower.value + lower.rounding, D, 1e-9 * (1.0 + toy.problem().total_cost), "D by its definition");
  });
}

void nan_is_no_multiplier() {
  const Toy toy(1, {.free_intercept = true});
  std::vector<double> a(toy.y.size(), std::numeric_limits<double>::quiet_NaN());
  a[0] = std::numeric_limits<double>::infinity();
  a[1] = 0.5;
  std::vector<double> w(static_cast<std::size_t>(toy.options.d) + 1);
  Dual lower{};
  Poll poll = never();
  dual(toy.rows(), toy.problem(), a, w, lower, poll);
  check(std::isfinite(lower.value) && lower.value >= 0.0, "D is finite whatever a solver offers");
  for (std::size_t i = 0; i < a.size(); ++i) check(a[i] >= 0.0 && a[i] <= toy.cost[i], "multipliers inside the box");
}

void zero_rows_have_multiplier_c() {
  const Toy toy(2, {.m = 10, .d = 3, .density = 0.0, .C = 2.0});
  std::vector<double> a(toy.y.size(), 5.0);
  std::vector<double> w(4);
  Dual lower{};
  Poll poll = never();
  dual(toy.rows(), toy.problem(), a, w, lower, poll);
  check_close(lower.value, 20.0, 1e-13, "rows of zeros cost C each, and the dual knows");
}

void a_stop_is_obeyed() {
  const Toy toy(3, {.m = 200000, .d = 8});
  auto flag = std::make_shared<StopFlag>(true);
  Poll poll(flag);
  std::vector<double> z(toy.y.size());
  const std::vector<double> w(9);
  check(!decisions(toy.rows(), w, z, poll), "a stopped evaluation says so");
  check(poll.stopped(), "the poll stays stopped");
}

}  // namespace

int main() {
  return run_all({{"the dual never exceeds the primal", dual_never_exceeds_primal},
                  {"multipliers are feasible", multipliers_are_feasible},
                  {"values are those of the definition", values_are_those_of_the_definition},
                  {"NaN is no multiplier", nan_is_no_multiplier},
                  {"zero rows have multiplier C", zero_rows_have_multiplier_c},
                  {"a stop is obeyed", a_stop_is_obeyed}});
}
