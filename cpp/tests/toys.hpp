#pragma once
// Small random problems that own their arrays, each exactly as long as it says: reading one element too many is an error
// that the address sanitizer sees.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hinge/loss.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rng.hpp"
#include "hinge/rows.hpp"

namespace hinge::test {

inline Rng make_rng(std::uint64_t seed) {
  const std::vector<std::uint64_t> key{seed};
  return Rng(std::span<const std::uint64_t>(key));
}

inline Poll never() { return Poll(std::make_shared<StopToken>()); }

/// A poll that says stop at its first look.
inline Poll stopped() {
  auto token = std::make_shared<StopToken>();
  token->stop();
  return Poll(token);
}

struct ToyOptions {
  std::int64_t m = 20;
  std::int64_t d = 5;
  double density = 0.5;
  double rho = 0.0;
  Loss loss = Loss::Kind::hinge;
  bool free_intercept = false;
  bool weighted = false;
  double C = 1.0;
  double scale = 1.0;
};

/// Dense values x (m rows, d columns) with about `density` of them not zero, targets and costs.
class Toy {
 public:
  Toy(std::uint64_t seed, ToyOptions how) : options(how) {
    Rng rng = make_rng(seed);
    for (std::int64_t i = 0; i < how.m; ++i) {
      target.push_back(i == 0 ? 1.0 : i == 1 ? -1.0 : rng.below(2) == 0 ? 1.0 : -1.0);
      cost.push_back(how.C * (how.weighted ? 0.1 + 3.0 * rng.uniform() : 1.0));
      for (std::int64_t j = 0; j < how.d; ++j) {
        const double value = how.scale * (2.0 * rng.uniform() - 1.0 + 0.3 * target.back());
        x.push_back(rng.uniform() < how.density ? static_cast<float>(value) : 0.0);  // the same in float and double
      }
    }
    target.shrink_to_fit();
    cost.shrink_to_fit();
    x.shrink_to_fit();
    norms.resize(target.size());
    for (std::int64_t i = 0; i < how.m; ++i) {
      double sum = how.rho * how.rho;
      for (std::int64_t j = 0; j < how.d; ++j) sum += at(i, j) * at(i, j);
      norms[static_cast<std::size_t>(i)] = sum;
    }
  }

  double at(std::int64_t i, std::int64_t j) const { return x[static_cast<std::size_t>(i * options.d + j)]; }
  Problem problem() const { return Problem(target, Costs(cost), options.loss, options.free_intercept); }

  DenseRows<double> rows() const {
    DenseRows<double> rows;
    describe(rows);
    rows.values = x.data();
    return rows;
  }

  void describe(RowView& rows) const {
    rows.n_kept = options.m;
    rows.n_columns = options.d;
    rows.norms = norms.data();
    rows.rho = options.rho;
  }

  /// w.[x_i, rho], the obvious way
  double dot(std::int64_t i, std::span<const double> w) const {
    double sum = options.rho * w[static_cast<std::size_t>(options.d)];
    for (std::int64_t j = 0; j < options.d; ++j) sum += at(i, j) * w[static_cast<std::size_t>(j)];
    return sum;
  }

  /// sum_i c_i t_i [x_i, rho], the obvious way
  std::vector<double> combine(std::span<const double> c) const {
    std::vector<double> w(static_cast<std::size_t>(options.d) + 1);
    for (std::int64_t i = 0; i < options.m; ++i) {
      const double step = c[static_cast<std::size_t>(i)] * target[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < options.d; ++j) w[static_cast<std::size_t>(j)] += step * at(i, j);
      w.back() += step * options.rho;
    }
    return w;
  }

  /// D(a), the obvious way
  double dual_value(std::span<const double> a) const {
    double value = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) value += a[i] - (options.loss.is_hinge() ? 0.0 : 0.25 * a[i] * a[i] / cost[i]);
    for (const double weight : combine(a)) value -= 0.5 * weight * weight;
    return value;
  }

  /// P(w, b), the obvious way
  double primal_value(std::span<const double> w, double b) const {
    double value = 0.0;
    for (const double weight : w) value += 0.5 * weight * weight;
    for (std::int64_t i = 0; i < options.m; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double slack = std::max(0.0, 1.0 - target[k] * (dot(i, w) + b));
      value += cost[k] * (options.loss.is_hinge() ? slack : slack * slack);
    }
    return value;
  }

  ToyOptions options;
  std::vector<double> x;
  std::vector<double> target;
  std::vector<double> cost;
  std::vector<double> norms;
};

/// The same rows as CSR.
template <class T, class Index>
class ToyCsr {
 public:
  explicit ToyCsr(const Toy& toy) : toy_(toy), indptr_{0} {
    for (std::int64_t i = 0; i < toy.options.m; ++i) {
      for (std::int64_t j = 0; j < toy.options.d; ++j) {
        if (toy.at(i, j) == 0.0) continue;
        values_.push_back(static_cast<T>(toy.at(i, j)));
        indices_.push_back(static_cast<Index>(j));
      }
      indptr_.push_back(static_cast<std::int64_t>(values_.size()));
    }
    values_.shrink_to_fit();
    indices_.shrink_to_fit();
    indptr_.shrink_to_fit();
  }

  CsrRows<T, Index> rows() const {
    CsrRows<T, Index> rows;
    toy_.describe(rows);
    rows.values = values_.data();
    rows.indices = indices_.data();
    rows.indptr = indptr_.data();
    return rows;
  }

 private:
  const Toy& toy_;
  std::vector<T> values_;
  std::vector<Index> indices_;
  std::vector<std::int64_t> indptr_;
};

/// Calls f(rows, name) with the toy's rows in every layout and type.
template <class F>
void in_every_layout(const Toy& toy, F&& f) {
  f(toy.rows(), std::string("dense double"));
  const std::vector<float> narrow(toy.x.begin(), toy.x.end());
  DenseRows<float> dense;
  toy.describe(dense);
  dense.values = narrow.data();
  f(dense, std::string("dense float"));
  const auto csr = [&]<class T, class Index>(const char* name) {
    const ToyCsr<T, Index> owner(toy);
    f(owner.rows(), std::string(name));
  };
  csr.template operator()<float, std::int32_t>("csr float int32");
  csr.template operator()<float, std::int64_t>("csr float int64");
  csr.template operator()<double, std::int32_t>("csr double int32");
  csr.template operator()<double, std::int64_t>("csr double int64");
}

}  // namespace hinge::test
