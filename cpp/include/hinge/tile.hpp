#pragma once
// The kernel of all dense linear algebra: a tile of C += A'B, A and B packed in panels of columns.
//
// Every entry of C is summed over the rows of A and B in their order, by one multiplication and one addition each: the result has the
// same bits whatever the width of the processor's registers, and however the tiles are shared among threads.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace hinge::tile {

inline constexpr std::int64_t kRows = 6;     // columns of A in a panel: rows of a tile of C
inline constexpr std::int64_t kColumns = 8;  // columns of B in a panel

// One version for each generation of processors, chosen when the program starts. Sanitizers run too early for that.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HINGE_FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HINGE_FOR_EACH_PROCESSOR
#endif

/// sum[i][j] = sum_k a[k][i] b[k][j] over k < n
HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static void multiply(std::int64_t n, const double* a, const double* b, double* sum) {
  typedef double Lane __attribute__((vector_size(kColumns * sizeof(double)), aligned(8)));
  Lane c0{}, c1{}, c2{}, c3{}, c4{}, c5{};
  for (std::int64_t k = 0; k < n; ++k, a += kRows, b += kColumns) {
    const Lane row = *reinterpret_cast<const Lane*>(b);
    c0 += a[0] * row;
    c1 += a[1] * row;
    c2 += a[2] * row;
    c3 += a[3] * row;
    c4 += a[4] * row;
    c5 += a[5] * row;
  }
  Lane* out = reinterpret_cast<Lane*>(sum);
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
  out[4] = c4;
  out[5] = c5;
}

/// Columns of a matrix with `n` rows, in panels of `Width` columns; what is missing in the last panel is zero.
template <std::int64_t Width>
class Panels {
 public:
  /// Room for `columns` columns and `rows` rows, all zero.
  void reset(std::int64_t columns, std::int64_t rows) {
    rows_ = rows;
    count_ = (columns + Width - 1) / Width;
    values_.assign(static_cast<std::size_t>(count_ * Width * rows), 0.0);
  }
  double& at(std::int64_t row, std::int64_t column) {
    return values_[static_cast<std::size_t>((column / Width * rows_ + row) * Width + column % Width)];
  }
  const double* panel(std::int64_t p) const { return &values_[static_cast<std::size_t>(p * rows_ * Width)]; }
  std::int64_t count() const { return count_; }

 private:
  std::vector<double> values_;
  std::int64_t rows_ = 0;
  std::int64_t count_ = 0;
};

/// The two sides of a product C += A'B with `n` rows: C square and symmetric, of which the lower triangle is kept.
struct Sides {
  Panels<kRows> a;
  Panels<kColumns> b;
  std::int64_t n = 0;

  void reset(std::int64_t columns, std::int64_t rows) {
    n = rows;
    a.reset(columns, rows);
    b.reset(columns, rows);
  }

  /// Adds to the rows of panel p of C (those from p kRows on), up to the diagonal. `c` points to C's first entry, `size` is its order.
  void add_panel(std::int64_t p, double* c, std::int64_t leading, std::int64_t size) const {
    const std::int64_t first = p * kRows;
    const std::int64_t last = std::min(first + kRows, size);
    double sum[kRows * kColumns];
    for (std::int64_t column = 0; column < last; column += kColumns) {
      multiply(n, a.panel(p), b.panel(column / kColumns), sum);
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t end = std::min(column + kColumns, i + 1);
        for (std::int64_t j = column; j < end; ++j) c[i * leading + j] += sum[(i - first) * kColumns + (j - column)];
      }
    }
  }
};

}  // namespace hinge::tile
