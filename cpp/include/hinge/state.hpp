#pragma once
// Fields of a solver's state that are more than numbers and arrays of a known length.

#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace hinge {

/// An array whose length is part of the state: a solver that has one checks it in `check_restored`.
template <class T>
struct Varying : std::vector<T> {
  using std::vector<T>::vector;
};

/// What is not part of a solver's state: a copy of the solver begins without it.
template <class T>
class Fleeting {
 public:
  Fleeting() = default;
  Fleeting(const Fleeting&) {}
  Fleeting(Fleeting&&) = default;
  Fleeting& operator=(const Fleeting&) {
    value_ = T{};
    return *this;
  }
  Fleeting& operator=(Fleeting&&) = default;

  T& operator*() { return value_; }
  T* operator->() { return &value_; }

 private:
  T value_{};
};

/// Throws unless these are different rows of 0 .. m-1.
inline void expect_distinct(const std::vector<std::int64_t>& rows, std::int64_t m) {
  std::vector<char> seen(static_cast<std::size_t>(m));
  for (const std::int64_t i : rows) {
    if (i < 0 || i >= m || seen[static_cast<std::size_t>(i)]) {
      throw std::invalid_argument("saved state: rows twice, or out of range");
    }
    seen[static_cast<std::size_t>(i)] = true;
  }
}

/// The rows at work, ascending. A solver that shrinks leaves the others out for a while, on a guess: it looks at all again when those at
/// work are settled, and whenever it has a reason of its own.
struct ActiveRows : Varying<std::int64_t> {
  /// Rows that could come back stay out, or leave at once, if they are so many times farther than those that left last. Geometric means of
  /// the seconds to 1e-3 and 1e-6 at C = 0.05 and 1 with and without a free b on Adult, Web, IJCNN1 and 20 newsgroups, relative to those
  /// with 10: mpu 0.95, dcd (to 1e-2 as well) 0.99. With 1, dcd 0.99, too, but more evaluations came too early.
  static constexpr double kFarAgain = 3.0;

  double full_gap = std::numeric_limits<double>::infinity();  // estimated gap of the last epoch over all rows

  explicit ActiveRows(std::int64_t m) : leaves_(static_cast<std::size_t>(m)) { take_all(); }

  bool full() const { return size() == leaves_.size(); }

  void take_all() {
    resize(leaves_.size());
    std::iota(begin(), end(), std::int64_t{0});
  }

  /// Row i is to leave with the next `depart`. Threads may say so of different rows.
  void leave(std::int64_t i) { leaves_[static_cast<std::size_t>(i)] = true; }

  /// Those that are to leave do.
  void depart() {
    std::erase_if(*this, [&](std::int64_t i) { return std::exchange(leaves_[static_cast<std::size_t>(i)], false); });
  }

  /// All stay.
  void stay() {
    for (const std::int64_t i : *this) leaves_[static_cast<std::size_t>(i)] = false;
  }

  /// Whether a tenth of the gap of all rows is left among those at work: more of it may by now be among the others.
  bool settled(double gap) const { return gap <= kSettled * full_gap; }

  void check_restored() const {
    std::int64_t previous = -1;
    for (const std::int64_t i : *this) {
      if (i <= previous || i >= static_cast<std::int64_t>(leaves_.size())) {
        throw std::invalid_argument("saved state: active rows out of order or range");
      }
      previous = i;
    }
  }

 private:
  static constexpr double kSettled = 0.1;

  std::vector<char> leaves_;  // one for each row of the problem; all false between calls
};

}  // namespace hinge
