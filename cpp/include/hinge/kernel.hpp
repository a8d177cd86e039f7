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
#include <span>

#include "hinge/exponential.hpp"

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

  /// Turns what k is a function of into its values, for one row x and rows z_c; `norm2` is |x|^2, `norms2[c]` is |z_c|^2.
  void apply(std::span<double> values, double norm2, std::span<const double> norms2) const {
    evaluate(values, norm2, norms2);
    if (constant == 0.0) return;
    for (double& value : values) value += constant;
  }

 private:
  void evaluate(std::span<double> values, double norm2, std::span<const double> norms2) const {
    switch (kind) {
      case Kind::rbf:
      case Kind::laplacian:
        return exponential::apply(static_cast<std::int64_t>(values.size()), -gamma, values.data());
      case Kind::polynomial:
        for (double& value : values) value = power(gamma * value + coef0);
        return;
      case Kind::sigmoid:
        for (double& value : values) value = std::tanh(gamma * value + coef0);
        return;
      case Kind::cosine:
        for (std::size_t c = 0; c < values.size(); ++c) {
          const double lengths = std::sqrt(norm2) * std::sqrt(norms2[c]);
          values[c] = lengths > 0.0 ? values[c] / lengths : 0.0;
        }
        return;
      case Kind::linear:
        return;
    }
  }

  double power(double base) const {
    double result = base;
    for (std::int64_t k = 1; k < degree; ++k) result *= base;
    return result;
  }
};

}  // namespace hinge
