#include <numeric>
#include <vector>

#include "check.hpp"
#include "hinge/online.hpp"
#include "hinge/scaled_rows.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

static_assert(Rows<ScaledRows<DenseRows<float>>>);

namespace {

/// Calls f(toy, problem, run) after some epochs with every combination of options.
template <class F>
void with_every_option(F&& f) {
  std::uint64_t seed = 0;
  for (const std::int64_t batch : {1, 3, 20, 50}) {
    for (const bool projection : {true, false}) {
      for (const bool average : {true, false}) {
        for (const bool free : {true, false}) {
          ++seed;
          // Without the projection steps on the squared hinge may grow for ever.
          const Loss loss = projection && seed % 7 < 3 ? Loss::Kind::squared_hinge : Loss::Kind::hinge;
          const Toy toy(seed, {.rho = !free && seed % 3 == 0 ? 1.0 : 0.0,
                               .loss = loss,
                               .free_intercept = free,
                               .weighted = seed % 4 == 0,
                               .C = seed % 5 == 0 ? 10.0 : 0.3});
          const Problem problem = toy.problem();
          const ToyCsr<float, std::int32_t> csr(toy);
          Online run(problem, toy.options.d, {batch, projection, free, average}, Order{}, make_rng(seed));
          Poll poll = never();
          for (int epoch = 0; epoch < 7; ++epoch) {
            check(run.run_epoch(csr.rows(), problem, poll), "an epoch that nobody stops is finished");
          }
          f(toy, problem, run);
        }
      }
    }
  }
}

void tracked_quantities_are_recomputed_ones() {
  with_every_option([](const Toy& toy, const Problem& problem, const Online& run) {
    check_close(run.norm2, run.scale * run.scale * squared_norm(run.v), 1e-9, "norm2 = |scale v|^2");
    if (run.options.projection) check(run.norm2 <= problem.total_cost * (1.0 + 1e-12), "|w| <= 1/sqrt(lambda)");
    const auto v = toy.combine(run.c);
    for (std::size_t j = 0; j < v.size(); ++j) check_close(run.v[j], v[j], 1e-9, "v = sum c_i t_i x_i");
    Point point(problem.size(), toy.options.d);
    run.point(problem, point);
    const auto expected = toy.combine(point.multipliers);
    for (std::size_t j = 0; j < expected.size(); ++j) check_close(point.w[j], expected[j], 1e-8, "w = sum a_i t_i x_i");
    check(point.b == (run.options.free_intercept ? run.intercept() : 0.0), "b of the iterate asked for");
  });
}

void batches_carry_over_between_epochs() {
  with_every_option([](const Toy& toy, const Problem&, const Online& run) {
    const std::int64_t rows = 7 * toy.options.m;
    check(run.touched == rows && run.t == rows / run.options.batch, "a step per batch");
    check(run.options.batch == 1 || run.waiting == rows % run.options.batch, "the rest waits");
  });
}

void waiting_batch_is_the_sum_of_its_violators() {
  with_every_option([](const Toy& toy, const Problem& problem, Online& run) {
    if (run.options.batch == 1) return;
    std::vector<double> coefficients(toy.target.size());
    for (std::size_t j = 0; j < run.violators.size(); ++j) coefficients[run.violators[j]] += run.violator_weights[j];
    const auto g = toy.combine(coefficients);
    double w_g = 0.0;
    for (std::size_t j = 0; j < g.size(); ++j) {
      check_close(run.g.sum[j], g[j], 1e-12, "g = sum s_i slope_i t_i x_i");
      w_g += run.scale * run.v[j] * g[j];
    }
    check_close(run.w_g, w_g, 1e-9, "w.g");
    run.check_restored(problem);  // throws what it finds wrong
  });
}

void stream_is_the_same_however_it_is_cut() {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Toy toy(seed, {.m = 30, .weighted = seed % 2 == 0});
    const OnlineOptions options{1 + static_cast<std::int64_t>(seed) % 7, seed % 3 != 0, seed % 2 == 0, seed % 5 == 0};
    std::vector<std::int64_t> classes;
    std::vector<double> factors;
    for (std::int64_t i = 0; i < toy.options.m; ++i) {
      classes.push_back(i % 3);
      factors.push_back(toy.norms[i] > 0.0 ? 1.0 / std::sqrt(toy.norms[i]) : 0.0);
    }
    std::vector<std::int64_t> all(classes.size());
    std::iota(all.begin(), all.end(), std::int64_t{0});
    in_every_layout(toy, [&](const auto& plain, const std::string& layout) {
      const ScaledRows rows{plain, seed % 2 == 0 ? std::span<const double>(factors) : std::span<const double>{}, 0.5};
      OnlineStream whole(3, toy.options.d, 0.1, rows.rho, options);
      OnlineStream cut(3, toy.options.d, 0.1, rows.rho, options);
      Poll poll = never();
      check(whole.present(rows, all, classes, toy.cost, poll) == toy.options.m, "all rows are taken");
      Rng rng = make_rng(seed);
      for (std::size_t begin = 0; begin < all.size();) {
        const auto length = std::min(all.size() - begin, static_cast<std::size_t>(1 + rng.below(5)));
        cut.present(rows, std::span<const std::int64_t>(all).subspan(begin, length), classes, toy.cost, poll);
        begin += length;
      }
      for (std::size_t k = 0; k < 3; ++k) {
        check(whole.models[k].v == cut.models[k].v && whole.models[k].b == cut.models[k].b, layout + ": the same bits");
        check_close(whole.models[k].norm2, std::pow(whole.models[k].scale, 2) * squared_norm(whole.models[k].v), 1e-9,
                    layout + ": the tracked norm");
      }
      check(whole.seen == cut.seen && whole.weight_sum == cut.weight_sum, "the same count");
    });
  }
}

void stopped_stream_has_given_its_rows_to_all_models() {
  const Toy toy(5, {.m = 30});
  Poll poll = stopped();
  poll(1 << 20);  // due: the next look ends the work
  std::vector<std::int64_t> all(30);
  std::iota(all.begin(), all.end(), std::int64_t{0});
  OnlineStream stream(4, toy.options.d, 0.1, 0.0, {});
  const auto plain = toy.rows();
  check(stream.present(ScaledRows{plain, {}, 0.0}, all, all, toy.cost, poll) == 1, "one row, then the poll");
  for (const auto& model : stream.models) check(model.t == 1 && model.touched == 1, "each model has seen it");
  check(stream.seen == 1, "and it was counted");
}

}  // namespace

int main() {
  return run_all({{"tracked quantities are recomputed ones", tracked_quantities_are_recomputed_ones},
                  {"batches carry over between epochs", batches_carry_over_between_epochs},
                  {"a waiting batch is the sum of its violators", waiting_batch_is_the_sum_of_its_violators},
                  {"a stream is the same however it is cut", stream_is_the_same_however_it_is_cut},
                  {"a stopped stream has given its rows to all models", stopped_stream_has_given_its_rows_to_all_models}});
}
