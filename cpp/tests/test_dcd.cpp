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
    Dcd run(problem, toy.options.d, shrinking, polish, 0.0, penalty(toy), 0, Order{4, 2}, make_rng(seed), 1);
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

void a_survey_moves_nothing_and_finds_the_gap() {
  int surveys = 0;
  while_training(200, [&](const Toy& toy, const Problem& problem, const auto& rows, const Dcd& run, int) {
    if (!run.survey_due) return;
    Dcd after = run;
    Poll poll = never();
    check(after.run_epoch(rows, problem, poll) && !after.survey_due, "a survey that nobody stops is finished");
    check(after.a == run.a && after.w == run.w && after.b == run.b, "nothing moves");
    check(after.touched == run.touched + problem.size(), "all rows are read");
    for (const std::int64_t i : run.active) {
      const bool is_free = run.a[i] > 0.0 && run.a[i] < problem.box(i);
      check(!is_free || std::ranges::binary_search(after.active, i), "rows with free multipliers stay");
    }
    const double gap = toy.primal_value(run.w, run.b) - toy.dual_value(run.a);
    if (!toy.options.free_intercept) check_close(after.gap, gap, 1e-9, "the gap of all rows at this point");
    ++surveys;
  });
  check(surveys > 50, "there were surveys");
}

void rows_come_back_to_a_survey_if_it_is_known_what_is_far() {
  int surveys = 0;
  while_training(60, [&](const Toy&, const Problem& problem, const auto& rows, const Dcd& run, int) {
    Dcd after = run;
    Poll poll = never();
    after.rebuild(rows, problem, poll);
    check(after.active.full(), "all rows come back");
    const bool known = run.shrinking && std::isfinite(run.shrink_above);
    check(after.survey_due == known, "without anything known a survey could not leave rows out");
    surveys += after.survey_due;
  });
  check(surveys > 50, "there were surveys");
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
    Dcd run(problem, 2, true, true, 0.0, penalty(toy), 0, Order{}, make_rng(seed), 1);
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
    Dcd run(problem, 3, true, true, 0.0, penalty(toy), 0, Order{}, make_rng(1), 1);
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
    Dcd run(problem, 8, true, false, 1e-6, 0.0, 0, Order{}, make_rng(seed), 1);
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

/// Rows with little in common, or much, in lanes of 16: 22 rounds in an epoch.
Toy wide_toy(std::uint64_t seed) {
  return Toy(seed, {.m = 700,
                    .d = seed & 4 ? 60 : 5,
                    .density = seed & 4 ? 0.05 : 1.0,
                    .rho = seed % 3 == 0 ? 1.0 : 0.0,
                    .loss = seed & 1 ? Loss::Kind::squared_hinge : Loss::Kind::hinge,
                    .free_intercept = seed % 3 == 1,
                    .weighted = (seed & 2) != 0,
                    .C = 0.5});
}

Dcd in_lanes(const Toy& toy, const Problem& problem, std::int64_t n_threads) {
  return Dcd(problem, toy.options.d, false, false, 0.0, penalty(toy), 16, Order{4, 2}, make_rng(3), n_threads);
}

void check_tracked(const Toy& toy, const Dcd& run) {
  check_close(run.dual, toy.dual_value(run.a), 1e-9, "dual = D(a)");
  const auto expected = toy.combine(run.a);
  for (std::size_t j = 0; j < expected.size(); ++j) check_close(run.w[j], expected[j], 1e-10, "w = w(a)");
  double residue = 0.0;
  for (std::size_t i = 0; i < run.a.size(); ++i) residue += run.a[i] * toy.target[i];
  check_close(run.residue, residue, 1e-10, "residue = sum a_i t_i");
}

void lanes_have_the_same_bits_for_any_number_of_threads() {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Toy toy = wide_toy(seed);
    const Problem problem = toy.problem();
    const ToyCsr<double, std::int32_t> csr(toy);
    Dcd one = in_lanes(toy, problem, 1);
    Dcd two = in_lanes(toy, problem, 2);
    Dcd many = in_lanes(toy, problem, 7);
    Poll poll = never();
    for (int epoch = 1; epoch <= 20; ++epoch) {
      for (Dcd* run : {&one, &two, &many}) check(run->run_epoch(csr.rows(), problem, poll), "nobody stops it");
      for (const Dcd* run : {&two, &many}) {
        check(run->a == one.a && run->w == one.w && run->b == one.b && run->dual == one.dual && run->gap == one.gap,
              "same bits");
      }
      check_tracked(toy, one);
    }
    check(certified_gap(csr.rows(), problem, one.a) < 0.1, "and it gets somewhere");
  }
}

/// What coordinate steps climb is D - beta s - kappa/2 s^2 with s the residue and beta the multiplier before the epoch. Equal rows are
/// the worst case: the steps of both lanes point the same way.
void in_lanes_what_is_climbed_never_falls() {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    Toy toy = wide_toy(seed);
    const auto d = static_cast<std::size_t>(toy.options.d);
    if (seed >= 12) {
      for (std::size_t i = d; i < toy.x.size(); ++i) toy.x[i] = toy.x[i - d];
      for (double& norm : toy.norms) norm = toy.norms[0];
    }
    const Problem problem = toy.problem();
    Dcd run = in_lanes(toy, problem, 1);
    Poll poll = never();
    for (int epoch = 1; epoch <= 30; ++epoch) {
      const double dual = run.dual;
      const double residue = run.residue;
      const double beta = run.b - run.kappa * residue;
      const double kappa = run.kappa;
      run.run_epoch(toy.rows(), problem, poll);
      const double penalty = 0.5 * kappa * (run.residue * run.residue - residue * residue);
      const double rise = run.dual - dual - beta * (run.residue - residue) - penalty;
      check(rise >= -1e-12 * std::abs(run.dual), "it rises, or stays");
    }
  }
}

void lanes_stopped_on_the_way_leave_a_valid_state() {
  for (const std::int64_t n_threads : {1, 2}) {
    const Toy toy = wide_toy(7);
    const Problem problem = toy.problem();
    const ToyCsr<double, std::int32_t> csr(toy);
    Dcd run = in_lanes(toy, problem, n_threads);
    const auto token = std::make_shared<StopToken>();
    token->stop();
    Poll poll(token);
    check(!poll((1 << 20) - 2500), "it looks at its token later: when the rows are in order, and some rounds are done");
    check(!run.run_epoch(csr.rows(), problem, poll), "stopped");
    const auto n_moved = std::count_if(run.a.begin(), run.a.end(), [](double a) { return a > 0.0; });
    check(n_moved > 0 && run.touched > 0 && run.touched < 700 && run.touched % 32 == 0, "after a whole round");
    check_tracked(toy, run);
    check(run.active.full(), "all rows stay");
  }
}

void lanes_are_for_many_rows() {
  const auto of_noise = [](std::int64_t m, std::int64_t d) {
    const Toy toy(1, {.m = m, .d = d, .density = 1.0});
    return Lanes::pay(toy.rows());
  };
  check(of_noise(1 << 16, 256), "sixteen million values, 128 rounds");
  check(!of_noise(1 << 15, 256), "half of them");
  check(!of_noise(1 << 11, 1 << 13), "as many values, but four rounds");
}

void corrupt_states_are_refused() {
  const Toy toy(1, {});
  const Problem problem = toy.problem();
  const auto refused = [&](auto&& spoil) {
    Dcd run(problem, toy.options.d, true, true, 0.0, 0.0, 0, Order{}, make_rng(1), 1);
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
  check(refused([](Dcd& run) { run.passes = -1.0; }), "fewer passes than none");
  check(refused([](Dcd& run) { run.passes = NAN; }), "passes that are no number");
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
       {"a survey moves nothing and finds the gap", a_survey_moves_nothing_and_finds_the_gap},
       {"rows come back to a survey if it is known what is far", rows_come_back_to_a_survey_if_it_is_known_what_is_far},
       {"active rows ascend", active_rows_ascend},
       {"the dual only rises without intercept", dual_only_rises_without_intercept},
       {"the gap closes", gap_closes},
       {"the face's maximum is reached", face_reaches_the_maximum_of_the_face},
       {"dependent rows are no trouble", dependent_rows_are_no_trouble},
       {"zero rows", zero_rows},
       {"rebuilt is the same", rebuilt_is_the_same},
       {"the published rule ends the run", the_published_rule_ends_the_run},
       {"lanes have the same bits for any number of threads", lanes_have_the_same_bits_for_any_number_of_threads},
       {"in lanes, what is climbed never falls", in_lanes_what_is_climbed_never_falls},
       {"lanes stopped on the way leave a valid state", lanes_stopped_on_the_way_leave_a_valid_state},
       {"lanes are for many rows", lanes_are_for_many_rows},
       {"corrupt states are refused", corrupt_states_are_refused}});
}
