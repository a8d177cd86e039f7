#pragma once
// An epoch of a method that takes one row at a time, in an order that is known ahead.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hinge/rows.hpp"

namespace hinge {

/// step(i, next) for each row i of `visit`: it reads row i, and has row `next` fetched from memory meanwhile (rows.dot does that).
/// step(i) for a step that leaves this to others. The entries of row `next` in the `columns` that the step reads are fetched as well.
/// stop(work), usually a Poll, is asked after each row. False when told to stop.
template <Rows R, class Stop, class Step, class... Columns>
[[gnu::always_inline]] inline bool each_row(const R& rows, std::span<const std::int64_t> visit, Stop&& stop, Step&& step,
                                            const Columns&... columns) {
  const auto n = static_cast<std::int64_t>(visit.size());
  for (std::int64_t position = 0; position < n; ++position) {
    const std::int64_t i = visit[static_cast<std::size_t>(position)];
    const std::int64_t next = visit[static_cast<std::size_t>(std::min(position + kPrefetchDistance, n - 1))];
    rows.announce(visit[static_cast<std::size_t>(std::min(position + kAnnounceDistance, n - 1))]);
    (__builtin_prefetch(&columns[static_cast<std::size_t>(next)]), ...);
    if constexpr (std::invocable<Step&, std::int64_t, std::int64_t>) {
      step(i, next);
    } else {
      rows.prefetch(next);
      step(i);
    }
    if (stop(rows.stored(i))) return false;
  }
  return true;
}

}  // namespace hinge
