#pragma once
// Cholesky: dense symmetric positive definite systems, by the lower factor, row by row.
//
// Products are summed as everywhere (sums.hpp).

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "hinge/sums.hpp"

namespace hinge {

class Cholesky {
 public:
  explicit Cholesky(std::vector<double> matrix, std::size_t n) : l_(std::move(matrix)), n_(n) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const double sum = l_[i * n_ + j] - dot({&l_[i * n_], j}, {&l_[j * n_], j});
        if (i == j) {
          ok_ = ok_ && sum > 0.0;
          l_[i * n_ + i] = std::sqrt(sum);
        } else {
          l_[i * n_ + j] = sum / l_[j * n_ + j];
        }
      }
    }
  }

  bool ok() const { return ok_; }

  std::vector<double> solve(std::vector<double> x) const {
    for (std::size_t i = 0; i < n_; ++i) {
      x[i] = (x[i] - dot({&l_[i * n_], i}, {x.data(), i})) / l_[i * n_ + i];
    }
    for (std::size_t i = n_; i-- > 0;) {
      x[i] /= l_[i * n_ + i];
      for (std::size_t k = 0; k < i; ++k) x[k] -= l_[i * n_ + k] * x[i];
    }
    return x;
  }

 private:
  std::vector<double> l_;
  std::size_t n_;
  bool ok_ = true;
};

}  // namespace hinge
