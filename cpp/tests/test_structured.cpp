#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/structured.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

double sign(std::int64_t i, std::int64_t j) { return std::popcount(static_cast<std::uint64_t>(i & j)) % 2 == 0 ? 1.0 : -1.0; }

template <class T>
std::vector<T> random_numbers(std::int64_t n, Rng& rng) {
  std::vector<T> x;
  for (std::int64_t j = 0; j < n; ++j) x.push_back(static_cast<T>(4.0 * rng.uniform() - 2.0));
  return x;
}

/// y = H x by its definition.
template <class T>
std::vector<double> product(const std::vector<T>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += sign(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)) * x[j];
  }
  return y;
}

template <class T>
void transforms(double tolerance) {
  Rng rng = make_rng(1);
  for (const std::int64_t n : {16, 32, 64, 256, 1024}) {
    const auto x = random_numbers<T>(n, rng);
    const auto expected = product(x);
    auto whole = x;
    walsh::transform<T>(n, whole.data());
    for (std::size_t j = 0; j < x.size(); ++j)
      check_close(whole[j], expected[j], tolerance * static_cast<double>(n), "an entry of H x");
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{16}, n / 2 - 1, n / 2, n / 2 + 1, n}) {
      auto first = x;
      check(walsh::leading<T>(n, count, first.data()) >= count, "as many entries as asked for");
      check(std::equal(first.begin(), first.begin() + count, whole.begin()),
            "the first entries have the same bits by themselves");
    }
  }
}

template <class T>
struct Drawn {
  std::vector<T> signs, lengths, phases;
  StructuredMap<T> map;

  Drawn(std::int64_t n, std::int64_t n_out, Rng& rng) : map{n, n_out, T(1), {}, {}, {}} {
    const std::int64_t columns = (n_out + n - 1) / n * n;
    for (std::int64_t j = 0; j < structured::kFactors * columns; ++j) {
      signs.push_back(static_cast<T>((rng.uniform() < 0.5 ? 1.0 : -1.0) / std::sqrt(static_cast<double>(n))));
    }
    lengths = random_numbers<T>(columns, rng);
    phases = random_numbers<T>(columns, rng);
    map.signs = signs;
    map.lengths = lengths;
    map.phases = phases;
  }

  /// Turns of feature `column` of x, in double.
  double turns(std::vector<double> x, std::int64_t column) const {
    const auto block = static_cast<std::size_t>(column / map.n), n = static_cast<std::size_t>(map.n);
    for (std::size_t factor = 0; factor < structured::kFactors; ++factor) {
      for (std::size_t j = 0; j < n; ++j) x[j] *= signs[(block * structured::kFactors + factor) * n + j];
      x = product(x);
    }
    const auto at = static_cast<std::size_t>(column);
    return x[at % n] * lengths[at] + phases[at];
  }
};

template <class T>
std::vector<T> written(const StructuredMap<T>& map, const Rows auto& rows, std::int64_t n_threads) {
  std::vector<T> out(static_cast<std::size_t>(rows.size() * map.n_out), T(-9));
  Poll poll = never();
  check(map.write(rows, std::span<T>(out), n_threads, poll), "finished");
  return out;
}

template <class T>
void features(double tolerance) {
  Rng rng = make_rng(2);
  for (const std::int64_t d : {1, 40, 64}) {
    for (const std::int64_t n_out : {1, 31, 64, 150}) {
      const std::int64_t m = 3;
      const Toy toy(static_cast<std::uint64_t>(d), {.m = m, .d = d, .density = 0.4});
      const Drawn<T> drawn(structured::kShortest, n_out, rng);
      in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
        if (rows.rho != 0.0 || rows.size() != m) return;
        const auto out = written(drawn.map, rows, 1);
        for (std::int64_t i = 0; i < m; ++i) {
          std::vector<double> x(static_cast<std::size_t>(drawn.map.n));
          rows.for_each(i, [&](std::int64_t k, double value) { x[static_cast<std::size_t>(k)] = static_cast<T>(value); });
          for (std::int64_t j = 0; j < n_out; ++j) {
            check_close(out[static_cast<std::size_t>(i * n_out + j)], std::cos(2.0 * std::numbers::pi * drawn.turns(x, j)),
                        tolerance, layout + ": a cosine");
          }
        }
      });
    }
  }
}

void threads() {
  Rng rng = make_rng(3);
  const Toy toy(5, {.m = 1000, .d = 20, .density = 0.4});
  const Drawn<float> drawn(structured::kShortest, 100, rng);
  check(written(drawn.map, toy.rows(), 1) == written(drawn.map, toy.rows(), 3), "threads change no bit");
}

}  // namespace

int main() {
  return run_all({{"transforms in float", [] { transforms<float>(1e-6); }},
                  {"transforms in double", [] { transforms<double>(1e-15); }},
                  {"cosines in float", [] { features<float>(2e-3); }},
                  {"cosines in double", [] { features<double>(1e-11); }},
                  {"threads", threads}});
}
