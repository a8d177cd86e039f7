#pragma once
// The kernel of all dense linear algebra: a tile of C += A'B, A and B packed in panels of columns. Distances between columns are
// added up as products are.
//
// Every entry of C is summed over the rows of A and B in their order, by one multiplication and one addition each: the result has the
// same bits whatever the width of the processor's registers, and however the tiles are shared among threads.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "hinge/processor.hpp"

namespace hinge::tile {

inline constexpr std::int64_t kRows = 6;     // columns of A in a panel: rows of a tile of C
inline constexpr std::int64_t kColumns = 8;  // columns of B in a panel

typedef double Half __attribute__((vector_size(kColumns / 2 * sizeof(double)), aligned(8)));

/// What is summed over k, for a register or for one number.
struct Product {
  template <class T>
  [[gnu::always_inline]] static void add(T& sum, double a, const T& b) {
    sum += a * b;
  }
};
struct Distance {
  template <class T>
  [[gnu::always_inline]] static void add(T& sum, double a, const T& b) {
    sum += a > b ? a - b : b - a;
  }
};
struct SquaredDifference {
  template <class T>
  [[gnu::always_inline]] static void add(T& sum, double a, const T& b) {
    sum += (a - b) * (a - b);
  }
};

/// sum[i][j] = sum_k Term of a[k][i] and b[k][j], over k < n
template <class Term>
HINGE_FOR_EACH_PROCESSOR void accumulate(std::int64_t n, const double* a, const double* b, double* sum) {
  Half l0{}, l1{}, l2{}, l3{}, l4{}, l5{};  // columns 0 .. 3 of each row
  Half r0{}, r1{}, r2{}, r3{}, r4{}, r5{};  // columns 4 .. 7
  for (std::int64_t k = 0; k < n; ++k, a += kRows, b += kColumns) {
    const Half left = *reinterpret_cast<const Half*>(b);
    const Half right = *reinterpret_cast<const Half*>(b + kColumns / 2);
    Term::add(l0, a[0], left);
    Term::add(r0, a[0], right);
    Term::add(l1, a[1], left);
    Term::add(r1, a[1], right);
    Term::add(l2, a[2], left);
    Term::add(r2, a[2], right);
    Term::add(l3, a[3], left);
    Term::add(r3, a[3], right);
    Term::add(l4, a[4], left);
    Term::add(r4, a[4], right);
    Term::add(l5, a[5], left);
    Term::add(r5, a[5], right);
  }
  const Half all[] = {l0, r0, l1, r1, l2, r2, l3, r3, l4, r4, l5, r5};
  std::memcpy(sum, all, sizeof all);
}

/// So many numbers fill whole panels of either width.
inline std::size_t padded(std::int64_t columns) { return static_cast<std::size_t>(columns + kRows + kColumns); }

/// Columns of a matrix with `n` rows, in panels of `Width` columns; what is missing in the last panel is zero.
template <std::int64_t Width>
class Panels {
 public:
  /// Room for `columns` columns and `rows` rows, which are then put in their places.
  void reset(std::int64_t columns, std::int64_t rows) {
    rows_ = rows;
    count_ = (columns + Width - 1) / Width;
    values_.resize(static_cast<std::size_t>(count_ * Width * rows));
  }
  /// Row `row` becomes scale times x, which is padded with zeros (`padded`).
  void put(std::int64_t row, const double* x, double scale) {
    double* out = values_.data() + row * Width;
    for (std::int64_t p = 0; p < count_; ++p, out += rows_ * Width, x += Width) {
      for (std::int64_t j = 0; j < Width; ++j) out[j] = scale * x[j];
    }
  }
  const double* panel(std::int64_t p) const { return &values_[static_cast<std::size_t>(p * rows_ * Width)]; }
  std::int64_t count() const { return count_; }

 private:
  std::vector<double> values_;
  std::int64_t rows_ = 0;
  std::int64_t count_ = 0;
};

/// C += A'B for panel p of A and the first `columns` columns of B; `c` points to the first of `rows` rows of C, which are `leading` apart.
inline void add_product(const Panels<kRows>& a, std::int64_t p, const Panels<kColumns>& b, std::int64_t n, std::int64_t rows,
                        std::int64_t columns, double* c, std::int64_t leading) {
  double sum[kRows * kColumns];
  for (std::int64_t column = 0; column < columns; column += kColumns) {
    accumulate<Product>(n, a.panel(p), b.panel(column / kColumns), sum);
    const std::int64_t width = std::min(kColumns, columns - column);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < width; ++j) c[i * leading + column + j] += sum[i * kColumns + j];
    }
  }
}

/// The two sides of a product C += A'B with `n` rows: C square and symmetric, of which only the lower triangle is used.
struct Sides {
  Panels<kRows> a;
  Panels<kColumns> b;
  std::int64_t n = 0;

  void reset(std::int64_t columns, std::int64_t rows) {
    n = rows;
    a.reset(columns, rows);
    b.reset(columns, rows);
  }
  /// Row `row` of B is x, that of A is scale times x; x is padded.
  void put(std::int64_t row, const double* x, double scale) {
    a.put(row, x, scale);
    b.put(row, x, 1.0);
  }

  /// Adds to the rows of panel p of C (those from p kRows on), up to the diagonal. `c` points to C's first entry, `size` is its order.
  void add_panel(std::int64_t p, double* c, std::int64_t leading, std::int64_t size) const {
    const std::int64_t first = p * kRows;
    const std::int64_t last = std::min(first + kRows, size);
    double sum[kRows * kColumns];
    for (std::int64_t column = 0; column < last; column += kColumns) {
      accumulate<Product>(n, a.panel(p), b.panel(column / kColumns), sum);
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t end = std::min(column + kColumns, i + 1);
        for (std::int64_t j = column; j < end; ++j) c[i * leading + j] += sum[(i - first) * kColumns + (j - column)];
      }
    }
  }
};

}  // namespace hinge::tile
