#pragma once
// Poll: how a long native loop learns that it should stop (Ctrl-C, a time limit, another thread's request).
//
// A loop calls `poll(work)` with the number of stored values that it has just read. Every million values or so the poll looks at
// the clock and at its token; about ten times a second it asks `check`, which may take locks. What a run computes never depends
// on the clock: a poll can only end it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace hinge {

/// Shared by all threads and runs that one request, or one time limit, should stop.
class StopToken {
 public:
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  bool stop_requested() const { return stop_.load(std::memory_order_relaxed); }

  /// From a century on there is no deadline: the clock could not hold it.
  void set_deadline(double seconds_from_now) {
    const auto wait = std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(seconds_from_now, 0.0, kCentury) * 1e9));
    deadline_.store(seconds_from_now < kCentury ? (Clock::now() + wait).time_since_epoch().count() : kNever,
                    std::memory_order_relaxed);
  }
  bool past_deadline() const {
    const auto deadline = deadline_.load(std::memory_order_relaxed);
    return deadline != kNever && Clock::now().time_since_epoch().count() >= deadline;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kCentury = 3e9;  // seconds
  static constexpr Clock::rep kNever = Clock::duration::max().count();

  std::atomic<bool> stop_{false};
  std::atomic<Clock::rep> deadline_{kNever};
};

/// One per thread.
class Poll {
 public:
  /// With `overtime`, for what must be finished after a time limit, the deadline does not count.
  explicit Poll(std::shared_ptr<StopToken> token, std::function<void()> check = {}, bool overtime = false)
      : token_(std::move(token)), check_(std::move(check)), overtime_(overtime) {}

  /// True when the caller must return at once; it stays true.
  bool operator()(std::int64_t work) {
    work_ += work + kWorkPerCall;
    return work_ >= kWorkBetweenLooks && look();
  }

  bool stopped() const { return stopped_; }

  /// For another thread that works on the same task.
  Poll for_worker() const { return Poll(token_, {}, overtime_); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t kWorkPerCall = 8;  // of rows that store nothing
  static constexpr std::int64_t kWorkBetweenLooks = 1 << 20;
  static constexpr std::chrono::milliseconds kBetweenChecks{100};

  bool look() {
    work_ = 0;
    if (check_ && Clock::now() - last_check_ >= kBetweenChecks) {
      check_();
      last_check_ = Clock::now();
    }
    stopped_ = stopped_ || token_->stop_requested() || (!overtime_ && token_->past_deadline());
    if (stopped_) work_ = kWorkBetweenLooks;  // look again at the next call
    return stopped_;
  }

  std::shared_ptr<StopToken> token_;
  std::function<void()> check_;
  bool overtime_;
  Clock::time_point last_check_ = Clock::now();
  std::int64_t work_ = 0;
  bool stopped_ = false;
};

}  // namespace hinge
