#pragma once
// An epoch of a method that takes one row at a time, in an order that is known ahead.

#include <cstdint>
#include <span>

#include "hinge/poll.hpp"
#include "hinge/rows.hpp"

namespace hinge {

/// step(i) for each row of `visit`, which is fetched from memory a little before its turn. False when stopped by the poll.
template <Rows R, class Step>
bool each_row(const R& rows, std::span<const std::int64_t> visit, Poll& poll, Step&& step) {
  const auto n = static_cast<std::int64_t>(visit.size());
  for (std::int64_t position = 0; position < n; ++position) {
    if (position + kPrefetchDistance < n) rows.prefetch(visit[position + kPrefetchDistance]);
    const std::int64_t i = visit[position];
    step(i);
    if (poll(rows.stored(i))) return false;
  }
  return true;
}

}  // namespace hinge
