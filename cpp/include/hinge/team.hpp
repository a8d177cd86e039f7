#pragma once
// Threads that work in step: they meet every few microseconds, too often to sleep in between.

#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "hinge/parts.hpp"
#include "hinge/processor.hpp"

namespace hinge {

class Team {
 public:
  /// work(team, rank) on up to `n_threads` threads at once; the calling thread has rank 0. Where no more threads can be had, fewer do.
  /// Only the calling thread may throw: then the next meeting tells the others to leave.
  template <class Work>
  static void run(std::int64_t n_threads, Work&& work) {
    Team team(n_threads);
    const auto others = more_threads(n_threads - 1, [&team, &work](std::int64_t k) {
      team.size_.wait(0);
      work(team, k + 1);
      team.arrive(k + 1, kEnd);
    });
    team.size_ = static_cast<std::int64_t>(others.size()) + 1;
    team.size_.notify_all();
    try {
      work(team, 0);
    } catch (...) {
      team.left_ = true;
      throw;
    }
  }

  std::int64_t size() const { return size_.load(std::memory_order_relaxed); }

  /// This thread has come to that step: what it wrote before can be read by whoever awaits it.
  void arrive(std::int64_t rank, std::int64_t step) {
    places_[static_cast<std::size_t>(rank)].step.store(step, std::memory_order_release);
  }

  /// Returns when all have come to that step. False: leave, somebody never will. `slow` counts how often that took long.
  bool await(std::int64_t step, std::int64_t* slow = nullptr) const {
    for (std::int64_t rank = 0; rank < size(); ++rank) {
      const std::atomic<std::int64_t>& place = places_[static_cast<std::size_t>(rank)].step;
      if (arrives_soon(place, step)) continue;
      if (slow) ++*slow;
      if (!arrives(place, step)) return false;
    }
    return true;
  }

  /// For rank 0: returns when the work of all others has ended.
  void await_the_end() {
    arrive(0, kEnd);
    await(kEnd);
  }

 private:
  /// No step comes later.
  static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

  /// A line of the cache for each thread: nobody else writes there.
  struct alignas(64) Place {
    std::atomic<std::int64_t> step = 0;
  };

  /// Some ten microseconds: longer than threads wait for each other that are all at work.
  static constexpr int kPatience = 1000;

  std::atomic<std::int64_t> size_ = 0;
  std::atomic<bool> left_ = false;
  std::vector<Place> places_;

  explicit Team(std::int64_t n_threads) : places_(static_cast<std::size_t>(n_threads)) {}

  static bool arrives_soon(const std::atomic<std::int64_t>& place, std::int64_t step) {
    for (int looks = 0; looks < kPatience; ++looks) {
      if (place.load(std::memory_order_acquire) >= step) return true;
      spin();
    }
    return false;
  }

  bool arrives(const std::atomic<std::int64_t>& place, std::int64_t step) const {
    while (place.load(std::memory_order_acquire) < step) {
      if (left_.load(std::memory_order_relaxed)) return false;
      std::this_thread::yield();  // the one that is awaited may need this core
    }
    return true;
  }
};

}  // namespace hinge
