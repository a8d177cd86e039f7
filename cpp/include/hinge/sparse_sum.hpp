#pragma once
// SparseSum: the sum of a few rows. Adding a row, reading the sum and clearing it cost the non-zeros of the rows added,
// however many features there are.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/rows.hpp"
#include "hinge/state.hpp"

namespace hinge {

struct SparseSum {
  std::vector<double> sum;        // n_features + 1 entries; without room for them nothing can be added
  Varying<std::int64_t> columns;  // where the sum may differ from zero, in the order in which they came

  explicit SparseSum(std::size_t width) : sum(width), here_(width) {}

  /// The names that a saved run knows them by. Whoever visits them may have replaced them.
  template <class F>
  void fields(F&& field) {
    field("g", sum);
    field("g_columns", columns);
    std::fill(here_.begin(), here_.end(), 0);
    for (const std::int64_t j : columns) {
      if (exists(j)) here_[j] = 1;
    }
  }

  /// sum <- sum + factor x_i
  template <Rows R>
  void add(const R& rows, std::int64_t i, double factor) {
    if (columns.empty()) note(rows.n_features());  // the constant feature, whether there is one or not
    if (columns.size() < sum.size()) {             // dense rows name all columns at once, and need not again
      rows.for_each(i, [&](std::int64_t j, double) { note(j); });
    }
    rows.add(i, factor, sum);
  }

  double squared_norm() const {
    double total = 0.0;
    for (const std::int64_t j : columns) total += sum[j] * sum[j];
    return total;
  }

  /// v <- v + factor sum
  void add_to(std::span<double> v, double factor) const {
    for (const std::int64_t j : columns) v[j] += factor * sum[j];
  }

  void clear() {
    for (const std::int64_t j : columns) {
      sum[j] = 0.0;
      here_[j] = 0;
    }
    columns.clear();
  }

  /// Whether columns and sum, perhaps restored, fit each other.
  bool consistent() const {
    std::vector<std::uint8_t> listed(here_.size());
    for (const std::int64_t j : columns) {
      if (!exists(j) || listed[j]) return false;
      listed[j] = 1;
    }
    for (std::size_t j = 0; j < sum.size(); ++j) {
      if (sum[j] != 0.0 && !listed[j]) return false;
    }
    return true;
  }

 private:
  std::vector<std::uint8_t> here_;  // whether a column is listed

  bool exists(std::int64_t j) const { return 0 <= j && j < static_cast<std::int64_t>(here_.size()); }

  void note(std::int64_t j) {
    if (here_[j]) return;
    here_[j] = 1;
    columns.push_back(j);
  }
};

}  // namespace hinge
