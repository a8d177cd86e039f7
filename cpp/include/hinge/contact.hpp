#pragma once
// Where a plane touches the risk: the best b, and the rows of the plane.
//
// The margins t_i (w.x_i + b) of some w and b are given. With a free intercept b first moves to its best place, by
//
//   d = argmin sum_i C_i max(0, s_i(d)),    s_i(d) = 1 - margin_i - t_i d.
//
// The slope in d is a step function: -(the cost of the rows with t = +1) far to the left, and higher by C_i right of
// d = t_i (1 - margin_i), where row i comes to the margin. The minimum is where it passes through zero (jumps.hpp).
//
// Rows with s_i > 0 belong to the plane, rows with s_i < 0 do not, and those with s_i = 0 may, with any share of their cost:
// enough of them, ascending, that the plane is balanced (planes.hpp). With a_i what row i counts for, sum_i a_i s_i is then the
// risk at w, and nowhere above the risk.
//
// Without a free intercept d = 0, and rows with s_i = 0 do not belong to the plane.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hinge/jumps.hpp"
#include "hinge/planes.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

/// The best d; 0 unless the intercept is free.
class BestShift {
 public:
  double operator()(const Problem& problem, std::span<const double> margins) {
    if (!problem.free_intercept) return 0.0;
    return problem.cost.visit([&](auto cost) { return best(problem, cost, margins); });
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  template <class Cost>
  double best(const Problem& problem, Cost cost, std::span<const double> margins) {
    const double* margin = margins.data();
    const double* target = problem.target.data();
    const double rising = interleaved_sum(margins.size(), [=](std::size_t i) {
      const double c = cost[i];
      return target[i] > 0.0 ? c : 0.0;
    });
    double last = -kInfinity;
    jumps_.gather(margins.size(), [=, &last](std::size_t i) {
      const double place = target[i] * (1.0 - margin[i]);
      const bool is_number = std::abs(place) < kInfinity;
      last = is_number ? std::max(last, place) : last;
      return Jumps::Jump{place, cost[i], is_number};
    });
    const double d = jumps_.root(-rising, 0.0, last);
    return std::abs(d) < kInfinity ? d : 0.0;
  }

  Jumps jumps_;
};

/// A set of rows on its way to balance, sum C_i t_i = 0: rows come or go, the last of them in part.
struct Balance {
  const Problem& problem;
  std::span<std::uint64_t> set;
  double residue;  // sum C_i t_i
  double offset;   // sum C_i
  Part part{};

  /// Whether what is left is less than rounding may make of zero.
  bool done() const { return !(std::abs(residue) > static_cast<double>(problem.size()) * kRoundoff * offset); }

  /// Row i comes, or goes if it is there: if that helps, and as much of it as helps.
  void flip(std::int64_t i) {
    const bool goes = contains(set, i);
    const double cost = problem.cost[i];
    const double change = goes ? -cost : cost;
    const double turn = change * problem.target[i];
    if (done() || (turn > 0.0) == (residue > 0.0)) return;
    const double share = std::abs(residue) / cost;
    const bool whole = share >= 1.0;
    if (whole || goes) set[static_cast<std::size_t>(i / 64)] ^= std::uint64_t{1} << (i % 64);
    if (!whole) part = {i, goes ? 1.0 - share : share};
    offset += whole ? change : std::copysign(residue, change);
    residue = whole ? residue + turn : 0.0;
  }
};

struct Contact {
  std::vector<std::uint64_t> rows;  // those that belong to the plane wholly
  Part part;
  double offset = 0.0;  // sum C_i of the plane
  double shift = 0.0;   // d
  double risk = 0.0;    // sum C_i max(0, s_i)

  explicit Contact(std::int64_t m) : rows(words_for(m)) {}

  /// The plane that touches the risk at a point with these margins.
  void find(const Problem& problem, std::span<const double> margins, BestShift& best_shift) {
    shift = best_shift(problem, margins);
    problem.cost.visit([&](auto cost) { find(problem, cost, margins); });
  }

  /// The plane of the same rows on another problem; as much of the row in part belongs to it as makes the balance.
  void again(const Problem& problem, Bits set, Part before) {
    rows.assign(set.begin(), set.end());
    part = {};
    offset = 0.0;
    double residue = 0.0;
    for_each_row(rows, [&](std::int64_t i) {
      offset += problem.cost[i];
      residue += problem.cost[i] * problem.target[i];
    });
    if (!problem.free_intercept) return;
    Balance balance{problem, rows, residue, offset};
    if (before.share > 0.0) balance.flip(before.row);
    take(balance);
  }

  /// The cut becomes this plane. False when stopped by the poll.
  template <Rows R>
  bool move(const R& data, const Problem& problem, Cut& cut, std::int64_t& touched, Poll& poll) const {
    if (!cut.move(data, problem, rows, touched, poll)) return false;
    cut.take(data, problem, part);
    cut.offset = offset;
    return true;
  }

 private:
  /// The rows at the present shift.
  template <class Cost>
  void find(const Problem& problem, Cost cost, std::span<const double> margins) {
    const double* margin = margins.data();
    const double* target = problem.target.data();
    const auto slack = [=, d = shift](std::size_t i) { return (1.0 - margin[i]) - target[i] * d; };
    const auto sum = [&](auto&& term) {
      return interleaved_sum(margins.size(), [=](std::size_t i) {
        const double x = term(i);
        return slack(i) > 0.0 ? x : 0.0;
      });
    };
    risk = sum([=](std::size_t i) { return cost[i] * slack(i); });
    offset = sum([=](std::size_t i) { return cost[i]; });
    part = {};
    for (std::size_t word = 0; word < rows.size(); ++word) {
      const std::size_t n = std::min<std::size_t>(64, margins.size() - 64 * word);
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < n; ++i) bits |= std::uint64_t{slack(64 * word + i) > 0.0} << i;
      rows[word] = bits;
    }
    if (!problem.free_intercept) return;
    Balance balance{problem, rows, sum([=](std::size_t i) { return cost[i] * target[i]; }), offset};
    for (std::size_t i = 0; i < margins.size() && !balance.done(); ++i) {
      if (slack(i) == 0.0) balance.flip(static_cast<std::int64_t>(i));
    }
    take(balance);
  }

  /// Where no balance was reached, because of rounding or because the set was made for other costs, rows leave.
  void take(Balance& balance) {
    if (!balance.done()) {
      const std::vector<std::uint64_t> members(rows);
      for_each_row(members, [&](std::int64_t i) { balance.flip(i); });
    }
    part = balance.part;
    offset = balance.offset;
  }
};

}  // namespace hinge
