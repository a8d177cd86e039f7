#pragma once
// Rows of the kernel matrix K, computed in blocks and kept while there is room.
//
// A `KernelPanels` holds some rows x_h and gives k(x_h, x_j) for all of them at once. Row j is then read once for all of them:
// dense rows go four at a time through the loops of kernel.hpp, sparse ones are spread out, so that row j finds their values.
// What k(x_h, x_j) is does not depend on what else is held, to the bit.
//
// A `KernelCache` keeps rows of K in single precision and drops the one that was used longest ago. A row may be incomplete: entries
// that nobody has asked for are NaN until somebody does. The cache is no part of a solver's state: a copy starts empty, and
// what comes out of it depends on nothing but the rows and the kernel.
//
// Certificates do not rest on the cache: `kernel_sums` computes sum_h beta_h k(x_h, x_j) in double precision, compensated.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <list>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "hinge/kernel.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

template <Rows R>
class KernelPanels;

/// Dense rows, as arrays of doubles: copied only if they are something else.
template <class T>
class KernelPanels<DenseRows<T>> {
 public:
  using Scratch = std::vector<double>;

  KernelPanels(const Kernel& kernel, const DenseRows<T>& rows, std::span<const std::int64_t> held)
      : kernel_(kernel), rows_(rows), held_(held.begin(), held.end()) {
    if constexpr (!std::is_same_v<T, double>) copies_.resize(held.size() * static_cast<std::size_t>(rows.n_features()));
    for (std::size_t h = 0; h < held.size(); ++h) {
      double* own = copies_.data() + static_cast<std::int64_t>(h) * rows.n_features();
      pointers_.push_back(in_double(held[h], own));
    }
    while (pointers_.size() % kFour != 0) pointers_.push_back(pointers_.back());
  }

  Scratch scratch() const { return {}; }

  /// out[c][h] = k(x_h, x_j) for every held row h and the column j = columns[c]. Four held rows stay in the nearest cache while all
  /// columns pass.
  void values(std::span<const std::int64_t> columns, Scratch& scratch, std::span<double> out) const {
    const std::int64_t n = rows_.n_features();
    if constexpr (!std::is_same_v<T, double>) scratch.resize(columns.size() * static_cast<std::size_t>(n));
    std::vector<const double*> z;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      z.push_back(in_double(columns[c], scratch.data() + static_cast<std::int64_t>(c) * n));
    }
    double measured[kFour];
    if (held_.size() == 1) {  // a pair has the same value either way round: four columns at a time
      while (z.size() % kFour != 0) z.push_back(z.back());
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (c % kFour == 0) measures::four(kernel_.measure(), n, &z[c], pointers_[0], measured);
        out[c] = kernel_(measured[c % kFour], rows_.squared_norm(held_[0]), rows_.squared_norm(columns[c]));
      }
      return;
    }
    for (std::size_t h = 0; h < held_.size(); h += kFour) {
      const std::size_t count = std::min(kFour, held_.size() - h);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        measures::four(kernel_.measure(), n, &pointers_[h], z[c], measured);
        double* values = &out[c * held_.size() + h];
        for (std::size_t p = 0; p < count; ++p) {
          values[p] = kernel_(measured[p], rows_.squared_norm(held_[h + p]), rows_.squared_norm(columns[c]));
        }
      }
    }
  }

 private:
  static constexpr std::size_t kFour = 4;

  Kernel kernel_;
  DenseRows<T> rows_;
  std::vector<std::int64_t> held_;
  std::vector<double> copies_;
  std::vector<const double*> pointers_;

  const double* in_double(std::int64_t i, [[maybe_unused]] double* own) const {
    const T* x = rows_.values + rows_.row(i) * rows_.n_features();
    if constexpr (std::is_same_v<T, double>) {
      return x;
    } else {
      std::copy(x, x + rows_.n_features(), own);
      return own;
    }
  }
};

/// Sparse rows, spread out: the values of a feature side by side. |x - z|^2 is |x|^2 + |z|^2 - 2 x.z, and |x - z|_1 is
/// |x|_1 + sum over the values of z of (|x - z| - |x|).
template <class T, class Index>
class KernelPanels<CsrRows<T, Index>> {
 public:
  using Scratch = std::vector<double>;

  KernelPanels(const Kernel& kernel, const CsrRows<T, Index>& rows, std::span<const std::int64_t> held)
      : kernel_(kernel),
        rows_(rows),
        held_(held.begin(), held.end()),
        spread_(static_cast<std::size_t>(rows.n_features()) * held.size()),
        lengths_(held.size()) {
    for (std::size_t h = 0; h < held.size(); ++h) {
      rows.for_each(held[h], [&](std::int64_t j, double x) {
        spread_[static_cast<std::size_t>(j) * held_.size() + h] = x;
        lengths_[h] += std::abs(x);
      });
    }
  }

  Scratch scratch() const { return Scratch(kLanes * held_.size()); }

  void values(std::span<const std::int64_t> columns, Scratch& scratch, std::span<double> out) const {
    for (std::size_t c = 0; c < columns.size(); ++c) values(columns[c], scratch, out.subspan(c * held_.size(), held_.size()));
  }

 private:
  static constexpr std::size_t kLanes = 4;

  Kernel kernel_;
  CsrRows<T, Index> rows_;
  std::vector<std::int64_t> held_;
  std::vector<double> spread_;
  std::vector<double> lengths_;  // |x_h|_1

  void values(std::int64_t j, Scratch& scratch, std::span<double> out) const {
    const bool of_distances = kernel_.measure() == Measure::distance;
    if (of_distances) {
      add_up(j, scratch, [](double z, double x) { return std::abs(x - z) - std::abs(x); });
    } else {
      add_up(j, scratch, [](double z, double x) { return z * x; });
    }
    const std::size_t n = held_.size();
    for (std::size_t h = 0; h < n; ++h) {
      const double sum = (scratch[h] + scratch[n + h]) + (scratch[2 * n + h] + scratch[3 * n + h]);
      const double norm2 = rows_.squared_norm(held_[h]);
      double measured = of_distances ? std::max(0.0, lengths_[h] + sum) : sum;
      if (kernel_.measure() == Measure::squared_distance) {
        measured = held_[h] == j ? 0.0 : std::max(0.0, (norm2 + rows_.squared_norm(j)) - 2.0 * sum);
      }
      out[h] = kernel_(measured, norm2, rows_.squared_norm(j));
    }
  }

  template <class Term>
  void add_up(std::int64_t j, Scratch& sums, Term&& term) const {
    const std::size_t n = held_.size();
    std::fill(sums.begin(), sums.end(), 0.0);
    std::size_t lane = 0;
    rows_.for_each(j, [&](std::int64_t column, double z) {
      const double* x = spread_.data() + static_cast<std::size_t>(column) * n;
      double* __restrict sum = sums.data() + lane * n;
      for (std::size_t h = 0; h < n; ++h) sum[h] += term(z, x[h]);
      lane = (lane + 1) % kLanes;
    });
  }
};

/// k(x_i, x_i)
template <Rows R>
double kernel_diagonal(const R& rows, const Kernel& kernel, std::int64_t i) {
  const double norm2 = rows.squared_norm(i);
  return kernel(kernel.measure() == Measure::product ? norm2 : 0.0, norm2, norm2);
}

/// Rows that one set of panels may hold: spread out they take memory for every feature.
template <Rows R>
std::int64_t panel_rows(const R& rows) {
  constexpr std::int64_t kMost = 64;
  constexpr std::int64_t kValues = 1 << 22;
  return std::clamp<std::int64_t>(kValues / std::max<std::int64_t>(rows.n_features(), 1), 1, kMost);
}

/// Each row x_j, with its k(x_h, x_j) for the held rows: use(j, values). By any thread, but one row by one thread. False when stopped.
template <Rows R, class Use>
bool for_kernel_columns(const R& rows, const Kernel& kernel, std::span<const std::int64_t> held, Poll& poll,
                        std::int64_t n_threads, Use&& use) {
  constexpr std::int64_t kRowsPerPart = 32;
  const KernelPanels<R> panels(kernel, rows, held);
  const Parts parts{rows.size(), (rows.size() + kRowsPerPart - 1) / kRowsPerPart};
  return for_parts(parts, n_threads, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
    auto scratch = panels.scratch();
    std::vector<std::int64_t> columns(static_cast<std::size_t>(end - begin));
    std::iota(columns.begin(), columns.end(), begin);
    std::vector<double> values(held.size() * columns.size());
    panels.values(columns, scratch, values);
    std::int64_t work = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      use(columns[c], std::span<const double>(values).subspan(c * held.size(), held.size()));
      work += static_cast<std::int64_t>(held.size()) * (rows.stored(columns[c]) / 4 + 4);
    }
    return !own(work);
  });
}

/// sums_j = sum_h beta_h k(x_h, x_j) over the rows h with beta_h != 0, for every row j. False when stopped by the poll.
template <Rows R>
bool kernel_sums(const R& rows, const Kernel& kernel, std::span<const double> beta, std::span<double> sums, Poll& poll,
                 std::int64_t n_threads) {
  std::vector<std::int64_t> support;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    if (beta[i] != 0.0) support.push_back(i);
  }
  std::vector<Sum> totals(sums.size());
  const auto step = static_cast<std::size_t>(panel_rows(rows));
  for (std::size_t begin = 0; begin < support.size(); begin += step) {
    const auto held = std::span<const std::int64_t>(support).subspan(begin, std::min(step, support.size() - begin));
    const bool finished =
        for_kernel_columns(rows, kernel, held, poll, n_threads, [&](std::int64_t j, std::span<const double> values) {
          for (std::size_t h = 0; h < held.size(); ++h) totals[static_cast<std::size_t>(j)].add(beta[held[h]] * values[h]);
        });
    if (!finished) return false;
  }
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = totals[j].value();
  return true;
}

class KernelCache {
 public:
  /// Room for at least `least` rows of m entries, and for as many as take `bytes` bytes.
  KernelCache(Kernel kernel, std::int64_t m, std::int64_t bytes, std::int64_t least)
      : kernel_(kernel),
        m_(m),
        capacity_(std::min(m, std::max(least, bytes / std::max<std::int64_t>(m * std::int64_t{sizeof(float)}, 1)))) {}

  KernelCache(const KernelCache& other) : kernel_(other.kernel_), m_(other.m_), capacity_(other.capacity_) {}
  KernelCache& operator=(const KernelCache& other) {
    kernel_ = other.kernel_;
    m_ = other.m_;
    capacity_ = other.capacity_;
    entries_.clear();
    used_.clear();
    return *this;
  }

  const Kernel& kernel() const { return kernel_; }
  std::int64_t capacity() const { return capacity_; }

  /// Row i with the entries of these columns at least.
  template <Rows R>
  const float* on(const R& rows, std::int64_t i, std::span<const std::int64_t> columns) {
    Entry& entry = touch(i);
    if (entry.complete) return entry.values.data();
    missing_.clear();
    for (const std::int64_t j : columns) {
      if (std::isnan(entry.values[static_cast<std::size_t>(j)])) missing_.push_back(j);
    }
    if (missing_.empty()) return entry.values.data();
    const std::int64_t held[] = {i};
    const KernelPanels<R> panel(kernel_, rows, held);
    auto scratch = panel.scratch();
    double found[kColumns];
    for (std::size_t begin = 0; begin < missing_.size(); begin += kColumns) {
      const auto some = std::span<const std::int64_t>(missing_).subspan(begin, std::min(kColumns, missing_.size() - begin));
      panel.values(some, scratch, found);
      for (std::size_t c = 0; c < some.size(); ++c)
        entry.values[static_cast<std::size_t>(some[c])] = static_cast<float>(found[c]);
    }
    return entry.values.data();
  }

  /// Complete rows, no more than `capacity` of them; afterwards `row` has each. False when stopped by the poll.
  template <Rows R>
  bool prepare(const R& rows, std::span<const std::int64_t> wanted, Poll& poll, std::int64_t n_threads) {
    std::vector<std::int64_t> missing;
    for (const std::int64_t i : wanted) {
      if (!touch(i).complete) missing.push_back(i);
    }
    const auto step = static_cast<std::size_t>(panel_rows(rows));
    for (std::size_t begin = 0; begin < missing.size(); begin += step) {
      const auto held = std::span<const std::int64_t>(missing).subspan(begin, std::min(step, missing.size() - begin));
      std::vector<float*> out;
      for (const std::int64_t i : held) out.push_back(entries_[static_cast<std::size_t>(i)].values.data());
      const bool finished =
          for_kernel_columns(rows, kernel_, held, poll, n_threads, [&](std::int64_t j, std::span<const double> values) {
            for (std::size_t h = 0; h < held.size(); ++h) out[h][j] = static_cast<float>(values[h]);
          });
      if (!finished) return false;
      for (const std::int64_t i : held) entries_[static_cast<std::size_t>(i)].complete = true;
    }
    return true;
  }

  /// A row that is there.
  const float* row(std::int64_t i) const { return entries_[static_cast<std::size_t>(i)].values.data(); }

 private:
  struct Entry {
    std::vector<float> values;  // none: not in the cache
    bool complete = false;
    std::list<std::int64_t>::iterator used;
  };

  static constexpr std::size_t kColumns = 32;  // at a time

  Kernel kernel_;
  std::int64_t m_;
  std::int64_t capacity_;
  std::vector<Entry> entries_;
  std::list<std::int64_t> used_;  // rows in the cache, the last used one in front
  std::vector<std::int64_t> missing_;

  /// Row i, moved to the front; if it is new, it takes the memory of the one that was used longest ago.
  Entry& touch(std::int64_t i) {
    if (entries_.empty()) entries_.resize(static_cast<std::size_t>(m_));
    Entry& entry = entries_[static_cast<std::size_t>(i)];
    if (!entry.values.empty()) {
      used_.splice(used_.begin(), used_, entry.used);
      return entry;
    }
    if (static_cast<std::int64_t>(used_.size()) >= capacity_) {
      Entry& oldest = entries_[static_cast<std::size_t>(used_.back())];
      entry.values.swap(oldest.values);
      oldest.complete = false;
      used_.pop_back();
    }
    entry.values.assign(static_cast<std::size_t>(m_), std::numeric_limits<float>::quiet_NaN());
    entry.complete = false;
    used_.push_front(i);
    entry.used = used_.begin();
    return entry;
  }
};

}  // namespace hinge
