#pragma once
// Random numbers: xoshiro256++ (Blackman & Vigna, 2021), seeded through splitmix64.
//
// The same seed gives the same bits on every platform and in every thread: only integer arithmetic and exact
// conversions are used. A stream is keyed by a list of integers (seed, class, run, ...), so that problems that
// share a seed draw independently of each other and of the number of threads.

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace hinge {

/// Work that is never told to stop; a Poll can stand in its place.
struct Never {
  bool operator()(std::int64_t) const { return false; }
};

class Rng {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Rng(std::span<const std::uint64_t> key) {
    std::uint64_t x = 0;
    for (const std::uint64_t part : key) {
      x ^= part;
      x = splitmix(x);
    }
    for (auto& word : state_) word = splitmix(x);
  }
  explicit Rng(const State& state) : state_(state) {}

  const State& state() const { return state_; }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// Uniform integer in [0, bound), bound >= 1, without bias (Lemire, 2019).
  std::int64_t below(std::int64_t bound) {
    const auto n = static_cast<std::uint64_t>(bound);
    Wide product = static_cast<Wide>(next()) * n;
    if (static_cast<std::uint64_t>(product) < n) {
      const std::uint64_t threshold = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(next()) * n;
    }
    return static_cast<std::int64_t>(product >> 64);
  }

  /// Uniform double in [0, 1), 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Fisher-Yates, from the last element down. False when told to stop: `stop(work)` is asked after each million swaps.
  template <class Stop = Never>
  bool shuffle(std::span<std::int64_t> items, Stop&& stop = {}) {
    constexpr std::int64_t kMillion = 1 << 20;
    for (auto i = static_cast<std::int64_t>(items.size()) - 1; i > 0; --i) {
      std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
      if (i % kMillion == 0 && stop(kMillion)) return false;
    }
    return true;
  }

 private:
  __extension__ typedef unsigned __int128 Wide;

  static std::uint64_t rotate(std::uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

  static std::uint64_t splitmix(std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  State state_{};
};

}  // namespace hinge
