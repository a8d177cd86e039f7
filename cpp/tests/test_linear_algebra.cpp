#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/cholesky.hpp"
#include "hinge/curvature.hpp"
#include "hinge/gram.hpp"
#include "hinge/tile.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

std::vector<double> random_values(std::size_t n, std::uint64_t seed) {
  Rng rng = make_rng(seed);
  std::vector<double> values(n);
  for (double& x : values) x = 2.0 * rng.uniform() - 1.0;
  return values;
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// ---- Tiles

/// `count` values from `begin` on, with zeros behind them.
std::vector<double> padded(const std::vector<double>& values, std::int64_t begin, std::int64_t count) {
  std::vector<double> out(tile::padded(count));
  std::copy_n(values.begin() + begin, count, out.begin());
  return out;
}

/// Every size around the width of a panel, and C a part of a larger matrix.
void product_of_panels_is_that_of_loops() {
  for (const std::int64_t rows : {1, 5, 6, 7, 13}) {
    for (const std::int64_t columns : {1, 7, 8, 9, 17}) {
      for (const std::int64_t n : {1, 4, 50}) {
        const std::vector<double> left = random_values(at(n * rows), 1);
        const std::vector<double> right = random_values(at(n * columns), 2);
        tile::Panels<tile::kRows> a;
        tile::Panels<tile::kColumns> b;
        a.reset(rows, n);
        b.reset(columns, n);
        for (std::int64_t k = 0; k < n; ++k) {
          a.put(k, padded(left, k * rows, rows).data(), 1.0);
          b.put(k, padded(right, k * columns, columns).data(), 1.0);
        }
        const std::int64_t leading = columns + 3;
        std::vector<double> c(at(rows * leading), 1.0);
        for (std::int64_t p = 0; p < a.count(); ++p) {
          const std::int64_t first = p * tile::kRows;
          tile::add_product(a, p, b, n, std::min(tile::kRows, rows - first), columns, &c[at(first * leading)], leading);
        }
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < leading; ++j) {
            double expected = 0.0;
            for (std::int64_t k = 0; k < n && j < columns; ++k) expected += left[at(k * rows + i)] * right[at(k * columns + j)];
            check(c[at(i * leading + j)] == 1.0 + expected, "an entry is summed in the order of the rows, to the bit");
          }
        }
      }
    }
  }
}

// ---- Cholesky

/// B B' + 1, of full rank.
std::vector<double> positive_matrix(std::int64_t n, std::uint64_t seed) {
  const std::vector<double> b = random_values(at(n * n), seed);
  std::vector<double> matrix(at(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = i == j ? 1.0 : 0.0;
      for (std::int64_t k = 0; k < n; ++k) sum += b[at(i * n + k)] * b[at(j * n + k)];
      matrix[at(i * n + j)] = sum;
    }
  }
  return matrix;
}

void factor_solves_the_system() {
  for (const std::int64_t n : {1, 2, 5, 47, 48, 49, 96, 101, 150}) {
    const std::vector<double> matrix = positive_matrix(n, static_cast<std::uint64_t>(n));
    const std::vector<double> x = random_values(at(n), 3);
    std::vector<double> right(at(n));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) right[at(i)] += matrix[at(i * n + j)] * x[at(j)];
    }
    std::vector<double> lower = matrix;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = i + 1; j < n; ++j) lower[at(i * n + j)] = std::numeric_limits<double>::quiet_NaN();
    }
    const Cholesky factor(std::move(lower), at(n));
    check(factor.ok(), "a positive definite matrix has a factor");
    const std::vector<double> found = factor.solve(right);
    for (std::int64_t i = 0; i < n; ++i) check_close(found[at(i)], x[at(i)], 1e-9, "order " + std::to_string(n));
  }
}

void threads_change_no_bit_of_a_factor() {
  const std::int64_t n = 400;  // large enough for threads
  std::vector<double> matrix = random_values(at(n * n), 5);
  for (std::int64_t i = 0; i < n; ++i) matrix[at(i * n + i)] = 2.0 * n;
  const std::vector<double> right = random_values(at(n), 6);
  Poll poll = never();
  const std::vector<double> one = Cholesky(matrix, at(n), poll, 1).solve(right);
  const std::vector<double> three = Cholesky(matrix, at(n), poll, 3).solve(right);
  check(one == three, "one thread and three");
}

void matrix_that_is_not_positive_definite_has_no_factor() {
  for (const std::int64_t n : {1, 30, 100}) {
    for (const std::int64_t bad : {std::int64_t{0}, n / 2, n - 1}) {
      for (const double value : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        std::vector<double> matrix(at(n * n));
        for (std::int64_t i = 0; i < n; ++i) matrix[at(i * n + i)] = i == bad ? value : 1.0;
        check(!Cholesky(std::move(matrix), at(n)).ok(), "entry " + std::to_string(bad) + " of " + std::to_string(n));
      }
    }
  }
}

void stop_is_noticed_inside_a_factorisation() {
  const std::int64_t n = 600;
  std::vector<double> matrix(at(n * n));
  for (std::int64_t i = 0; i < n; ++i) matrix[at(i * n + i)] = 1.0;
  for (const std::int64_t n_threads : {1, 2}) {
    Poll poll = stopped();
    check(!Cholesky(matrix, at(n), poll, n_threads).ok(), "a factorisation that is stopped has no factor");
  }
}

/// Without a stop this takes a minute under the sanitizers.
void deadline_is_kept_inside_a_factorisation() {
  const std::int64_t n = 4000;
  std::vector<double> matrix(at(n * n), 0.5);
  for (std::int64_t i = 0; i < n; ++i) matrix[at(i * n + i)] = 2.0 * static_cast<double>(n);
  const auto token = std::make_shared<StopToken>();
  token->set_deadline(0.1);
  Poll poll(token);
  const auto began = std::chrono::steady_clock::now();
  check(!Cholesky(std::move(matrix), at(n), poll).ok(), "stopped");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  check(seconds.count() < 1.1, "within a second of the deadline, not after " + std::to_string(seconds.count()) + " s");
}

// ---- Gram

/// Row i with the constant feature behind its values.
std::vector<double> extended(const Toy& toy, std::int64_t i, double constant) {
  std::vector<double> x;
  for (std::int64_t j = 0; j < toy.options.d; ++j) x.push_back(toy.at(i, j));
  x.push_back(constant);
  return x;
}

std::vector<double> naive_gram(const Toy& toy, const std::vector<Weighted>& chosen, double constant) {
  const std::int64_t n = toy.options.d + 1;
  std::vector<double> g(at(n * n));
  for (const auto& [i, weight] : chosen) {
    const std::vector<double> x = extended(toy, i, constant);
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = 0; q < n; ++q) g[at(p * n + q)] += weight * x[at(p)] * x[at(q)];
    }
  }
  return g;
}

std::vector<Weighted> some_rows(const Toy& toy, std::int64_t begin, std::int64_t step) {
  std::vector<Weighted> chosen;
  for (std::int64_t i = begin; i < toy.options.m; i += step) chosen.push_back({i, toy.cost[at(i)]});
  return chosen;
}

/// Rows that are nearly full go through tiles, sparse ones by pairs; both with rho and with a constant beside the rows.
void gram_matrix_is_that_of_loops() {
  for (const double density : {0.05, 0.3, 1.0}) {
    for (const bool free : {false, true}) {
      const Toy toy(7,
                    {.m = 300, .d = 19, .density = density, .rho = free ? 0.0 : 0.7, .free_intercept = free, .weighted = true});
      const double constant = free ? 1.0 : 0.7;
      const std::vector<Weighted> chosen = some_rows(toy, 1, 2);
      const std::vector<Weighted> more = some_rows(toy, 0, 5);
      in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
        Gram gram(toy.options.d);
        Poll poll = never();
        gram.clear();
        check(gram.add(rows, chosen, constant, poll, 1) && gram.add(rows, more, constant, poll, 2),
              "a sum that nobody stops is finished");
        std::vector<Weighted> off = more;
        for (Weighted& row : off) row.weight = -row.weight;
        check(gram.add(rows, off, constant, poll, 1), "rows can be taken off");
        const std::vector<double> expected = naive_gram(toy, chosen, constant);
        for (std::int64_t p = 0; p < gram.size(); ++p) {
          for (std::int64_t q = 0; q <= p; ++q) {
            check_close(gram.values()[at(p * gram.size() + q)], expected[at(p * gram.size() + q)], 1e-12, layout);
          }
        }
      });
    }
  }
}

void threads_change_no_bit_of_a_gram_matrix() {
  for (const double density : {0.02, 1.0}) {
    const Toy toy(8, {.m = 20'000, .d = 60, .density = density, .weighted = true});
    const ToyCsr<double, std::int32_t> csr(toy);
    const std::vector<Weighted> chosen = some_rows(toy, 0, 1);
    const auto of_threads = [&](std::int64_t n_threads) {
      Gram gram(toy.options.d);
      Poll poll = never();
      gram.clear();
      gram.add(csr.rows(), chosen, 1.0, poll, n_threads);
      return std::vector<double>(gram.values());
    };
    check(of_threads(1) == of_threads(3), "one thread and three");
  }
}

// ---- Curvature

double per_row(const Toy& toy) {
  const auto stored = std::ranges::count_if(toy.x, [](double x) { return x != 0.0; });
  return static_cast<double>(stored) / static_cast<double>(toy.options.m);
}

/// |H p + gradient| relative to |gradient|, both in the norm of the inverse diagonal of H.
double residual(const Toy& toy, const std::vector<Weighted>& in_zone, const System& system, double constant,
                const std::vector<double>& p) {
  const std::vector<double> g = naive_gram(toy, in_zone, constant);
  const std::int64_t n = toy.options.d + 1;
  double left = 0.0;
  double all = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double r = i + 1 < n ? 1.0 : system.ridge;
    double sum = r * p[at(i)] + system.gradient[at(i)];
    for (std::int64_t j = 0; j < n; ++j) sum += system.rate * g[at(i * n + j)] * p[at(j)];
    const double diagonal = r + system.rate * g[at(i * n + i)];
    left += sum * sum / diagonal;
    all += system.gradient[at(i)] * system.gradient[at(i)] / diagonal;
  }
  return std::sqrt(left / all);
}

/// Counts decide which way is taken: many features and few rows in J, the reverse, and `iterations` that promise little work.
struct Shape {
  const char* way;
  std::int64_t d;
  std::int64_t in_zone;
  double iterations;
  double tolerance;
};
constexpr Shape kShapes[] = {{"gram", 6, 250, 1e6, 1e-9}, {"rows", 80, 9, 1e6, 1e-9}, {"gradients", 60, 40, 1e-6, 0.11}};

void every_way_solves_for_the_step() {
  for (const Shape& shape : kShapes) {
    for (const bool free : {false, true}) {
      const double rho = free ? 0.0 : 0.7;
      const Toy toy(9, {.m = 500, .d = shape.d, .rho = rho, .free_intercept = free, .weighted = true});
      const double constant = free ? 1.0 : rho;
      const std::vector<double> gradient = random_values(at(shape.d + 1), 10);
      const System system{gradient, 3.0, free ? 1e-9 : 1.0, constant, free, per_row(toy), static_cast<double>(toy.options.m)};
      in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
        Curvature curvature(shape.d, 1);
        for (const std::int64_t first : {0, 3, 5}) {  // J changes from step to step
          std::vector<Weighted> in_zone;
          for (std::int64_t k = 0; k < shape.in_zone; ++k) in_zone.push_back({first + 2 * k, 0.0});
          std::erase_if(in_zone, [&](const Weighted& row) { return row.row >= toy.options.m; });
          for (Weighted& row : in_zone) row.weight = toy.cost[at(row.row)];
          double iterations = shape.iterations;
          std::int64_t touched = 0;
          Poll poll = never();
          const auto p = curvature.direction(rows, in_zone, system, iterations, poll, touched);
          const std::string where = std::string(shape.way) + ", " + layout + (free ? ", free" : "");
          check(p.has_value(), where);
          const double left = residual(toy, in_zone, system, constant, *p);
          check(left <= shape.tolerance, where + ": residual " + std::to_string(left));
          check(dot(gradient, *p) < 0.0, where + ": downhill");
          check((iterations != shape.iterations) == (std::string(shape.way) == "gradients"),
                where + ": the way that was meant");
        }
      });
    }
  }
}

/// Two ways to the same p, on the same rows.
void gram_and_rows_agree() {
  for (const bool free : {false, true}) {
    const Toy toy(11, {.m = 200, .d = 30, .density = 1.0, .free_intercept = free});
    const std::vector<double> gradient = random_values(31, 12);
    const System system{
        gradient, 10.0, free ? 1e-9 : 1.0, free ? 1.0 : 0.0, free, per_row(toy), static_cast<double>(toy.options.m)};
    std::vector<std::vector<double>> found;
    for (const std::int64_t extra : {0, 100}) {  // rows of no weight to speak of: J is large, p the same
      std::vector<Weighted> in_zone;
      for (std::int64_t i = 0; i < 8 + extra; ++i) in_zone.push_back({i, i < 8 ? 1.0 : 1e-14});
      Curvature curvature(30, 1);
      double iterations = 1e6;
      std::int64_t touched = 0;
      Poll poll = never();
      found.push_back(curvature.direction(toy.rows(), in_zone, system, iterations, poll, touched).value());
    }
    for (std::size_t j = 0; j < found[0].size(); ++j) check_close(found[1][j], found[0][j], 1e-7, "rows and gram");
  }
}

void step_without_rows_is_downhill() {
  for (const bool free : {false, true}) {
    const Toy toy(13, {.m = 20, .d = 4, .free_intercept = free});
    const std::vector<double> gradient{1.0, -2.0, 0.5, 0.0, 1e-3};
    const System system{
        gradient, 1.0, free ? 1e-4 : 1.0, free ? 1.0 : 0.0, free, per_row(toy), static_cast<double>(toy.options.m)};
    Curvature curvature(4, 1);
    double iterations = 30.0;
    std::int64_t touched = 0;
    Poll poll = never();
    const auto p = curvature.direction(toy.rows(), {}, system, iterations, poll, touched);
    for (std::size_t j = 0; j < 4; ++j) check_close(p->at(j), -gradient[j], 1e-12, "H is the identity");
    check_close(p->back(), -1e-3 / system.ridge, 1e-9, "but for b");
  }
}

/// Columns that are the same, and one that is zero: the factor exists through the ridge only.
void dependent_features_and_rows_still_give_a_way_down() {
  Toy toy(14, {.m = 400, .d = 12, .density = 1.0});
  for (std::int64_t i = 0; i < toy.options.m; ++i) {
    for (std::int64_t j = 6; j < 12; ++j) toy.x[at(i * 12 + j)] = j == 11 ? 0.0 : 1e3 * toy.at(i, j - 6);
    if (i % 2 == 1) std::copy_n(&toy.x[at((i - 1) * 12)], 12, &toy.x[at(i * 12)]);
  }
  const std::vector<double> gradient = random_values(13, 15);
  for (const double rate : {1e-10, 1.0, 1e10}) {
    for (const std::int64_t size : {6, 300}) {
      const System system{gradient, rate, 1.0, 0.0, false, per_row(toy), static_cast<double>(toy.options.m)};
      Curvature curvature(12, 1);
      std::vector<Weighted> in_zone;
      for (std::int64_t i = 0; i < size; ++i) in_zone.push_back({i, 1.0});
      double iterations = 1e6;
      std::int64_t touched = 0;
      Poll poll = never();
      const auto p = curvature.direction(toy.rows(), in_zone, system, iterations, poll, touched);
      check(dot(gradient, *p) < 0.0, "downhill at rate " + std::to_string(rate));
    }
  }
}

void stop_is_noticed_on_every_way() {
  for (const Shape& shape : kShapes) {
    const Toy toy(16, {.m = 30'000, .d = shape.d, .density = 1.0});
    const std::vector<double> gradient = random_values(at(shape.d + 1), 17);
    const System system{gradient, 1.0, 1.0, 0.0, false, per_row(toy), static_cast<double>(toy.options.m)};
    Curvature curvature(shape.d, 1);
    std::vector<Weighted> in_zone;
    for (std::int64_t i = 0; i < (shape.in_zone < 10 ? 9 : 30'000); ++i) in_zone.push_back({i, 1.0});
    double iterations = shape.iterations;
    std::int64_t touched = 0;
    Poll poll = stopped();
    poll(1 << 20);  // it has looked
    check(!curvature.direction(toy.rows(), in_zone, system, iterations, poll, touched), shape.way);
  }
}

}  // namespace

int main() {
  return run_all({{"a product of panels is that of loops", product_of_panels_is_that_of_loops},
                  {"a factor solves the system", factor_solves_the_system},
                  {"threads change no bit of a factor", threads_change_no_bit_of_a_factor},
                  {"a matrix that is not positive definite has no factor", matrix_that_is_not_positive_definite_has_no_factor},
                  {"a stop is noticed inside a factorisation", stop_is_noticed_inside_a_factorisation},
                  {"a deadline is kept inside a factorisation", deadline_is_kept_inside_a_factorisation},
                  {"a Gram matrix is that of loops", gram_matrix_is_that_of_loops},
                  {"threads change no bit of a Gram matrix", threads_change_no_bit_of_a_gram_matrix},
                  {"every way solves for the step", every_way_solves_for_the_step},
                  {"the Gram matrix and the products of rows agree", gram_and_rows_agree},
                  {"a step without rows is downhill", step_without_rows_is_downhill},
                  {"dependent features and rows still give a way down", dependent_features_and_rows_still_give_a_way_down},
                  {"a stop is noticed on every way", stop_is_noticed_on_every_way}});
}
