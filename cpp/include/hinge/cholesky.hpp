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
  static constexpr std::int64_t kBlock = 96;

  std::vector<double> l_;
  std::int64_t n_;
  bool ok_ = true;

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  double* row(std::int64_t i) { return l_.data() + i * n_; }
  const double* row(std::int64_t i) const { return l_.data() + i * n_; }

  /// Columns begin .. end-1 of L, given that all columns before are in their place and taken off.
  bool factor_columns(std::int64_t begin, std::int64_t end, std::int64_t n_threads, Poll& poll) {
    for (std::int64_t i = begin; i < end; ++i) {
      factor_row(i, begin, i);
      const double rest = row(i)[i] - dot({row(i) + begin, at(i - begin)}, {row(i) + begin, at(i - begin)});
      if (!(rest > 0.0)) return false;
      row(i)[i] = std::sqrt(rest);
    }
    const Parts parts{n_ - end, std::max<std::int64_t>(1, (n_ - end) / kBlock)};
    return for_parts(parts, n_threads, poll, [&](std::int64_t first, std::int64_t last, Poll& own) {
      for (std::int64_t i = end + first; i < end + last; ++i) {
        factor_row(i, begin, end);
        if (own((end - begin) * (end - begin) / 2)) return false;
      }
      return true;
    });
  }

  /// Entries begin .. end-1 of row i of L.
  void factor_row(std::int64_t i, std::int64_t begin, std::int64_t end) {
    double* l = row(i);
    for (std::int64_t j = begin; j < end; ++j) {
      l[j] = (l[j] - dot({l + begin, at(j - begin)}, {row(j) + begin, at(j - begin)})) / row(j)[j];
    }
  }

  /// What columns begin .. end-1 take off the columns behind them.
  bool update_rest(std::int64_t begin, std::int64_t end, std::int64_t n_threads, Poll& poll) {
    const std::int64_t size = n_ - end;
    if (size <= 0) return true;
    tile::Sides sides;
    sides.reset(size, end - begin);
    for (std::int64_t i = 0; i < size; ++i) {
      const double* l = row(end + i) + begin;
      for (std::int64_t k = 0; k < end - begin; ++k) {
        sides.a.at(k, i) = -l[k];
        sides.b.at(k, i) = l[k];
      }
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
