#pragma once
// Cholesky: dense symmetric positive definite systems A x = y by the lower factor L, A = L L'. In blocks of columns: the block on the
// diagonal and the rows below it entry by entry, what is right of them by tiles (tile.hpp).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/sums.hpp"
#include "hinge/tile.hpp"

namespace hinge {

class Cholesky {
 public:
  /// `matrix` is n x n, row by row; only its lower triangle is read. When the poll stops the work, the factor is not `ok`.
  Cholesky(std::vector<double> matrix, std::size_t n, Poll& poll, std::int64_t n_threads = 1)
      : l_(std::move(matrix)), n_(static_cast<std::int64_t>(n)) {
    for (std::int64_t begin = 0; begin < n_ && ok_; begin += kBlock) {
      const std::int64_t end = std::min(begin + kBlock, n_);
      ok_ = factor_columns(begin, end, n_threads, poll) && update_rest(begin, end, n_threads, poll);
    }
  }
  Cholesky(std::vector<double> matrix, std::size_t n, Poll&& never = Poll(std::make_shared<StopToken>()))
      : Cholesky(std::move(matrix), n, never) {}

  bool ok() const { return ok_; }

  std::vector<double> solve(std::vector<double> x) const {
    for (std::int64_t i = 0; i < n_; ++i) {
      x[at(i)] = (x[at(i)] - dot({row(i), at(i)}, {x.data(), at(i)})) / row(i)[i];
    }
    for (std::int64_t i = n_; i-- > 0;) {
      x[at(i)] /= row(i)[i];
      const double* l = row(i);
      for (std::int64_t k = 0; k < i; ++k) x[at(k)] -= l[k] * x[at(i)];
    }
    return x;
  }

 private:
  static constexpr std::int64_t kBlock = 48;

  std::vector<double> l_;
  std::int64_t n_;
  bool ok_ = true;

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  double* row(std::int64_t i) { return l_.data() + i * n_; }
  const double* row(std::int64_t i) const { return l_.data() + i * n_; }

  /// Columns begin .. end-1 of L, given that all columns before are taken off: the block on the diagonal entry by entry, the rows
  /// below it by tiles, as a product with the inverse of that block.
  bool factor_columns(std::int64_t begin, std::int64_t end, std::int64_t n_threads, Poll& poll) {
    for (std::int64_t i = begin; i < end; ++i) {
      double* l = row(i);
      for (std::int64_t j = begin; j < i; ++j) {
        l[j] = (l[j] - dot({l + begin, at(j - begin)}, {row(j) + begin, at(j - begin)})) / row(j)[j];
      }
      const double rest = l[i] - dot({l + begin, at(i - begin)}, {l + begin, at(i - begin)});
      if (!(rest > 0.0)) return false;
      l[i] = std::sqrt(rest);
    }
    if (end == n_) return true;
    const std::int64_t width = end - begin;
    tile::Panels<tile::kColumns> inverse = inverse_of_block(begin, end);
    const Parts parts{n_ - end, (n_ - end + kBlock - 1) / kBlock};
    return for_parts(parts, parts.size < kSerial ? 1 : n_threads, poll, [&](std::int64_t first, std::int64_t last, Poll& own) {
      tile::Panels<tile::kRows> below;
      below.reset(last - first, width);
      std::vector<double> column(tile::padded(last - first));
      for (std::int64_t k = 0; k < width; ++k) {
        for (std::int64_t i = first; i < last; ++i) column[at(i - first)] = std::exchange(row(end + i)[begin + k], 0.0);
        below.put(k, column.data(), 1.0);
      }
      for (std::int64_t p = 0; p < below.count(); ++p) {
        const std::int64_t top = first + p * tile::kRows;
        tile::add_product(below, p, inverse, width, std::min(tile::kRows, last - top), width, row(end + top) + begin, n_);
      }
      return !own((last - first) * width * width / 8);
    });
  }

  /// B' for the inverse B of the block of L on the diagonal.
  tile::Panels<tile::kColumns> inverse_of_block(std::int64_t begin, std::int64_t end) const {
    const std::int64_t width = end - begin;
    tile::Panels<tile::kColumns> inverse;
    inverse.reset(width, width);
    for (std::int64_t j = 0; j < width; ++j) {
      std::vector<double> x(tile::padded(width));
      for (std::int64_t i = j; i < width; ++i) {
        const double* l = row(begin + i) + begin;
        const double right = i == j ? 1.0 : 0.0;
        x[at(i)] = (right - dot({l + j, at(i - j)}, {x.data() + j, at(i - j)})) / l[i];
      }
      inverse.put(j, x.data(), 1.0);
    }
    return inverse;
  }

  /// What columns begin .. end-1 take off the columns behind them.
  bool update_rest(std::int64_t begin, std::int64_t end, std::int64_t n_threads, Poll& poll) {
    const std::int64_t size = n_ - end;
    if (size <= 0) return true;
    tile::Sides sides;
    sides.reset(size, end - begin);
    std::vector<double> column(tile::padded(size));
    for (std::int64_t k = 0; k < end - begin; ++k) {
      for (std::int64_t i = 0; i < size; ++i) column[at(i)] = row(end + i)[begin + k];
      sides.put(k, column.data(), -1.0);
    }
    double* c = row(end) + end;
    const std::int64_t panels = sides.a.count();
    return for_parts(Parts{panels, panels}, size < kSerial ? 1 : n_threads, poll,
                     [&](std::int64_t first, std::int64_t last, Poll& own) {
                       for (std::int64_t p = first; p < last; ++p) {
                         sides.add_panel(p, c, n_, size);
                         if (own(p * tile::kRows * tile::kRows * (end - begin) / 8)) return false;
                       }
                       return true;
                     });
  }

  /// Below this order threads cost more than they save.
  static constexpr std::int64_t kSerial = 256;
};

}  // namespace hinge
