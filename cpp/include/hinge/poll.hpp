#pragma once
// Poll: how a long native loop learns that it should stop (Ctrl-C, a time limit, another thread's request).
//
// A loop calls `poll(work)` with the number of stored values that it has just read. Every million values or so the poll
// looks at the clock, and about ten times a second it asks `check`, which may take locks. What a run computes never
// depends on the clock: a poll can only end it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace hinge {

/// Shared by all runs that one request should stop.
using StopFlag = std::atomic<bool>;

/// One per run; not shared between threads.
class Poll {
 public:
  explicit Poll(std::shared_ptr<StopFlag> flag, std::function<bool()> check = {})
      : flag_(std::move(flag)), check_(std::move(check)) {}

  /// From a century on there is no deadline: the clock could not hold it.
  void set_deadline(double seconds_from_now) {
    deadline_ = seconds_from_now < 3e9
                    ? Clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(std::max(seconds_from_now, 0.0) * 1e9))
                    : Clock::time_point::max();
  }

  /// True when the caller must return at once; it stays true.
  bool operator()(std::int64_t work) {
    work_ += work + 8;
    return work_ >= kWorkBetweenLooks && look();
  }

  bool stopped() const { return stopped_; }
  bool past_deadline() const { return Clock::now() >= deadline_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t kWorkBetweenLooks = 1 << 20;
  static constexpr std::chrono::milliseconds kBetweenChecks{100};

  bool look() {
    work_ = 0;
    const auto now = Clock::now();
    if (check_ && now - last_check_ >= kBetweenChecks) {
      last_check_ = now;
      if (check_()) flag_->store(true, std::memory_order_relaxed);
    }
    stopped_ = stopped_ || flag_->load(std::memory_order_relaxed) || now >= deadline_;
    if (stopped_) work_ = kWorkBetweenLooks;  // look again at the next call
    return stopped_;
  }

  std::shared_ptr<StopFlag> flag_;
  std::function<bool()> check_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point last_check_ = Clock::now();
  std::int64_t work_ = 0;
  bool stopped_ = false;
};

}  // namespace hinge
