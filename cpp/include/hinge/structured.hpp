#pragma once
// Structured orthogonal random features: Fourier features whose frequencies come from Walsh-Hadamard matrices and random signs.
//
// Yu, Suresh, Choromanski, Holtmann-Rice & Kumar, "Orthogonal random features" (NIPS 2016). x is filled up with zeros to n entries, a
// power of 2. Each block of n features is
//
//   1. y = H D1 H D2 H D3 x                              H: Walsh-Hadamard (walsh.hpp), D: diagonal, of random signs
//   2. out_j = scale cos(2 pi (l_j y_j + p_j))           l_j: the length of frequency j, p_j: its phase, in turns
//
// so that a feature takes 3 log n additions, not n multiplications. H / sqrt(n) is orthogonal: D1, D2 and l have the 1/sqrt(n).
//
// A feature of a row has the same bits whatever rows come with it and however they are stored: a zero changes no sum, whether it is
// stored or not.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hinge/cosine.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/processor.hpp"
#include "hinge/rows.hpp"
#include "hinge/walsh.hpp"

namespace hinge {

namespace structured {

inline constexpr std::int64_t kFactors = 3;      // H D in a product
inline constexpr std::int64_t kShortest = 64;    // n at least, as with fewer signs the frequencies are far from normal
inline constexpr std::int64_t kBlockRows = 128;  // rows that a thread takes at once

/// The first `count` features of a block, into `work`, which has n entries.
template <class T>
HINGE_FOR_EACH_PROCESSOR void features(std::int64_t n, std::int64_t count, const T* x, const T* signs, const T* lengths,
                                       const T* phases, T scale, T* work) {
  using Memory = walsh::Register<T>;
  for (std::int64_t j = 0; j < n; ++j) work[j] = signs[j] * x[j];
  walsh::transform(n, work);
  for (std::int64_t j = 0; j < n; ++j) work[j] *= signs[n + j];
  walsh::transform(n, work);
  for (std::int64_t j = 0; j < n; ++j) work[j] *= signs[2 * n + j];
  walsh::leading(n, count, work);
  for (std::int64_t j = 0; j < count; j += walsh::kLanes<T>) {
    typename Memory::Vector t = Memory::at(work + j) * Memory::at(lengths + j) + Memory::at(phases + j);
    cosine::apply<T>(t, scale);
    Memory::at(work + j) = t;
  }
}

}  // namespace structured

/// The map. signs[k] has D3, D2 and D1 of block k, n entries each; lengths and phases have n entries for each block.
template <class T>
struct StructuredMap {
  std::int64_t n;
  std::int64_t n_out;
  T scale;
  std::span<const T> signs;
  std::span<const T> lengths;
  std::span<const T> phases;

  /// Features of all rows, n_out each, into `out`. False when stopped by the poll.
  template <Rows R>
  bool write(const R& rows, std::span<T> out, std::int64_t n_threads, Poll& poll) const {
    const Parts parts{rows.size(), std::max<std::int64_t>(1, rows.size() / structured::kBlockRows)};
    return for_parts(parts, n_threads, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
      std::vector<T> x(static_cast<std::size_t>(n));
      std::vector<T> work(x.size());
      for (std::int64_t i = begin; i < end; ++i) {
        if (own(static_cast<std::int64_t>(signs.size()))) return false;
        rows.for_each(i, [&](std::int64_t j, double value) { x[static_cast<std::size_t>(j)] = static_cast<T>(value); });
        for (std::int64_t column = 0; column < n_out; column += n) {
          const std::int64_t count = std::min(n, n_out - column);
          structured::features<T>(n, count, x.data(), signs.data() + structured::kFactors * column, lengths.data() + column,
                                  phases.data() + column, scale, work.data());
          std::copy_n(work.data(), count, out.data() + i * n_out + column);
        }
        rows.for_each(i, [&](std::int64_t j, double) { x[static_cast<std::size_t>(j)] = T{0}; });
      }
      return true;
    });
  }
};

}  // namespace hinge
