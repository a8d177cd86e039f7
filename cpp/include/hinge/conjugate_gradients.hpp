#pragma once
// ConjugateGradients: a step of newton without a matrix. Preconditioned by the diagonal of H, for as long as it takes to reduce the
// residual enough for a step.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hinge/gram.hpp"
#include "hinge/newton_system.hpp"
#include "hinge/parts.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

template <Rows R>
struct ConjugateGradients {
  const R& rows;
  std::span<const Weighted> in_zone;  // J
  const System& system;
  std::int64_t n_threads;
  Poll& poll;

  /// p; nothing when stopped by the poll. `iterations` becomes what it took; `touched` counts rows.
  std::optional<std::vector<double>> solve(double& iterations, std::int64_t& touched) const {
    const std::size_t n = system.gradient.size();
    std::vector<double> diagonal;
    if (!find_diagonal(diagonal)) return std::nullopt;
    std::vector<double> p(n);
    std::vector<double> residual = system.steepest();
    std::vector<double> conjugate(n);
    std::vector<double> image;
    double rho = 0.0;
    double first = 0.0;
    int k = 0;
    for (; k < kMostIterations; ++k) {
      const double next = interleaved_sum(n, [&](std::size_t f) { return residual[f] * residual[f] / diagonal[f]; });
      if (k == 0) first = next;
      if (!(next > kReduction * kReduction * first)) break;
      for (std::size_t f = 0; f < n; ++f) {
        conjugate[f] = residual[f] / diagonal[f] + (k > 0 ? next / rho * conjugate[f] : 0.0);
      }
      rho = next;
      if (!multiply(conjugate, image)) return std::nullopt;
      const double curvature = dot(conjugate, image);
      if (!(curvature > 0.0)) break;
      const double t = rho / curvature;
      for (std::size_t f = 0; f < n; ++f) {
        p[f] += t * conjugate[f];
        residual[f] -= t * image[f];
      }
    }
    touched += (2 * k + 1) * static_cast<std::int64_t>(in_zone.size());
    iterations = std::max(1.0, static_cast<double>(k));
    return p;
  }

 private:
  /// They end when the residual has fallen to this share (that of liblinear), or after so many iterations.
  static constexpr double kReduction = 0.1;
  static constexpr int kMostIterations = 250;

  /// A free b needs its ridge only where no row holds it.
  double last_of_r() const { return system.free && !in_zone.empty() ? 0.0 : system.ridge; }

  /// out += what each(row, next, sum) adds to a sum for the rows in J; row `next` comes soon.
  template <class Each>
  bool sum_rows(std::vector<double>& out, Each&& each) const {
    using Total = TotalOf<std::vector<double>>;
    const auto count = static_cast<std::int64_t>(in_zone.size());
    const Parts parts = Parts::of(count, static_cast<std::int64_t>(system.stored * static_cast<double>(count)),
                                  static_cast<std::int64_t>(out.size()));
    const Total empty{std::vector<double>(out.size())};
    Total total(empty);
    const auto add = [&](Total& sum, std::int64_t begin, std::int64_t end, Poll& own) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t next = in_zone[static_cast<std::size_t>(std::min(k + kPrefetchDistance, end - 1))].row;
        each(in_zone[static_cast<std::size_t>(k)], next, sum.values);
        if (own(2 * rows.stored(in_zone[static_cast<std::size_t>(k)].row))) return false;
      }
      return true;
    };
    if (!sum_over(parts, n_threads, poll, empty, total, add)) return false;
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += total.values[k];
    return true;
  }

  /// out = R v
  void multiply_r(std::span<const double> v, std::vector<double>& out) const {
    out.assign(v.begin(), v.end());
    out.back() *= last_of_r();
  }

  /// out = H v
  bool multiply(std::span<const double> v, std::vector<double>& out) const {
    multiply_r(v, out);
    return sum_rows(out, [&](const Weighted& row, std::int64_t next, std::vector<double>& sum) {
      const double c = system.rate * row.weight * (rows.product(row.row, v.data(), next) + system.constant * v.back());
      rows.add(row.row, c, sum);
      if (system.free) sum.back() += c;
    });
  }

  /// out = the diagonal of H
  bool find_diagonal(std::vector<double>& out) const {
    multiply_r(std::vector<double>(system.gradient.size(), 1.0), out);
    return sum_rows(out, [&](const Weighted& row, std::int64_t next, std::vector<double>& sum) {
      const double c = system.rate * row.weight;
      rows.prefetch(next);
      rows.for_each(row.row, [&](std::int64_t f, double x) { sum[static_cast<std::size_t>(f)] += c * x * x; });
      if (system.free) sum.back() += c;
    });
  }
};

}  // namespace hinge
