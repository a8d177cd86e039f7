#pragma once
// exp(x) for numbers that are not positive, a register of them at once: a polynomial of our own, with the same bits everywhere.
//
//   x = n ln 2 + r,  |r| <= ln(2) / 2,     exp(x) = 2^n exp(r)
//
// The error is below two units in the last place. Below kLeast, where numbers lose digits, the result is 0.

#include <cstddef>
#include <cstdint>

#include "hinge/processor.hpp"

namespace hinge::exponential {

inline constexpr double kLeast = -708.0;

/// 1/13!, ..., 1/2!, 1, 1: what follows is below a unit in the last place for |r| <= ln(2) / 2.
inline constexpr double kSeries[] = {1.0 / 6227020800.0,
                                     1.0 / 479001600.0,
                                     1.0 / 39916800.0,
                                     1.0 / 3628800.0,
                                     1.0 / 362880.0,
                                     1.0 / 40320.0,
                                     1.0 / 5040.0,
                                     1.0 / 720.0,
                                     1.0 / 120.0,
                                     1.0 / 24.0,
                                     1.0 / 6.0,
                                     0.5,
                                     1.0,
                                     1.0};

inline constexpr std::int64_t kLanes = 8;  // two registers, of which each waits for its own steps

typedef double Register __attribute__((vector_size(kLanes * sizeof(double)), aligned(8), may_alias));
typedef std::int64_t Bits __attribute__((vector_size(kLanes * sizeof(double)), aligned(8), may_alias));

/// x <- exp(x)
[[gnu::always_inline]] inline void replace(Register& x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kHigh = 0x1.62e42fefa38p-1;  // ln 2, with so many zeros at its end that n times it is exact
  constexpr double kLow = 0x1.ef35793c7673p-45;
  constexpr double kWhole = 0x1.8p52;  // a number of this size has no fraction, and n in its last bits
  const Register shifted = x * kLog2E + kWhole;
  const Register n = shifted - kWhole;
  const Register r = (x - n * kHigh) - n * kLow;
  Register sum = Register{} + kSeries[0];
  for (std::size_t k = 1; k < sizeof kSeries / sizeof *kSeries; ++k) sum = sum * r + kSeries[k];
  const Register scaled = reinterpret_cast<Register>(reinterpret_cast<Bits>(sum) + (reinterpret_cast<Bits>(shifted) << 52));
  x = x < kLeast ? Register{} : scaled;
}

/// x_k <- exp(scale x_k)
HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static void apply(std::int64_t n, double scale, double* x) {
  std::int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    Register& some = *reinterpret_cast<Register*>(x + k);
    some *= scale;
    replace(some);
  }
  if (k == n) return;
  Register last{};
  for (std::int64_t j = k; j < n; ++j) last[j - k] = scale * x[j];
  replace(last);
  for (std::int64_t j = k; j < n; ++j) x[j] = last[j - k];
}

}  // namespace hinge::exponential
