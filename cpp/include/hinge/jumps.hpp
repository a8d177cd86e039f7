#pragma once
// Where a slope that rises passes through zero:
//
//   slope + k curvature + (the sum of the heights of the jumps at places up to k),    heights > 0, curvature >= 0.
//
// Selection by halves: O(m), no sort. The jumps stay in the order in which they were gathered, and every sum is interleaved
// (sums.hpp). The loops have no branches: which jumps count is as good as random, and a wrong guess of the processor costs more
// than the arithmetic.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "hinge/sums.hpp"

namespace hinge {

class Jumps {
 public:
  struct Jump {
    double place;
    double height;
    bool counts;  // or is left out
  };

  /// Those of jump(0), ..., jump(m - 1) that count.
  template <class F>
  [[gnu::always_inline]] void gather(std::size_t m, F&& jump) {
    places_.resize(m);
    heights_.resize(m);
    std::size_t n = 0;
    for (std::size_t i = 0; i < m; ++i) {
      const Jump here = jump(i);
      places_[n] = here.place;
      heights_[n] = here.height;
      n += static_cast<std::size_t>(here.counts);
    }
    n_ = n;
  }

  /// The zero, but not beyond `last`. Forgets the jumps.
  double root(double slope, double curvature, double last) {
    while (n_ > 0) {
      const double k = pivot();
      const double* place = places_.data();
      const double* height = heights_.data();
      const double before = interleaved_sum(n_, [=](std::size_t j) {
        const double h = height[j];
        return place[j] < k ? h : 0.0;
      });
      const double there = interleaved_sum(n_, [=](std::size_t j) {
        const double h = height[j];
        return place[j] == k ? h : 0.0;
      });
      const double here = slope + k * curvature + before;
      if (here >= 0.0) {
        last = k;
        keep([k](double at) { return at < k; });
      } else if (here + there >= 0.0) {
        return k;
      } else {
        slope += before + there;
        keep([k](double at) { return at > k; });
      }
    }
    return std::min(last, -slope / curvature);  // in this order: the second may be 0/0
  }

 private:
  /// The median of up to 31 jumps, evenly spread.
  double pivot() const {
    std::array<double, 31> sample;
    const std::size_t count = std::min(sample.size(), n_);
    for (std::size_t j = 0; j < count; ++j) sample[j] = places_[j * n_ / count];
    std::sort(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(count));
    return sample[count / 2];
  }

  template <class F>
  void keep(F&& wanted) {
    std::size_t n = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      const double at = places_[j];
      const double height = heights_[j];
      places_[n] = at;
      heights_[n] = height;
      n += static_cast<std::size_t>(wanted(at));
    }
    n_ = n;
  }

  // The jumps that are left: the first n_ of
  std::vector<double> places_;
  std::vector<double> heights_;
  std::size_t n_ = 0;
};

}  // namespace hinge
