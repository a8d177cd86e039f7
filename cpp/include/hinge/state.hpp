#pragma once
// Fields of a solver's state that are more than numbers and arrays of a known length.

#include <cstdint>
#include <numeric>
#include <vector>

namespace hinge {

/// An array whose length is part of the state: a solver that has one checks it in `check_restored`.
template <class T>
struct Varying : std::vector<T> {
  using std::vector<T>::vector;
};

/// The rows at work, ascending; a solver that shrinks leaves the others out for a while.
struct ActiveRows : std::vector<std::int64_t> {
  using std::vector<std::int64_t>::vector;

  void take_all(std::int64_t m) {
    resize(static_cast<std::size_t>(m));
    std::iota(begin(), end(), std::int64_t{0});
    leaves_.resize(size());
  }

  /// Marks instead of a sort: most rows may leave at once.
  void remove(const std::vector<std::int64_t>& leaving) {
    for (const std::int64_t i : leaving) leaves_[static_cast<std::size_t>(i)] = true;
    std::erase_if(*this, [&](std::int64_t i) { return leaves_[static_cast<std::size_t>(i)]; });
    for (const std::int64_t i : leaving) leaves_[static_cast<std::size_t>(i)] = false;
  }

 private:
  std::vector<char> leaves_;  // all false between calls
};

}  // namespace hinge
