#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "check.hpp"
#include "hinge/evaluate.hpp"
#include "hinge/sums.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// Both sides at random w and a, whatever they are: calls f(toy, rows, primal, dual, a, w(a)).
template <class F>
void at_random_points(F&& f) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Rng rng = make_rng(1000 + seed);
    const double scale = seed % 3 == 0 ? 1e-3 : seed % 3 == 1 ? 1.0 : 1e3;
    const Toy toy(seed, {.m = 2 + rng.below(30),
                         .d = rng.below(9),
                         .density = 0.6,
                         .rho = seed % 5 == 1 ? 1.0 : 0.0,
                         .loss = seed < 300 ? Loss::Kind::hinge : Loss::Kind::squared_hinge,
                         .free_intercept = seed % 2 == 0,
                         .weighted = seed % 7 == 0,
                         .C = seed % 4 == 0 ? 100.0 : 0.1,
                         .scale = scale});
    const Problem problem = toy.problem();
    Poll poll = never();
    std::vector<double> a(toy.target.size());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = toy.cost[i] * (1.6 * rng.uniform() - 0.3);  // in the box, and outside
    const auto rows = toy.rows();
    std::vector<double> w(static_cast<std::size_t>(toy.options.d) + 1);
    Dual lower{};
    check(dual(rows, problem, a, w, lower, poll), "an evaluation that nobody stops is finished");
    std::vector<double> weights = w;
    for (double& x : weights) x *= 2.0 * rng.uniform();
    if (toy.options.rho == 0.0) weights.back() = 0.0;
    Primal upper{};
    check(primal(rows, problem, weights, nullptr, upper, poll), "an evaluation that nobody stops is finished");
    f(toy, upper, weights, lower, a, w);
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
      check(a[i] >= 0.0 && a[i] <= toy.problem().box(static_cast<std::int64_t>(i)), "multipliers inside the box");
      balance += a[i] * toy.target[i];
      total += a[i];
    }
    if (toy.options.free_intercept) check(std::abs(balance) <= 1e-14 * total, "sum a_i t_i = 0 for a free intercept");
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
  std::vector<double> a(toy.target.size(), std::numeric_limits<double>::quiet_NaN());
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
  for (const Loss loss : {Loss::Kind::hinge, Loss::Kind::squared_hinge}) {
    const Toy toy(2, {.m = 10, .d = 3, .density = 0.0, .loss = loss, .C = 2.0});
    std::vector<double> a(toy.target.size(), 5.0);
    std::vector<double> w(4);
    Dual lower{};
    Poll poll = never();
    dual(toy.rows(), toy.problem(), a, w, lower, poll);
    check_close(lower.value, 20.0, 1e-13, "rows of zeros cost C each, and the dual knows");
  }
}

void best_multiple_is_the_best() {
  at_random_points([](const Toy& toy, const Primal&, const auto&, const Dual& lower, const std::vector<double>& a,
                      const auto&) {
    if (lower.value == 0.0) return;
    for (const double factor : {0.9, 0.999, 1.001, 1.1}) {
      if (toy.options.loss.is_hinge() && factor > 1.0) continue;  // it may leave the box
      std::vector<double> other = a;
      for (double& x : other) x *= factor;
      const double D = toy.dual_value(a);
      check(toy.dual_value(other) <= D + 1e-12 * (std::abs(D) + toy.problem().total_cost), "no other multiple has a larger D");
    }
  });
}

/// In units where 1 is 2^-540 all squares underflow, and the best multiple is huge: rounding must still err downwards.
void tiny_multipliers_give_no_false_bound() {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng = make_rng(seed);
    const Loss loss = seed % 4 == 0 ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    const Toy toy(seed, {.m = 6, .d = 2, .loss = loss, .free_intercept = seed % 3 == 0, .C = seed % 5 == 0 ? 1e-3 : 10.0});
    const Problem problem = toy.problem();
    const double unit = std::ldexp(1.0, -500 - static_cast<int>(rng.below(100)));
    std::vector<double> a(toy.target.size());
    for (double& x : a) x = unit * rng.uniform();
    std::vector<double> w(3);
    Dual lower{};
    Poll poll = never();
    dual(toy.rows(), problem, a, w, lower, poll);
    const double D = toy.dual_value(a);
    check(lower.value <= D + 1e-13 * std::abs(D), "the bound is not above D at the multipliers that came out");
    Primal upper{};
    primal(toy.rows(), problem, w, nullptr, upper, poll);
    check(lower.value <= upper.value, "D <= P");
  }
}

void given_intercept_is_used() {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Loss loss = seed % 2 ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    const Toy toy(seed, {.loss = loss, .free_intercept = true});
    std::vector<double> w(static_cast<std::size_t>(toy.options.d) + 1, 0.3);
    w.back() = 0.0;
    const double b = 0.7;
    Primal given{};
    Primal best{};
    Poll poll = never();
    primal(toy.rows(), toy.problem(), w, &b, given, poll);
    primal(toy.rows(), toy.problem(), w, nullptr, best, poll);
    check(given.b == b && best.value <= given.value, "P at the b given, and at the best one");
    check_close(given.value, toy.primal_value(w, b), 1e-12, "P by its definition");
  }
}

/// Rows that somebody changes while they are read: whatever comes out is no bound that is too good.
void nan_in_the_rows_is_no_small_loss() {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL}) {
    for (const Loss loss : {Loss::Kind::hinge, Loss::Kind::squared_hinge}) {
      for (const bool free : {false, true}) {
        for (const bool all : {false, true}) {
          Toy toy(4, {.m = 30, .d = 4, .density = 1.0, .loss = loss, .free_intercept = free});
          for (std::size_t k = 0; k < toy.x.size(); ++k) {
            if (all || k == 50) toy.x[k] = bad;
          }
          const std::vector<double> w{1.0, 1.0, -1.0, 1.0, 0.0};
          Primal upper{};
          Poll poll = never();
          check(primal(toy.rows(), toy.problem(), w, nullptr, upper, poll), "finished");
          check(upper.value == std::numeric_limits<double>::infinity(), "a slack that is no number is an infinite primal");
          std::vector<double> a(toy.target.size(), 0.5);
          std::vector<double> of_a(w.size());
          Dual lower{};
          check(dual(toy.rows(), toy.problem(), a, of_a, lower, poll), "finished");
          check(lower.value == 0.0, "and D falls back to that of a = 0");
        }
      }
    }
  }
}

/// One huge cost beside tiny ones, from an attack: P = 1e-3 where 2e-12 is possible.
void intercept_beside_a_huge_cost() {
  Toy toy(1, {.m = 3, .d = 1, .density = 1.0, .free_intercept = true});
  toy.x = {0.0, -1e6, -2e6};
  toy.target = {1.0, -1.0, -1.0};
  toy.cost = {1e12, 1e-3, 1e-3};
  toy.norms = {0.0, 1e12, 4e12};
  for (const double weight : {std::nextafter(2e-6, 0.0), 2e-6, std::nextafter(2e-6, 1.0)}) {
    const std::vector<double> w{weight, 0.0};  // decisions 0, -2, -4: with b = 1 there is no loss but for rounding
    Primal upper{};
    Poll poll = never();
    primal(toy.rows(), toy.problem(), w, nullptr, upper, poll);
    check_close(upper.b, 1.0, 1e-15, "b = 1");
    check(upper.value - upper.rounding <= 2.1e-12, "P = |w|^2 / 2");
  }
}

void a_stop_is_obeyed() {
  const Toy toy(3, {.m = 200000, .d = 8});
  Poll poll = stopped();
  std::vector<double> z(toy.target.size());
  const std::vector<double> w(9);
  check(!decisions(toy.rows(), w, z, poll), "a stopped evaluation says so");
  check(poll.stopped(), "the poll stays stopped");
}

/// Large terms that cancel: a plain sum would keep nothing of the small ones.
void lanes_add_up() {
  Rng rng = make_rng(6);
  for (std::size_t n = 0; n < 300; ++n) {
    std::vector<double> terms;
    __int128 exact = 0;
    double size = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const auto whole = static_cast<std::int64_t>((rng.uniform() - 0.5) * 0x1p40);
      const int shift = rng.uniform() < 0.5 ? 0 : 60;
      exact += static_cast<__int128>(whole) << shift;
      terms.push_back(std::ldexp(static_cast<double>(whole), shift));
      size += std::abs(terms.back());
    }
    WideSum sum;
    WideSum other;
    const std::size_t half = n / 3;
    sum.add(std::span<const double>(terms).first(half));
    other.add(std::span<const double>(terms).subspan(half));
    sum.merge(other);
    const auto error = static_cast<double>(exact - static_cast<__int128>(sum.total().value()));
    const double bound = kRoundoff * std::abs(sum.value()) + Sum::hidden_error(static_cast<double>(n)) * size;
    check(std::abs(error) <= bound + 1.0, "within the bound of the certificate");  // 1: the fraction that the integer drops
  }
}

}  // namespace

int main() {
  return run_all({{"the dual never exceeds the primal", dual_never_exceeds_primal},
                  {"multipliers are feasible", multipliers_are_feasible},
                  {"values are those of the definition", values_are_those_of_the_definition},
                  {"NaN is no multiplier", nan_is_no_multiplier},
                  {"zero rows have multiplier C", zero_rows_have_multiplier_c},
                  {"the best multiple is the best", best_multiple_is_the_best},
                  {"tiny multipliers give no false bound", tiny_multipliers_give_no_false_bound},
                  {"a given intercept is used", given_intercept_is_used},
                  {"NaN in the rows is no small loss", nan_in_the_rows_is_no_small_loss},
                  {"the intercept beside a huge cost", intercept_beside_a_huge_cost},
                  {"a stop is obeyed", a_stop_is_obeyed},
                  {"lanes add up", lanes_add_up}});
}
