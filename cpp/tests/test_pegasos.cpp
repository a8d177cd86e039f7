#include <vector>

#include "check.hpp"
#include "hinge/pegasos.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// Calls f(toy, problem, run, w, a) after some epochs with every combination of options.
template <class F>
void with_every_option(F&& f) {
  std::uint64_t seed = 0;
  for (const auto sampling : {Sampling::iid, Sampling::epoch}) {
    for (const bool projection : {true, false}) {
      for (const bool advance : {true, false}) {
        for (const auto bias : {Bias::none, Bias::subgradient, Bias::exact}) {
          for (const auto output : {Output::last, Output::average, Output::random}) {
            for (const std::int64_t k : {1, 4, 20}) {
              ++seed;
              const Toy toy(seed, {.rho = bias == Bias::none && seed % 2 ? 1.0 : 0.0,
                                   .free_intercept = bias != Bias::none,
                                   .weighted = seed % 3 == 0,
                                   .C = seed % 5 == 0 ? 10.0 : 0.3});
              const Problem problem = toy.problem();
              const ToyCsr<float, std::int64_t> csr(toy);
              Pegasos run(problem, toy.options.d, {k, sampling, projection, advance, bias, output, seed % 4 == 0}, Order{},
                          make_rng(seed));
              Poll poll = never();
              for (int epoch = 0; epoch < 10; ++epoch) {
                check(run.run_epoch(csr.rows(), problem, poll), "an epoch that nobody stops is finished");
              }
              Point point(problem.size(), toy.options.d);
              run.point(problem, point);
              check(point.b == run.b, "b is that of the run");
              f(toy, problem, run, point.w, point.multipliers);
            }
          }
        }
      }
    }
  }
}

void tracked_norm_is_the_norm() {
  with_every_option([](const Toy&, const Problem&, const Pegasos& run, const auto&, const auto&) {
    check_close(run.norm2, run.scale * run.scale * squared_norm(run.v), 1e-9, "norm2 = |scale v|^2");
  });
}

void multipliers_follow_the_weights() {
  with_every_option([](const Toy& toy, const Problem&, const Pegasos& run, const auto& w, const auto& a) {
    if (run.t == 0) return;  // one row at its own best b never has a loss: the random start is still there
    const auto expected = toy.combine(a);
    for (std::size_t j = 0; j < w.size(); ++j) check_close(w[j], expected[j], 1e-9, "w = sum a_i t_i x_i");
    for (const double multiplier : a) check(multiplier >= -1e-12, "multipliers are not negative");
  });
}

void projection_keeps_the_ball() {
  with_every_option([](const Toy&, const Problem& problem, const Pegasos& run, const auto&, const auto&) {
    if (run.options.projection) check(run.norm2 <= problem.total_cost * (1.0 + 1e-12), "|w| <= 1/sqrt(lambda)");
  });
}

void exact_intercept_balances() {
  with_every_option([](const Toy& toy, const Problem&, const Pegasos& run, const auto&, const auto& a) {
    if (run.options.bias != Bias::exact || run.options.k != toy.options.m) return;
    double balance = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      balance += a[i] * toy.target[i];
      total += a[i];
    }
    check_close(balance, 0.0, 1e-12 * (1.0 + total), "with all rows a step, sum a_i t_i = 0");
  });
}

void one_row_a_step_by_the_book() {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Loss loss = seed % 4 < 2 ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    const Toy toy(seed, {.loss = loss, .weighted = seed % 2 == 0, .C = 2.0});
    const Problem problem = toy.problem();
    Pegasos run(problem, toy.options.d, {}, Order{}, make_rng(seed));
    Rng rng = make_rng(seed);
    Poll poll = never();
    std::vector<double> w(static_cast<std::size_t>(toy.options.d) + 1);
    double t = 0;
    for (int epoch = 0; epoch < 5; ++epoch) {
      run.run_epoch(toy.rows(), problem, poll);
      for (const std::int64_t i : draws(toy.options.m, toy.options.m, rng)) {
        t += 1;
        const double target = toy.target[static_cast<std::size_t>(i)];
        const double slack = std::max(0.0, 1.0 - target * toy.dot(i, w));
        const double slope = toy.options.loss.is_hinge() ? (slack > 0.0 ? 1.0 : 0.0) : 2.0 * slack;
        for (double& x : w) x *= 1.0 - 1.0 / t;
        for (std::int64_t j = 0; j < toy.options.d; ++j) {
          w[static_cast<std::size_t>(j)] += problem.relative_weight(i) * slope * target * toy.at(i, j) / (problem.lambda * t);
        }
        const double norm = std::sqrt(squared_norm(w));
        const double radius = 1.0 / std::sqrt(problem.lambda);
        if (norm > radius) {
          for (double& x : w) x *= radius / norm;
        }
      }
      for (std::size_t j = 0; j < w.size(); ++j) check_close(run.scale * run.v[j], w[j], 1e-9, "the iterate of the paper");
    }
  }
}

void tiny_scale_is_folded() {
  const Toy toy(1, {});
  Pegasos run(toy.problem(), toy.options.d, {}, Order{}, make_rng(1));
  Poll poll = never();
  run.run_epoch(toy.rows(), toy.problem(), poll);
  const double factor = 1e-120 / run.scale;
  for (double& x : run.v) x /= factor;
  for (double& x : run.c) x /= factor;
  run.scale *= factor;
  run.run_epoch(toy.rows(), toy.problem(), poll);
  check(run.scale >= 1e-100, "a tiny scale is folded into v");
  check_close(run.norm2, run.scale * run.scale * squared_norm(run.v), 1e-9, "and the norm stays right");
}

}  // namespace

int main() {
  return run_all({{"the tracked norm is the norm", tracked_norm_is_the_norm},
                  {"multipliers follow the weights", multipliers_follow_the_weights},
                  {"projection keeps the ball", projection_keeps_the_ball},
                  {"the exact intercept balances", exact_intercept_balances},
                  {"one row a step, by the book", one_row_a_step_by_the_book},
                  {"a tiny scale is folded", tiny_scale_is_folded}});
}
