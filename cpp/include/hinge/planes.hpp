#pragma once
// Cutting planes of the risk R(w) = sum_i C_i max(0, 1 - t_i w.x_i).
//
// Any set S of rows gives a plane below the risk,
//
//   R(w) >= b - w.a    with    a = sum_{i in S} C_i t_i x_i,   b = sum_{i in S} C_i,
//
// since max(0, s) is at least s and at least 0. It touches the risk at every w whose rows with t_i w.x_i < 1 are S. A row may
// belong to S in part: then it counts with that share of C_i.
//
// With a free intercept the risk is R(w) = min_b sum_i C_i max(0, 1 - t_i (w.x_i + b)), and the same plane lies below it if it is
// balanced: the rows of both classes in S cost the same, so that b makes no difference. Almost every such set has one row in part.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hinge/epoch.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"

namespace hinge {

/// A set of rows: bit i % 64 of word i / 64.
using Bits = std::span<const std::uint64_t>;

inline std::size_t words_for(std::int64_t m) { return static_cast<std::size_t>((m + 63) / 64); }
inline bool contains(Bits set, std::int64_t i) { return (set[static_cast<std::size_t>(i / 64)] >> (i % 64)) & 1U; }

/// Calls f(i) for every row of the set, ascending.
template <class F>
void for_each_row(Bits set, F&& f) {
  for (std::size_t word = 0; word < set.size(); ++word) {
    for (std::uint64_t left = set[word]; left != 0; left &= left - 1) {
      f(static_cast<std::int64_t>(64 * word) + std::countr_zero(left));
    }
  }
}

/// The row that belongs to a set in part: with this share of its cost, which is 0 if there is none.
struct Part {
  std::int64_t row = 0;
  double share = 0.0;
};

/// The plane of a set of rows that changes: only rows that come or go are read.
struct Cut {
  std::vector<double> a;               // sum C_i t_i x_i
  std::vector<std::uint64_t> members;  // S, without the row in part
  Part part;
  double offset = 0.0;  // sum C_i, set by whoever has moved the set

  Cut(std::int64_t m, std::int64_t n_features) : a(static_cast<std::size_t>(n_features) + 1), members(words_for(m)) {}

  void clear() {
    std::fill(a.begin(), a.end(), 0.0);
    std::fill(members.begin(), members.end(), 0);
    part = {};
  }

  /// Row i comes or goes.
  template <Rows R>
  [[gnu::always_inline]] void flip(const R& rows, const Problem& problem, std::int64_t i) {
    const double step = problem.cost[i] * problem.target[i];
    rows.add(i, contains(members, i) ? -step : step, a);
    members[static_cast<std::size_t>(i / 64)] ^= std::uint64_t{1} << (i % 64);
  }

  /// Another row in part, or none.
  template <Rows R>
  void take(const R& rows, const Problem& problem, Part next) {
    for (const auto& [part_of, sign] : {std::pair{part, -1.0}, std::pair{next, 1.0}}) {
      if (part_of.share == 0.0) continue;
      rows.add(part_of.row, sign * part_of.share * problem.cost[part_of.row] * problem.target[part_of.row], a);
    }
    part = next;
  }

  /// The set becomes `target`, row by row and none in part; from nothing if that is less work. False when stopped by the poll: a
  /// is then the plane of the rows in `members`, a set on the way.
  template <Rows R>
  bool move(const R& rows, const Problem& problem, Bits target, std::int64_t& touched, Poll& poll) {
    take(rows, problem, {});
    std::vector<std::int64_t> changes = changes_to(target);
    std::size_t n_target = 0;
    for (const std::uint64_t word : target) n_target += static_cast<std::size_t>(std::popcount(word));
    if (changes.size() > n_target) {
      clear();
      changes = changes_to(target);
    }
    return each_row(rows, changes, poll, [&](std::int64_t i) {
      flip(rows, problem, i);
      ++touched;
    });
  }

 private:
  std::vector<std::int64_t> changes_to(Bits target) const {
    std::vector<std::uint64_t> changing(members);
    for (std::size_t word = 0; word < target.size(); ++word) changing[word] ^= target[word];
    std::vector<std::int64_t> out;
    for_each_row(changing, [&](std::int64_t i) { out.push_back(i); });
    return out;
  }
};

}  // namespace hinge
