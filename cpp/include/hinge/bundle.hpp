#pragma once
// The bundle: all planes so far, and the reduced problem that they make,
//
//   min_w  1/2 |w|^2 + max_j (b_j - w.a_j)    with the dual    max_beta  b.beta - 1/2 |sum_j beta_j a_j|^2   over the simplex.
//
// w = sum_j beta_j a_j. Its value is a lower bound of P, and it is D at the multipliers a_i = C_i sum_{j: i in S_j} beta_j,
// which always lie in the box, and are balanced if the planes are. Plane 0 is that of no rows: R >= 0.
//
// The planes are dense, n_features + 1 numbers each, and each keeps its rows as a bit set, and the row in part.

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hinge/contact.hpp"
#include "hinge/planes.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/rows.hpp"
#include "hinge/simplex_qp.hpp"
#include "hinge/state.hpp"
#include "hinge/sums.hpp"

namespace hinge {

class Bundle {
 public:
  Bundle(std::int64_t m, std::int64_t n_features)
      : length_(static_cast<std::size_t>(n_features) + 1),
        words_(words_for(m)),
        vectors_(length_),
        offsets_{0.0},
        gram_{0.0},
        beta_{1.0},
        unused_{0},
        members_(words_),
        part_rows_{0},
        part_shares_{0.0} {}

  template <class F>
  void fields(F&& field) {
    field("planes", vectors_);
    field("offsets", offsets_);
    field("gram", gram_);
    field("beta", beta_);
    field("unused", unused_);
    field("members", members_);
    field("part_rows", part_rows_);
    field("part_shares", part_shares_);
  }

  std::size_t size() const { return offsets_.size(); }
  std::span<const double> plane(std::size_t j) const { return std::span(vectors_).subspan(j * length_, length_); }
  Bits members(std::size_t j) const { return std::span(members_).subspan(j * words_, words_); }
  Part part(std::size_t j) const { return {part_rows_[j], part_shares_[j]}; }
  std::span<const double> beta() const { return beta_; }

  /// Whether the plane of these rows is there. The share of the row in part follows from the others.
  bool has(const Cut& cut) const {
    for (std::size_t j = 0; j < size(); ++j) {
      if (part_rows_[j] == cut.part.row && std::ranges::equal(members(j), cut.members)) return true;
    }
    return false;
  }

  void add(const Cut& cut) {
    const std::size_t n = size();
    vectors_.insert(vectors_.end(), cut.a.begin(), cut.a.end());
    members_.insert(members_.end(), cut.members.begin(), cut.members.end());
    part_rows_.push_back(cut.part.row);
    part_shares_.push_back(cut.part.share);
    offsets_.push_back(cut.offset);
    beta_.push_back(0.0);
    unused_.push_back(0);
    Varying<double> gram((n + 1) * (n + 1));
    for (std::size_t j = 0; j < n; ++j) std::copy_n(&gram_[j * n], n, &gram[j * (n + 1)]);
    for (std::size_t j = 0; j <= n; ++j) gram[n * (n + 1) + j] = gram[j * (n + 1) + n] = dot(cut.a, plane(j));
    gram_ = std::move(gram);
  }

  /// The reduced problem, to within `target`: w, and the lower bound of P that it gives.
  double solve(double target, std::span<double> w, Poll& poll) {
    const double floor = 1e-15 * *std::max_element(offsets_.begin(), offsets_.end());
    const auto top = SimplexQp::climb(gram_, offsets_, beta_, std::max(target, floor), poll);
    std::fill(w.begin(), w.end(), 0.0);
    for (std::size_t j = 0; j < size(); ++j) {
      if (beta_[j] == 0.0) continue;
      const double* a = plane(j).data();
      for (std::size_t k = 0; k < length_; ++k) w[k] += beta_[j] * a[k];
    }
    return top.value;
  }

  /// Drop the planes that `patience` solutions in a row have not used; not plane 0.
  void drop_unused(std::int64_t patience) {
    std::vector<std::size_t> stay;
    for (std::size_t j = 0; j < size(); ++j) {
      unused_[j] = beta_[j] > 0.0 ? 0 : unused_[j] + 1;
      if (j == 0 || unused_[j] < patience) stay.push_back(j);
    }
    if (stay.size() < size()) keep(stay);
  }

  /// C_i sum_{j: i in S_j} beta_j
  void multipliers(const Problem& problem, std::span<double> a) const {
    std::fill(a.begin(), a.end(), 0.0);
    for (std::size_t j = 0; j < size(); ++j) {
      if (beta_[j] == 0.0) continue;
      for_each_row(members(j), [&](std::int64_t i) { a[static_cast<std::size_t>(i)] += beta_[j]; });
      a[static_cast<std::size_t>(part_rows_[j])] += beta_[j] * part_shares_[j];
    }
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= problem.cost[i];
  }

  /// The planes of the same sets of rows on another problem, balanced if they have to be. When stopped by the poll, those that
  /// were not reached are gone.
  template <Rows R>
  void rebuild(const R& rows, const Problem& problem, std::int64_t& touched, Poll& poll) {
    Bundle rebuilt(problem.size(), rows.n_features());
    Cut cut(problem.size(), rows.n_features());
    Contact contact(problem.size());
    for (std::size_t j = 1; j < size(); ++j) {
      contact.again(problem, members(j), part(j));
      if (!contact.move(rows, problem, cut, touched, poll)) break;
      rebuilt.add(cut);
      rebuilt.unused_.back() = unused_[j];
      rebuilt.beta_.back() = beta_[j];
    }
    rebuilt.beta_.front() = 0.0;
    double sum = 0.0;
    for (const double x : rebuilt.beta_) sum += x;
    rebuilt.beta_.front() = std::max(0.0, 1.0 - sum);
    *this = std::move(rebuilt);
  }

  /// A saved bundle whose arrays do not fit each other, or rows that do not exist.
  void check_restored(std::int64_t m) const {
    const std::size_t n = size();
    expect("offsets", n, std::max<std::size_t>(n, 1));
    expect("planes", vectors_.size(), n * length_);
    expect("gram", gram_.size(), n * n);
    expect("beta", beta_.size(), n);
    expect("unused", unused_.size(), n);
    expect("members", members_.size(), n * words_);
    expect("part_rows", part_rows_.size(), n);
    expect("part_shares", part_shares_.size(), n);
    for (std::size_t j = 0; j < n; ++j) check_rows(members(j), part(j), m);
    for (const std::int64_t count : unused_) {
      if (count < 0 || count >= (std::int64_t{1} << 60)) throw std::invalid_argument("saved state: unused out of range");
    }
  }

  static void check_rows(Bits set, Part part, std::int64_t m) {
    if (m % 64 != 0 && set.back() >> (m % 64) != 0) throw std::invalid_argument("saved state: members beyond the last row");
    if (part.row < 0 || part.row >= m || !(part.share >= 0.0 && part.share <= 1.0)) {
      throw std::invalid_argument("saved state: a row in part that does not exist");
    }
  }

 private:
  static void expect(const char* name, std::size_t length, std::size_t expected) {
    if (length == expected) return;
    throw std::invalid_argument(std::string("saved state: ") + name + " has length " + std::to_string(length) + ", expected " +
                                std::to_string(expected));
  }

  void keep(const std::vector<std::size_t>& stay) {
    const std::size_t n = size();
    const std::size_t s = stay.size();
    for (std::size_t i = 0; i < s; ++i) {
      const std::size_t j = stay[i];
      if (i != j) {
        std::copy_n(&vectors_[j * length_], length_, &vectors_[i * length_]);
        std::copy_n(&members_[j * words_], words_, &members_[i * words_]);
      }
      part_rows_[i] = part_rows_[j];
      part_shares_[i] = part_shares_[j];
      offsets_[i] = offsets_[j];
      beta_[i] = beta_[j];
      unused_[i] = unused_[j];
      for (std::size_t k = 0; k < s; ++k) gram_[i * s + k] = gram_[j * n + stay[k]];
    }
    vectors_.resize(s * length_);
    members_.resize(s * words_);
    part_rows_.resize(s);
    part_shares_.resize(s);
    offsets_.resize(s);
    beta_.resize(s);
    unused_.resize(s);
    gram_.resize(s * s);
  }

  std::size_t length_;
  std::size_t words_;
  Varying<double> vectors_;         // size() x length_
  Varying<double> offsets_;         // b_j
  Varying<double> gram_;            // a_j.a_k
  Varying<double> beta_;            // a point of the simplex
  Varying<std::int64_t> unused_;    // solutions in a row with beta_j = 0
  Varying<std::uint64_t> members_;  // S_j, size() x words_
  Varying<std::int64_t> part_rows_;
  Varying<double> part_shares_;
};

}  // namespace hinge
