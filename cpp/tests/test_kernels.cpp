#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "certified.hpp"
#include "check.hpp"
#include "hinge/asset.hpp"
#include "hinge/kernel_pegasos.hpp"
#include "hinge/lasvm.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

const Kernel kKernels[] = {{.kind = Kernel::Kind::rbf, .gamma = 0.3},
                           {.kind = Kernel::Kind::laplacian, .gamma = 0.3, .constant = 0.5},
                           {.kind = Kernel::Kind::polynomial, .gamma = 0.7, .degree = 3, .coef0 = 1.0},
                           {.kind = Kernel::Kind::sigmoid, .gamma = 0.2, .coef0 = -0.1},
                           {.kind = Kernel::Kind::linear},
                           {.kind = Kernel::Kind::cosine}};

/// k(x_i, x_j), the obvious way
double value(const Toy& toy, const Kernel& kernel, std::int64_t i, std::int64_t j) {
  double product = 0.0, square = 0.0, length = 0.0, own = 0.0, other = 0.0;
  for (std::int64_t c = 0; c < toy.options.d; ++c) {
    const double x = toy.at(i, c), z = toy.at(j, c);
    product += x * z;
    square += (x - z) * (x - z);
    length += std::abs(x - z);
    own += x * x;
    other += z * z;
  }
  switch (kernel.kind) {
    case Kernel::Kind::rbf:
      return kernel.constant + std::exp(-kernel.gamma * square);
    case Kernel::Kind::laplacian:
      return kernel.constant + std::exp(-kernel.gamma * length);
    case Kernel::Kind::polynomial:
      return kernel.constant + std::pow(kernel.gamma * product + kernel.coef0, static_cast<double>(kernel.degree));
    case Kernel::Kind::sigmoid:
      return kernel.constant + std::tanh(kernel.gamma * product + kernel.coef0);
    case Kernel::Kind::cosine:
      return kernel.constant + (own * other > 0.0 ? product / std::sqrt(own * other) : 0.0);
    default:
      return kernel.constant + product;
  }
}

void kernel_rows_are_those_of_the_definition_whatever_the_cache_holds() {
  for (const std::int64_t d : {1, 7, 8, 21}) {
    const Toy toy(static_cast<std::uint64_t>(d), {.m = 70, .d = d});
    for (const Kernel& kernel : kKernels) {
      in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
        Poll poll = never();
        KernelCache cache(kernel, 70, 1, 3);  // three rows
        check(cache.capacity() == 3, "room for the least number of rows");
        for (const std::int64_t i : {5, 6, 7, 8, 5, 69, 0, 8, 5}) {
          const std::vector<std::int64_t> some = {0, 69, 13, i};
          const float* lazy = cache.on(rows, i, some);
          for (const std::int64_t j : some) {
            check_close(lazy[j], value(toy, kernel, i, j), 1e-5, "an entry that was asked for, " + layout);
          }
          const float kept = lazy[13];
          const std::vector<std::int64_t> wanted = {i, (i + 1) % 70, (i + 2) % 70};
          check(cache.prepare(rows, wanted, poll, 2), "nobody stops it");
          for (const std::int64_t h : wanted) {
            for (std::int64_t j = 0; j < 70; ++j) {
              check_close(cache.row(h)[j], value(toy, kernel, h, j), 1e-5, "a complete row, " + layout);
            }
          }
          check(cache.row(i)[13] == kept, "the same bits, alone or in a block, " + layout);
        }
        Poll impatient = stopped();
        KernelCache cold(kernel, 70, 1 << 20, 3);
        std::vector<std::int64_t> all(70);
        std::iota(all.begin(), all.end(), std::int64_t{0});
        cold.prepare(rows, all, impatient, 1);  // stopped or not, what is left is valid
        check(cold.prepare(rows, all, poll, 1), "and it goes on");
        check_close(cold.row(69)[3], value(toy, kernel, 69, 3), 1e-5, "after a stop");
      });
    }
  }
}

void sums_are_those_of_the_definition_for_any_number_of_threads() {
  const Toy toy(3, {.m = 150, .d = 9});
  std::vector<double> beta(150);
  for (std::size_t i = 0; i < beta.size(); ++i) beta[i] = i % 3 == 0 ? 0.0 : static_cast<double>(i) / 100.0 - 0.7;
  for (const Kernel& kernel : kKernels) {
    in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
      Poll poll = never();
      std::vector<double> one(150), three(150);
      check(kernel_sums(rows, kernel, beta, one, poll, 1) && kernel_sums(rows, kernel, beta, three, poll, 3), "finished");
      check(one == three, "threads change no bit");
      for (std::int64_t j = 0; j < 150; j += 11) {
        double sum = 0.0;
        for (std::int64_t h = 0; h < 150; ++h) sum += beta[static_cast<std::size_t>(h)] * value(toy, kernel, h, j);
        check_close(one[static_cast<std::size_t>(j)], sum, 1e-11, "sum_h beta_h k(x_h, x_j), " + layout);
      }
    });
  }
}

/// With the linear kernel it is a linear problem, whose certificate is another piece of code.
void lasvm_with_the_linear_kernel_solves_the_linear_problem() {
  std::uint64_t seed = 0;
  for (const std::int64_t online : {0, 2}) {
    for (const std::int64_t working_set : {2, 7, 128}) {
      for (const bool free : {false, true}) {
        for (const Loss loss : {Loss(Loss::Kind::hinge), Loss(Loss::Kind::squared_hinge)}) {
          const Toy toy(++seed, {.m = 40, .loss = loss, .free_intercept = free, .weighted = seed % 2 == 0});
          const Problem problem = toy.problem();
          Poll poll = never();
          const LasvmOptions options{.online_epochs = online, .working_set = working_set, .cache_bytes = 1, .tol = 1e-8};
          Lasvm run(problem, toy.options.d, {.kind = Kernel::Kind::linear}, options, Order{}, make_rng(seed));
          for (int epoch = 0; epoch < 200; ++epoch) {
            check(run.run_epoch(toy.rows(), problem, poll), "an epoch that nobody stops is finished");
            if (epoch % 20 == 19) run.rebuild(toy.rows(), problem, poll);
          }
          Point point(problem.size(), toy.options.d);
          run.point(problem, point);
          check(certified_gap(toy.rows(), problem, point.multipliers) < 1e-6, "the optimum is found");
          const auto estimate = run.estimate(problem);
          check(estimate && estimate->primal >= estimate->dual - 1e-9, "P is not below D");
          check_close(estimate->dual, toy.dual_value(point.multipliers), 1e-9, "the estimate of D is D");
        }
      }
    }
  }
}

void pegasos_with_a_kernel_tracks_the_norm() {
  for (const Kernel& kernel : {kKernels[0], kKernels[2], kKernels[4]}) {
    for (const bool projection : {true, false}) {
      const Toy toy(9, {.m = 30, .free_intercept = projection, .weighted = true});
      const Problem problem = toy.problem();
      const ToyCsr<double, std::int32_t> csr(toy);
      Poll poll = never();
      KernelPegasos run(problem, toy.options.d, kernel, {.projection = projection, .cache_bytes = 1}, Order{}, make_rng(4));
      for (int epoch = 0; epoch < 5; ++epoch) check(run.run_epoch(csr.rows(), problem, poll), "finished");
      const double tracked = run.norm2;
      run.rebuild(csr.rows(), problem, poll);
      check_close(tracked, run.norm2, 1e-4, "|w|^2, tracked with rows in single precision");
      if (projection) check(tracked <= problem.total_cost * (1.0 + 1e-12), "|w| <= 1/sqrt(lambda)");
    }
  }
}

void asset_stays_in_its_set_and_comes_close() {
  const Toy toy(5, {.m = 60, .free_intercept = true});
  const Problem problem = toy.problem();
  for (const std::int64_t last : {0, 1, 10, 60}) {
    Poll poll = never();
    Asset run(problem, toy.options.d, {.sample_size = 20, .largest_b = 0.5}, {.average_last = last}, Order{}, make_rng(8));
    for (int epoch = 0; epoch < 300; ++epoch) {
      check(run.run_epoch(toy.rows(), problem, poll), "finished");
      check(run.norm2 <= problem.total_cost * (1.0 + 1e-12) && std::abs(run.b) <= 0.5, "in the set");
    }
    Point point(problem.size(), toy.options.d);
    run.point(problem, point);
    check(std::abs(point.b) <= 0.5 + 1e-12, "so is the average");
    check(certified_gap(toy.rows(), problem, point.multipliers) < 1.0, "with multipliers that prove something");
  }
}

}  // namespace

int main() {
  return run_all({
      {"kernel rows are those of the definition, whatever the cache holds",
       kernel_rows_are_those_of_the_definition_whatever_the_cache_holds},
      {"sums are those of the definition for any number of threads",
       sums_are_those_of_the_definition_for_any_number_of_threads},
      {"lasvm with the linear kernel solves the linear problem", lasvm_with_the_linear_kernel_solves_the_linear_problem},
      {"pegasos with a kernel tracks the norm", pegasos_with_a_kernel_tracks_the_norm},
      {"asset stays in its set and comes close", asset_stays_in_its_set_and_comes_close},
  });
}
