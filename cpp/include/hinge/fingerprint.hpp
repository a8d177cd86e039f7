#pragma once
// Fingerprint: a number that tells rows from any others, as fast as they can be read. It notices damage and change, not malice.
//
// The words of a row are summed as products of their halves, each word disguised by a key of its place (the NH of UMAC: Black, Halevi,
// Krawczyk, Krovetz & Rogaway, CRYPTO 1999):
//
//   h(x) = sum_j ((x_j ^ k_j) mod 2^32) ((x_j ^ k_j) / 2^32) + x_j        modulo 2^64.
//
// The sum has no chain of dependent multiplications, so that it keeps pace with memory. Rows are mixed with their positions, and summed.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hinge/processor.hpp"

namespace hinge {

namespace detail {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

/// h of whole words; they need not be aligned.
inline std::uint64_t hash_of_words(const unsigned char* bytes, std::size_t n_words) {
  std::uint64_t sum = 0;
  std::uint64_t key = kGolden;
  for (std::size_t j = 0; j < n_words; ++j) {
    std::uint64_t word;
    std::memcpy(&word, bytes + j * sizeof(word), sizeof(word));
    const std::uint64_t x = word ^ key;
    sum += (x & 0xffffffff) * (x >> 32) + word;
    key += 2 * kGolden;
  }
  return sum;
}
HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static std::uint64_t hash_of_many_words(const unsigned char* bytes, std::size_t n_words) {
  return hash_of_words(bytes, n_words);
}

inline std::uint64_t mixed(std::uint64_t x) {  // the finaliser of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Of any memory.
inline std::uint64_t hash_of(const void* memory, std::size_t n) {
  constexpr std::size_t kMany = 32;
  const auto* bytes = static_cast<const unsigned char*>(memory);
  const std::size_t n_words = n / sizeof(std::uint64_t);
  const std::size_t whole = n_words * sizeof(std::uint64_t);
  std::uint64_t rest = 0;
  if (n > whole) std::memcpy(&rest, bytes + whole, n - whole);
  const std::uint64_t words = n_words < kMany ? hash_of_words(bytes, n_words) : hash_of_many_words(bytes, n_words);
  return mixed(words + mixed(rest + n));
}

}  // namespace detail

class Fingerprint {
 public:
  /// Of some of the rows, to be merged.
  Fingerprint() = default;
  Fingerprint(std::int64_t n_rows, std::int64_t n_features) {
    add(-1, static_cast<std::uint64_t>(n_rows));
    add(-2, static_cast<std::uint64_t>(n_features));
  }

  /// The values of a dense row.
  template <std::floating_point T>
  void add_row(std::int64_t position, const T* values, std::int64_t n) {
    add(position, detail::hash_of(values, static_cast<std::size_t>(n) * sizeof(T)));
  }
  /// The entries of a sparse row, in their order.
  template <std::floating_point T, std::signed_integral Index>
  void add_row(std::int64_t position, const T* values, const Index* indices, std::int64_t n) {
    const auto count = static_cast<std::size_t>(n);
    add(position,
        detail::hash_of(values, count * sizeof(T)) + detail::kGolden * detail::hash_of(indices, count * sizeof(Index)));
  }

  /// The rows of `other`, which began without a shape.
  void merge(const Fingerprint& other) { sum_ += other.sum_; }

  /// It fits a signed 64-bit number of any language.
  std::uint64_t value() const { return detail::mixed(sum_) >> 2; }

 private:
  std::uint64_t sum_ = 0;

  void add(std::int64_t position, std::uint64_t hash) {
    sum_ += detail::mixed(hash ^ detail::mixed(static_cast<std::uint64_t>(position) * detail::kGolden));
  }
};

}  // namespace hinge
