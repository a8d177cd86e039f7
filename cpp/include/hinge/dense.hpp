#pragma once
// The loops over a dense row: its product with a weight vector, its weighted norm, and a multiple of it added to a vector.
//
// Sums run over eight interleaved accumulators whatever the width of the processor's registers: the same bits on all of them.
//
// A row may lie anywhere in memory. The processor guesses what comes next inside a row, but not which row, and its guesses end at
// each page. So the row whose turn comes soon is fetched meanwhile: a short row all at once, a long one line by line along with the
// product of another. With 784 values of float64 that took half the time of a pass in random order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "hinge/processor.hpp"
#include "hinge/sums.hpp"

namespace hinge::dense {

inline constexpr std::int64_t kLanes = 8;
inline constexpr std::int64_t kLine = 64;  // bytes that memory gives at once

/// How many rows ahead one is fetched.
inline constexpr std::int64_t kAhead = 6;
/// Rows of more bytes are long. At most so many bytes of one are fetched ahead: from there on the processor guesses right.
inline constexpr std::int64_t kLong = 1024;
inline constexpr std::int64_t kFetched = 8192;

/// A short row is fetched to the first level of the cache.
template <class T>
[[gnu::always_inline]] inline void fetch(std::int64_t n, const T* x) {
#pragma GCC unroll 1  // the sixteen branches of an unrolled loop cost more
  for (std::int64_t j = 0; j < n; j += kLine / sizeof(T)) __builtin_prefetch(x + j);
}

/// A long one to the second, to which more lines can be on their way at once.
template <class T>
[[gnu::always_inline]] inline void fetch_long(std::int64_t n, const T* x) {
  const std::int64_t fetched = std::min<std::int64_t>(n, kFetched / sizeof(T));
  for (std::int64_t j = 0; j < fetched; j += kLine / sizeof(T)) __builtin_prefetch(x + j, 0, 2);
}

/// The eight sums over the values from `begin` on, as many as fill all lanes. Returns where they end.
template <class T, class W>
[[gnu::always_inline]] inline std::int64_t add_lanes(std::int64_t begin, std::int64_t end, const T* x, const W* w,
                                                     double* sum) {
  for (; begin + kLanes <= end; begin += kLanes) {
    for (std::int64_t k = 0; k < kLanes; ++k) sum[k] += static_cast<double>(x[begin + k]) * w[begin + k];
  }
  return begin;
}

/// The rest of the values, which do not fill all lanes, and the sum of the lanes.
template <class T, class W>
[[gnu::always_inline]] inline double finish(std::int64_t begin, std::int64_t end, const T* x, const W* w, double* sum) {
  for (std::int64_t k = 0; begin < end; ++begin, ++k) sum[k] += static_cast<double>(x[begin]) * w[begin];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/// x.w for a short row.
template <class T, class W>
[[gnu::always_inline]] inline double product(std::int64_t n, const T* x, const W* w) {
  double sum[kLanes] = {};
  return finish(add_lanes(0, n, x, w, sum), n, x, w, sum);
}

/// The same for `count` of them, while those that come behind are fetched.
template <class T, class W>
HINGE_FOR_EACH_PROCESSOR void products(std::int64_t n, std::int64_t count, std::span<const T* const> x, const W* w,
                                       double* out) {
  const std::int64_t fetched = std::ssize(x) - kAhead;
  for (std::int64_t k = 0; k < count; ++k) {
    if (k < fetched) fetch(n, x[static_cast<std::size_t>(k + kAhead)]);
    out[k] = product(n, x[static_cast<std::size_t>(k)], w);
  }
}

/// x.w for a long row, while `next` is fetched, a row of as many values.
template <class T, class W>
HINGE_FOR_EACH_PROCESSOR double product_long(std::int64_t n, const T* x, const W* w, const T* next) {
  constexpr std::int64_t kStep = kLine / sizeof(T);
  double sum[kLanes] = {};
  std::int64_t j = 0;
  for (const std::int64_t fetched = std::min<std::int64_t>(n, kFetched / sizeof(T)); j + kStep <= fetched; j += kStep) {
    __builtin_prefetch(next + j, 0, 2);
    add_lanes(j, j + kStep, x, w, sum);
  }
  return finish(add_lanes(j, n, x, w, sum), n, x, w, sum);
}

/// sum_j x_j^2 weights_j
template <class T>
HINGE_FOR_EACH_PROCESSOR double weighted_squares(std::int64_t n, const T* x, const double* weights) {
  return interleaved_sum(static_cast<std::size_t>(n),
                         [=](std::size_t j) { return static_cast<double>(x[j]) * static_cast<double>(x[j]) * weights[j]; });
}

/// v += scale x for a short row.
template <class T, class W>
[[gnu::always_inline]] inline void add(std::int64_t n, double scale, const T* x, W* v) {
  for (std::int64_t j = 0; j < n; ++j) v[j] = static_cast<W>(v[j] + scale * static_cast<double>(x[j]));
}

/// Rows of `add_each` that pass through the registers together with v.
inline constexpr std::size_t kTogether = 4;

/// The same for some of them, one after the other.
template <class T>
HINGE_FOR_EACH_PROCESSOR void add_each(std::int64_t n, std::span<const Multiple<T>> of, double* __restrict v) {
  std::size_t k = 0;
  for (; k + kTogether <= of.size(); k += kTogether) {
    const Multiple<T>* row = &of[k];
    for (std::size_t ahead = k + kAhead; ahead < std::min(k + kAhead + kTogether, of.size()); ++ahead) fetch(n, of[ahead].x);
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = v[j];
      for (std::size_t r = 0; r < kTogether; ++r) sum += row[r].scale * static_cast<double>(row[r].x[j]);
      v[j] = sum;
    }
  }
  for (; k < of.size(); ++k) add(n, of[k].scale, of[k].x, v);
}

/// The same for a long one.
template <class T, class W>
HINGE_FOR_EACH_PROCESSOR void add_long(std::int64_t n, double scale, const T* x, W* v) {
  add(n, scale, x, v);
}

}  // namespace hinge::dense
