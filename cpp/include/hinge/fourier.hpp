#pragma once
// Random Fourier features: out_j = scale cos(2 pi (x.f_j + p_j)), for frequencies f_j and phases p_j counted in turns.
//
// Rahimi & Recht, "Random features for large-scale kernel machines" (NIPS 2007); equation (17) of Lee & Wright's ASSET.
//
// A feature of a row has the same bits whatever rows come with it and however they are stored: x.f_j is summed over the entries of x
// in their order, starting from p_j, where entries of zero change nothing; and the cosine is a polynomial of our own. So zeros can be
// left out, which makes rows with many of them cheap, dense or not.
//
// kRows rows and a panel of kWidth frequencies are multiplied at once, over the entries that are not zero in all of the rows: the sums
// stay in registers, and a panel in a core's own cache while a block of rows goes over it.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "hinge/cosine.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/tile.hpp"

namespace hinge {

namespace fourier {

inline constexpr std::int64_t kRows = 2;     // more rows have more entries that are not zero in all of them, and more to load
inline constexpr std::int64_t kBytes = 128;  // of the frequencies of a panel that belong to one entry of x
inline constexpr std::int64_t kBlockRows = 384;  // rows that go over a panel before the next one

template <class T>
inline constexpr std::int64_t kWidth = kBytes / sizeof(T);

/// out[r][j] = scale cos(2 pi (phase_j + sum_k values[k][r] panel[indices[k]][j])) for kRows rows and the kWidth columns of a panel.
template <class T>
HINGE_FOR_EACH_PROCESSOR void features(std::int64_t n, const std::int32_t* indices, const T* values, const T* panel,
                                       const T* phase, T scale, T* out) {
  typedef T Vector __attribute__((vector_size(32)));
  struct __attribute__((packed)) Anywhere {  // an array may begin at any address
    Vector values;
  };
  const auto* start = reinterpret_cast<const Anywhere*>(phase);
  Vector a0 = start[0].values, a1 = start[1].values, a2 = start[2].values, a3 = start[3].values;
  Vector b0 = a0, b1 = a1, b2 = a2, b3 = a3;
  for (std::int64_t k = 0; k < n; ++k, values += kRows) {
    const auto* f = reinterpret_cast<const Anywhere*>(panel + static_cast<std::int64_t>(indices[k]) * kWidth<T>);
    const Vector f0 = f[0].values, f1 = f[1].values, f2 = f[2].values, f3 = f[3].values;
    const T x = values[0], y = values[1];
    a0 += x * f0;
    a1 += x * f1;
    a2 += x * f2;
    a3 += x * f3;
    b0 += y * f0;
    b1 += y * f1;
    b2 += y * f2;
    b3 += y * f3;
  }
  Vector sums[] = {a0, a1, a2, a3, b0, b1, b2, b3};
  for (Vector& t : sums) cosine::apply<T>(t, scale);
  std::memcpy(out, sums, sizeof sums);
}

/// The entries of some rows, in groups of kRows: where not all rows of a group have zeros, the values of all of them.
template <class T>
struct Groups {
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  std::vector<std::int64_t> starts;

  template <Rows R>
  void collect(const R& rows, std::int64_t begin, std::int64_t end) {
    indices.clear();
    values.clear();
    starts.assign(1, 0);
    dense_.assign(static_cast<std::size_t>(rows.n_features() * kRows), T{0});
    touched_.assign(static_cast<std::size_t>(rows.n_features()), 0);
    for (; begin < end; begin += kRows) {
      found_.clear();
      for (std::int64_t i = begin; i < std::min(begin + kRows, end); ++i) {
        rows.for_each(i, [&](std::int64_t j, double x) {
          if (x == 0.0) return;
          if (!touched_[static_cast<std::size_t>(j)]) found_.push_back(static_cast<std::int32_t>(j));
          touched_[static_cast<std::size_t>(j)] = 1;
          dense_[static_cast<std::size_t>(j * kRows + i - begin)] = static_cast<T>(x);
        });
      }
      put_in_order();
      for (const std::int32_t j : found_) {
        T* x = dense_.data() + static_cast<std::int64_t>(j) * kRows;
        indices.push_back(j);
        values.insert(values.end(), x, x + kRows);
        std::fill_n(x, kRows, T{0});
        touched_[static_cast<std::size_t>(j)] = 0;
      }
      starts.push_back(static_cast<std::int64_t>(indices.size()));
    }
  }

 private:
  std::vector<T> dense_;       // one group, kRows values for each feature
  std::vector<char> touched_;  // features that are not zero in all of its rows
  std::vector<std::int32_t> found_;

  /// found_ in ascending order: by reading touched_ where that is shorter than to sort.
  void put_in_order() {
    constexpr std::size_t kSparse = 32;
    if (found_.size() * kSparse < touched_.size()) {
      std::sort(found_.begin(), found_.end());
      return;
    }
    std::size_t n = 0;
    for (std::size_t j = 0; j < touched_.size(); ++j) {
      if (touched_[j]) found_[n++] = static_cast<std::int32_t>(j);
    }
  }
};

}  // namespace fourier

/// The map: panels[p] has n_in rows of kWidth frequencies, phases as many columns as all panels. Rows must have fewer than 2^31 columns.
template <class T>
struct FourierMap {
  std::int64_t n_in;
  std::int64_t n_out;
  T scale;
  std::span<const T> panels;
  std::span<const T> phases;

  static constexpr std::int64_t kWidth = fourier::kWidth<T>;

  /// Features of all rows, n_out each, into `out`. False when stopped by the poll.
  template <Rows R>
  bool write(const R& rows, std::span<T> out, std::int64_t n_threads, Poll& poll) const {
    const Parts parts{rows.size(), std::max<std::int64_t>(1, rows.size() / fourier::kBlockRows)};
    return for_parts(parts, n_threads, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
      fourier::Groups<T> groups;
      groups.collect(rows, begin, end);
      for (std::int64_t column = 0; column < n_out; column += kWidth) {
        if (own(static_cast<std::int64_t>(groups.values.size()) + (end - begin) * kWidth)) return false;
        const T* panel = panels.data() + column * n_in;
        T block[fourier::kRows * kWidth];
        for (std::int64_t i = begin, g = 0; i < end; i += fourier::kRows, ++g) {
          const std::int64_t at = groups.starts[static_cast<std::size_t>(g)];
          const std::int64_t n = groups.starts[static_cast<std::size_t>(g + 1)] - at;
          fourier::features<T>(n, groups.indices.data() + at, groups.values.data() + at * fourier::kRows, panel,
                               phases.data() + column, scale, block);
          for (std::int64_t r = 0; r < std::min(fourier::kRows, end - i); ++r) {
            std::copy_n(block + r * kWidth, std::min(kWidth, n_out - column), out.data() + (i + r) * n_out + column);
          }
        }
      }
      return true;
    });
  }
};

}  // namespace hinge
