#pragma once
// An epoch of a method that takes one row at a time, in an order that is known ahead.

#include <cstddef>
#include <cstdint>
#include <span>

#include "hinge/rows.hpp"

namespace hinge {

/// step(i) for each row of `visit`; the row, and its entry in each of the `columns` that the step reads, are fetched from memory
/// a little before its turn. stop(work), usually a Poll, is asked after each row. False when told to stop.
template <Rows R, class Stop, class Step, class... Columns>
[[gnu::always_inline]] inline bool each_row(const R& rows, std::span<const std::int64_t> visit, Stop&& stop, Step&& step,
                                            const Columns&... columns) {
  const auto n = static_cast<std::int64_t>(visit.size());
  for (std::int64_t position = 0; position < n; ++position) {
    if (position + kPrefetchDistance < n) {
      const std::int64_t next = visit[static_cast<std::size_t>(position + kPrefetchDistance)];
      rows.prefetch(next);
      (__builtin_prefetch(&columns[static_cast<std::size_t>(next)]), ...);
    }
    const std::int64_t i = visit[static_cast<std::size_t>(position)];
    step(i);
    if (stop(rows.stored(i))) return false;
  }
  return true;
}

}  // namespace hinge
