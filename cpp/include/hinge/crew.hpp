#pragma once
// Crew: threads that are kept between one piece of shared work and the next. Beginning a thread takes some thirty microseconds, as long as
// reading a thousand rows; waking one that has just been at work takes one or two.

#include <atomic>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <thread>
#include <vector>

#include "hinge/await.hpp"

namespace hinge {

/// While it lasts, `on_threads` (parts.hpp) gives work of the thread that made it to the same other threads.
class Crew {
 public:
  explicit Crew(std::int64_t n_threads) : n_others_(n_threads - 1), before_(current_) { current_ = this; }
  ~Crew() {
    current_ = before_;
    ended_ = true;
    call();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// That of this thread, if it has one that is not at work.
  static Crew* free() { return current_ != nullptr && !current_->at_work_ ? current_ : nullptr; }

  /// other(k) for k = 0 .. count-1 on other threads, or for fewer where no more can be had, and own() on this one. Neither may throw.
  template <class Other, class Own>
  void run(std::int64_t count, const Other& other, Own&& own) {
    at_work_ = true;
    recruit();
    wanted_ = count;
    context_ = &other;
    work_ = [](const void* context, std::int64_t k) { (*static_cast<const Other*>(context))(k); };
    busy_.store(static_cast<std::int64_t>(threads_.size()), std::memory_order_relaxed);
    call();
    own();
    await(busy_, [](std::int64_t busy) { return busy == 0; });
    at_work_ = false;
  }

 private:
  inline static thread_local Crew* current_ = nullptr;

  std::int64_t n_others_;
  Crew* before_;
  bool at_work_ = false;
  std::int64_t wanted_ = 0;
  const void* context_ = nullptr;
  void (*work_)(const void*, std::int64_t) = nullptr;
  bool ended_ = false;
  std::atomic<std::int64_t> calls_ = 0;
  std::atomic<std::int64_t> busy_ = 0;  // threads that have not ended the present work
  std::vector<std::jthread> threads_;

  void call() { announce(calls_, calls_.load(std::memory_order_relaxed) + 1); }

  /// When there is work for the first time.
  void recruit() {
    try {
      while (std::ssize(threads_) < n_others_) {
        const auto k = static_cast<std::int64_t>(threads_.size());
        threads_.emplace_back([this, k, seen = calls_.load()] { serve(k, seen); });
      }
    } catch (const std::system_error&) {
      n_others_ = static_cast<std::int64_t>(threads_.size());
    }
  }

  void serve(std::int64_t k, std::int64_t seen) {
    for (;;) {
      seen = await(calls_, [seen](std::int64_t calls) { return calls != seen; });
      if (ended_) return;
      if (k < wanted_) work_(context_, k);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
    }
  }
};

}  // namespace hinge
