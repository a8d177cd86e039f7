#pragma once
// Sums, in an order that is part of the contract: the NumPy twins add in the same order and agree to the bit.
//
// `Sum` is compensated: for certificates. `interleaved_sum` is fast: term j goes to accumulator j mod 8, and the accumulators
// are added as a balanced tree.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "hinge/processor.hpp"

namespace hinge {

/// u, the unit roundoff of float64.
inline constexpr double kRoundoff = 0x1.0p-53;

namespace detail {

/// high + low grows by x, and low has what high cannot hold (Knuth's TwoSum: no branch).
template <class Number>
[[gnu::always_inline]] inline void add_compensated(Number x, Number& high, Number& low) {
  const Number next = high + x;
  const Number shadow = next - high;
  low += (high - (next - shadow)) + (x - shadow);
  high = next;
}

}  // namespace detail

/// scale x
template <class T>
struct Multiple {
  double scale;
  const T* x;
};

/// Compensated sum. docs/certificate.md, "Compensated sums", derives `hidden_error`.
class Sum {
 public:
  Sum() = default;
  Sum(double high, double low) : high_(high), low_(low) {}

  [[gnu::always_inline]] void add(double x) { detail::add_compensated(x, high_, low_); }
  void merge(const Sum& other) {
    add(other.high_);
    low_ += other.low_;
  }
  void subtract(const Sum& other) {
    add(-other.high_);
    low_ -= other.low_;
  }
  double value() const { return high_ + low_; }
  double high() const { return high_; }
  double low() const { return low_; }

  /// |value - exact| <= u |value| + hidden_error(n) * (sum of the |terms|), for n terms other than zero, merged from any number of
  /// parts up to a million.
  static double hidden_error(double n) { return 2.0 * (n * kRoundoff) * (n * kRoundoff); }

 private:
  double high_ = 0.0;
  double low_ = 0.0;
};

namespace detail {

/// kWidth numbers side by side, anywhere in memory.
template <class T, std::size_t kWidth>
struct Wide {
  typedef T Type __attribute__((vector_size(kWidth * sizeof(T)), aligned(alignof(T)), may_alias));
};

/// Adds to kCount x kWidth sums, which stay in registers while all vectors go by. They take so many terms together.
template <std::int64_t kTogether, std::size_t kCount, std::size_t kWidth, class T>
[[gnu::always_inline]] inline std::int64_t add_columns(std::int64_t first, std::int64_t count, const Multiple<T>* of,
                                                       Sum* sums) {
  using Number = typename Wide<double, kWidth>::Type;
  using Value = typename Wide<T, kWidth>::Type;
  Number high[kCount];
  Number low[kCount];
  for (std::size_t c = 0; c < kCount; ++c) {
    for (std::size_t j = 0; j < kWidth; ++j) high[c][j] = sums[first + c * kWidth + j].high();
    for (std::size_t j = 0; j < kWidth; ++j) low[c][j] = sums[first + c * kWidth + j].low();
  }
  const auto values = [&](std::int64_t k) { return reinterpret_cast<const Value*>(of[k].x + first); };
  for (std::int64_t k = 0; k < count; k += kTogether) {
    Number sum[kCount];
    for (std::size_t c = 0; c < kCount; ++c) sum[c] = of[k].scale * __builtin_convertvector(values(k)[c], Number);
    for (std::int64_t next = k + 1; next < std::min(k + kTogether, count); ++next) {
      for (std::size_t c = 0; c < kCount; ++c) sum[c] += of[next].scale * __builtin_convertvector(values(next)[c], Number);
    }
    for (std::size_t c = 0; c < kCount; ++c) add_compensated(sum[c], high[c], low[c]);
  }
  for (std::size_t c = 0; c < kCount; ++c) {
    for (std::size_t j = 0; j < kWidth; ++j) sums[first + c * kWidth + j] = Sum(high[c][j], low[c][j]);
  }
  return first + kCount * kWidth;
}

/// Adds scale x to the n sums, for each of these vectors of n values in their order.
template <std::int64_t kTogether, class T>
HINGE_FOR_EACH_PROCESSOR void add_to_each(std::int64_t n, std::int64_t count, const Multiple<T>* of, Sum* sums) {
  std::int64_t first = 0;
  while (first + 16 <= n) first = add_columns<kTogether, 4, 4>(first, count, of, sums);
  if (first + 8 <= n) first = add_columns<kTogether, 2, 4>(first, count, of, sums);
  if (first + 4 <= n) first = add_columns<kTogether, 1, 4>(first, count, of, sums);
  if (first + 2 <= n) first = add_columns<kTogether, 1, 2>(first, count, of, sums);
  if (first < n) add_columns<kTogether, 1, 1>(first, count, of, sums);
}

inline constexpr std::size_t kLanes = 8;

/// `Sum::add(x_j)` on sum j mod 8.
HINGE_FOR_EACH_PROCESSOR inline void deal(std::size_t n, const double* __restrict x, double* __restrict high,
                                          double* __restrict low) {
  const std::size_t whole = n / kLanes * kLanes;
  for (std::size_t j = 0; j < whole; j += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) add_compensated(x[j + k], high[k], low[k]);
  }
  for (std::size_t j = whole; j < n; ++j) add_compensated(x[j], high[j - whole], low[j - whole]);
}

}  // namespace detail

/// A compensated sum in eight lanes, for the registers of the processor: the terms of a block are dealt to them one by one. Sums are
/// merged lane by lane, and the lanes at the end.
class WideSum {
 public:
  void add(std::span<const double> block) { detail::deal(block.size(), block.data(), high_.data(), low_.data()); }
  void merge(const WideSum& other) {
    for (std::size_t k = 0; k < high_.size(); ++k) {
      detail::add_compensated(other.high_[k], high_[k], low_[k]);
      low_[k] += other.low_[k];
    }
  }
  Sum total() const {
    Sum all;
    for (std::size_t k = 0; k < high_.size(); ++k) all.merge(Sum(high_[k], low_[k]));
    return all;
  }
  double value() const { return total().value(); }

 private:
  std::array<double, detail::kLanes> high_{};
  std::array<double, detail::kLanes> low_{};
};

/// Many compensated sums. The two numbers of each lie side by side: a sparse row that adds to some of them reads one line of the cache
/// for each, not two.
class Sums {
 public:
  explicit Sums(std::size_t n) : sums_(n) {}

  [[gnu::always_inline]] void add(std::int64_t k, double x) { sums_[static_cast<std::size_t>(k)].add(x); }
  /// Adds scale x to the n sums from `first` on, for each of these vectors of n values in their order. With kTogether > 1 so many terms are
  /// added up before a sum takes them, which rounds each of them kTogether - 1 times more.
  template <std::int64_t kTogether = 1, class T>
  void add(std::int64_t first, std::int64_t n, std::span<const Multiple<T>> of) {
    detail::add_to_each<kTogether>(n, std::ssize(of), of.data(), sums_.data() + first);
  }
  void merge(const Sums& other) {
    for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k].merge(other.sums_[k]);
  }
  void write(std::span<double> values) const {
    for (std::size_t k = 0; k < sums_.size(); ++k) values[k] = sums_[k].value();
  }

 private:
  std::vector<Sum> sums_;
};

/// term(0) + ... + term(n - 1)
template <class F>
[[gnu::always_inline]] inline double interleaved_sum(std::size_t n, F&& term) {
  std::array<double, 8> sum{};
  const std::size_t whole = n / 8 * 8;
  for (std::size_t j = 0; j < whole; j += 8) {
    for (std::size_t k = 0; k < 8; ++k) sum[k] += term(j + k);
  }
  for (std::size_t j = whole; j < n; ++j) sum[j - whole] += term(j);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

inline double dot(std::span<const double> x, std::span<const double> y) {
  return interleaved_sum(x.size(), [x, y](std::size_t j) { return x[j] * y[j]; });
}

namespace detail {

template <class W>
double squared_norm_of(std::span<const W> w) {
  constexpr std::size_t kBlock = 8 * kLanes;
  WideSum sum;
  for (std::size_t begin = 0; begin < w.size(); begin += kBlock) {
    std::array<double, kBlock> squares;
    const std::size_t n = std::min(kBlock, w.size() - begin);
    for (std::size_t j = 0; j < n; ++j) squares[j] = static_cast<double>(w[begin + j]) * static_cast<double>(w[begin + j]);
    sum.add({squares.data(), n});
  }
  return sum.value();
}

}  // namespace detail

/// |w|^2, compensated, in eight lanes.
inline double squared_norm(std::span<const double> w) { return detail::squared_norm_of(w); }
inline double squared_norm(std::span<const float> w) { return detail::squared_norm_of(w); }

}  // namespace hinge
