#pragma once
// Blocks of the kernel matrix: k(x_h, x_j) of some rows x_h, which are held, and of any others.
//
// What k(x_h, x_j) is does not depend on what else is held or asked for, nor on which of the two is held, to the bit.
//
// Dense rows go through tiles (tile.hpp): the sum over the features runs from left to right. |x - z|^2 is |x|^2 + |z|^2 - 2 x.z, where
// the first row is the origin: so nothing is lost by rows that are far from 0 and close to each other, and equal rows have distance
// 0. Where gamma is so large that the rounding of the norms would count, it is a sum of squared differences of the rows as they
// are, which takes twice as long.
//
// Sparse rows stay where they are: the held ones are spread out, with the values of a feature side by side, so that row j finds
// theirs. |x - z|^2 comes from norms and products, and |x - z|_1 is |x|_1 + sum over the values of z of (|x - z| - |x|).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hinge/kernel.hpp"
#include "hinge/rows.hpp"
#include "hinge/tile.hpp"

namespace hinge {

/// What is added up over the features.
enum class Term { product, distance, squared_difference };

/// How a kernel sees some rows.
struct Geometry {
  Term term = Term::product;
  bool from_first = false;    // the origin is the first row, not 0
  std::vector<double> norms;  // |x_i|^2, from there

  /// Whether |x - z|^2 comes from norms and products.
  bool cancels(const Kernel& kernel) const { return kernel.measure() == Measure::squared_distance && term == Term::product; }
  double largest_norm() const { return norms.empty() ? 0.0 : *std::max_element(norms.begin(), norms.end()); }
};

/// A dense row: an array, or the differences of two.
template <class T>
struct SeenRow {
  const T* values;
  const T* origin;  // null: 0

  SeenRow() = default;
  SeenRow(const DenseRows<T>& rows, bool from_first, std::int64_t i)
      : values(rows.values + rows.row(i) * rows.n_features()),
        origin(from_first ? rows.values + rows.row(0) * rows.n_features() : nullptr) {}

  [[gnu::always_inline]] double operator[](std::int64_t k) const {
    return static_cast<double>(values[k]) - (origin ? static_cast<double>(origin[k]) : 0.0);
  }
};

template <class T>
Geometry geometry_of(const Kernel& kernel, const DenseRows<T>& rows) {
  constexpr double kLargestExponent = 100.0;
  const bool squares = kernel.measure() == Measure::squared_distance;
  Geometry found{.from_first = squares, .norms = std::vector<double>(static_cast<std::size_t>(rows.size()))};
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const SeenRow<T> x(rows, found.from_first, i);
    double& norm = found.norms[static_cast<std::size_t>(i)];
    for (std::int64_t k = 0; k < rows.n_features(); ++k) norm += x[k] * x[k];
  }
  if (kernel.measure() == Measure::distance) found.term = Term::distance;
  if (squares && kernel.gamma * found.largest_norm() > kLargestExponent) {
    found.term = Term::squared_difference;
    found.from_first = false;  // to take it off would round, and differences may be small
  }
  return found;
}

template <class T, class Index>
Geometry geometry_of(const Kernel& kernel, const CsrRows<T, Index>& rows) {
  const Term term = kernel.measure() == Measure::distance ? Term::distance : Term::product;
  return {.term = term, .norms = {rows.norms, rows.norms + rows.size()}};
}

/// k(x_i, x_i)
template <Rows R>
double kernel_diagonal(const R& rows, const Kernel& kernel, std::int64_t i) {
  const double norm2 = rows.squared_norm(i);
  double value = kernel.measure() == Measure::product ? norm2 : 0.0;
  kernel.apply({&value, 1}, norm2, {&norm2, 1});
  return value;
}

/// Sums over the features for held dense rows and others.
template <class T>
class DensePanels {
 public:
  using Scratch = std::vector<double>;

  DensePanels(const DenseRows<T>& rows, const Geometry& geometry, std::span<const std::int64_t> held)
      : rows_(rows), term_(geometry.term), from_first_(geometry.from_first), count_(held.size()) {
    const std::size_t panels = (count_ + tile::kRows - 1) / tile::kRows;
    values_.resize(panels * tile::kRows * static_cast<std::size_t>(rows.n_features()));
    for (std::size_t p = 0; p < panels; ++p) pack<tile::kRows>(held.subspan(p * tile::kRows), values_.data() + place(p));
  }

  Scratch scratch() const { return Scratch(static_cast<std::size_t>(tile::kColumns * rows_.n_features())); }

  /// out[h][c] of held row h and row columns[c].
  void measure(std::span<const std::int64_t> columns, Scratch& scratch, std::span<double> out) const {
    switch (term_) {
      case Term::product:
        return add_up<tile::Product>(columns, scratch, out);
      case Term::distance:
        return add_up<tile::Distance>(columns, scratch, out);
      case Term::squared_difference:
        return add_up<tile::SquaredDifference>(columns, scratch, out);
    }
  }

 private:
  DenseRows<T> rows_;
  Term term_;
  bool from_first_;
  std::size_t count_;
  std::vector<double> values_;

  std::int64_t place(std::size_t panel) const { return static_cast<std::int64_t>(panel) * tile::kRows * rows_.n_features(); }

  template <class Of>
  void add_up(std::span<const std::int64_t> columns, Scratch& scratch, std::span<double> out) const {
    if (count_ == 1) return add_up_one<Of>(columns, out);
    double sum[tile::kRows * tile::kColumns];
    for (std::size_t c = 0; c < columns.size(); c += tile::kColumns) {
      pack<tile::kColumns>(columns.subspan(c), scratch.data());
      const std::size_t width = std::min<std::size_t>(tile::kColumns, columns.size() - c);
      for (std::size_t h = 0; h < count_; h += tile::kRows) {
        const std::size_t height = std::min<std::size_t>(tile::kRows, count_ - h);
        tile::accumulate<Of>(rows_.n_features(), values_.data() + place(h / tile::kRows), scratch.data(), sum);
        for (std::size_t p = 0; p < height; ++p) {
          std::copy_n(sum + p * tile::kColumns, width, &out[(h + p) * columns.size() + c]);
        }
      }
    }
  }

  /// One row with others, eight at a time, which are not packed.
  template <class Of>
  void add_up_one(std::span<const std::int64_t> columns, std::span<double> out) const {
    constexpr std::size_t kAtOnce = 8;
    for (std::size_t c = 0; c < columns.size(); c += kAtOnce) {
      SeenRow<T> z[kAtOnce];
      for (std::size_t p = 0; p < kAtOnce; ++p) z[p] = {rows_, from_first_, columns[std::min(c + p, columns.size() - 1)]};
      double sums[kAtOnce] = {};
      for (std::int64_t k = 0; k < rows_.n_features(); ++k) {
        for (std::size_t p = 0; p < kAtOnce; ++p) Of::add(sums[p], values_[k * tile::kRows], z[p][k]);
      }
      std::copy_n(sums, std::min(kAtOnce, columns.size() - c), &out[c]);
    }
  }

  /// The first `Width` of these rows, feature by feature; where there are fewer, the last one again.
  template <std::size_t Width>
  void pack(std::span<const std::int64_t> chosen, double* out) const {
    SeenRow<T> x[Width];
    for (std::size_t c = 0; c < Width; ++c) x[c] = {rows_, from_first_, chosen[std::min(c, chosen.size() - 1)]};
    for (std::int64_t k = 0; k < rows_.n_features(); ++k, out += Width) {
      for (std::size_t c = 0; c < Width; ++c) out[c] = x[c][k];
    }
  }
};

/// The same of sparse rows.
template <class T, class Index>
class SparsePanels {
 public:
  using Scratch = std::vector<double>;

  SparsePanels(const CsrRows<T, Index>& rows, const Geometry& geometry, std::span<const std::int64_t> held)
      : rows_(rows),
        of_distances_(geometry.term == Term::distance),
        count_(held.size()),
        spread_(static_cast<std::size_t>(rows.n_features()) * held.size()),
        lengths_(held.size()) {
    for (std::size_t h = 0; h < count_; ++h) {
      rows.for_each(held[h], [&](std::int64_t j, double x) {
        spread_[static_cast<std::size_t>(j) * count_ + h] = x;
        lengths_[h] += std::abs(x);
      });
    }
  }

  Scratch scratch() const { return Scratch(kLanes * count_); }

  void measure(std::span<const std::int64_t> columns, Scratch& sums, std::span<double> out) const {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (of_distances_) {
        add_up(columns[c], sums, [](double z, double x) { return std::abs(x - z) - std::abs(x); });
      } else {
        add_up(columns[c], sums, [](double z, double x) { return z * x; });
      }
      for (std::size_t h = 0; h < count_; ++h) {
        const double sum = (sums[h] + sums[count_ + h]) + (sums[2 * count_ + h] + sums[3 * count_ + h]);
        out[h * columns.size() + c] = of_distances_ ? std::max(0.0, lengths_[h] + sum) : sum;
      }
    }
  }

 private:
  static constexpr std::size_t kLanes = 4;

  CsrRows<T, Index> rows_;
  bool of_distances_;
  std::size_t count_;
  std::vector<double> spread_;
  std::vector<double> lengths_;  // |x_h|_1

  template <class Term>
  void add_up(std::int64_t j, Scratch& sums, Term&& term) const {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::size_t lane = 0;
    rows_.for_each(j, [&](std::int64_t column, double z) {
      const double* x = spread_.data() + static_cast<std::size_t>(column) * count_;
      double* __restrict sum = sums.data() + lane * count_;
      for (std::size_t h = 0; h < count_; ++h) sum[h] += term(z, x[h]);
      lane = (lane + 1) % kLanes;
    });
  }
};

template <class T>
DensePanels<T> panels_of(const DenseRows<T>& rows, const Geometry& geometry, std::span<const std::int64_t> held) {
  return {rows, geometry, held};
}
template <class T, class Index>
SparsePanels<T, Index> panels_of(const CsrRows<T, Index>& rows, const Geometry& geometry, std::span<const std::int64_t> held) {
  return {rows, geometry, held};
}

/// How many rows are held at once: dense ones stay in the second cache of a processor, sparse ones take memory for every feature.
template <class T>
std::int64_t held_rows(const DenseRows<T>& rows) {
  constexpr std::int64_t kValues = 1 << 16;
  constexpr std::int64_t kMost = 64 * tile::kRows;
  return std::clamp(kValues / std::max<std::int64_t>(rows.n_features(), 1), tile::kRows, kMost);
}
template <class T, class Index>
std::int64_t held_rows(const CsrRows<T, Index>& rows) {
  constexpr std::int64_t kValues = 1 << 22;
  constexpr std::int64_t kMost = 64;
  return std::clamp<std::int64_t>(kValues / std::max<std::int64_t>(rows.n_features(), 1), 1, kMost);
}

/// Kernel values of held rows.
template <Rows R>
class KernelBlock {
 public:
  struct Scratch {
    std::vector<double> of_panels;
    std::vector<double> norms;
  };

  KernelBlock(const Kernel& kernel, const R& rows, const Geometry& geometry, std::span<const std::int64_t> held)
      : kernel_(kernel), geometry_(geometry), held_(held.begin(), held.end()), panels_(panels_of(rows, geometry, held)) {}

  Scratch scratch() const { return {panels_.scratch(), {}}; }

  /// out[h][c] = k(x_h, x_j) for every held row h and j = columns[c].
  void values(std::span<const std::int64_t> columns, Scratch& scratch, std::span<double> out) const {
    panels_.measure(columns, scratch.of_panels, out);
    scratch.norms.resize(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) scratch.norms[c] = geometry_.norms[static_cast<std::size_t>(columns[c])];
    for (std::size_t h = 0; h < held_.size(); ++h) {
      const auto of_row = out.subspan(h * columns.size(), columns.size());
      const double norm2 = geometry_.norms[static_cast<std::size_t>(held_[h])];
      if (geometry_.cancels(kernel_)) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
          const double square = std::max(0.0, (norm2 + scratch.norms[c]) - 2.0 * of_row[c]);
          of_row[c] = held_[h] == columns[c] ? 0.0 : square;
        }
      }
      kernel_.apply(of_row, norm2, scratch.norms);
    }
  }

 private:
  Kernel kernel_;
  const Geometry& geometry_;
  std::vector<std::int64_t> held_;
  decltype(panels_of(std::declval<const R&>(), std::declval<const Geometry&>(), {})) panels_;
};

}  // namespace hinge
