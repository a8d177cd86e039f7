#pragma once
// Batches: the products w.x_i of several rows, computed before any of them moves, so that threads can share them.
//
// The products of a batch are taken even before the rows of the batch before it have moved: then hardly any thread ever waits for
// another one. So up to 2k rows, k in a batch, each make their best step as if they were alone. D still rises as long as the largest
// eigenvalue of the cosines between these rows is below 2. For rows drawn from all of them it is about
//
//   1 + 2k lambda,    lambda the largest eigenvalue of the mean of x_i x_i' / |x_i|^2.
//
// Text has lambda of 0.02 to 0.04: batches of 8 to 16 rows converge like single rows. Few features, or dense rows, have rows that are
// nearly parallel, and no batch is worth it.
//
// Every thread has weights of its own, and adds to them what all rows have changed, in their order. So a batch costs each thread its
// share of the products and all of the changes; most rows do not change, most of the time. The bits are the same for any number of
// threads. So threads that are not given a core of their own may be sent home at any time: waiting for them would cost more than they do.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"
#include "hinge/team.hpp"

namespace hinge {

/// What a row finds: its product with the weights, and its multiplier, when its batch was read.
struct Found {
  double product;
  double multiplier;
};

/// A thread's own weights and intercept. They go the same way as those of the solver.
struct Follower {
  std::vector<double> w;
  double b;
};

struct Batches {
  static constexpr std::int64_t kMost = 64;

  std::int64_t size;  // rows of a batch
  std::int64_t n_threads;

  /// lead(i, found) for each row of `visit`, by the calling thread; follow(follower, i, found) by the others, each on a copy of w and b.
  /// Both must change w and b by the same; only lead may change a_i. `columns` are what both read of a row beside its values. False
  /// when told to stop, after a whole batch.
  template <Rows R, class Lead, class Follow, class... Columns>
  bool each(const R& rows, std::span<const std::int64_t> visit, const std::vector<double>& a, const std::vector<double>& w,
            double b, Poll& poll, Lead&& lead, Follow&& follow, const Columns&... columns) const {
    const auto n = static_cast<std::int64_t>(visit.size());
    const std::int64_t per_row = rows.total_stored() / std::max<std::int64_t>(rows.size(), 1);
    const std::int64_t n_ranks = std::clamp<std::int64_t>(size / kLeastShare, 1, n_threads);
    std::vector<Follower> followers(static_cast<std::size_t>(n_ranks - 1), Follower{w, b});
    Ring ring;
    bool stopped = false;
    const auto read = [&](std::int64_t number, const double* weights, std::int64_t rank, std::int64_t of_ranks) {
      const std::span<const std::int64_t> from = visit.subspan(static_cast<std::size_t>(number * size));
      const auto rest = static_cast<std::int64_t>(from.size());
      for (std::int64_t k = size; k < std::min(2 * size, rest); ++k) {  // all of the next batch: each thread will need it
        const auto i = static_cast<std::size_t>(from[static_cast<std::size_t>(k)]);
        rows.announce(from[static_cast<std::size_t>(k)]);
        __builtin_prefetch(&a[i]);
        (__builtin_prefetch(&columns[i]), ...);
      }
      const Share share(std::min(size, rest), rank, of_ranks);
      for (std::int64_t k = share.begin; k < share.end; ++k) {
        const std::int64_t i = from[static_cast<std::size_t>(k)];
        const std::int64_t next = from[static_cast<std::size_t>(std::min(share.ahead(k, size), rest - 1))];
        ring[number].found[static_cast<std::size_t>(k)] = {rows.product(i, weights, next), a[static_cast<std::size_t>(i)]};
      }
      if (rank > 0) return;
      stopped = stopped || poll(std::min(size, rest) * per_row);
      ring[number].last = stopped || rest <= size;
      ring[number].dismissed = false;
    };
    const auto move = [&](std::int64_t number, auto&& take_turn) {
      const auto rest = visit.subspan(static_cast<std::size_t>(number * size));
      const std::int64_t count = std::min(size, static_cast<std::int64_t>(rest.size()));
      for (std::int64_t k = 0; k < count; ++k) {
        take_turn(rest[static_cast<std::size_t>(k)], ring[number].found[static_cast<std::size_t>(k)]);
      }
    };
    const auto follow_on = [&](Team& team, std::int64_t rank) {
      Follower& self = followers[static_cast<std::size_t>(rank - 1)];
      const auto take_turn = [&](std::int64_t i, const Found& found) { follow(self, i, found); };
      for (std::int64_t number = 0;; ++number) {
        if (number * size < n) read(number, self.w.data(), rank, team.size());
        team.arrive(rank, number + 1);
        if (number == 0) continue;
        if (!team.await(number) || ring[number - 1].last) return;
        move(number - 1, take_turn);
        if (ring[number - 1].dismissed) return;
      }
    };
    const auto lead_on = [&](Team& team) {
      std::int64_t alone_from = n;  // batch: the others have gone home
      std::int64_t slow = 0;        // times that they were waited for too long
      for (std::int64_t number = 0;; ++number) {
        if (number == alone_from) team.await_the_end();
        if (number * size < n) {
          read(number, w.data(), 0, number < alone_from ? team.size() : 1);
          if (slow > kSlow && alone_from == n) {
            ring[number].dismissed = true;  // they learn of it when they have read the next batch
            alone_from = number + 2;
          }
        }
        if (number < alone_from) team.arrive(0, number + 1);
        if (number == 0) continue;
        if (number < alone_from) team.await(number, &slow);
        move(number - 1, lead);
        if (ring[number - 1].last) return;
      }
    };
    Team::run(n_ranks, [&](Team& team, std::int64_t rank) { rank == 0 ? lead_on(team) : follow_on(team, rank); });
    return !stopped;
  }

  /// The rows of a batch that do not overshoot: 1 if not even a few do, or if all rows are soon read.
  template <Rows R>
  static std::int64_t largest(const R& rows) {
    if (rows.total_stored() < kWorthwhile) return 1;
    const double most = 0.5 * kOvershoot / top_eigenvalue(rows);
    return most >= static_cast<double>(kLeastChosen)
               ? static_cast<std::int64_t>(std::min(most, static_cast<double>(kMostChosen)))
               : 1;
  }

 private:
  /// 2k lambda stays below: less than 1, for the eigenvalues of batches scatter.
  static constexpr double kOvershoot = 0.75;
  /// Threads that wait for each other more often than after so many rows gain nothing; after more than so many, nothing more.
  static constexpr std::int64_t kLeastChosen = 8;
  static constexpr std::int64_t kMostChosen = 32;
  /// Rows of a batch for each thread: with fewer, all that it does is to follow the others.
  static constexpr std::int64_t kLeastShare = 4;
  /// Threads that are waited for too long more often than that, in one epoch, share their core with others.
  static constexpr std::int64_t kSlow = 16;
  /// Values stored: a pass over fewer takes no longer than ten milliseconds.
  static constexpr std::int64_t kWorthwhile = 1 << 22;
  /// Rows of the sample for lambda, and products with it.
  static constexpr std::int64_t kSample = 1024;
  static constexpr int kIterations = 4;

  struct Batch {
    std::array<Found, kMost> found;
    bool last;
    bool dismissed;  // the threads that follow: they read the next batch, and that is it
  };

  /// The batches that any thread may be at: one that reads batch number j knows that all others have read batch j - 2, and may still
  /// be at work on batch j - 3.
  class Ring {
   public:
    Batch& operator[](std::int64_t number) { return batches_[static_cast<std::size_t>(number) % kApart]; }

   private:
    static constexpr std::size_t kApart = 4;
    std::array<Batch, kApart> batches_;
  };

  /// The accounts of so many rows take as long as reading one.
  static constexpr std::int64_t kAccounts = 12;

  /// The rows of a batch that one thread reads.
  struct Share {
    std::int64_t begin;
    std::int64_t end;

    /// The calling thread gets fewer: it does the accounts of all rows.
    Share(std::int64_t count, std::int64_t rank, std::int64_t n_ranks) {
      const std::int64_t accounts = n_ranks > 1 ? count / kAccounts : 0;
      const auto first = [&](std::int64_t r) { return r > 0 ? (count + accounts) * r / n_ranks - accounts : 0; };
      begin = std::max<std::int64_t>(first(rank), 0);
      end = std::max<std::int64_t>(first(rank + 1), 0);
    }

    /// The row to fetch while row k is multiplied: some rows later in this share, or else in that of the next batch.
    std::int64_t ahead(std::int64_t k, std::int64_t batch) const {
      const std::int64_t later = k + kPrefetchDistance;
      return later < end ? later : later + batch - (end - begin);
    }
  };

  /// lambda, by power iterations on evenly spaced rows.
  template <Rows R>
  static double top_eigenvalue(const R& rows) {
    const std::int64_t count = std::min(rows.size(), kSample);
    const auto n = static_cast<std::size_t>(rows.n_features());
    std::vector<double> u(n + 1);
    std::vector<double> next(n + 1);
    double lambda = 0.0;
    for (int iteration = 0; iteration <= kIterations; ++iteration) {
      std::fill(next.begin(), next.end(), 0.0);
      double sum = 0.0;
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t i = rows.size() / count * k;
        const double norm = rows.squared_norm(i);
        if (!(norm > 0.0)) continue;
        const double product = iteration == 0 ? std::sqrt(norm) : rows.product(i, u.data());  // first the sum of all directions
        rows.add(i, product / norm, next);
        sum += product * (product / norm);
      }
      next[n] = 0.0;  // the constant feature is always up to date
      if (iteration > 0) lambda = sum / static_cast<double>(count);
      const double length = std::sqrt(squared_norm(next));
      if (!(length > 0.0)) break;
      for (std::size_t j = 0; j < n; ++j) u[j] = next[j] / length;
    }
    return lambda;
  }
};

}  // namespace hinge
