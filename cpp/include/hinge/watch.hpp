#pragma once
// Watch: which rows a step of newton.hpp must read.
//
// A row outside of its zone by more than |x_i| times the distance that w has moved since the row was read keeps its a+_i, 0 or C_i: it
// sleeps. The places of w are kept, and each row knows at which of them it was read. Lengths are those of a metric (metric.hpp).
//
// Rows that cannot matter even if w goes much farther than the step at hand are not looked at until it has: the others are near.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "hinge/metric.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/state.hpp"

namespace hinge {

/// Lists of rows take half of the memory this way.
using RowNumber = std::uint32_t;

class Watch {
 public:
  /// A row outside of its zone by `outside`; a move of w by d can take it towards the zone by at most sqrt(pace2) d.
  struct Distance {
    double outside;
    double pace2;
  };

  /// For up to m rows and `width` weights.
  Watch(std::int64_t m, std::size_t width) : width_(width) {
    if (m > std::numeric_limits<RowNumber>::max())
      throw std::invalid_argument("newton takes at most 4,294,967,295 rows: use dcd");
  }

  template <class F>
  void fields(F&& field) {
    field("read_at", read_at_);
    field("places", places_);
  }

  /// So many rows have been read; 0: none yet.
  void check_restored(std::int64_t n_rows) const {
    const std::size_t kept = places_.size() / width_;
    if (places_.size() % width_ != 0 || kept > kMost || (n_rows > 0 && (kept == 0 || std::ssize(read_at_) != n_rows)) ||
        std::any_of(read_at_.begin(), read_at_.end(), [&](std::size_t k) { return k > 0 && k >= kept; })) {
      throw std::invalid_argument("saved state: places are out of range or of the wrong length");
    }
  }

  /// So many rows, all of them, are read at this w: no other place is needed.
  void begin(std::span<const double> w, std::int64_t n_rows) {
    places_.assign(w.begin(), w.end());
    horizon_ = -1.0;
    if (std::ssize(read_at_) != n_rows) read_at_ = Varying<std::uint8_t>(static_cast<std::size_t>(n_rows));
  }
  void move_to(std::span<const double> w) { places_.insert(places_.end(), w.begin(), w.end()); }

  /// Whether there is no room for another place. They take at most a 64th of the memory of the rows, unless these are few.
  bool full(double stored) const {
    const auto affordable = static_cast<std::size_t>(stored / (64.0 * static_cast<double>(width_)));
    return places_.size() / width_ >= std::clamp(affordable, kLeast, kMost);
  }

  /// The present place.
  std::uint8_t here() const { return static_cast<std::uint8_t>(places_.size() / width_ - 1); }
  std::uint8_t& read_at(std::int64_t k) { return read_at_[k]; }

  /// The way from w to w + longest p.
  struct Way {
    std::span<const double> w;
    std::span<const double> p;
    double longest;
    const Metric& metric;
  };

  /// Those of `size` rows that may leave or enter their zones on the way, ascending; distance(k) is that of row k. False when stopped.
  template <class F>
  bool wake(std::int64_t size, const Way& way, F&& distance, std::int64_t n_threads, Poll& poll,
            std::vector<RowNumber>& awake) {
    const auto farthest = [&](const double* from) {
      return std::sqrt(std::max(squared_distance(from, way, 0.0), squared_distance(from, way, way.longest)));
    };
    const double ahead = kNear * way.longest * std::sqrt(way.metric.squared_length(way.p));
    const bool all = horizon_ < 0.0 || horizon_ > kTooFar * ahead || !(farthest(near_from_.data()) <= horizon_);
    if (all) {
      horizon_ = ahead;
      near_from_.assign(way.w.begin(), way.w.end());
    }
    std::vector<double> moved;  // squared, from each place
    std::vector<double> may_move;
    for (const double* from = places_.data(); from != places_.data() + places_.size(); from += width_) {
      const double far = farthest(from);
      moved.push_back(far * far);
      may_move.push_back((far + horizon_) * (far + horizon_) * (1.0 + kRoundingOfLengths));
    }
    const auto may_matter = [&](std::int64_t k, const std::vector<double>& reach2) {
      const Distance row = distance(k);
      return !((row.outside > 0.0) & (row.outside * row.outside > row.pace2 * reach2[read_at_[k]]));
    };
    const auto itself = [](std::int64_t k) { return k; };
    if (all && !choose(size, itself, [&](std::int64_t k) { return may_matter(k, may_move); }, n_threads, poll, near_)) {
      horizon_ = -1.0;
      return false;
    }
    const auto of_near = [&](std::int64_t j) { return std::int64_t{near_[static_cast<std::size_t>(j)]}; };
    return choose(
        static_cast<std::int64_t>(near_.size()), of_near, [&](std::int64_t k) { return may_matter(k, moved); }, n_threads, poll,
        awake);
  }

  /// The list of near rows keeps no more memory than it needs.
  void release() { near_.shrink_to_fit(); }

 private:
  static constexpr std::size_t kMost = 128;
  static constexpr std::size_t kLeast = 8;
  /// How far ahead rows are near, in lengths of a step.
  static constexpr double kNear = 8.0;
  /// When steps have become so much shorter, fewer rows are near.
  static constexpr double kTooFar = 8.0;
  static constexpr double kRoundingOfLengths = 1e-9;

  std::size_t width_;
  Varying<std::uint8_t> read_at_;  // at which place a row was read
  Varying<double> places_;         // of w, one after the other; the last is the present one
  std::vector<RowNumber> near_;
  std::vector<double> near_from_;  // where w was then
  double horizon_ = -1.0;          // how far from there rows that are not near sleep; -1: not known

  /// Rows, one part after the other.
  struct Chosen {
    std::vector<RowNumber> rows;

    void merge(const Chosen& other) { rows.insert(rows.end(), other.rows.begin(), other.rows.end()); }
  };

  /// Those of row(0) .. row(count - 1) that are `wanted`. False when stopped.
  template <class Row, class Wanted>
  static bool choose(std::int64_t count, Row&& row, Wanted&& wanted, std::int64_t n_threads, Poll& poll,
                     std::vector<RowNumber>& out) {
    Chosen chosen;
    chosen.rows.reserve(static_cast<std::size_t>(count));  // memory that is not written to takes none
    const auto add = [&](Chosen& part, std::int64_t begin, std::int64_t end, Poll& own) {
      std::size_t n = part.rows.size();
      part.rows.resize(n + static_cast<std::size_t>(end - begin));
      for (std::int64_t j = begin; j < end; ++j) {
        const std::int64_t k = row(j);
        part.rows[n] = static_cast<RowNumber>(k);
        n += static_cast<std::size_t>(wanted(k));  // as good as random: no branch
      }
      part.rows.resize(n);
      return !own(end - begin);
    };
    if (!sum_over(Parts::of(count, count, 0), n_threads, poll, Chosen{}, chosen, add)) return false;
    out = std::move(chosen.rows);
    return true;
  }

  /// From `from` to w + t p.
  static double squared_distance(const double* from, const Way& way, double t) {
    std::vector<double> difference(way.w.size());
    for (std::size_t j = 0; j < difference.size(); ++j) difference[j] = way.w[j] + t * way.p[j] - from[j];
    return way.metric.squared_length(difference);
  }
};

}  // namespace hinge
