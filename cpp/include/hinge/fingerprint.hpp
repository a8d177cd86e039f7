#pragma once
// Fingerprint: a number that tells rows from any others, as fast as they can be read. It notices damage and change, not malice.
//
// Values with their column indices are one sequence of words, and the ends of rows are another. Each is summed as products of the halves
// of its words, every word disguised by a key of its place (the NH of UMAC: Black, Halevi, Krawczyk, Krovetz & Rogaway, CRYPTO 1999):
//
//   h(x) = sum_j (z_j mod 2^32) (z_j / 2^32) + x_j   modulo 2^64,   z_j = x_j ^ k_j   (with half a word twice, or it would be linear).
//
// The column c_j of a value adds (c_j mod 2^32) (q_j mod 2^32) + (c_j / 2^32) (q_j / 2^32), with another odd key q_j.
// The sum has no chain of dependent multiplications, so that it keeps pace with memory, and any part of a sequence can be added by itself.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "hinge/processor.hpp"

namespace hinge {

namespace detail {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
inline constexpr std::uint64_t kOther = 0xbf58476d1ce4e5b8;  // even: an odd key stays odd
inline constexpr std::uint64_t kLow = 0xffffffff;

template <std::unsigned_integral Word>
[[gnu::always_inline]] inline Word word_at(const unsigned char* bytes, std::size_t j) {  // it need not be aligned
  Word word;
  std::memcpy(&word, bytes + j * sizeof(word), sizeof(word));
  return word;
}

/// What word j of a sequence adds, disguised by `key`.
template <std::unsigned_integral Word>
[[gnu::always_inline]] inline std::uint64_t product(const unsigned char* bytes, std::size_t j, std::uint64_t key) {
  const std::uint64_t word = word_at<Word>(bytes, j);
  const std::uint64_t z = (sizeof(Word) == 4 ? word << 32 | word : word) ^ key;
  return (z & kLow) * (z >> 32) + word;
}

/// term(0, key) + ... + term(n - 1, key), with the keys of the places first, first + 1, ...
template <class Term>
[[gnu::always_inline]] inline std::uint64_t keyed_sum(std::uint64_t first, std::size_t n, Term&& term) {
  std::uint64_t sum = 0;
  std::uint64_t key = kGolden * (2 * first + 1);
  for (std::size_t j = 0; j < n; ++j) {
    sum += term(j, key);
    key += 2 * kGolden;
  }
  return sum;
}

template <std::unsigned_integral Word>
HINGE_FOR_EACH_PROCESSOR_OF_WIDE_INTEGERS std::uint64_t hash_of_words(std::uint64_t first, const unsigned char* bytes,
                                                                      std::size_t n) {
  return keyed_sum(first, n, [bytes](std::size_t j, std::uint64_t key) { return product<Word>(bytes, j, key); });
}
template <std::unsigned_integral Word, std::unsigned_integral Column>
HINGE_FOR_EACH_PROCESSOR_OF_WIDE_INTEGERS std::uint64_t hash_of_entries(std::uint64_t first, const unsigned char* bytes,
                                                                        const unsigned char* columns, std::size_t n) {
  return keyed_sum(first, n, [bytes, columns](std::size_t j, std::uint64_t key) {
    const std::uint64_t c = word_at<Column>(columns, j);
    const std::uint64_t q = key ^ kOther;
    return product<Word>(bytes, j, key) + (c & kLow) * (q & kLow) + (c >> 32) * (q >> 32);
  });
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
  return mixed(hash_of_words<std::uint64_t>(0, bytes, n_words) + mixed(rest + n));
}

}  // namespace detail

class Fingerprint {
 public:
  /// Of some of the rows, to be merged.
  Fingerprint() = default;
  Fingerprint(std::int64_t n_rows, std::int64_t n_features)
      : shape_(detail::mixed(static_cast<std::uint64_t>(n_rows) + detail::mixed(static_cast<std::uint64_t>(n_features)))) {}

  /// Values of consecutive dense rows; `first` values are in the rows before.
  template <std::floating_point T>
  void add_values(std::int64_t first, const T* values, std::int64_t n) {
    entries_ += hash(first, values, n);
  }
  /// Values and column indices of consecutive CSR rows, in their order.
  template <std::floating_point T, std::signed_integral Index>
  void add_entries(std::int64_t first, const T* values, const Index* indices, std::int64_t n) {
    entries_ += detail::hash_of_entries<WordOf<T>, WordOf<Index>>(static_cast<std::uint64_t>(first), bytes(values),
                                                                  bytes(indices), static_cast<std::size_t>(n));
  }
  /// How many values there are up to the end of row `first`, and of each of those behind it.
  void add_ends(std::int64_t first, const std::int64_t* ends, std::int64_t n) { ends_ += hash(first, ends, n); }

  /// The rows of `other`, which began without a shape.
  void merge(const Fingerprint& other) {
    entries_ += other.entries_;
    ends_ += other.ends_;
  }

  /// It fits a signed 64-bit number of any language.
  std::uint64_t value() const {
    std::uint64_t all = shape_;
    for (const std::uint64_t sum : {entries_, ends_}) all = detail::mixed(all + detail::kGolden) ^ sum;
    return detail::mixed(all) >> 2;
  }

 private:
  std::uint64_t shape_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t ends_ = 0;

  template <class T>
  using WordOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  static const unsigned char* bytes(const auto* words) { return reinterpret_cast<const unsigned char*>(words); }

  template <class T>
  static std::uint64_t hash(std::int64_t first, const T* words, std::int64_t n) {
    static_assert(sizeof(T) == sizeof(WordOf<T>));
    return detail::hash_of_words<WordOf<T>>(static_cast<std::uint64_t>(first), bytes(words), static_cast<std::size_t>(n));
  }
};

}  // namespace hinge
