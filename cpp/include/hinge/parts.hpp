#pragma once
// A sum over all rows, in parts: each part is summed by itself, and the parts are merged in their order. The partition depends on
// the rows only, so the result has the same bits for any number of threads.
//
// The parts are the unit of all parallel work on rows: what is added up here by threads may as well be added up by chunk of a file
// or by worker of a cluster.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "hinge/await.hpp"
#include "hinge/crew.hpp"
#include "hinge/poll.hpp"

namespace hinge {

struct Parts {
  std::int64_t size = 0;   // rows
  std::int64_t count = 1;  // parts

  std::int64_t begin(std::int64_t part) const { return size / count * part + std::min(part, size % count); }
  std::int64_t end(std::int64_t part) const { return begin(part + 1); }

  /// Parts of at least a few thousand rows, or of fewer that store as much. Merging costs `width` numbers a part, at most a sixteenth
  /// of reading the rows.
  static Parts of(std::int64_t size, std::int64_t stored, std::int64_t width) {
    constexpr std::int64_t kMost = 64;
    const std::int64_t worthwhile = std::max(size / kLeastRows, std::min(size, stored / kLeastStored));
    return {size, std::clamp<std::int64_t>(std::min(worthwhile, stored / (16 * (width + 1))), 1, kMost)};
  }
  static constexpr std::int64_t kLeastRows = 4096;
  static constexpr std::int64_t kLeastStored = 1 << 18;
};

/// Numbers that are added up one by one, for `sum_over`.
template <class Values>
struct TotalOf {
  Values values;
  void merge(const TotalOf& other) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += other.values[k];
  }
};

/// other(k) on up to `count` threads more, and own() on this one; returns when all have ended. Where no more threads can be had, fewer.
template <class Other, class Own>
void beside(std::int64_t count, const Other& other, Own&& own) {
  if (count <= 0) return own();
  if (Crew* crew = Crew::free()) return crew->run(count, other, own);
  std::vector<std::jthread> threads;
  try {
    for (std::int64_t k = 0; k < count; ++k) threads.emplace_back([&other, k] { other(k); });
  } catch (const std::system_error&) {
  }
  own();
}

/// work(poll) on up to `n_threads` threads at once, the calling one among them. An exception of any of them is thrown here; the
/// others must notice by themselves that they are to end. Where no more threads can be had, fewer do.
template <class Work>
void on_threads(std::int64_t n_threads, Poll& poll, Work&& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&](Poll& own) {
    try {
      work(own);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const Poll idle = poll.for_worker();
  const auto other = [&](std::int64_t) {
    Poll own = idle;
    guarded(own);
  };
  beside(n_threads - 1, other, [&] { guarded(poll); });
  if (failure) std::rethrow_exception(failure);
}

/// total, which is `empty` before, becomes the sum over all parts; add(sum, begin, end, poll) adds the rows begin .. end-1 to a
/// sum and returns false when stopped by its poll. False when stopped.
template <class Total, class Add>
bool sum_over(const Parts& parts, std::int64_t n_threads, Poll& poll, const Total& empty, Total& total, Add&& add) {
  constexpr std::int64_t kStopped = -1;
  std::atomic<std::int64_t> next = 0;
  std::atomic<std::int64_t> merged = 0;                                         // parts
  if (parts.count == 1) return add(total, parts.begin(0), parts.end(0), poll);  // without the memory of another sum
  const auto work = [&](Poll& own) {
    Total sum(empty);
    for (std::int64_t part = next++; part < parts.count; part = next++) {
      sum = empty;
      if (!add(sum, parts.begin(part), parts.end(part), own)) return announce(merged, kStopped);
      const auto my_turn = [&](std::int64_t count) { return count == part || count == kStopped; };
      if (await(merged, my_turn) == kStopped) return;  // else the parts before are done
      total.merge(sum);
      std::int64_t before = part;
      if (!merged.compare_exchange_strong(before, part + 1, std::memory_order_acq_rel)) return;  // stopped
      merged.notify_all();
    }
  };
  on_threads(std::min(n_threads, parts.count), poll, [&](Poll& own) {
    try {
      work(own);
    } catch (...) {
      announce(merged, kStopped);
      throw;
    }
  });
  return merged != kStopped;
}

/// each(begin, end, poll) for every part, in any order. False when stopped.
template <class Each>
bool for_parts(const Parts& parts, std::int64_t n_threads, Poll& poll, Each&& each) {
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> stopped = false;
  on_threads(std::min(n_threads, parts.count), poll, [&](Poll& own) {
    try {
      for (std::int64_t part = next++; part < parts.count && !stopped; part = next++) {
        if (!each(parts.begin(part), parts.end(part), own)) stopped = true;
      }
    } catch (...) {
      stopped = true;  // the others need not go on
      throw;
    }
  });
  return !stopped;
}

}  // namespace hinge
