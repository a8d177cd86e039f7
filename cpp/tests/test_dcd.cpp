#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "certified.hpp"
#include "check.hpp"
#include "hinge/dcd.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

double penalty(const Toy& toy) {
  double sum = 0.0;
  for (const double norm : toy.norms) sum += norm;
  return toy.options.free_intercept ? 0.03 * sum / static_cast<double>(toy.options.m) + 1.0 / toy.problem().total_cost : 0.0;
}

/// Calls f(toy, problem, rows, run, epoch) after each of `epochs` epochs of many small problems.
template <class F>
void while_training(int epochs, F&& f) {
  for (std::uint64_t seed = 0; seed < 128; ++seed) {
    const bool shrinking = seed & 1;
    const bool polish = seed & 2;
    const bool free = seed & 4;
    const bool small = seed & 8;
    const Toy toy(seed, {.m = small ? 4 : 60,
                         .d = seed & 16 ? 3 : 12,
                         .rho = !free && seed % 3 == 0 ? 1.0 : 0.0,
                         .loss = seed & 64 ? Loss::Kind::squared_hinge : Loss::Kind::hinge,
                         .free_intercept = free,
                         .weighted = (seed & 32) != 0,
                         .C = seed % 5 == 0 ? 10.0 : 0.2});
    const Problem problem = toy.problem();
    const ToyCsr<double, std::int32_t> csr(toy);
    Dcd run(problem, toy.options.d, shrinking, polish, 0.0, penalty(toy), 1, Order{4, 2}, make_rng(seed), 1);
    Poll poll = never();
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      check(run.run_epoch(csr.rows(), problem, poll), "an epoch that nobody stops is finished");
      f(toy, problem, csr.rows(), run, epoch);
    }
  }
}

void multipliers_stay_in_the_box() {
  while_training(60, [](const auto&, const Problem& problem, const auto&, const Dcd& run, int) {
    for (std::int64_t i = 0; i < problem.size(); ++i) check(run.a[i] >= 0.0 && run.a[i] <= problem.box(i), "0 <= a_i <= box_i");
  });
}

void tracked_values_are_the_values() {
  while_training(60, [](const Toy& toy, const auto&, const auto&, const Dcd& run, int) {
    const auto expected = toy.combine(run.a);
    for (std::size_t j = 0; j < run.w.size(); ++j) check_close(run.w[j], expected[j], 1e-10, "w = w(a)");
    double residue = 0.0;
    for (std::size_t i = 0; i < run.a.size(); ++i) residue += run.a[i] * toy.target[i];
    check_close(run.residue, residue, 1e-10, "residue = sum a_i t_i");
    check_close(run.dual, toy.dual_value(run.a), 1e-9, "dual = D(a)");
  });
}

void point_and_estimate_are_the_tracked_values() {
  while_training(5, [](const Toy& toy, const Problem& problem, const auto&, const Dcd& run, int) {
    Point point(problem.size(), toy.options.d);
    run.point(problem, point);
    check(point.w == run.w && point.multipliers == run.a, "w and a are the tracked ones");
    check(point.b == (toy.options.free_intercept ? run.b : 0.0), "b counts only where it is free");
    check(run.estimate(problem)->dual == run.dual && run.estimate(problem)->primal == run.dual + run.gap, "{D + gap, D}");
    run.check_restored(problem);
  });
}

/// P - D of all rows where they were when the epoch visited them: after a while nothing moves, and the share is the gap.
void estimated_gap_is_the_gap_in_the_end() {
  while_training(400, [](const Toy& toy, const Problem& problem, const auto&, const Dcd& run, int epoch) {
    if (epoch != 400 || run.shrinking || toy.options.free_intercept) return;
    const double gap = toy.primal_value(run.w, 0.0) - toy.dual_value(run.a);
    check(std::abs(run.gap - gap) <= 0.01 * toy.dual_value(run.a), "the estimated gap is P - D");
    check(problem.loss.is_hinge() || run.gap >= -1e-9, "no share of the gap is negative");
  });
}

void active_rows_ascend() {
  while_training(60, [](const Toy& toy, const auto&, const auto&, const Dcd& run, int) {
    std::int64_t previous = -1;
    for (const std::int64_t i : run.active) {
      check(i > previous && i < toy.options.m, "active rows ascend, each once");
      previous = i;
    }
  });
}

void dual_only_rises_without_intercept() {
  double before = 0.0;
  while_training(60, [&](const Toy& toy, const auto&, const auto&, const Dcd& run, int epoch) {
    if (toy.options.free_intercept) return;
    if (epoch > 1) check(run.dual >= before - 1e-12 * (1.0 + before), "D never falls");
    before = run.dual;
  });
}

void gap_closes() {
  while_training(2000, [](const Toy& toy, const Problem& problem, const auto& rows, Dcd& run, int epoch) {
    if (epoch % 100 == 0) run.active.take_all();
    if (epoch != 2000) return;
    const double relative = certified_gap(rows, problem, run.a);
    check(relative < 1e-3, std::string(problem.loss.is_hinge() ? "hinge" : "squared hinge") +
                               " certified to 1e-3, with C = " + std::to_string(toy.options.C) +
                               (toy.options.free_intercept ? ", free intercept" : ", no free intercept") +
                               (run.polish ? ", polish" : ", no polish") + ": " + std::to_string(relative));
  });
}

void face_reaches_the_maximum_of_the_face() {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Loss loss = seed % 4 < 2 ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    const Toy toy(seed, {.m = 8, .d = 12, .density = 1.0, .loss = loss, .free_intercept = seed % 2 == 0, .C = 1e6});
    const Problem problem = toy.problem();
    DualIterate run;
    run.a.assign(8, 1.0);
    run.w = toy.combine(run.a);
    for (const double target : toy.target) run.residue += target;
    run.dual = toy.dual_value(run.a);
    const double before = run.dual;
    Poll poll = never();
    Face::climb(toy.rows(), problem, run, 50, poll);
    if (!toy.options.free_intercept) check(run.dual >= before, "D never falls on the face");
    check_close(run.dual, toy.dual_value(run.a), 1e-8, "the tracked dual is D(a)");
    double residue = 0.0;
    for (std::int64_t i = 0; i < 8; ++i) {
      const auto k = static_cast<std::size_t>(i);
      residue += run.a[k] * toy.target[k];
      if (!Face::is_free(problem, run, i)) continue;
      const double slack = loss.diagonal(toy.cost[k]) * run.a[k];  // where a = C slope(slack)
      check_close(toy.target[k] * (toy.dot(i, run.w) + run.b), 1.0 - slack, 1e-6,
                  "free rows have the slack of their multiplier");
    }
    check_close(run.residue, residue, 1e-9, "residue = sum a_i t_i");
  }
}

void dependent_rows_are_no_trouble() {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Loss loss = seed % 4 < 2 ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    Toy toy(seed, {.m = 30, .d = 2, .density = 1.0, .loss = loss, .free_intercept = seed % 2 == 0, .C = 1.0});
    for (std::size_t i = 2; i < toy.x.size(); ++i) toy.x[i] = toy.x[i - 2];  // all rows equal
    for (double& norm : toy.norms) norm = toy.norms[0];
    const Problem problem = toy.problem();
    Dcd run(problem, 2, true, true, 0.0, penalty(toy), 1, Order{}, make_rng(seed), 1);
    Poll poll = never();
    for (int epoch = 0; epoch < 200; ++epoch) run.run_epoch(toy.rows(), problem, poll);
    for (std::int64_t i = 0; i < problem.size(); ++i) check(run.a[i] >= 0.0 && run.a[i] <= problem.box(i), "0 <= a_i <= box_i");
    check(std::isfinite(run.b) && std::isfinite(run.dual), "b and D stay finite");
  }
}

void zero_rows() {
  for (const int trial : {0, 1, 2, 3}) {
    const bool free = trial % 2;
    const Loss loss = trial < 2 ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    const Toy toy(1, {.m = 10, .d = 3, .density = 0.0, .loss = loss, .free_intercept = free});
    const Problem problem = toy.problem();
    const ToyCsr<float, std::int32_t> csr(toy);
    Dcd run(problem, 3, true, true, 0.0, penalty(toy), 1, Order{}, make_rng(1), 1);
    Poll poll = never();
    for (int epoch = 0; epoch < 50; ++epoch) run.run_epoch(csr.rows(), problem, poll);
    if (!free) check_close(run.dual, problem.total_cost, 1e-12, "rows of zeros cost C each, and the dual knows");
    check(std::isfinite(run.b) && std::isfinite(run.dual), "b and D stay finite");
  }
}

void rebuilt_is_the_same() {
  while_training(20, [](const Toy& toy, const Problem& problem, const auto& rows, const Dcd& run, int) {
    Dcd copy = run;
    Poll poll = never();
    copy.rebuild(rows, problem, poll);
    check_close(copy.dual, run.dual, 1e-9, "D rebuilt from the multipliers");
    check_close(copy.residue, run.residue, 1e-10, "residue rebuilt from the multipliers");
    check(copy.active.size() == toy.target.size(), "all rows are active again");
  });
}

void the_published_rule_ends_the_run() {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Toy toy(seed, {.m = 60, .d = 8, .C = 0.5});
    const Problem problem = toy.problem();
    Dcd run(problem, 8, true, false, 1e-6, 0.0, 1, Order{}, make_rng(seed), 1);
    Poll poll = never();
    int epochs = 0;
    bool shrunk = false;
    while (!run.finished() && ++epochs < 100000) {
      run.run_epoch(toy.rows(), problem, poll);
      shrunk = shrunk || !run.active.full();
    }
    check(run.finished() && run.active.full() && shrunk, "rows were left out, came back, and the run has ended");
    check(certified_gap(toy.rows(), problem, run.a) < 1e-4, "with projected gradients within 1e-6, the gap is small");
  }
}

/// Rows with little in common, enough of them for epochs in batches of eight.
Toy sparse_toy(std::uint64_t seed) {
  return Toy(seed, {.m = 700,
                    .d = 60,
                    .density = 0.05,
                    .rho = seed % 3 == 0 ? 1.0 : 0.0,
                    .loss = seed & 1 ? Loss::Kind::squared_hinge : Loss::Kind::hinge,
                    .free_intercept = seed % 3 == 1,
                    .weighted = (seed & 2) != 0,
                    .C = 0.5});
}

Dcd in_batches(const Toy& toy, const Problem& problem, std::int64_t n_threads) {
  return Dcd(problem, toy.options.d, false, false, 0.0, penalty(toy), 8, Order{4, 2}, make_rng(3), n_threads);
}

void batches_have_the_same_bits_for_any_number_of_threads() {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Toy toy = sparse_toy(seed);
    const Problem problem = toy.problem();
    const ToyCsr<double, std::int32_t> csr(toy);
    Dcd one = in_batches(toy, problem, 1);
    Dcd two = in_batches(toy, problem, 2);
    Dcd many = in_batches(toy, problem, 7);
    Poll poll = never();
    for (int epoch = 1; epoch <= 20; ++epoch) {
      for (Dcd* run : {&one, &two, &many}) check(run->run_epoch(csr.rows(), problem, poll), "nobody stops it");
      check(!one.overshot, "batches of eight do not overshoot here");
      for (const Dcd* run : {&two, &many}) {
        check(run->a == one.a && run->w == one.w && run->b == one.b && run->dual == one.dual && run->gap == one.gap,
              "same bits");
      }
      check_close(one.dual, toy.dual_value(one.a), 1e-9, "dual = D(a)");
      const auto expected = toy.combine(one.a);
      for (std::size_t j = 0; j < expected.size(); ++j) check_close(one.w[j], expected[j], 1e-10, "w = w(a)");
    }
    check(certified_gap(csr.rows(), problem, one.a) < 0.1, "and it gets somewhere");
  }
}

/// More threads than cores: some are sent home when they have been waited for too long, and nobody can tell by the result.
void threads_without_a_core_are_sent_home() {
  const Toy toy(1, {.m = 4100, .d = 2000, .density = 0.01, .C = 0.5});
  const Problem problem = toy.problem();
  const ToyCsr<double, std::int32_t> csr(toy);
  const auto run = [&](std::int64_t n_threads) {
    Dcd dcd(problem, toy.options.d, false, false, 0.0, 0.0, Batches::kMost, Order{}, make_rng(3), n_threads);
    Poll poll = never();
    for (int epoch = 1; epoch <= 3; ++epoch) dcd.run_epoch(csr.rows(), problem, poll);
    return dcd;
  };
  const Dcd one = run(1);
  const Dcd many = run(16);
  check(!one.overshot && many.a == one.a && many.w == one.w && many.dual == one.dual, "same bits");
}

void a_stopped_batch_leaves_a_valid_state() {
  for (const std::int64_t n_threads : {1, 2}) {
    const Toy toy = sparse_toy(1);
    const Problem problem = toy.problem();
    const ToyCsr<double, std::int32_t> csr(toy);
    Dcd run = in_batches(toy, problem, n_threads);
    const auto token = std::make_shared<StopToken>();
    token->stop();
    Poll poll(token);
    check(!poll((1 << 20) - 2500), "it looks at its token later: when the rows are in order, and some batches are done");
    check(!run.run_epoch(csr.rows(), problem, poll), "stopped");
    check(std::any_of(run.a.begin(), run.a.end(), [](double a) { return a > 0.0; }), "after a batch that was begun");
    check_close(run.dual, toy.dual_value(run.a), 1e-9, "dual = D(a)");
    const auto expected = toy.combine(run.a);
    for (std::size_t j = 0; j < expected.size(); ++j) check_close(run.w[j], expected[j], 1e-10, "w = w(a)");
  }
}

void parallel_rows_overshoot_once() {
  Toy toy(1, {.m = 700, .d = 3, .density = 1.0, .C = 1.0});
  for (std::size_t i = 3; i < toy.x.size(); ++i) toy.x[i] = toy.x[i - 3];  // all rows equal
  for (double& norm : toy.norms) norm = toy.norms[0];
  const Problem problem = toy.problem();
  Dcd run = in_batches(toy, problem, 1);
  Poll poll = never();
  for (int epoch = 0; epoch < 200 && !run.overshot; ++epoch) run.run_epoch(toy.rows(), problem, poll);
  check(run.overshot, "the steps of equal rows add up");
  for (int epoch = 0; epoch < 300; ++epoch) run.run_epoch(toy.rows(), problem, poll);
  check(certified_gap(toy.rows(), problem, run.a) < 1e-3, "one row after the other arrives");
}

void batches_are_for_rows_with_little_in_common() {
  const auto of_noise = [](std::int64_t m, double mean) {
    Toy toy(1, {.m = m, .d = 1000, .density = 0.0});
    Rng rng = make_rng(7);
    for (double& x : toy.x) x = mean + rng.uniform() - 0.5;
    for (std::size_t i = 0; i < toy.norms.size(); ++i) toy.norms[i] = squared_norm(std::span(toy.x).subspan(i * 1000, 1000));
    return Batches::largest(toy.rows());
  };
  check(of_noise(4500, 0.0) == 32, "noise");
  check(of_noise(4500, 1.0) == 1, "rows far from the origin are nearly parallel");
  check(of_noise(3000, 0.0) == 1, "not worth it for a few rows");
}

void corrupt_states_are_refused() {
  const Toy toy(1, {});
  const Problem problem = toy.problem();
  const auto refused = [&](auto&& spoil) {
    Dcd run(problem, toy.options.d, true, true, 0.0, 0.0, 1, Order{}, make_rng(1), 1);
    spoil(run);
    try {
      run.check_restored(problem);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  check(!refused([](Dcd&) {}), "a new run is a good one");
  check(refused([](Dcd& run) { run.a[3] = -1.0; }), "a negative multiplier");
  check(refused([](Dcd& run) { run.a[3] = NAN; }), "a multiplier that is no number");
  check(refused([](Dcd& run) { run.active[3] = 2; }), "an active row twice");
  check(refused([](Dcd& run) { run.active.push_back(20); }), "an active row beyond the last");
  check(refused([](Dcd& run) { run.active[0] = -1; }), "a negative active row");
}

}  // namespace

int main() {
  return run_all(
      {{"multipliers stay in the box", multipliers_stay_in_the_box},
       {"tracked values are the values", tracked_values_are_the_values},
       {"point and estimate are the tracked values", point_and_estimate_are_the_tracked_values},
       {"the estimated gap is the gap in the end", estimated_gap_is_the_gap_in_the_end},
       {"active rows ascend", active_rows_ascend},
       {"the dual only rises without intercept", dual_only_rises_without_intercept},
       {"the gap closes", gap_closes},
       {"the face's maximum is reached", face_reaches_the_maximum_of_the_face},
       {"dependent rows are no trouble", dependent_rows_are_no_trouble},
       {"zero rows", zero_rows},
       {"rebuilt is the same", rebuilt_is_the_same},
       {"the published rule ends the run", the_published_rule_ends_the_run},
       {"batches have the same bits for any number of threads", batches_have_the_same_bits_for_any_number_of_threads},
       {"threads without a core are sent home", threads_without_a_core_are_sent_home},
       {"a stopped batch leaves a valid state", a_stopped_batch_leaves_a_valid_state},
       {"parallel rows overshoot once", parallel_rows_overshoot_once},
       {"batches are for rows with little in common", batches_are_for_rows_with_little_in_common},
       {"corrupt states are refused", corrupt_states_are_refused}});
}
