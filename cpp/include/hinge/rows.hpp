#pragma once
// Rows: the training rows, read in place.
//
// A linear solver needs four things of row i: its dot product with a weight vector, adding a multiple of it to a weight
// vector, its squared norm, and how many values it stores (`product` is the dot product without the constant feature). Two layouts
// offer them: DenseRows (C-contiguous) and CsrRows. A product may be told which row comes soon: that one is fetched meanwhile.
//
// Every row is seen in the augmented space [x, rho] (rho = 0: no constant feature), so a weight vector has
// n_features + 1 entries, the last one belonging to the constant feature. Rows of zero weight are left out by `kept`,
// a list of row numbers; a solver only ever sees positions 0 .. size()-1 in it.
//
// Weights are double, or float where a solver trades accuracy for memory traffic; every sum is in double.
//
// The hot operations are inlined by force: a call to a function that does nothing but prefetch is one that the compiler
// may drop.
//
// Sums run over four (CSR) or eight (dense) interleaved accumulators: the order is part of the contract, the NumPy twins
// add in the same order and agree to the bit.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

#include "hinge/dense.hpp"
#include "hinge/sums.hpp"

namespace hinge {

template <class R>
concept Rows = requires(const R& rows, std::int64_t i, std::span<const double> w, std::span<double> v, double s) {
  { rows.size() } -> std::same_as<std::int64_t>;
  { rows.n_features() } -> std::same_as<std::int64_t>;
  { rows.stored(i) } -> std::same_as<std::int64_t>;
  { rows.total_stored() } -> std::same_as<std::int64_t>;
  { rows.squared_norm(i) } -> std::same_as<double>;
  { rows.dot(i, w) } -> std::same_as<double>;
  { rows.dot(i, w, i) } -> std::same_as<double>;
  { rows.product(i, w.data()) } -> std::same_as<double>;
  { rows.product(i, w.data(), i) } -> std::same_as<double>;
  { rows.with_constant(s, w.data()) } -> std::same_as<double>;
  rows.add(i, s, v);
  rows.prefetch(i);
  rows.announce(i);
  rows.for_each(i, [](std::int64_t, double) {});
};

/// No row, where one could be fetched.
inline constexpr std::int64_t kNone = -1;

/// Rows read in epochs: the order is known ahead, so fetch a row from memory a little before its turn, and announce it earlier still.
inline constexpr std::int64_t kPrefetchDistance = dense::kAhead;
inline constexpr std::int64_t kAnnounceDistance = 12;
/// Rows that are read at once, at most.
inline constexpr std::int64_t kMostAtOnce = 64;
/// Rows that are added at once to compensated sums, while as many behind them are fetched. Dense ones are added up so many together before a
/// compensated sum takes them.
inline constexpr std::int64_t kAddedAtOnce = 16;
inline constexpr std::int64_t kAddedTogether = 8;

/// What both layouts share: which rows are kept, the constant feature, and the squared norms |[x, rho]|^2 per kept row.
struct RowView {
  std::int64_t n_kept = 0;
  std::int64_t n_columns = 0;
  const std::int64_t* kept = nullptr;  // null: all rows, in order
  const double* norms = nullptr;
  double rho = 0.0;

  std::int64_t size() const { return n_kept; }
  std::int64_t n_features() const { return n_columns; }
  double squared_norm(std::int64_t i) const { return norms[i]; }
  std::int64_t row(std::int64_t i) const { return kept ? kept[i] : i; }

  /// A product with the constant feature.
  template <class W>
  [[gnu::always_inline]] double with_constant(double product, const W* weights) const {
    return product + rho * weights[n_columns];
  }

  template <class W>
  [[gnu::always_inline]] void add_constant(double scale, W* weights) const {
    weights[n_columns] = static_cast<W>(weights[n_columns] + scale * rho);
  }
};

template <class T>
struct DenseRows : RowView {
  const T* values = nullptr;

  std::int64_t stored(std::int64_t) const { return n_columns; }
  std::int64_t total_stored() const { return n_kept * n_columns; }

  template <class Weights>
  [[gnu::always_inline]] double dot(std::int64_t i, const Weights& w, std::int64_t next = kNone) const {
    return with_constant(product(i, std::data(w), next), std::data(w));
  }

  template <class W>
  [[gnu::always_inline]] double product(std::int64_t i, const W* w, std::int64_t next = kNone) const {
    if (is_long()) return dense::product_long(n_columns, at(i), w, at(next != kNone ? next : i));
    if (next != kNone) dense::fetch(n_columns, at(next));
    return dense::product(n_columns, at(i), w);
  }

  /// The products of the first `count` of the rows that come, while the others are fetched: at most kMostAtOnce and kPrefetchDistance.
  template <class Number>
  void products(std::int64_t count, std::span<const Number> coming, const double* w, double* out) const {
    const auto size = static_cast<std::int64_t>(coming.size());
    if (is_long()) {
      for (std::int64_t k = 0; k < count; ++k) {
        out[k] = product(coming[k], w, k + kPrefetchDistance < size ? coming[k + kPrefetchDistance] : kNone);
      }
      return;
    }
    const T* x[kMostAtOnce + kPrefetchDistance];
    for (std::int64_t k = 0; k < size; ++k) x[k] = at(coming[k]);
    dense::products(n_columns, count, std::span<const T* const>(x, coming.size()), w, out);
  }

  /// v += scale_k x_k for each of at most kMostAtOnce rows.
  void add_each(std::span<const std::int64_t> list, const double* scales, std::span<double> v) const {
    if (is_long()) {
      for (std::size_t k = 0; k < list.size(); ++k) {
        if (k + kPrefetchDistance < list.size()) prefetch(list[k + kPrefetchDistance]);
        add(list[k], scales[k], v);
      }
      return;
    }
    Multiple<T> of[kMostAtOnce];
    for (std::size_t k = 0; k < list.size(); ++k) of[k] = {scales[k], at(list[k])};
    dense::add_each(n_columns, std::span<const Multiple<T>>(of, list.size()), v.data());
    for (std::size_t k = 0; k < list.size(); ++k) add_constant(scales[k], v.data());
  }

  template <class Weights>
  [[gnu::always_inline]] void add(std::int64_t i, double scale, Weights&& v) const {
    auto* weights = std::data(v);
    is_long() ? dense::add_long(n_columns, scale, at(i), weights) : dense::add(n_columns, scale, at(i), weights);
    add_constant(scale, weights);
  }

  [[gnu::always_inline]] void prefetch(std::int64_t i) const {
    is_long() ? dense::fetch_long(n_columns, at(i)) : dense::fetch(n_columns, at(i));
  }
  void announce(std::int64_t) const {}

  template <class F>
  void for_each(std::int64_t i, F&& visit) const {
    const T* x = at(i);
    for (std::int64_t j = 0; j < n_columns; ++j) visit(j, static_cast<double>(x[j]));
    if (rho != 0.0) visit(n_columns, rho);
  }

  /// sum_j weights_j x_ij^2, without the constant feature: for bounds, in which the order of a sum does not matter.
  double weighted_squares(std::int64_t i, const double* weights) const {
    return dense::weighted_squares(n_columns, at(i), weights);
  }

  /// Adds scale_k times row list_k to the sums, for each row of a short list. The first kAddedAtOnce of them are best fetched before.
  void add_compensated(std::span<const std::int64_t> list, const double* scales, Sums& sums) const {
    constexpr std::size_t kAtOnce = kAddedAtOnce;
    Multiple<T> of[kAtOnce];
    const std::size_t n = list.size();
    for (std::size_t begin = 0; begin < n; begin += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, n - begin);
      for (std::size_t k = begin + kAtOnce; k < std::min(n, begin + 2 * kAtOnce); ++k) prefetch(list[k]);
      for (std::size_t k = 0; k < count; ++k) of[k] = {scales[begin + k], at(list[begin + k])};
      sums.add<kAddedTogether>(0, n_columns, std::span<const Multiple<T>>(of, count));
    }
    if (rho != 0.0) {
      for (std::size_t k = 0; k < n; ++k) sums.add(n_columns, scales[k] * rho);
    }
  }

 private:
  const T* at(std::int64_t i) const { return values + row(i) * n_columns; }
  bool is_long() const { return n_columns * static_cast<std::int64_t>(sizeof(T)) > dense::kLong; }
};

template <class T, class Index>
struct CsrRows : RowView {
  const T* values = nullptr;
  const Index* indices = nullptr;
  const std::int64_t* indptr = nullptr;

  std::int64_t stored(std::int64_t i) const {
    const std::int64_t r = row(i);
    return indptr[r + 1] - indptr[r];
  }
  std::int64_t total_stored() const {
    if (kept == nullptr) return n_kept > 0 ? indptr[n_kept] - indptr[0] : 0;
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < n_kept; ++i) total += stored(i);
    return total;
  }

  template <class Weights>
  [[gnu::always_inline]] double dot(std::int64_t i, const Weights& w, std::int64_t next = kNone) const {
    return with_constant(product(i, std::data(w), next), std::data(w));
  }

  template <class W>
  [[gnu::always_inline]] double product(std::int64_t i, const W* w, std::int64_t next = kNone) const {
    if (next != kNone) prefetch(next);
    const std::int64_t r = row(i);
    std::int64_t p = indptr[r];
    const std::int64_t end = indptr[r + 1];
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; p + 4 <= end; p += 4) {
      s0 += static_cast<double>(values[p]) * w[indices[p]];
      s1 += static_cast<double>(values[p + 1]) * w[indices[p + 1]];
      s2 += static_cast<double>(values[p + 2]) * w[indices[p + 2]];
      s3 += static_cast<double>(values[p + 3]) * w[indices[p + 3]];
    }
    if (p < end) s0 += static_cast<double>(values[p]) * w[indices[p]];
    if (p + 1 < end) s1 += static_cast<double>(values[p + 1]) * w[indices[p + 1]];
    if (p + 2 < end) s2 += static_cast<double>(values[p + 2]) * w[indices[p + 2]];
    return (s0 + s1) + (s2 + s3);
  }

  template <class Number>
  void products(std::int64_t count, std::span<const Number> coming, const double* w, double* out) const {
    const auto size = static_cast<std::int64_t>(coming.size());
    for (std::int64_t k = 0; k < count; ++k) {
      out[k] = product(coming[k], w, k + kPrefetchDistance < size ? coming[k + kPrefetchDistance] : kNone);
    }
  }

  void add_each(std::span<const std::int64_t> list, const double* scales, std::span<double> v) const {
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (k + kPrefetchDistance < list.size()) prefetch(list[k + kPrefetchDistance]);
      add(list[k], scales[k], v);
    }
  }

  template <class Weights>
  [[gnu::always_inline]] void add(std::int64_t i, double scale, Weights&& v) const {
    using W = std::remove_reference_t<decltype(*std::data(v))>;
    W* weights = std::data(v);
    const std::int64_t r = row(i);
    const std::int64_t end = indptr[r + 1];
    for (std::int64_t p = indptr[r]; p < end; ++p) {
      weights[indices[p]] = static_cast<W>(weights[indices[p]] + scale * static_cast<double>(values[p]));
    }
    add_constant(scale, weights);
  }

  /// The lines of values and of indices, the first and the last in any case: most rows are short, and a loop costs more than a line.
  [[gnu::always_inline]] void prefetch(std::int64_t i) const {
    constexpr std::int64_t kStep = dense::kLine / std::max(sizeof(T), sizeof(Index));
    const std::int64_t r = row(i);
    const std::int64_t begin = indptr[r];
    const std::int64_t end = indptr[r + 1];
    fetch(begin);
    fetch(end);
    for (std::int64_t p = begin + kStep; p < end; p += kStep) fetch(p);
    __builtin_prefetch(norms + i);
  }
  /// Row i will be fetched: where it begins must be at hand then.
  [[gnu::always_inline]] void announce(std::int64_t i) const {
    __builtin_prefetch(indptr + row(i));
    __builtin_prefetch(norms + i);
  }

  template <class F>
  void for_each(std::int64_t i, F&& visit) const {
    const std::int64_t r = row(i);
    const std::int64_t end = indptr[r + 1];
    for (std::int64_t p = indptr[r]; p < end; ++p) visit(static_cast<std::int64_t>(indices[p]), static_cast<double>(values[p]));
    if (rho != 0.0) visit(n_columns, rho);
  }

  double weighted_squares(std::int64_t i, const double* weights) const {
    const std::int64_t r = row(i);
    const std::int64_t end = indptr[r + 1];
    double sum[2] = {};
    std::int64_t p = indptr[r];
    const auto square = [&](std::int64_t q) {
      return static_cast<double>(values[q]) * static_cast<double>(values[q]) * weights[indices[q]];
    };
    for (; p + 2 <= end; p += 2) {
      sum[0] += square(p);
      sum[1] += square(p + 1);
    }
    return sum[0] + sum[1] + (p < end ? square(p) : 0.0);
  }

  void add_compensated(std::span<const std::int64_t> list, const double* scales, Sums& sums) const {
    for (const std::int64_t i : list) {
      const double scale = *scales++;
      for_each(i, [&](std::int64_t j, double x) { sums.add(j, scale * x); });
    }
  }

 private:
  [[gnu::always_inline]] void fetch(std::int64_t p) const {
    __builtin_prefetch(values + p, 0, 2);
    __builtin_prefetch(indices + p, 0, 2);
  }
};

}  // namespace hinge
