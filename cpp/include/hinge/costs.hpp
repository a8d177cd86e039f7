#pragma once
// Costs: C_i > 0 of every row, as an array, or as one number where all rows have the same.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace hinge {

class Costs {
 public:
  /// One for each row.
  explicit Costs(std::span<const double> each) : numbers_(each), mask_(~std::size_t{0}) {}
  /// The same for all rows; it is read in place, too.
  static Costs same(const double& of_all) { return {std::span(&of_all, 1), 0}; }

  template <class Index>
  const double& operator[](Index i) const {
    return numbers_.data()[static_cast<std::size_t>(i) & mask_];
  }
  /// What is in memory: a number for each row, or the only one.
  std::span<const double> numbers() const { return numbers_; }

  /// f(cost), where cost[i] is C_i and the compiler knows whether that depends on i: for loops that are to be vectorised.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return mask_ == 0 ? std::forward<F>(f)(Constant{numbers_.front()}) : std::forward<F>(f)(numbers_.data());
  }

 private:
  struct Constant {
    double value;
    double operator[](std::size_t) const { return value; }
  };

  Costs(std::span<const double> numbers, std::size_t mask) : numbers_(numbers), mask_(mask) {}

  std::span<const double> numbers_;
  std::size_t mask_;  // of the number of a row: all its bits, or none
};

}  // namespace hinge
