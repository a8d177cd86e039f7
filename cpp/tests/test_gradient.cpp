#include <cmath>
#include <vector>

#include "check.hpp"
#include "hinge/gradient.hpp"
#include "hinge/sgdqn.hpp"
#include "hinge/svmsgd.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// The iterates of plain subgradient descent over the rows `visit`, the obvious way.
template <class R>
void descend(const Toy& toy, const Problem& problem, const R& rate, bool projection, std::span<const std::int64_t> visit,
             std::int64_t& t, std::vector<double>& w) {
  for (const std::int64_t i : visit) {
    const double eta = rate(problem.lambda, ++t);
    const double target = toy.target[static_cast<std::size_t>(i)];
    const double slack = std::max(0.0, 1.0 - target * toy.dot(i, w));
    const double slope = toy.options.loss.is_hinge() ? (slack > 0.0 ? 1.0 : 0.0) : 2.0 * slack;
    for (double& x : w) x *= 1.0 - eta * problem.lambda;
    const double step = eta * problem.relative_weight(i) * slope * target;
    for (std::int64_t j = 0; j < toy.options.d; ++j) w[static_cast<std::size_t>(j)] += step * toy.at(i, j);
    w.back() += step * toy.options.rho;
    const double norm = std::sqrt(squared_norm(w));
    const double radius = std::sqrt(problem.total_cost);
    if (projection && norm > radius) {
      for (double& x : w) x *= radius / norm;
    }
  }
}

template <class R>
void by_the_book(const R& rate, Loss loss) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Toy toy(seed, {.rho = seed % 3 == 0 ? 0.5 : 0.0, .loss = loss, .weighted = seed % 2 == 0, .C = 2.0});
    const Problem problem = toy.problem();
    const bool projection = seed % 4 < 2 || !loss.is_hinge();
    GradientDescent<R> run(problem, toy.options.d, rate, {.projection = projection}, Order{}, make_rng(seed));
    Rng rng = make_rng(seed);
    Poll poll = never();
    std::vector<double> w(static_cast<std::size_t>(toy.options.d) + 1);
    std::int64_t t = 0;
    for (int epoch = 0; epoch < 5; ++epoch) {
      check(run.run_epoch(toy.rows(), problem, poll), "an epoch that nobody stops is finished");
      descend(toy, problem, rate, projection, draws(toy.options.m, toy.options.m, rng), t, w);
      for (std::size_t j = 0; j < w.size(); ++j) check_close(run.scale * run.v[j], w[j], 1e-9, "the iterate by the book");
      check_close(run.norm2, squared_norm(w), 1e-9, "the tracked norm is the norm");
    }
  }
}

void norma_by_the_book() {
  by_the_book(NormaRate{0.71}, Loss::Kind::hinge);
  by_the_book(NormaRate{0.71}, Loss::Kind::squared_hinge);
}
void zhang_by_the_book() {
  by_the_book(ConstantRate{0.05}, Loss::Kind::hinge);
  by_the_book(ConstantRate{0.05}, Loss::Kind::squared_hinge);
}

/// Every way to run every solver, in every layout: nothing is read or written out of bounds, and the loss falls.
template <class Solver>
void learns(Solver run, const Toy& toy, const auto& rows) {
  const Problem problem = toy.problem();
  Poll poll = never();
  for (int epoch = 0; epoch < 30; ++epoch) run.run_epoch(rows, problem, poll);
  Point point(problem.size(), toy.options.d);
  run.point(problem, point);
  check(toy.primal_value(point.w, 0.0) < problem.total_cost, "better than w = 0");
  for (const double multiplier : point.multipliers)
    check(multiplier >= 0.0 && std::isfinite(multiplier), "multipliers are not negative");
}

void all_learn_in_every_layout() {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Loss loss = seed < 6 ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    const Toy toy(seed, {.m = 40, .d = 6, .rho = seed % 2 ? 1.0 : 0.0, .loss = loss, .weighted = seed % 3 == 0, .C = 0.5});
    const Problem problem = toy.problem();
    in_every_layout(toy, [&](const auto& rows, const auto&) {
      for (const auto output : {Output::last, Output::average}) {
        learns(SvmSgd<double>(problem, 6, 15, Calibration::sampled, output, Order{}, make_rng(seed)), toy, rows);
        learns(SvmSgd<float>(problem, 6, 100, Calibration::first, output, Order{4, 1}, make_rng(seed)), toy, rows);
        // Constant steps, as small as the squared hinge needs: those of Norma begin with 1/lambda, and come back too late.
        learns(Zhang(problem, 6, ConstantRate{0.01}, {.output = output}, Order{}, make_rng(seed)), toy, rows);
      }
      if (!loss.is_hinge()) return;
      learns(Norma(problem, 6, NormaRate{0.72}, {.projection = true}, Order{}, make_rng(seed)), toy, rows);
      learns(SgdQn<double, Published>(problem, 6, Order{}, make_rng(seed)), toy, rows);
      learns(SgdQn<float, Erratum>(problem, 6, Order{4, 1}, make_rng(seed)), toy, rows);
      learns(SgdQn<float, Sgd2>(problem, 6, Order{}, make_rng(seed)), toy, rows);
      learns(SgdQn<double, Mixed>(problem, 6, Order{}, make_rng(seed)), toy, rows);
    });
  }
}

void extreme_rows_are_survived() {
  for (const double scale : {1e-30, 1e-8, 1e8, 1e30}) {
    const Toy toy(3, {.m = 40, .d = 6, .scale = scale});
    const Toy squared(3, {.m = 40, .d = 6, .loss = Loss::Kind::squared_hinge, .scale = scale});
    const Problem problem = toy.problem();
    Poll poll = never();
    SvmSgd<double> of_squares(squared.problem(), 6, 15, Calibration::first, Output::last, Order{}, make_rng(1));
    SvmSgd<double> svmsgd(problem, 6, 15, Calibration::first, Output::last, Order{}, make_rng(1));
    SvmSgd<float> single(problem, 6, 15, Calibration::sampled, Output::last, Order{}, make_rng(1));
    SgdQn<double, Sgd2> sgdqn(problem, 6, Order{}, make_rng(1));
    SgdQn<float, Mixed> narrow(problem, 6, Order{}, make_rng(1));
    for (int epoch = 0; epoch < 5; ++epoch) {
      svmsgd.run_epoch(toy.rows(), problem, poll);
      of_squares.run_epoch(toy.rows(), squared.problem(), poll);
      single.run_epoch(toy.rows(), problem, poll);
      sgdqn.run_epoch(toy.rows(), problem, poll);
      narrow.run_epoch(toy.rows(), problem, poll);
    }
    check(svmsgd.rate.eta0 > 0.0 && svmsgd.rate.eta0 * problem.lambda <= 0.5, "eta_0 lambda is at most 1/2");
    check(std::isfinite(svmsgd.norm2) && std::isfinite(of_squares.norm2), "SvmSgd stays finite");
    svmsgd.check_restored(problem);
    sgdqn.check_restored(problem);
    narrow.check_restored(problem);
  }
}

void shares_are_weighted_means_of_slopes() {
  DualAverage average(3);
  std::vector<double> sum(3);
  double total = 0.0;
  Rng rng = make_rng(5);
  for (std::int64_t t = 0; t < 500; ++t) {
    const std::int64_t i = rng.below(3);
    const double slope = 0.5 * static_cast<double>(rng.below(3));
    average.visited(i, slope, t);
    total += static_cast<double>(t + 1);
    sum[static_cast<std::size_t>(i)] += slope * static_cast<double>(t + 1);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    check_close(average.share_scale * average.share[i], 3.0 * sum[i] / total, 1e-12, "step t counts t times");
  }
}

}  // namespace

int main() {
  return run_all({{"Norma by the book", norma_by_the_book},
                  {"Zhang by the book", zhang_by_the_book},
                  {"all learn in every layout", all_learn_in_every_layout},
                  {"extreme rows are survived", extreme_rows_are_survived},
                  {"shares are weighted means of slopes", shares_are_weighted_means_of_slopes}});
}
