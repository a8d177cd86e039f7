#pragma once
// Gram: the weighted sum of outer products  G = sum_i c_i x_i x_i'  over some rows, as a dense matrix; rows can be taken off again.
//
// Rows are seen with a constant feature behind their values (newton.hpp: 1 for a free intercept, rho for a penalised one). Dense rows
// go through tiles (tile.hpp), a chunk of rows at a time. Sparse rows add their pairs of values one by one, unless they are so full
// that tiles are faster. Which way is taken depends on counts only.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/state.hpp"
#include "hinge/tile.hpp"

namespace hinge {

/// A row and its weight in the sum; a negative weight takes it off.
struct Weighted {
  std::int64_t row;
  double weight;
};

class Gram {
 public:
  /// Features including the constant one: the matrix is size x size, row by row, and only its lower triangle counts.
  explicit Gram(std::int64_t n_features) : size_(n_features + 1) {}

  std::int64_t size() const { return size_; }
  /// Its entries; none before the first `clear`.
  Varying<double>& values() { return values_; }
  const Varying<double>& values() const { return values_; }

  void clear() { values_.assign(static_cast<std::size_t>(size_ * size_), 0.0); }

  /// The memory that `add` works in; it is kept from one to the next.
  void release() { sides_ = tile::Sides(); }

  /// Adds these rows. False when stopped by the poll.
  template <Rows R>
  bool add(const R& rows, std::span<const Weighted> chosen, double constant, Poll& poll, std::int64_t n_threads) {
    constant_ = constant;
    double pairs = 0.0;
    for (const auto& [i, weight] : chosen) pairs += square(static_cast<double>(rows.stored(i) + 1));
    const double entries = static_cast<double>(chosen.size()) * square(static_cast<double>(size_));
    if (kPair * pairs < entries) return add_pairs(rows, chosen, pairs, poll, n_threads);
    return size_ <= kSmall ? add_small(rows, chosen, poll, n_threads) : add_panels(rows, chosen, poll, n_threads);
  }

  /// What adding a row costs, in multiplications of one value by one weight.
  static double cost(double stored, double size) { return std::min(kPair * square(stored + 1.0), square(size)) * kEntry; }
  /// The same for factoring a matrix of this order.
  static double factor_cost(double size) { return kEntry * size * square(size) / 3.0; }

 private:
  /// A pair of sparse values costs as much as so many entries of a tile.
  static constexpr double kPair = 6.0;
  /// An entry of a tile, in multiplications of a pass over the rows.
  static constexpr double kEntry = 0.1;
  /// Matrices up to this order are as good as in the cache: threads add up their own.
  static constexpr std::int64_t kSmall = 256;
  /// Values of a chunk of rows: of a small matrix so few that both sides stay in the cache, too. With 2^18 for all, and threads that shared the
  /// panels of a chunk, the matrices of Covertype took 1.3 times as long on one thread, and as long on two.
  static constexpr std::int64_t kSmallChunk = 1 << 15;
  static constexpr std::int64_t kChunk = 1 << 18;
  static constexpr std::int64_t kLeastChunk = 64;
  /// Rows that one thread puts side by side before it looks for more.
  static constexpr std::int64_t kPacked = 256;

  std::int64_t size_;
  double constant_ = 0.0;
  Varying<double> values_;
  tile::Sides sides_;

  static double square(double x) { return x * x; }

  using Total = TotalOf<Varying<double>>;

  /// term(sum, begin, end, poll) adds some of the chosen rows to a matrix, and returns false when stopped.
  template <class Term>
  bool add_up(const Parts& parts, std::int64_t n_threads, Poll& poll, Term&& term) {
    Total total{std::move(values_)};
    const Total empty{parts.count > 1 ? Varying<double>(total.values.size()) : Varying<double>()};
    const bool finished = sum_over(
        parts, n_threads, poll, empty, total,
        [&](Total& sum, std::int64_t begin, std::int64_t end, Poll& own) { return term(sum.values.data(), begin, end, own); });
    values_ = std::move(total.values);
    return finished;
  }

  /// A small matrix through tiles.
  template <Rows R>
  bool add_small(const R& rows, std::span<const Weighted> chosen, Poll& poll, std::int64_t n_threads) {
    const auto count = static_cast<std::int64_t>(chosen.size());
    const std::int64_t chunk = std::max(kLeastChunk, kSmallChunk / size_);
    const auto add = [&](double* sum, std::int64_t begin, std::int64_t end, Poll& own) {
      tile::Sides sides;
      for (; begin < end; begin += chunk) {
        const std::int64_t n = std::min(chunk, end - begin);
        const auto part = chosen.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(n));
        sides.reset(size_, n);
        if (!put(rows, part, 0, n, sides, own)) return false;
        for (std::int64_t p = 0; p < sides.a.count(); ++p) sides.add_panel(p, sum, size_, size_);
        if (own(n * size_ * size_ / 8)) return false;
      }
      return true;
    };
    return add_up(Parts::of(count, count * size_ * size_ / 8, size_ * size_), n_threads, poll, add);
  }

  /// A large one, whose panels threads share.
  template <Rows R>
  bool add_panels(const R& rows, std::span<const Weighted> chosen, Poll& poll, std::int64_t n_threads) {
    const auto chunk = static_cast<std::size_t>(std::max(kLeastChunk, kChunk / size_));
    for (std::size_t begin = 0; begin < chosen.size(); begin += chunk) {
      const auto part = chosen.subspan(begin, std::min(chunk, chosen.size() - begin));
      const auto count = static_cast<std::int64_t>(part.size());
      sides_.reset(size_, count);
      const std::int64_t panels = sides_.a.count();
      const std::int64_t work = count * size_ / 8;
      const std::int64_t used = work * size_ > kThreads ? n_threads : 1;
      const auto pack = [&](std::int64_t first, std::int64_t last, Poll& own) {
        return put(rows, part, first, last, sides_, own);
      };
      const auto multiply = [&](std::int64_t first, std::int64_t last, Poll& own) {
        for (std::int64_t p = first; p < last; ++p) {
          sides_.add_panel(p, values_.data(), size_, size_);
          if (own(work)) return false;
        }
        return true;
      };
      if (!for_parts(Parts{count, std::max<std::int64_t>(1, count / kPacked)}, used, poll, pack)) return false;
      if (!for_parts(Parts{panels, panels}, used, poll, multiply)) return false;
    }
    return true;
  }

  /// The rows first .. last-1 of `part`, side by side. False when stopped.
  template <Rows R>
  bool put(const R& rows, std::span<const Weighted> part, std::int64_t first, std::int64_t last, tile::Sides& sides,
           Poll& poll) const {
    std::vector<double> x(tile::padded(size_));
    for (std::int64_t k = first; k < last; ++k) {
      rows.prefetch(part[static_cast<std::size_t>(std::min(k + kPrefetchDistance, last - 1))].row);
      const auto [i, weight] = part[static_cast<std::size_t>(k)];
      rows.for_each(i, [&](std::int64_t j, double value) { x[static_cast<std::size_t>(j)] = value; });
      x[static_cast<std::size_t>(size_ - 1)] = constant_;
      sides.put(k, x.data(), weight);
      rows.for_each(i, [&](std::int64_t j, double) { x[static_cast<std::size_t>(j)] = 0.0; });
      if (poll(2 * rows.stored(i))) return false;
    }
    return true;
  }

  /// With less work than this, in entries, threads cost more than they save.
  static constexpr std::int64_t kThreads = 1 << 20;

  template <Rows R>
  bool add_pairs(const R& rows, std::span<const Weighted> chosen, double pairs, Poll& poll, std::int64_t n_threads) {
    const auto add = [&](double* sum, std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t i = chosen[static_cast<std::size_t>(k)].row;
        rows.prefetch(chosen[static_cast<std::size_t>(std::min(k + kPrefetchDistance, end - 1))].row);
        add_row(rows, i, chosen[static_cast<std::size_t>(k)].weight, sum);
        if (own(rows.stored(i) * rows.stored(i))) return false;
      }
      return true;
    };
    const auto count = static_cast<std::int64_t>(chosen.size());
    return add_up(Parts::of(count, static_cast<std::int64_t>(pairs), size_ * size_), n_threads, poll, add);
  }

  template <Rows R>
  void add_row(const R& rows, std::int64_t i, double weight, double* g) const {
    const std::int64_t last = size_ - 1;
    rows.for_each(i, [&](std::int64_t p, double x) {
      if (p == last) return;  // the constant feature: below
      const double c = weight * x;
      rows.for_each(i, [&](std::int64_t q, double y) {
        if (q <= p) g[p * size_ + q] += c * y;
      });
      g[last * size_ + p] += c * constant_;
    });
    g[last * size_ + last] += weight * constant_ * constant_;
  }
};

}  // namespace hinge
