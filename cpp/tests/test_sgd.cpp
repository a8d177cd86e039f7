#include <vector>

#include "check.hpp"
#include "hinge/sgd.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// l presentations, one by one: P = a_t . y_k - lambda t.
std::int64_t repeat(double P, double lambda, double q, std::int64_t l) {
  std::int64_t errors = 0;
  for (std::int64_t k = 0; k < l; ++k) {
    if (P <= 0.0) {
      ++errors;
      P += q;
    }
    P -= lambda;
  }
  return errors;
}

void proposition_3() {
  for (int P = -40; P <= 40; ++P) {
    for (int lambda = 1; lambda <= 7; ++lambda) {
      for (int q = 0; q <= 12; ++q) {
        for (int l = 1; l <= 9; ++l) {
          check(margin_errors(P, lambda, q, l) == repeat(P, lambda, q, l),
                "l+ of P=" + std::to_string(P) + " lambda=" + std::to_string(lambda) + " q=" + std::to_string(q) +
                    " l=" + std::to_string(l) + " is that of l presentations one by one");
        }
      }
    }
  }
}

void extreme_values() {
  check(margin_errors(-1e300, 1e-300, 0.0, 5) == 5, "at most l errors");
  check(margin_errors(1e300, 1e-300, 1.0, 5) == 0, "no error far beyond the threshold");
  check(margin_errors(NAN, 1.0, 1.0, 5) == 0, "NaN is no error");
}

template <class F>
void after_every_epoch(Presentation presentation, F&& f) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Toy toy(seed, {.m = 5 + static_cast<std::int64_t>(seed),
                         .d = 6,
                         .rho = seed % 2 ? 0.0 : 1.0,
                         .weighted = seed % 3 == 0,
                         .C = seed % 4 == 0 ? 10.0 : 0.5});
    const Problem problem = toy.problem();
    const ToyCsr<double, std::int32_t> csr(toy);
    const auto rows = csr.rows();
    Sgd run(problem, toy.options.d, presentation, Order{}, make_rng(seed));
    Poll poll = never();
    for (int epoch = 1; epoch <= 20; ++epoch) {
      check(run.run_epoch(rows, problem, poll), "an epoch that nobody stops is finished");
      Point point(problem.size(), toy.options.d);
      run.point(problem, point);
      f(toy, problem, run, point.w, point.multipliers);
    }
  }
}

void lower_bound_is_a_dual_value() {
  for (const auto presentation : {Presentation::single, Presentation::multiple}) {
    after_every_epoch(presentation, [](const Toy& toy, const Problem& problem, const Sgd<>& run, const auto&, const auto& a) {
      for (std::size_t k = 0; k < a.size(); ++k) {
        check(a[k] >= 0.0 && a[k] <= toy.cost[k] * (1.0 + 1e-14), "C_k I_k / T_eff lies inside the box");
      }
      check_close(run.estimate(problem)->dual, toy.dual_value(a), 1e-10, "L^T = D rebuilt from the counts");
    });
  }
}

void estimates_are_offered_where_all_rows_are_visited() {
  const Toy toy(1, {});
  Poll poll = never();
  for (const auto presentation : {Presentation::random, Presentation::single, Presentation::multiple}) {
    Sgd run(toy.problem(), toy.options.d, presentation, Order{}, make_rng(1));
    check(!run.estimate(toy.problem()), "nothing is known before the first epoch");
    run.run_epoch(toy.rows(), toy.problem(), poll);
    check(run.estimate(toy.problem()).has_value() == (presentation != Presentation::random), "SGD-r has no estimate");
  }
}

void tracked_norm_is_the_norm() {
  for (const auto presentation : {Presentation::random, Presentation::single, Presentation::multiple}) {
    after_every_epoch(presentation, [](const Toy& toy, const Problem&, const Sgd<>& run, const auto& w, const auto& a) {
      check_close(run.r, squared_norm(run.a), 1e-11, "r = |a_t|^2");
      const auto expected = toy.combine(a);
      for (std::size_t j = 0; j < w.size(); ++j) check_close(w[j], expected[j], 1e-11, "w = w(a)");
    });
  }
}

void rebuilt_is_the_same() {
  after_every_epoch(Presentation::multiple,
                    [](const Toy& toy, const Problem& problem, const Sgd<>& run, const auto&, const auto&) {
                      Sgd copy = run;
                      Poll poll = never();
                      copy.rebuild(toy.rows(), problem, poll);
                      check_close(copy.r, run.r, 1e-11, "r rebuilt from the counts");
                      check_close(copy.M, run.M, 1e-12, "M rebuilt from the counts");
                    });
}

void multiplicities() {
  const Toy toy(1, {});
  const Sgd many(toy.problem(), 5, Presentation::multiple, Order{}, make_rng(1));
  const Sgd one(toy.problem(), 5, Presentation::single, Order{}, make_rng(1));
  for (std::int64_t T = 1; T <= 30; ++T) {
    const bool several = T % 9 >= 1 && T % 9 <= 4;
    check(many.multiplicity(T) == (several ? 5 : 1), "SGD-m presents rows five times when 0 < T mod 9 < 5");
    check(one.multiplicity(T) == 1, "SGD-s presents rows once");
  }
}

}  // namespace

int main() {
  return run_all({{"Proposition 3 equals repetition", proposition_3},
                  {"extreme values", extreme_values},
                  {"the lower bound is a dual value", lower_bound_is_a_dual_value},
                  {"estimates are offered where all rows are visited", estimates_are_offered_where_all_rows_are_visited},
                  {"the tracked norm is the norm", tracked_norm_is_the_norm},
                  {"rebuilt is the same", rebuilt_is_the_same},
                  {"multiplicities", multiplicities}});
}
