#pragma once
// Rows of the kernel matrix K, computed in blocks and kept while there is room.
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
#include <vector>

#include "hinge/kernel.hpp"
#include "hinge/kernel_panels.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

/// k(x_h, x_j) of the held rows and all rows j, some j at a time: use(first j, how many, values), where values[h][c] belongs to row
/// first j + c. By any thread, but one row by one thread. False when stopped.
template <Rows R, class Use>
bool for_kernel_columns(const R& rows, const Kernel& kernel, const Geometry& geometry, std::span<const std::int64_t> held,
                        Poll& poll, std::int64_t n_threads, Use&& use) {
  constexpr std::int64_t kRowsPerPart = 64;
  const KernelBlock<R> block(kernel, rows, geometry, held);
  const Parts parts{rows.size(), (rows.size() + kRowsPerPart - 1) / kRowsPerPart};
  return for_parts(parts, n_threads, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
    auto scratch = block.scratch();
    std::vector<std::int64_t> columns(static_cast<std::size_t>(end - begin));
    std::iota(columns.begin(), columns.end(), begin);
    std::vector<double> values(held.size() * columns.size());
    block.values(columns, scratch, values);
    use(begin, columns.size(), std::span<const double>(values));
    std::int64_t work = 0;
    for (const std::int64_t j : columns) work += static_cast<std::int64_t>(held.size()) * (rows.stored(j) / 8 + 4);
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
  const Geometry geometry = geometry_of(kernel, rows);
  Sums totals(sums.size());
  const auto step = static_cast<std::size_t>(held_rows(rows));
  for (std::size_t begin = 0; begin < support.size(); begin += step) {
    const auto held = std::span<const std::int64_t>(support).subspan(begin, std::min(step, support.size() - begin));
    const auto add = [&](std::int64_t first, std::size_t count, std::span<const double> values) {
      std::vector<Multiple<double>> of;
      for (std::size_t h = 0; h < held.size(); ++h) of.push_back({beta[held[h]], &values[h * count]});
      totals.add(first, static_cast<std::int64_t>(count), std::span<const Multiple<double>>(of));
    };
    if (!for_kernel_columns(rows, kernel, geometry, held, poll, n_threads, add)) return false;
  }
  totals.write(sums);
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
    geometry_ = {};
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
    const KernelBlock<R> block(kernel_, rows, geometry(rows), held);
    auto scratch = block.scratch();
    std::vector<double> found(missing_.size());
    block.values(missing_, scratch, found);
    for (std::size_t c = 0; c < found.size(); ++c)
      entry.values[static_cast<std::size_t>(missing_[c])] = static_cast<float>(found[c]);
    return entry.values.data();
  }

  /// Complete rows, no more than `capacity` of them; afterwards `row` has each. False when stopped by the poll.
  template <Rows R>
  bool prepare(const R& rows, std::span<const std::int64_t> wanted, Poll& poll, std::int64_t n_threads) {
    std::vector<std::int64_t> missing;
    for (const std::int64_t i : wanted) {
      if (!touch(i).complete) missing.push_back(i);
    }
    const auto step = static_cast<std::size_t>(held_rows(rows));
    for (std::size_t begin = 0; begin < missing.size(); begin += step) {
      const auto held = std::span<const std::int64_t>(missing).subspan(begin, std::min(step, missing.size() - begin));
      std::vector<float*> out;
      for (const std::int64_t i : held) out.push_back(entries_[static_cast<std::size_t>(i)].values.data());
      const auto keep = [&](std::int64_t first, std::size_t count, std::span<const double> values) {
        for (std::size_t h = 0; h < held.size(); ++h) std::copy_n(&values[h * count], count, out[h] + first);
      };
      if (!for_kernel_columns(rows, kernel_, geometry(rows), held, poll, n_threads, keep)) return false;
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

  Kernel kernel_;
  std::int64_t m_;
  std::int64_t capacity_;
  std::vector<Entry> entries_;
  std::list<std::int64_t> used_;  // rows in the cache, the last used one in front
  std::vector<std::int64_t> missing_;
  Geometry geometry_;  // once it is asked for

  template <Rows R>
  const Geometry& geometry(const R& rows) {
    if (geometry_.norms.empty()) geometry_ = geometry_of(kernel_, rows);
    return geometry_;
  }

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
