#include <cmath>
#include <string>
#include <vector>

#include "certified.hpp"
#include "check.hpp"
#include "hinge/mpu.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

std::vector<double> multipliers(const Mpu<>& run, const Problem& problem) {
  Point point(problem.size(), static_cast<std::int64_t>(run.w.size()) - 1);
  run.point(problem, point);
  check(point.w == run.w && point.b == (problem.free_intercept ? run.b : 0.0), "w and b are the tracked ones");
  return point.multipliers;
}

/// Calls f(toy, problem, rows, run, epoch) after each of `epochs` epochs of many small problems.
template <class F>
void while_training(int epochs, F&& f) {
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const Toy toy(seed, {.m = seed & 8 ? 4 : 60,
                         .d = seed & 16 ? 3 : 12,
                         .rho = seed % 3 == 0 ? 1.0 : 0.0,
                         .free_intercept = seed % 3 == 1,
                         .weighted = (seed & 32) != 0,
                         .C = seed % 5 == 0 ? 10.0 : 0.2});
    const Problem problem = toy.problem();
    const ToyCsr<double, std::int32_t> csr(toy);
    const double kappa = problem.free_intercept ? 0.1 : 0.0;
    Mpu run(problem, toy.options.d, std::int64_t{1} << (seed & 7), true, kappa, Order{4, 2}, make_rng(seed));
    Poll poll = never();
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      check(run.run_epoch(csr.rows(), problem, poll), "an epoch that nobody stops is finished");
      f(toy, problem, csr.rows(), run, epoch);
    }
  }
}

void counts_stay_within_their_cap() {
  while_training(60, [](const Toy& toy, const Problem& problem, const auto&, const Mpu<>& run, int) {
    run.check_restored(problem);
    const auto a = multipliers(run, problem);
    for (std::size_t k = 0; k < a.size(); ++k) {
      check(a[k] >= 0.0 && a[k] <= toy.cost[k], "0 <= a_k <= C_k");
      check(run.counts[k] < run.N || a[k] == toy.cost[k], "N counts are C_k exactly");
    }
  });
}

void tracked_values_are_the_values() {
  while_training(60, [](const Toy& toy, const Problem& problem, const auto&, const Mpu<>& run, int) {
    const auto a = multipliers(run, problem);
    const auto expected = toy.combine(a);
    for (std::size_t j = 0; j < run.w.size(); ++j) check_close(run.w[j], expected[j], 1e-10, "w = w(a)");
    check_close(run.dual, toy.dual_value(a), 1e-9, "dual = D(a)");
    double residue = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) residue += a[k] * toy.target[k];
    check(std::abs(run.residue - residue) <= 1e-10 * (1.0 + problem.total_cost), "residue = sum a_k t_k");
  });
}

void active_rows_ascend() {
  while_training(60, [](const Toy& toy, const auto&, const auto&, const Mpu<>& run, int) {
    std::int64_t previous = -1;
    for (const std::int64_t k : run.active) {
      check(k > previous && k < toy.options.m, "active rows ascend, each once");
      previous = k;
    }
  });
}

void gap_closes() {
  while_training(3000, [](const Toy& toy, const Problem& problem, const auto& rows, const Mpu<>& run, int epoch) {
    if (epoch != 3000) return;
    const double relative = certified_gap(rows, problem, multipliers(run, problem));
    check(relative < 1e-3, "certified to 1e-3, with C = " + std::to_string(toy.options.C) + ": " + std::to_string(relative));
  });
}

void zero_rows() {
  const Toy toy(1, {.m = 10, .d = 3, .density = 0.0});
  const Problem problem = toy.problem();
  const ToyCsr<float, std::int32_t> csr(toy);
  Mpu run(problem, 3, 16, true, 0.0, Order{}, make_rng(1));
  Poll poll = never();
  for (int epoch = 0; epoch < 100; ++epoch) run.run_epoch(csr.rows(), problem, poll);
  check_close(run.dual, problem.total_cost, 1e-12, "rows of zeros have multiplier C");
}

void garbage_is_no_trouble() {
  for (const double garbage : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300}) {
    const Toy toy(3, {.m = 30, .d = 4});
    const Problem problem = toy.problem();
    Mpu run(problem, 4, 2, true, 0.0, Order{}, make_rng(3));
    Poll poll = never();
    run.w.assign(run.w.size(), garbage);
    run.width = run.gap = run.active.full_gap = garbage;
    for (int epoch = 0; epoch < 80; ++epoch) run.run_epoch(toy.rows(), problem, poll);
    run.check_restored(problem);
  }
}

void rebuilt_is_the_same() {
  while_training(20, [](const Toy& toy, const Problem& problem, const auto& rows, const Mpu<>& run, int) {
    Mpu copy = run;
    Poll poll = never();
    copy.rebuild(rows, problem, poll);
    check_close(copy.dual, run.dual, 1e-9, "D rebuilt from the counts");
    check(copy.active.size() == toy.target.size(), "all rows are active again");
  });
}

void a_fixed_step_ends_within_its_accuracy() {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Toy toy(seed, {.m = 50, .d = 6, .C = 0.5});
    const Problem problem = toy.problem();
    Mpu<float> run(problem, 6, 64, false, 0.0, Order{}, make_rng(seed));
    Poll poll = never();
    int epochs = 0;
    while (!run.finished() && ++epochs < 100000) run.run_epoch(toy.rows(), problem, poll);
    check(run.finished() && run.N == 64, "it ends, with the step that it began with");
    double zone = 0.0;
    for (std::int64_t k = 0; k < problem.size(); ++k) zone = std::max(zone, toy.cost[k] / 64.0 * toy.rows().squared_norm(k));
    std::vector<double> a;
    for (std::size_t k = 0; k < run.counts.size(); ++k) a.push_back(toy.cost[k] / 64.0 * static_cast<double>(run.counts[k]));
    check(zone < 1.0 && certified_gap(toy.rows(), problem, a) <= 2.0 * zone / (1.0 - zone) * (1.0 + 1e-5),
          "the gap is at most delta");
  }
}

}  // namespace

int main() {
  return run_all({{"counts stay within their cap", counts_stay_within_their_cap},
                  {"tracked values are the values", tracked_values_are_the_values},
                  {"active rows ascend", active_rows_ascend},
                  {"the gap closes", gap_closes},
                  {"zero rows", zero_rows},
                  {"garbage is no trouble", garbage_is_no_trouble},
                  {"rebuilt is the same", rebuilt_is_the_same},
                  {"a fixed step ends within its accuracy", a_fixed_step_ends_within_its_accuracy}});
}
