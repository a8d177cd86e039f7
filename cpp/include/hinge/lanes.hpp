#pragma once
// Two lanes: rows make their steps in two threads at once, each thread with weights of its own.
//
// An epoch is cut in rounds. In a round each lane takes its half of the rows, one after the other. Both begin at the same w, and each
// counts its own steps twice: it acts as if the other lane did the same. With delta_k for what the steps of lane k change of w, the
// lanes end at w + 2 delta_0 and w + 2 delta_1, and the mean of these is the w of all steps. That is the rule of
//
//   Ma, Smith, Jaggi, Jordan, Richtarik & Takac, "Adding vs. Averaging in Distributed Primal-Dual Optimization" (ICML 2015), sigma' = 2,
//
// with steps twice as long, and D never falls. With G_k = (the part of D that is linear in the steps of lane k) - |delta_k|^2,
//
//   rise of D in a round = G_0 + G_1 + 1/2 |delta_0 - delta_1|^2,
//
// and no step lowers G_k: its gradient is the one that lane k sees, and its curvature twice the one that the step goes by. So a whole
// step ends on the other side of the parabola, as high as it began, and one that the box cuts short ends higher. A direction that all
// rows have in common is corrected once, then, not twice. More than two lanes would need shorter steps.
//
// A row that meets other rows of its round in a rare feature moves too little, so rounds should be short; but each ends with a pass over
// the weights.
//
// Which rows a lane takes depends on the order of the epoch only. The bits are the same for one thread and for two.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "hinge/await.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"

namespace hinge {

struct Lanes {
  static constexpr std::int64_t kCount = 2;

  std::int64_t block;  // rows of a lane in a round; 0: there is one lane only
  std::int64_t n_threads;

  /// Whether so few rows are better taken one after the other.
  bool too_few(std::int64_t n_rows) const { return block == 0 || n_rows / (kLeastRounds * kCount) < block; }

  /// take(k, rows of lane k) for both lanes, then merge(k) for each half k of the weights, round after round. Neither may throw. False
  /// when told to stop, after a whole round.
  template <class Take, class Merge>
  bool each(std::span<const std::int64_t> visit, std::int64_t values_per_row, Poll& poll, Take&& take, Merge&& merge) const {
    const auto n = static_cast<std::int64_t>(visit.size());
    const std::int64_t per_round = kCount * block;
    std::atomic<bool> stopped = false;
    std::atomic<std::int64_t> threads = 0;
    Phases phases;
    const auto work = [&](Poll& own) {
      const std::int64_t preferred = threads++ % kCount;
      std::int64_t phase = 0;
      for (std::int64_t begin = 0; begin < n && !stopped; begin += per_round) {
        const std::int64_t count = std::min(per_round, n - begin);
        phases.both(++phase, preferred, [&](std::int64_t k) {
          const auto first = static_cast<std::size_t>(begin + count * k / kCount);
          const auto last = static_cast<std::size_t>(begin + count * (k + 1) / kCount);
          take(k, visit.subspan(first, last - first));
        });
        phases.both(++phase, preferred, merge);
        if (own(count * values_per_row)) stopped = true;
      }
    };
    on_threads(std::min(n_threads, kCount), poll, [&](Poll& own) {
      try {
        work(own);
      } catch (...) {  // of the poll: between two rounds
        stopped = true;
        throw;
      }
    });
    return !stopped;
  }

  /// Rows of a lane in a round for these rows.
  template <Rows R>
  static std::int64_t block_for(const R& rows) {
    return std::max(kLeastRows, kReads * (rows.n_features() + 1) / std::max<std::int64_t>(mean_stored(rows), 1));
  }

  /// Whether two lanes are worth it, although one thread alone takes longer for both.
  template <Rows R>
  static bool pay(const R& rows) {
    return rows.total_stored() >= kWorthwhile && rows.size() >= kManyRounds * kCount * block_for(rows);
  }

  template <Rows R>
  static std::int64_t mean_stored(const R& rows) {
    return rows.total_stored() / std::max<std::int64_t>(rows.size(), 1);
  }

 private:
  /// Values that a lane reads in a round, for each weight that is merged after it.
  static constexpr std::int64_t kReads = 4;
  static constexpr std::int64_t kLeastRows = 256;
  /// Epochs of fewer rounds go on in one lane: threads would hardly have begun.
  static constexpr std::int64_t kLeastRounds = 4;
  /// Values stored: a pass over fewer takes no longer than some hundredths of a second.
  static constexpr std::int64_t kWorthwhile = 1 << 24;
  /// Rounds of a pass over all rows. Then a lane knows of nearly all that the other one did: on RCV1-like text, C = 1, 0.1 %, a pass of 392
  /// rounds took 28 epochs, of 98 31, of 24 35, and one lane 25.
  static constexpr std::int64_t kManyRounds = 64;

  /// Work in phases of two tasks each. A thread takes the task that it prefers, so that its weights stay in its cache, and then the
  /// other one if nobody has begun with it: a thread without a core of its own keeps nobody waiting for long.
  class Phases {
   public:
    template <class Task>
    void both(std::int64_t phase, std::int64_t preferred, Task&& task) {
      for (const std::int64_t k : {preferred, kCount - 1 - preferred}) {
        std::int64_t before = phase - 1;
        Progress& progress = progress_[static_cast<std::size_t>(k)];
        if (!progress.begun.compare_exchange_strong(before, phase, std::memory_order_acq_rel)) continue;
        task(k);
        announce(progress.done, phase);
      }
      for (const Progress& each : progress_) await(each.done, [phase](std::int64_t done) { return done >= phase; });
    }

   private:
    /// Of a task: the last phase in which it was begun, or done.
    struct alignas(64) Progress {
      std::atomic<std::int64_t> begun = 0;
      std::atomic<std::int64_t> done = 0;
    };

    std::array<Progress, kCount> progress_;
  };
};

}  // namespace hinge
