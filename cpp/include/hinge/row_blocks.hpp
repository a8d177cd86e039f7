#pragma once
// Blocks of rows: sums over all rows of what a decision or a multiplier of each adds. Within a block, what has no order is computed for all
// of its rows at once; whether a row has loss, or a multiplier, is as good as random: there are no branches on it.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"

namespace hinge {

template <Rows R>
Parts parts_of(const R& rows, std::int64_t width) {
  return Parts::of(rows.size(), rows.total_stored(), width);
}

/// z_i = w.x_i for the rows begin .. end-1. Returns how many values they store.
template <Rows R>
std::int64_t decide(const R& rows, std::int64_t begin, std::int64_t end, std::span<const double> w, std::span<double> z) {
  std::int64_t list[kMostAtOnce];
  std::int64_t stored = 0;
  for (std::int64_t first = begin; first < end; first += kMostAtOnce) {
    const std::int64_t count = std::min(end - first, kMostAtOnce);
    std::iota(list, list + count, first);
    rows.products(count, std::span<const std::int64_t>(list, static_cast<std::size_t>(count)), w.data(), &z[first]);
    for (std::int64_t i = first; i < first + count; ++i) {
      z[i] = rows.with_constant(z[i], w.data());
      stored += rows.stored(i);
    }
  }
  return stored;
}

/// The same for every row. False when stopped by the poll.
template <Rows R>
bool decisions(const R& rows, std::span<const double> w, std::span<double> z, Poll& poll, std::int64_t n_threads = 1) {
  return for_parts(parts_of(rows, 0), n_threads, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
    for (std::int64_t first = begin; first < end; first += kMostAtOnce) {
      if (own(decide(rows, first, std::min(end, first + kMostAtOnce), w, z))) return false;
    }
    return true;
  });
}

/// Rows that a sum takes at once.
inline constexpr std::int64_t kBlock = 128;

/// What both sides need of a block of rows, side by side for the registers of the processor.
struct RowBlock {
  std::int64_t size;
  double squared_norm[kBlock];
  double stored[kBlock];
  double target[kBlock];
  double cost[kBlock];

  template <Rows R>
  RowBlock(const R& rows, const Problem& problem, std::int64_t begin, std::int64_t end) : size(end - begin) {
    for (std::int64_t k = 0; k < size; ++k) {
      squared_norm[k] = rows.squared_norm(begin + k);
      stored[k] = static_cast<double>(rows.stored(begin + k));
      target[k] = problem.target[begin + k];
      cost[k] = problem.cost[begin + k];
    }
  }
};

/// The values of the rows begin .. end-1, at most kBlock of them; `room` is for values that are not in memory.
inline const double* block_of(std::span<const double> values, std::int64_t begin, std::int64_t, double*) {
  return &values[begin];
}

/// A sum over all rows of what `Total` adds of a row and its value: a decision, or a multiplier. False when stopped by the poll.
template <class Total, Rows R, class Values>
bool sum_blocks(const R& rows, const Problem& problem, const Values& values, const Parts& parts, std::int64_t n_threads,
                Poll& poll, Total& total) {
  const Total empty(total);
  return sum_over(parts, n_threads, poll, empty, total, [&](Total& part, std::int64_t begin, std::int64_t end, Poll& own) {
    double room[kBlock];
    for (std::int64_t i = begin; i < end; i += kBlock) {
      const std::int64_t last = std::min(end, i + kBlock);
      if (!part.add(rows, problem, i, last, block_of(values, i, last, room), own)) return false;
    }
    return true;
  });
}

}  // namespace hinge
