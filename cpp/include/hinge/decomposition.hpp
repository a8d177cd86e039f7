#pragma once
// Decomposition: steps of the dual of a kernel machine on working sets of many rows (kernel_dual.hpp has the notation).
//
// Joachims, "Making large-scale SVM learning practical" (1999). A step
//
//   1. chooses the working set: rows of the last one that are strictly inside their bounds, up to half of it, then in turn
//      the rows that can rise with the largest g, and those that can fall with the smallest
//   2. has their kernel rows computed, all in one block (kernel_rows.hpp)
//   3. solves the dual on them to a tenth of the violation (working_set.hpp)
//   4. updates g of all rows by these kernel rows
//
// Without a free intercept the rows that violate most by themselves are chosen.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "hinge/kernel_dual.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/processor.hpp"
#include "hinge/rows.hpp"
#include "hinge/state.hpp"
#include "hinge/working_set.hpp"

namespace hinge {

/// g_j -= by * values_j
HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static void subtract(std::int64_t n, double by, const float* __restrict values, double* __restrict g) {
  for (std::int64_t j = 0; j < n; ++j) g[j] -= by * static_cast<double>(values[j]);
}

class Decomposition {
 public:
  Varying<std::int64_t> rows_at_work;  // the last working set

  explicit Decomposition(std::int64_t size) : size_(size) {}

  /// 1. False if no row violates the conditions of optimality, or if no step is left that rounding lets be made.
  template <Rows R>
  bool choose(const R& rows, const Problem& problem, const KernelDual& dual) {
    const std::int64_t most = std::min(size_ / 2, size_ - 2);  // the most violating pair must find room
    std::vector<std::int64_t> kept;
    for (const std::int64_t i : rows_at_work) {
      if (static_cast<std::int64_t>(kept.size()) >= most) break;
      if (dual.can_rise(problem, i) && dual.can_fall(problem, i)) kept.push_back(i);
    }
    rows_at_work.clear();
    rising_.clear();
    falling_.clear();
    violation_ = problem.free_intercept ? list_pairs(problem, dual) : list_singles(rows, problem, dual);
    if (!(violation_ > 0.0)) return false;
    rows_at_work.assign(kept.begin(), kept.end());
    fill(problem.size());
    return true;
  }

  /// 2., 3. and 4. False when stopped by the poll.
  template <Rows R>
  bool step(const R& rows, const Problem& problem, KernelDual& dual, Poll& poll, std::int64_t n_threads) {
    if (!dual.cache.prepare(rows, rows_at_work, poll, n_threads)) return false;
    load(rows, problem, dual);
    if (problem.free_intercept) {
      set_.solve_balanced(kInnerTolerance * violation_, kInnerSteps * size_);
    } else {
      set_.solve_single(kInnerTolerance * violation_, kInnerSteps * size_);
    }
    return update(problem, dual, poll, n_threads);
  }

 private:
  static constexpr double kInnerTolerance = 0.1;
  static constexpr std::int64_t kInnerSteps = 50;  // for each row of the set

  struct Candidate {
    double violation;
    std::int64_t row;
    bool operator<(const Candidate& other) const {
      return violation > other.violation || (violation == other.violation && row < other.row);
    }
  };

  std::int64_t size_;
  double violation_ = 0.0;
  std::vector<Candidate> rising_;
  std::vector<Candidate> falling_;
  std::vector<char> chosen_;  // for each row: whether it is at work
  WorkingSet set_;

  /// Both ends of violating pairs; returns the largest violation.
  double list_pairs(const Problem& problem, const KernelDual& dual) {
    KernelDual::Extremes ends;
    for (std::int64_t i = 0; i < problem.size(); ++i) dual.look_at(problem, i, ends);
    if (ends.i < 0 || ends.j < 0) return 0.0;
    const double high = dual.g[ends.i];
    const double low = dual.g[ends.j];
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      if (dual.can_rise(problem, i) && dual.g[i] > low) rising_.push_back({dual.g[i] - low, i});
      if (dual.can_fall(problem, i) && dual.g[i] < high) falling_.push_back({high - dual.g[i], i});
    }
    return high - low;
  }

  /// Rows that can move by themselves; returns the largest violation.
  template <Rows R>
  double list_singles(const R& rows, const Problem& problem, const KernelDual& dual) {
    double most = 0.0;
    for (std::int64_t i = 0; i < problem.size(); ++i) {
      if (dual.single_step(problem, i, dual.curvature(rows, problem, i)) == 0.0) continue;
      rising_.push_back({std::abs(dual.g[i]), i});
      most = std::max(most, std::abs(dual.g[i]));
    }
    return most;
  }

  /// The worst of both lists in turn, until the set is full or the lists are empty.
  void fill(std::int64_t m) {
    for (auto* list : {&rising_, &falling_}) {
      const auto count = std::min<std::ptrdiff_t>(size_, static_cast<std::ptrdiff_t>(list->size()));
      std::partial_sort(list->begin(), list->begin() + count, list->end());
      list->resize(static_cast<std::size_t>(count));
    }
    chosen_.assign(static_cast<std::size_t>(m), false);
    for (const std::int64_t i : rows_at_work) chosen_[static_cast<std::size_t>(i)] = true;
    const auto add = [&](const std::vector<Candidate>& list, std::size_t k) {
      if (k >= list.size() || static_cast<std::int64_t>(rows_at_work.size()) >= size_) return;
      char& chosen = chosen_[static_cast<std::size_t>(list[k].row)];
      if (!chosen) rows_at_work.push_back(list[k].row);
      chosen = true;
    };
    for (std::size_t k = 0; k < std::max(rising_.size(), falling_.size()); ++k) {
      add(rising_, k);
      add(falling_, k);
    }
  }

  /// The dual on the rows at work.
  template <Rows R>
  void load(const R& rows, const Problem& problem, const KernelDual& dual) {
    const std::size_t n = rows_at_work.size();
    set_.resize(n);
    for (std::size_t p = 0; p < n; ++p) {
      const std::int64_t i = rows_at_work[p];
      set_.alpha[p] = dual.alpha[i];
      set_.g[p] = dual.g[i];
      set_.lower[p] = KernelDual::lower(problem, i);
      set_.upper[p] = KernelDual::upper(problem, i);
      const float* values = dual.cache.row(i);
      for (std::size_t q = 0; q < n; ++q) set_.Q[p * n + q] = static_cast<double>(values[rows_at_work[q]]);
      set_.Q[p * n + p] = dual.curvature(rows, problem, i);
    }
  }

  bool update(const Problem& problem, KernelDual& dual, Poll& poll, std::int64_t n_threads) {
    struct Change {
      double by;
      const float* values;
    };
    std::vector<Change> changes;
    for (std::size_t p = 0; p < rows_at_work.size(); ++p) {
      const std::int64_t i = rows_at_work[p];
      const double by = set_.alpha[p] - dual.alpha[i];
      if (by == 0.0) continue;
      dual.alpha[i] = set_.alpha[p];
      dual.g[i] -= by * KernelDual::diagonal(problem, i);
      changes.push_back({by, dual.cache.row(i)});
    }
    constexpr std::int64_t kRowsPerPart = 2048;  // their g stay in the nearest cache
    const Parts parts{problem.size(), (problem.size() + kRowsPerPart - 1) / kRowsPerPart};
    for_parts(parts, n_threads, poll, [&](std::int64_t begin, std::int64_t end, Poll&) {
      for (const auto& [by, values] : changes) {
        subtract(end - begin, by, values + begin, dual.g.data() + begin);
      }
      return true;
    });
    return !poll(static_cast<std::int64_t>(changes.size()) * problem.size() / 2);
  }
};

}  // namespace hinge
