#pragma once
// Waiting for another thread that is nearly there: first awake, for what comes within microseconds, then asleep.

#include <atomic>
#include <cstdint>

#include "hinge/processor.hpp"

namespace hinge {

/// Returns the value when it is as wanted. Whoever changes it must notify.
template <class Wanted>
std::int64_t await(const std::atomic<std::int64_t>& value, Wanted&& wanted) {
  constexpr int kPatience = 2000;  // looks: some ten microseconds
  for (int looks = 0;; ++looks) {
    const std::int64_t now = value.load(std::memory_order_acquire);
    if (wanted(now)) return now;
    looks < kPatience ? spin() : value.wait(now, std::memory_order_acquire);
  }
}

/// Sets the value, and wakes those who wait for it.
inline void announce(std::atomic<std::int64_t>& value, std::int64_t next) {
  value.store(next, std::memory_order_release);
  value.notify_all();
}

}  // namespace hinge
