#pragma once
// Fingerprint: a number that tells rows from any others, as fast as they can be read. It notices damage and change, not malice.
//
// Values, column indices and ends of rows are three sequences of words. Each is summed as products of the halves of its words, every word
// disguised by a key of its place (the NH of UMAC: Black, Halevi, Krawczyk, Krovetz & Rogaway, CRYPTO 1999):
//
//   h(x) = sum_j ((x_j ^ k_j) mod 2^32) ((x_j ^ k_j) / 2^32) + x_j        modulo 2^64.
//
// The sum has no chain of dependent multiplications, so that it keeps pace with memory, and any part of a sequence can be added by itself.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "hinge/processor.hpp"

namespace hinge {

namespace detail {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

/// The words first, first + 1, .. of a sequence, each of eight bytes, or of four, which then are both of its halves. They need not be aligned.
template <std::unsigned_integral Word>
[[gnu::always_inline]] inline std::uint64_t sum_of_products(std::uint64_t first, const unsigned char* bytes,
                                                            std::size_t n_words) {
  std::uint64_t sum = 0;
  std::uint64_t key = kGolden * (2 * first + 1);
  for (std::size_t j = 0; j < n_words; ++j) {
    Word word;
    std::memcpy(&word, bytes + j * sizeof(word), sizeof(word));
    std::uint64_t whole = word;
    if constexpr (sizeof(Word) == 4) whole |= whole << 32;  // or the products would be linear in it
    const std::uint64_t x = whole ^ key;
    sum += (x & 0xffffffff) * (x >> 32) + word;
    key += 2 * kGolden;
  }
  return sum;
}
HINGE_FOR_EACH_PROCESSOR_OF_WIDE_INTEGERS
[[maybe_unused]] static std::uint64_t hash_of_words(std::uint64_t first, const unsigned char* bytes, std::size_t n_words) {
  return sum_of_products<std::uint64_t>(first, bytes, n_words);
}
HINGE_FOR_EACH_PROCESSOR_OF_WIDE_INTEGERS
[[maybe_unused]] static std::uint64_t hash_of_half_words(std::uint64_t first, const unsigned char* bytes, std::size_t n_words) {
  return sum_of_products<std::uint32_t>(first, bytes, n_words);
}

inline std::uint64_t mixed(std::uint64_t x) {  // the finaliser of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Of any memory.
inline std::uint64_t hash_of(const void* memory, std::size_t n) {
  const auto* bytes = static_cast<const unsigned char*>(memory);
  const std::size_t n_words = n / sizeof(std::uint64_t);
  const std::size_t whole = n_words * sizeof(std::uint64_t);
  std::uint64_t rest = 0;
  if (n > whole) std::memcpy(&rest, bytes + whole, n - whole);
  return mixed(hash_of_words(0, bytes, n_words) + mixed(rest + n));
}

}  // namespace detail

class Fingerprint {
 public:
  /// Of some of the rows, to be merged.
  Fingerprint() = default;
  Fingerprint(std::int64_t n_rows, std::int64_t n_features)
      : shape_(detail::mixed(static_cast<std::uint64_t>(n_rows) + detail::mixed(static_cast<std::uint64_t>(n_features)))) {}

  /// Values of consecutive rows; `first` values are in the rows before.
  template <std::floating_point T>
  void add_values(std::int64_t first, const T* values, std::int64_t n) {
    values_ += hash(first, values, n);
  }
  /// Their column indices, in their order.
  template <std::signed_integral Index>
  void add_indices(std::int64_t first, const Index* indices, std::int64_t n) {
    indices_ += hash(first, indices, n);
  }
  /// How many values there are up to the end of row `first`, and of each of those behind it.
  void add_ends(std::int64_t first, const std::int64_t* ends, std::int64_t n) { ends_ += hash(first, ends, n); }

  /// The rows of `other`, which began without a shape.
  void merge(const Fingerprint& other) {
    values_ += other.values_;
    indices_ += other.indices_;
    ends_ += other.ends_;
  }

  /// It fits a signed 64-bit number of any language.
  std::uint64_t value() const {
    std::uint64_t all = shape_;
    for (const std::uint64_t sum : {values_, indices_, ends_}) all = detail::mixed(all + detail::kGolden) ^ sum;
    return detail::mixed(all) >> 2;
  }

 private:
  std::uint64_t shape_ = 0;
  std::uint64_t values_ = 0;
  std::uint64_t indices_ = 0;
  std::uint64_t ends_ = 0;

  template <class Word>
  static std::uint64_t hash(std::int64_t first, const Word* words, std::int64_t n) {
    static_assert(sizeof(Word) == 4 || sizeof(Word) == 8);
    const auto* bytes = reinterpret_cast<const unsigned char*>(words);
    const auto place = static_cast<std::uint64_t>(first);
    const auto count = static_cast<std::size_t>(n);
    return sizeof(Word) == 8 ? detail::hash_of_words(place, bytes, count) : detail::hash_of_half_words(place, bytes, count);
  }
};

}  // namespace hinge
