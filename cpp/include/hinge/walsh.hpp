#pragma once
// The Walsh-Hadamard transform, in place: x <- H x with H_ij = (-1)^(number of ones that the binary forms of i and j share).
//
// Stage h = n/2, n/4, ..., 1 replaces the entries j and j + h by their sum and difference: n log n additions. Each entry sees the same
// additions in the same order whatever the width of the processor's registers. Two stages are done at once, so that every entry is
// loaded and stored half as often.

#include <cstdint>

namespace hinge::walsh {

inline constexpr std::int64_t kRegister = 32;  // bytes

template <class T>
inline constexpr std::int64_t kLanes = kRegister / static_cast<std::int64_t>(sizeof(T));

/// A register of T, read from and written to any address that a T may have.
template <class T>
struct Register {
  typedef T Vector __attribute__((vector_size(kRegister), aligned(4), may_alias));
  [[gnu::always_inline]] static Vector& at(T* x) { return *reinterpret_cast<Vector*>(x); }
  [[gnu::always_inline]] static const Vector& at(const T* x) { return *reinterpret_cast<const Vector*>(x); }
};

/// The last stages, among the entries of one register: with its lanes swapped in pairs, each is added to its partner or taken from it.
template <class T, class Vector>
[[gnu::always_inline]] inline void within(Vector& x) {
  if constexpr (sizeof(T) == 4) {
    x = __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3) + x * Vector{1, 1, 1, 1, -1, -1, -1, -1};
    x = __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5) + x * Vector{1, 1, -1, -1, 1, 1, -1, -1};
    x = __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6) + x * Vector{1, -1, 1, -1, 1, -1, 1, -1};
  } else {
    x = __builtin_shufflevector(x, x, 2, 3, 0, 1) + x * Vector{1, 1, -1, -1};
    x = __builtin_shufflevector(x, x, 1, 0, 3, 2) + x * Vector{1, -1, 1, -1};
  }
}

/// x <- H x. n is a power of 2 and fills at least two registers. Inlined into functions that exist once for each processor.
template <class T>
[[gnu::always_inline]] inline void transform(std::int64_t n, T* x) {
  using Memory = Register<T>;
  using Vector = typename Memory::Vector;
  constexpr std::int64_t kStep = kLanes<T>;
  std::int64_t h = n / 2;
  for (; h >= 2 * kStep; h /= 4) {  // stages h and h/2
    for (std::int64_t begin = 0; begin < n; begin += 2 * h) {
      for (T *p = x + begin, *end = p + h / 2; p < end; p += kStep) {
        const Vector a = Memory::at(p), b = Memory::at(p + h / 2), c = Memory::at(p + h), d = Memory::at(p + h + h / 2);
        const Vector ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
        Memory::at(p) = ac + bd;
        Memory::at(p + h / 2) = ac - bd;
        Memory::at(p + h) = a_c + b_d;
        Memory::at(p + h + h / 2) = a_c - b_d;
      }
    }
  }
  const bool one_left = h == kStep;
  for (T *p = x, *end = x + n; p < end; p += 2 * kStep) {
    Vector a = Memory::at(p), b = Memory::at(p + kStep);
    if (one_left) {
      const Vector sum = a + b;
      b = a - b;
      a = sum;
    }
    within<T>(a);
    within<T>(b);
    Memory::at(p) = a;
    Memory::at(p + kStep) = b;
  }
}

/// The first `count` entries of H x, without most of the work for the others: of a stage they need the sums alone as long as they all
/// lie in its first half. Returns how many entries are those of H x.
template <class T>
[[gnu::always_inline]] inline std::int64_t leading(std::int64_t n, std::int64_t count, T* x) {
  while (n / 2 >= count && n > 2 * kLanes<T>) {
    n /= 2;
    for (std::int64_t j = 0; j < n; ++j) x[j] += x[j + n];
  }
  transform(n, x);
  return n;
}

}  // namespace hinge::walsh
