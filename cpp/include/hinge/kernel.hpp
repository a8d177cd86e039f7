#pragma once
// Kernel: a function k(x, z) of two rows, as a function of their product, of |x - z|^2 or of |x - z|_1.
//
//   rbf          exp(-gamma |x - z|^2)
//   laplacian    exp(-gamma |x - z|_1)
//   polynomial   (gamma x.z + coef0)^degree
//   sigmoid      tanh(gamma x.z + coef0)
//   linear       x.z
//   cosine       x.z / (|x| |z|), and 0 for rows of zeros
//
// `constant` is added to every value: rho^2 for a penalised intercept, whose rows are [phi(x), rho].

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "hinge/processor.hpp"

namespace hinge {

/// What a kernel is a function of.
enum class Measure { product, squared_distance, distance };

struct Kernel {
  enum class Kind { rbf, laplacian, polynomial, sigmoid, linear, cosine };

  Kind kind = Kind::rbf;
  double gamma = 1.0;
  std::int64_t degree = 3;
  double coef0 = 0.0;
  double constant = 0.0;

  Measure measure() const {
    return kind == Kind::rbf ? Measure::squared_distance : kind == Kind::laplacian ? Measure::distance : Measure::product;
  }

  /// k from what it is a function of; `norm2_x` and `norm2_z` are |x|^2 and |z|^2.
  double operator()(double measured, double norm2_x, double norm2_z) const {
    return constant + value(measured, norm2_x, norm2_z);
  }

 private:
  double value(double measured, double norm2_x, double norm2_z) const {
    switch (kind) {
      case Kind::rbf:
      case Kind::laplacian:
        return std::exp(-gamma * measured);
      case Kind::polynomial:
        return power(gamma * measured + coef0);
      case Kind::sigmoid:
        return std::tanh(gamma * measured + coef0);
      case Kind::cosine: {
        const double lengths = std::sqrt(norm2_x) * std::sqrt(norm2_z);
        return lengths > 0.0 ? measured / lengths : 0.0;
      }
      default:
        return measured;
    }
  }

  double power(double base) const {
    double result = base;
    for (std::int64_t k = 1; k < degree; ++k) result *= base;
    return result;
  }
};

namespace measures {

// Between four dense rows and one: eight interleaved accumulators for each pair, as in rows.hpp. So the bits do not depend on which
// rows are measured together, nor on which of the two rows of a pair is which.

typedef double Half __attribute__((vector_size(4 * sizeof(double)), aligned(8)));

struct Product {
  [[gnu::always_inline]] static void add(Half& sum, const Half& x, const Half& z) { sum += x * z; }
  static void add(double& sum, double x, double z) { sum += x * z; }
};

struct SquaredDifference {
  [[gnu::always_inline]] static void add(Half& sum, const Half& x, const Half& z) { sum += (x - z) * (x - z); }
  static void add(double& sum, double x, double z) { sum += (x - z) * (x - z); }
};

struct Difference {
  [[gnu::always_inline]] static void add(Half& sum, const Half& x, const Half& z) { sum += x > z ? x - z : z - x; }
  static void add(double& sum, double x, double z) { sum += x > z ? x - z : z - x; }
};

template <class Term>
[[gnu::always_inline]] inline void sum_four(std::int64_t n, const double* const* x, const double* z, double* out) {
  Half sum[8]{};  // left and right half of the accumulators of each pair
  std::int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    const Half& left = *reinterpret_cast<const Half*>(z + j);
    const Half& right = *reinterpret_cast<const Half*>(z + j + 4);
    for (int p = 0; p < 4; ++p) {
      Term::add(sum[2 * p], *reinterpret_cast<const Half*>(x[p] + j), left);
      Term::add(sum[2 * p + 1], *reinterpret_cast<const Half*>(x[p] + j + 4), right);
    }
  }
  for (int p = 0; p < 4; ++p) {
    double lanes[8];
    std::memcpy(lanes, &sum[2 * p], sizeof lanes);
    for (std::int64_t k = 0; j + k < n; ++k) Term::add(lanes[k], x[p][j + k], z[j + k]);
    out[p] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
}

HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static void products(std::int64_t n, const double* const* x, const double* z, double* out) {
  sum_four<Product>(n, x, z, out);
}

HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static void squared_distances(std::int64_t n, const double* const* x, const double* z, double* out) {
  sum_four<SquaredDifference>(n, x, z, out);
}

HINGE_FOR_EACH_PROCESSOR
[[maybe_unused]] static void distances(std::int64_t n, const double* const* x, const double* z, double* out) {
  sum_four<Difference>(n, x, z, out);
}

/// out[p] = measure of x[p] and z, p < 4
inline void four(Measure measure, std::int64_t n, const double* const* x, const double* z, double* out) {
  switch (measure) {
    case Measure::product:
      return products(n, x, z, out);
    case Measure::squared_distance:
      return squared_distances(n, x, z, out);
    case Measure::distance:
      return distances(n, x, z, out);
  }
}

}  // namespace measures
}  // namespace hinge
