#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "hinge/rng.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

void published_values() {
  Rng rng(Rng::State{1, 2, 3, 4});
  for (const std::uint64_t expected : {41943041ULL, 58720359ULL, 3588806011781223ULL, 3591011842654386ULL}) {
    check(rng.next() == expected, "xoshiro256++ gives the published values from the state 1, 2, 3, 4");
  }
}

void keys_make_streams() {
  const std::vector<std::uint64_t> one{7, 0};
  const std::vector<std::uint64_t> two{7, 1};
  Rng a{std::span<const std::uint64_t>(one)};
  Rng b{std::span<const std::uint64_t>(one)};
  Rng c{std::span<const std::uint64_t>(two)};
  bool same = true;
  bool other = false;
  for (int k = 0; k < 100; ++k) {
    const std::uint64_t value = a.next();
    same = same && value == b.next();
    other = other || value != c.next();
  }
  check(same, "the same key gives the same stream");
  check(other, "another key gives another stream");
}

void below_stays_below() {
  Rng rng = make_rng(1);
  for (const std::int64_t bound : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{1000}, std::int64_t{1} << 62,
                                   std::numeric_limits<std::int64_t>::max()}) {
    for (int k = 0; k < 1000; ++k) {
      const std::int64_t value = rng.below(bound);
      check(value >= 0 && value < bound, "below(n) lies in [0, n)");
    }
  }
}

void below_is_uniform() {
  Rng rng = make_rng(2);
  std::vector<int> seen(7);
  for (int k = 0; k < 70000; ++k) ++seen[static_cast<std::size_t>(rng.below(7))];
  for (const int count : seen) check(std::abs(count - 10000) < 500, "below(7) is uniform");
}

void uniform_stays_inside() {
  Rng rng = make_rng(3);
  double sum = 0.0;
  for (int k = 0; k < 10000; ++k) {
    const double value = rng.uniform();
    check(value >= 0.0 && value < 1.0, "uniform() lies in [0, 1)");
    sum += value;
  }
  check_close(sum / 10000, 0.5, 0.01, "uniform() has mean 1/2");
}

void shuffle_permutes() {
  Rng rng = make_rng(4);
  for (const std::size_t n : {0u, 1u, 2u, 100u}) {
    std::vector<std::int64_t> items(n);
    std::iota(items.begin(), items.end(), 0);
    rng.shuffle(items);
    std::sort(items.begin(), items.end());
    for (std::size_t i = 0; i < n; ++i) check(items[i] == static_cast<std::int64_t>(i), "shuffle keeps every item");
  }
}

}  // namespace

int main() {
  return run_all({{"published values", published_values},
                  {"keys make streams", keys_make_streams},
                  {"below stays below", below_stays_below},
                  {"below is uniform", below_is_uniform},
                  {"uniform stays inside", uniform_stays_inside},
                  {"shuffle permutes", shuffle_permutes}});
}
