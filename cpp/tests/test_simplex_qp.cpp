#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/simplex_qp.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// n planes in d dimensions: G = A A', b.
struct Instance {
  std::size_t n;
  std::vector<double> gram;
  std::vector<double> b;

  Instance(const std::vector<std::vector<double>>& planes, std::vector<double> offsets)
      : n(planes.size()), gram(n * n), b(std::move(offsets)) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        gram[i * n + j] = std::inner_product(planes[i].begin(), planes[i].end(), planes[j].begin(), 0.0);
      }
    }
  }

  double value(const std::vector<double>& beta) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += beta[i] * b[i];
      for (std::size_t j = 0; j < n; ++j) sum -= 0.5 * beta[i] * gram[i * n + j] * beta[j];
    }
    return sum;
  }

  std::vector<double> gradient(const std::vector<double>& beta) const {
    std::vector<double> g(b);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) g[i] -= gram[i * n + j] * beta[j];
    }
    return g;
  }
};

/// Solve from `beta`, and check the KKT conditions to `tolerance` times the scale of the problem.
void solve_and_check(const Instance& instance, std::vector<double> beta, double tolerance, const std::string& name) {
  Poll poll = never();
  const double start = instance.value(beta);
  const auto top = SimplexQp::climb(instance.gram, instance.b, beta, 0.0, poll);
  double scale = 1e-300;
  for (std::size_t j = 0; j < instance.n; ++j) {
    scale = std::max(scale, std::abs(instance.b[j]));
    check(beta[j] >= 0.0, name + ": beta >= 0");
  }
  check_close(std::accumulate(beta.begin(), beta.end(), 0.0), 1.0, 1e-12, name + ": sum beta = 1");
  const std::vector<double> g = instance.gradient(beta);
  const double highest = *std::max_element(g.begin(), g.end());
  for (std::size_t j = 0; j < instance.n; ++j) {
    const double loss = beta[j] * (highest - g[j]);
    check(loss <= tolerance * scale, name + ": weight only on the planes with the largest g");
  }
  check(top.gap <= tolerance * scale, name + ": the gap is closed");
  check(std::abs(top.value - instance.value(beta)) <= tolerance * scale, name + ": the value is f(beta)");
  check(top.value >= start - tolerance * scale, name + ": f has not fallen");
}

std::vector<double> corner(std::size_t n, std::size_t j) {
  std::vector<double> beta(n);
  beta[j] = 1.0;
  return beta;
}

std::vector<double> centre(std::size_t n) { return std::vector<double>(n, 1.0 / static_cast<double>(n)); }

void random_instances_are_solved() {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng = make_rng(seed);
    const auto n = static_cast<std::size_t>(1 + rng.below(40));
    const auto d = static_cast<std::size_t>(1 + rng.below(12));
    std::vector<std::vector<double>> planes(n, std::vector<double>(d));
    std::vector<double> b(n);
    for (std::size_t j = 1; j < n; ++j) {  // plane 0 is zero
      const double length = std::pow(10.0, 4.0 * rng.uniform());
      for (double& x : planes[j]) x = length * (2.0 * rng.uniform() - 1.0);
      b[j] = 1000.0 * rng.uniform();
    }
    const Instance instance(planes, b);
    solve_and_check(instance, corner(n, 0), 1e-9, "from the zero plane, seed " + std::to_string(seed));
    solve_and_check(instance, centre(n), 1e-9, "from the centre, seed " + std::to_string(seed));
  }
}

void nearly_parallel_planes_are_solved() {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng = make_rng(seed);
    constexpr std::size_t n = 60;
    std::vector<std::vector<double>> planes(n, std::vector<double>(30));
    std::vector<double> b(n);
    for (std::size_t j = 1; j < n; ++j) {
      for (double& x : planes[j]) x = 10.0 + 1e-3 * rng.uniform();
      b[j] = 500.0 + 1e-3 * rng.uniform();
    }
    solve_and_check(Instance(planes, b), corner(n, 0), 1e-9, "seed " + std::to_string(seed));
  }
}

void degenerate_instances() {
  solve_and_check(Instance({{0.0}}, {0.0}), {1.0}, 1e-15, "the zero plane alone");
  const std::vector<double> plane{3.0, -4.0};
  solve_and_check(Instance({{0.0, 0.0}, plane, plane, plane}, {0.0, 7.0, 7.0, 7.0}), corner(4, 0), 1e-12, "equal planes");
  solve_and_check(Instance({plane, plane, plane}, {7.0, 6.0, 7.5}), centre(3), 1e-12, "parallel planes");
  solve_and_check(Instance({{0.0}, {0.0}, {0.0}}, {0.0, 2.0, 1.0}), centre(3), 1e-15, "no curvature at all");
  solve_and_check(Instance({{0.0}, {1e-170}}, {0.0, 2.0}), corner(2, 0), 1e-15, "curvature that underflows");
  solve_and_check(Instance({{0.0}, {1e149}, {2e149}}, {0.0, 3.0, 4.0}), corner(3, 0), 1e-9, "huge planes");
  solve_and_check(Instance({{1.0}, {-1.0}}, {0.0, 0.0}), corner(2, 1), 1e-15, "the optimum between two planes");
}

void garbage_ends() {
  for (const double garbage : {static_cast<double>(NAN), static_cast<double>(INFINITY), -1e9, 1e9}) {
    const Instance sound({{0.0}, {1.0}, {2.0}}, {0.0, 1.0, 1.5});
    Poll poll = never();
    std::vector<double> beta(3, garbage);
    SimplexQp::climb(sound.gram, sound.b, beta, 0.0, poll);
    Instance broken = sound;
    std::fill(broken.gram.begin(), broken.gram.end(), garbage);
    beta = centre(3);
    SimplexQp::climb(broken.gram, broken.b, beta, 0.0, poll);
    broken = sound;
    std::fill(broken.b.begin(), broken.b.end(), garbage);
    beta = centre(3);
    SimplexQp::climb(broken.gram, broken.b, beta, 0.0, poll);
    check(beta.size() == 3, "numbers that are none do not keep the climb going for ever");
  }
}

}  // namespace

int main() {
  return run_all({{"random instances are solved", random_instances_are_solved},
                  {"nearly parallel planes are solved", nearly_parallel_planes_are_solved},
                  {"degenerate instances", degenerate_instances},
                  {"garbage ends", garbage_ends}});
}
