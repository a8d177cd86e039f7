#pragma once
// Row order: in which order an epoch visits its rows.
//
// block = 0   a full random permutation, as in the papers.
// block = B   blocks of B consecutive rows in random order, `group` of them open at a time: each step takes the next row of
//             a random open block. Memory is read in as many sequential streams, which halves the time of an epoch on data
//             larger than the cache, while neighbours in the file are not neighbours in the order: on rows sorted by
//             class or by place this converges like a full permutation, where whole blocks in turn would not.
//             An epoch of fewer than 16 groups is permuted in full.
// once        a random permutation made before the first epoch and kept: the rows as a shuffled file has them, for programs that
//             read such a file from its first row to its last in every epoch. Some of the rows keep their places in it.
//
// Steps on k rows may also draw them: independently, or as k different rows (subsets).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hinge/rng.hpp"

namespace hinge {

enum class Sampling { iid, epoch, subset };  // single rows: subset is iid

/// `count` rows drawn independently, uniformly from 0 .. m-1.
inline std::vector<std::int64_t> draws(std::int64_t m, std::int64_t count, Rng& rng) {
  std::vector<std::int64_t> visit(static_cast<std::size_t>(count));
  for (auto& i : visit) i = rng.below(m);
  return visit;
}

/// `count` sets of k different rows, each drawn uniformly from 0 .. m-1, one after the other; 1 <= k <= m.
inline std::vector<std::int64_t> subsets(std::int64_t m, std::int64_t k, std::int64_t count, Rng& rng) {
  std::vector<std::int64_t> pool(static_cast<std::size_t>(m));
  std::iota(pool.begin(), pool.end(), std::int64_t{0});
  std::vector<std::int64_t> visit;
  visit.reserve(static_cast<std::size_t>(k * count));
  for (std::int64_t set = 0; set < count; ++set) {
    for (std::int64_t j = 0; j < k; ++j) {  // a shuffle that ends when its first k places are known
      std::swap(pool[static_cast<std::size_t>(j)], pool[static_cast<std::size_t>(j + rng.below(m - j))]);
      visit.push_back(pool[static_cast<std::size_t>(j)]);
    }
  }
  return visit;
}

struct Order {
  std::int64_t block = 0;
  std::int64_t group = 1;
  std::shared_ptr<const std::vector<std::int64_t>> kept = nullptr;  // the permutation of `once`

  static Order once(std::int64_t m, Rng& rng) {
    Order order;
    order.kept = std::make_shared<const std::vector<std::int64_t>>(order.of_all(m, rng));
    return order;
  }

  /// Write `rows`, rearranged, to `visit` (of the same length). False when told to stop.
  template <class Stop = Never>
  bool arrange(std::span<const std::int64_t> rows, std::span<std::int64_t> visit, Rng& rng, Stop&& stop = {}) const {
    const auto n = static_cast<std::int64_t>(rows.size());
    if (kept) {
      recall(rows, visit);
      return !stop(n);
    }
    if (block <= 0 || n < 16 * group * block) {
      std::copy(rows.begin(), rows.end(), visit.begin());
      return rng.shuffle(visit, stop);
    }
    std::vector<std::int64_t> blocks(static_cast<std::size_t>((n + block - 1) / block));
    std::iota(blocks.begin(), blocks.end(), std::int64_t{0});
    rng.shuffle(blocks);
    std::size_t out = 0;
    std::vector<std::int64_t> next(static_cast<std::size_t>(group));  // row of each block in the group
    for (std::size_t first = 0; first < blocks.size(); first += static_cast<std::size_t>(group)) {
      const std::size_t last = std::min(first + static_cast<std::size_t>(group), blocks.size());
      const std::size_t begin = out;
      for (std::size_t b = first; b < last; ++b) {
        next[b - first] = blocks[b] * block;
        const std::int64_t length = std::min(block, n - blocks[b] * block);
        std::fill_n(visit.begin() + static_cast<std::ptrdiff_t>(out), length, static_cast<std::int64_t>(b - first));
        out += static_cast<std::size_t>(length);
      }
      const auto part = visit.subspan(begin, out - begin);
      rng.shuffle(part);
      for (auto& slot : part) slot = rows[static_cast<std::size_t>(next[static_cast<std::size_t>(slot)]++)];
      if (stop(static_cast<std::int64_t>(out - begin))) return false;
    }
    return true;
  }

  /// The rows 0 .. m-1, rearranged; none when told to stop.
  template <class Stop = Never>
  std::vector<std::int64_t> of_all(std::int64_t m, Rng& rng, Stop&& stop = {}) const {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(m));
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    std::vector<std::int64_t> visit(rows.size());
    if (!arrange(rows, visit, rng, stop)) visit.clear();
    return visit;
  }

  /// The rows of an epoch: `count` independent draws, or all rows in this order. None when told to stop.
  template <class Stop = Never>
  std::vector<std::int64_t> sample(Sampling how, std::int64_t m, std::int64_t count, Rng& rng, Stop&& stop = {}) const {
    return how == Sampling::epoch ? of_all(m, rng, stop) : draws(m, count, rng);
  }

 private:
  /// `rows`, which are some of those kept, as they follow each other there.
  void recall(std::span<const std::int64_t> rows, std::span<std::int64_t> visit) const {
    std::vector<char> asked(kept->size());
    for (const std::int64_t i : rows) {
      if (i < 0 || i >= static_cast<std::int64_t>(asked.size())) throw std::invalid_argument("an order kept for other rows");
      asked[static_cast<std::size_t>(i)] = 1;
    }
    std::copy_if(kept->begin(), kept->end(), visit.begin(),
                 [&](std::int64_t i) { return asked[static_cast<std::size_t>(i)] != 0; });
  }
};

}  // namespace hinge
