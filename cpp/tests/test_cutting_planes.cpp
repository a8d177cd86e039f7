#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/cutting_plane.hpp"
#include "hinge/ocas.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

Toy toy_of(std::uint64_t seed) {
  return Toy(seed, {.m = 60 + static_cast<std::int64_t>(seed),  // one word of rows, exactly two, and between
                    .d = 6,
                    .rho = seed % 2 ? 0.0 : 1.0,
                    .free_intercept = seed % 6 == 1 || seed % 6 == 3,
                    .weighted = seed % 3 == 0,
                    .C = seed % 4 == 0 ? 10.0 : 0.5});
}

std::vector<std::uint64_t> random_rows(std::int64_t m, Rng& rng) {
  std::vector<std::uint64_t> set(words_for(m));
  const auto out_of = 1 + rng.below(5);
  for (std::int64_t i = 0; i < m; ++i) set[i / 64] |= std::uint64_t{rng.below(out_of) == 0} << (i % 64);
  return set;
}

/// C_i of the rows of the set, the obvious way
std::vector<double> costs_of(const Toy& toy, Bits set, Part part = {}) {
  std::vector<double> c(toy.target.size());
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = contains(set, static_cast<std::int64_t>(i)) ? toy.cost[i] : 0.0;
  c[static_cast<std::size_t>(part.row)] += part.share * toy.cost[static_cast<std::size_t>(part.row)];
  return c;
}

/// a = sum C_i t_i x_i
std::vector<double> plane_of(const Toy& toy, Bits set, Part part = {}) { return toy.combine(costs_of(toy, set, part)); }

void plane_touches_the_risk_and_is_balanced() {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Toy toy(seed, {.m = 60 + static_cast<std::int64_t>(seed), .free_intercept = true, .weighted = seed % 3 == 0});
    const Problem problem = toy.problem();
    Rng rng = make_rng(seed);
    std::vector<double> margins(toy.target.size());
    // Halves: many rows at the same place.
    for (double& x : margins) x = seed % 2 ? 4.0 * rng.uniform() - 1.0 : 0.5 * static_cast<double>(rng.below(9)) - 1.0;
    BestShift best_shift;
    Contact contact(problem.size());
    contact.find(problem, margins, best_shift);
    const auto risk = [&](double d) {
      double sum = 0.0;
      for (std::size_t i = 0; i < margins.size(); ++i) sum += toy.cost[i] * std::max(0.0, 1.0 - margins[i] - toy.target[i] * d);
      return sum;
    };
    check_close(contact.risk, risk(contact.shift), 1e-12, "the risk is that of the best b");
    for (const double d : {-10.0, -1.0, -0.1, -1e-6, 1e-6, 0.1, 1.0, 10.0}) {
      check(contact.risk <= risk(contact.shift + d) * (1.0 + 1e-12), "no other b has less risk");
    }
    const auto a = costs_of(toy, contact.rows, contact.part);
    double touching = 0.0;
    double residue = 0.0;
    double offset = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      check(a[i] <= toy.cost[i], "a_i <= C_i");
      touching += a[i] * (1.0 - margins[i] - toy.target[i] * contact.shift);
      residue += a[i] * toy.target[i];
      offset += a[i];
    }
    check_close(touching, contact.risk, 1e-12, "the plane touches the risk");
    check(std::abs(residue) <= 1e-12 * offset, "sum a_i t_i = 0");
    check_close(contact.offset, offset, 1e-12, "the offset is sum a_i");
  }
}

void moved_cut_is_the_plane_of_its_rows() {
  for (std::uint64_t seed = 0; seed < 70; ++seed) {
    const Toy toy = toy_of(seed);
    const Problem problem = toy.problem();
    Rng rng = make_rng(seed);
    Poll poll = never();
    Cut cut(problem.size(), toy.options.d);
    std::int64_t touched = 0;
    for (int step = 0; step < 10; ++step) {
      const auto target = random_rows(problem.size(), rng);
      check(cut.move(toy.rows(), problem, target, touched, poll), "a move that nobody stops is finished");
      check(std::ranges::equal(cut.members, target), "the set is the target");
      const auto expected = plane_of(toy, target);
      for (std::size_t j = 0; j < expected.size(); ++j) check_close(cut.a[j], expected[j], 1e-12, "a = sum C_i t_i x_i");
    }
    check(touched <= 10 * problem.size(), "no row is read twice in a move");
  }
}

void stopped_move_is_the_plane_of_the_rows_so_far() {
  const Toy toy(3, {.m = 200'000, .d = 2});
  const Problem problem = toy.problem();
  Poll stop = stopped();
  Cut cut(problem.size(), toy.options.d);
  std::int64_t touched = 0;
  std::vector<std::uint64_t> all(words_for(problem.size()), ~std::uint64_t{0});
  check(!cut.move(toy.rows(), problem, all, touched, stop), "the poll stops the move");
  check(0 < touched && touched < problem.size(), "it was on the way");
  const auto expected = plane_of(toy, cut.members);
  for (std::size_t j = 0; j < expected.size(); ++j) check_close(cut.a[j], expected[j], 1e-9, "a = sum C_i t_i x_i");
}

/// f(toy, problem, run, epoch) after every epoch.
template <class Method, class F>
void while_training(int epochs, F&& f) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Toy toy = toy_of(seed);
    const Problem problem = toy.problem();
    const ToyCsr<float, std::int32_t> csr(toy);
    Method run = [&] {
      if constexpr (std::is_same_v<Method, Ocas>)
        return Ocas(problem, toy.options.d, 0.1, 5, 1);
      else
        return CuttingPlane(problem, toy.options.d, 5, 1);
    }();
    Poll poll = never();
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      check(run.run_epoch(csr.rows(), problem, poll), "an epoch that nobody stops is finished");
      f(toy, problem, run, epoch);
    }
  }
}

template <class Method>
void bounds_are_the_values() {
  while_training<Method>(40, [](const Toy& toy, const Problem& problem, const Method& run, int) {
    Point point(problem.size(), toy.options.d);
    run.point(problem, point);
    const auto& [w, a, b] = point;
    const Estimate estimate = *run.estimate(problem);
    check(estimate.dual == run.dual && (run.settled || estimate.primal == run.primal), "the estimate is what is at hand");
    for (std::size_t i = 0; i < a.size(); ++i) {
      check(a[i] >= 0.0 && a[i] <= toy.cost[i] * (1.0 + 1e-12), "0 <= a_i <= C_i");
    }
    check_close(run.primal, toy.primal_value(w, b), 1e-9, "the primal is P(w, b)");
    check_close(run.dual, toy.dual_value(a), 1e-9, "the dual is D at the multipliers of the planes");
    const auto v = toy.combine(a);
    for (std::size_t j = 0; j < v.size(); ++j) check_close(run.v[j], v[j], 1e-9, "v = w(a)");
  });
}

template <class Method>
void bounds_only_improve_and_meet() {
  double primal = 0.0;
  double dual = 0.0;
  while_training<Method>(100, [&](const Toy&, const Problem&, const Method& run, int epoch) {
    if (epoch > 1) check(run.primal <= primal * (1.0 + 1e-12), "P falls");
    if (epoch > 1) check(run.dual >= dual * (1.0 - 1e-12), "D rises");
    primal = run.primal;
    dual = run.dual;
    if (epoch == 100) check(primal - dual <= 1e-6 * dual, "the gap closes");
    if (epoch == 100) check(run.bundle.size() < 100, "planes are dropped, and none is there twice");
  });
}

template <class Method>
void rebuilt_is_the_same() {
  while_training<Method>(15, [](const Toy& toy, const Problem& problem, const Method& run, int) {
    Method copy = run;
    Poll poll = never();
    copy.rebuild(toy.rows(), problem, poll);
    check(copy.bundle.size() == run.bundle.size(), "every plane is there again");
    for (std::size_t j = 0; j < run.bundle.size(); ++j) {
      const auto expected = plane_of(toy, run.bundle.members(j), run.bundle.part(j));
      for (std::size_t k = 0; k < expected.size(); ++k) {
        check_close(copy.bundle.plane(j)[k], expected[k], 1e-12, "a plane rebuilt from its rows");
      }
    }
    check(copy.dual >= run.dual - 1e-9 * (1.0 + run.dual), "D rebuilt from the planes");
  });
}

void stopped_rebuild_keeps_planes_of_this_problem_only() {
  const Toy toy(5, {.m = 200'000, .d = 3});
  Toy other = toy;
  for (double& cost : other.cost) cost = 3.0;
  const Problem problem = toy.problem();
  Ocas run(problem, toy.options.d, 0.1, 50, 1);
  Poll poll = never();
  for (int epoch = 0; epoch < 4; ++epoch) run.run_epoch(toy.rows(), problem, poll);
  Poll stop = stopped();
  const Problem changed = other.problem();
  run.rebuild(other.rows(), changed, stop);
  for (std::size_t j = 0; j < run.bundle.size(); ++j) {
    const auto expected = plane_of(other, run.bundle.members(j));
    for (std::size_t k = 0; k < expected.size(); ++k)
      check_close(run.bundle.plane(j)[k], expected[k], 1e-9, "a plane of the new problem");
  }
  check_close(run.primal, other.primal_value(run.w, 0.0), 1e-9, "the primal is P(w) on the new problem");
}

void states_that_do_not_fit_are_refused() {
  const Toy toy = toy_of(3);
  const Problem problem = toy.problem();
  Poll poll = never();
  Ocas run(problem, toy.options.d, 0.1, 50, 1);
  for (int epoch = 0; epoch < 4; ++epoch) run.run_epoch(toy.rows(), problem, poll);
  const auto refused = [&](const std::string& name, auto&& spoil) {
    Ocas copy = run;
    copy.fields([&](const char* field, auto& value) {
      if (name == field) spoil(value);
    });
    try {
      copy.check_restored(problem);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  run.check_restored(problem);
  for (const char* name : {"planes", "offsets", "gram", "beta", "unused", "members", "part_rows", "part_shares"}) {
    const auto shorten = [](auto& value) {
      if constexpr (requires { value.pop_back(); }) value.pop_back();
    };
    check(refused(name, shorten), std::string(name) + " of another length");
  }
  for (const char* name : {"members", "cut_members"}) {
    const auto beyond = [](auto& value) {
      if constexpr (requires { value.back() |= std::uint64_t{1} << 63; }) value.back() |= std::uint64_t{1} << 63;
    };
    check(refused(name, beyond), std::string(name) + " beyond the last row");
  }
}

void too_many_features_are_refused() {
  const Toy toy = toy_of(1);
  try {
    Ocas run(toy.problem(), 5'000'001, 0.1, 50, 1);
    check(false, "a plane of so many features is refused before any memory is taken");
  } catch (const std::invalid_argument& error) {
    check(std::string(error.what()).find("dcd") != std::string::npos, "and the message says what to use instead");
  }
}

}  // namespace

int main() {
  return run_all({{"a plane touches the risk and is balanced", plane_touches_the_risk_and_is_balanced},
                  {"a moved cut is the plane of its rows", moved_cut_is_the_plane_of_its_rows},
                  {"a stopped move is the plane of the rows so far", stopped_move_is_the_plane_of_the_rows_so_far},
                  {"cutting-plane: bounds are the values", bounds_are_the_values<CuttingPlane>},
                  {"ocas: bounds are the values", bounds_are_the_values<Ocas>},
                  {"cutting-plane: bounds only improve, and meet", bounds_only_improve_and_meet<CuttingPlane>},
                  {"ocas: bounds only improve, and meet", bounds_only_improve_and_meet<Ocas>},
                  {"cutting-plane: rebuilt is the same", rebuilt_is_the_same<CuttingPlane>},
                  {"ocas: rebuilt is the same", rebuilt_is_the_same<Ocas>},
                  {"a stopped rebuild keeps planes of this problem only", stopped_rebuild_keeps_planes_of_this_problem_only},
                  {"states that do not fit are refused", states_that_do_not_fit_are_refused},
                  {"too many features are refused", too_many_features_are_refused}});
}
