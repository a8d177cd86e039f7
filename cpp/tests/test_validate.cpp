#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/fingerprint.hpp"
#include "hinge/validate.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

using Kind = Fault::Kind;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect(const std::optional<Fault>& fault, Kind kind, std::int64_t row, std::int64_t column, const std::string& what,
            std::source_location where = std::source_location::current()) {
  check(fault.has_value(), what + ": refused", where);
  if (!fault) return;
  check(fault->kind == kind, what + ": the kind is named", where);
  check(fault->row == row && fault->column == column, what + ": row and column are named", where);
}

/// Two rows of three columns; vectors of exactly the length given, so that a read beyond is seen by the sanitizer.
template <class T, class Index>
struct Csr {
  std::vector<T> values{1, 2, 3};
  std::vector<Index> indices{0, 2, 1};
  std::vector<std::int64_t> indptr{0, 2, 3};
  std::vector<double> norms{-1, -1};
  std::uint64_t print = 0;

  std::optional<Fault> validate() {
    Repeats repeats;
    if (const auto fault = validate_indptr(indptr.data(), 2, static_cast<std::int64_t>(values.size()))) return fault;
    const auto fault = validate_csr(values.data(), indices.data(), indptr.data(), 0, 2, 3, norms, repeats);
    Fingerprint fingerprint(2, 3);
    fingerprint.add_entries(0, values.data(), indices.data(), indptr[2]);
    fingerprint.add_ends(0, indptr.data() + 1, 2);
    print = fingerprint.value();
    return fault;
  }
};

template <class T, class Index>
void bad_csr_of() {
  using Bad = Csr<T, Index>;
  Bad good;
  check(!good.validate(), "good rows pass");
  check(good.norms == std::vector<double>{5, 9}, "squared norms");

  Bad bad;
  bad.indices[1] = 3;
  expect(bad.validate(), Kind::index_range, 0, 3, "column beyond the last");
  bad.indices[1] = -1;
  expect(bad.validate(), Kind::index_range, 0, -1, "negative column");
  bad.indices[1] = std::numeric_limits<Index>::max();
  expect(bad.validate(), Kind::index_range, 0, std::numeric_limits<Index>::max(), "largest index");
  bad.indices[1] = std::numeric_limits<Index>::min();
  expect(bad.validate(), Kind::index_range, 0, std::numeric_limits<Index>::min(), "smallest index");

  bad = Bad{};
  bad.indices = {2, 2, 1};
  expect(bad.validate(), Kind::duplicate, 0, 2, "duplicate");
  bad = Bad{};
  bad.values = {1, 2, 3, 4};
  bad.indices = {2, 0, 2, 1};
  bad.indptr = {0, 3, 4};
  expect(bad.validate(), Kind::duplicate, 0, 2, "duplicate in an unsorted row");
  bad.indices = {2, 1, 0, 1};
  check(!bad.validate(), "an unsorted row passes, also when the next one has the same column");

  bad = Bad{};
  bad.indptr[0] = 1;
  expect(bad.validate(), Kind::indptr, 0, -1, "indptr does not begin at 0");
  bad = Bad{};
  bad.indptr = {0, 3, 2};
  expect(bad.validate(), Kind::indptr, 1, -1, "indptr decreases");
  bad.indptr = {0, -1, 3};
  expect(bad.validate(), Kind::indptr, 0, -1, "indptr is negative");
  bad.indptr = {0, 2, 4};
  expect(bad.validate(), Kind::indptr, 1, -1, "indptr points beyond the data");
  bad.indptr = {0, std::numeric_limits<std::int64_t>::max(), 3};
  expect(bad.validate(), Kind::indptr, 0, -1, "indptr points far beyond the data");
  bad.indptr = {0, std::numeric_limits<std::int64_t>::min(), 3};
  expect(bad.validate(), Kind::indptr, 0, -1, "indptr is as negative as can be");

  bad = Bad{};
  bad.values[2] = std::numeric_limits<T>::quiet_NaN();
  expect(bad.validate(), Kind::nan, 1, 1, "NaN");
  bad.values[2] = -std::numeric_limits<T>::infinity();
  expect(bad.validate(), Kind::infinity, 1, 1, "infinity");
}

void bad_csr() {
  bad_csr_of<float, std::int32_t>();
  bad_csr_of<float, std::int64_t>();
  bad_csr_of<double, std::int32_t>();
  bad_csr_of<double, std::int64_t>();
}

/// Rows that are empty, or end high where the next begins low: all of them sorted, or one of them not.
void rows_of_all_lengths() {
  constexpr std::int64_t kColumns = 7;
  Rng rng = make_rng(3);
  for (int times = 0; times < 2000; ++times) {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    const std::int64_t m = 1 + rng.below(6);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int32_t j = 0; j < kColumns; ++j) {
        if (rng.below(3) == 0) indices.push_back(j);
      }
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
    indices.shrink_to_fit();
    const std::vector<double> values(indices.size(), 1.0);
    std::vector<double> norms(static_cast<std::size_t>(m));
    Repeats repeats;
    check(!validate_csr(values.data(), indices.data(), indptr.data(), 0, m, kColumns, norms, repeats), "sorted rows pass");
    const std::int64_t i = rng.below(m);
    const std::int64_t begin = indptr[static_cast<std::size_t>(i)];
    const std::int64_t count = indptr[static_cast<std::size_t>(i + 1)] - begin;
    if (count < 2) continue;
    const auto first = indices.begin() + begin;
    std::swap(first[0], first[count - 1]);
    check(!validate_csr(values.data(), indices.data(), indptr.data(), 0, m, kColumns, norms, repeats), "so do others");
    first[0] = first[count - 1];
    expect(validate_csr(values.data(), indices.data(), indptr.data(), 0, m, kColumns, norms, repeats), Kind::duplicate, i,
           first[0], "a column twice in one row");
  }
}

void csr_overflow() {
  Csr<double, std::int32_t> bad;
  bad.values = {1e200, 1, 1};
  expect(bad.validate(), Kind::overflow, 0, -1, "a square overflows");
  bad.values = {1e154, 1e154, 1};
  expect(bad.validate(), Kind::overflow, 0, -1, "a sum of squares overflows");
  bad.values = {1e154, 1, 1};
  check(!bad.validate(), "the largest values pass");
  Csr<float, std::int32_t> narrow;
  narrow.values = {std::numeric_limits<float>::max(), 1, 1};
  check(!narrow.validate(), "no float overflows: the squares are of double precision");
}

void empty_csr() {
  const std::vector<std::int64_t> indptr{0, 0, 0};
  std::vector<double> norms{-1, -1};
  Repeats repeats;
  const double* no_values = nullptr;
  const std::int32_t* no_indices = nullptr;
  check(!validate_csr(no_values, no_indices, indptr.data(), 0, 2, 3, norms, repeats), "rows without values pass");
  check(norms == std::vector<double>{0, 0}, "and have norm 0");
  check(!validate_csr(no_values, no_indices, indptr.data(), 0, 0, 0, std::span<double>(), repeats),
        "no rows and no columns pass");
}

void bad_dense() {
  std::vector<double> norms(2);
  const auto validate = [&](const std::vector<double>& values) { return validate_dense(values.data(), 0, 2, 3, norms); };
  check(!validate({1, 2, 3, 0, 0, 0}), "good rows pass");
  check(norms == std::vector<double>{14, 0}, "squared norms");
  expect(validate({1, 2, 3, 0, kNan, kInfinity}), Kind::nan, 1, 1, "NaN");
  expect(validate({1, 2, kInfinity, 0, kNan, 0}), Kind::infinity, 0, 2, "infinity");
  expect(validate({0, 0, 0, 0, 0, -kInfinity}), Kind::infinity, 1, 2, "minus infinity");
  expect(validate({1e155, 0, 0, 0, 0, 0}), Kind::overflow, 0, -1, "a square overflows");
  expect(validate({1e154, 1e154, 1e154, 0, 0, 0}), Kind::overflow, 0, -1, "a sum of squares overflows");
  const std::vector<float> narrow{std::numeric_limits<float>::max(), 0, 0, 0, 0, 0};
  check(!validate_dense(narrow.data(), 0, 2, 3, norms), "no float overflows");
}

/// Dense rows of `width` values: any bit that changes, two signs that change, two values or rows that change places.
template <class T>
void dense_fingerprints_of(std::int64_t width) {
  constexpr std::int64_t kRows = 3;
  constexpr std::uint64_t kSeed[] = {7};
  Rng rng(kSeed);
  std::vector<T> values(static_cast<std::size_t>(kRows * width));
  for (T& x : values) x = static_cast<T>(rng.uniform() - 0.5);
  std::set<std::uint64_t> seen;
  std::size_t n = 0;
  const auto note = [&](const std::vector<T>& changed) {
    Fingerprint print(kRows, width);
    print.add_values(0, changed.data(), kRows * width);
    seen.insert(print.value());
    ++n;
  };
  note(values);
  std::vector<T> changed;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t bit = 0; bit < 8 * sizeof(T); ++bit) {
      changed = values;
      reinterpret_cast<unsigned char*>(&changed[k])[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
      note(changed);
    }
    for (std::size_t l = 0; l < k; ++l) {
      changed = values;
      changed[k] = -changed[k];
      changed[l] = -changed[l];
      note(changed);
      changed = values;
      std::swap(changed[k], changed[l]);
      note(changed);
    }
  }
  changed = values;
  std::swap_ranges(changed.begin(), changed.begin() + width, changed.begin() + width);
  note(changed);
  check(seen.size() == n, "all fingerprints differ, width " + std::to_string(width));
  Fingerprint whole(kRows, width);
  whole.add_values(0, values.data(), kRows * width);
  Fingerprint first(kRows, width);
  Fingerprint rest;
  first.add_values(0, values.data(), width + 1);
  rest.add_values(width + 1, values.data() + width + 1, (kRows - 1) * width - 1);
  first.merge(rest);
  check(first.value() == whole.value(), "a fingerprint is the sum of its parts");
}

/// Entries: any bit of a value or a column, the same bits of both, two that change places.
template <class T, class Index>
void entry_fingerprints_of() {
  const std::vector<T> values{1, -0.5, 3, 0.25, 7};
  const std::vector<Index> indices{0, 3, 4, 9, 70000};
  std::set<std::uint64_t> seen;
  std::size_t n = 0;
  const auto note = [&](const std::vector<T>& x, const std::vector<Index>& columns) {
    Fingerprint print(2, 3);
    print.add_entries(0, x.data(), columns.data(), 5);
    seen.insert(print.value());
    ++n;
  };
  const auto flipped = [](auto numbers, std::size_t k, std::size_t bit) {
    reinterpret_cast<unsigned char*>(&numbers[k])[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
    return numbers;
  };
  note(values, indices);
  for (std::size_t k = 0; k < 5; ++k) {
    for (std::size_t bit = 0; bit < 8 * sizeof(T); ++bit) {
      note(flipped(values, k, bit), indices);
      for (std::size_t other = 0; other < 8 * sizeof(Index); ++other) note(flipped(values, k, bit), flipped(indices, k, other));
    }
    for (std::size_t bit = 0; bit < 8 * sizeof(Index); ++bit) note(values, flipped(indices, k, bit));
    for (std::size_t l = 0; l < k; ++l) {
      std::vector<T> x = values;
      std::vector<Index> columns = indices;
      std::swap(x[k], x[l]);
      note(x, indices);
      std::swap(columns[k], columns[l]);
      note(x, columns);
      note(values, columns);
    }
  }
  check(seen.size() == n, "all fingerprints of entries differ");
  Fingerprint whole(2, 3);
  whole.add_entries(0, values.data(), indices.data(), 5);
  Fingerprint first(2, 3);
  Fingerprint rest;
  first.add_entries(0, values.data(), indices.data(), 3);
  rest.add_entries(3, values.data() + 3, indices.data() + 3, 2);
  first.merge(rest);
  check(first.value() == whole.value(), "a fingerprint is the sum of its parts");
}

template <class T, class Index>
void sparse_fingerprints_of() {
  using Rows = Csr<T, Index>;
  std::set<std::uint64_t> seen;
  const std::vector<std::function<void(Rows&)>> changes{
      [](Rows&) {},
      [](Rows& it) { it.indices[1] = 1; },
      [](Rows& it) { it.indices[2] = 0; },
      [](Rows& it) { it.values[2] = 4; },
      [](Rows& it) { it.indptr[1] = 1; },
      [](Rows& it) { std::swap(it.values[0], it.values[1]); },
      [](Rows& it) { it.indices = {2, 0, 1}; },
  };
  for (const auto& change : changes) {
    Rows changed;
    change(changed);
    check(!changed.validate(), "rows that pass");
    seen.insert(changed.print);
  }
  check(seen.size() == changes.size(), "all fingerprints of CSR rows differ");
  entry_fingerprints_of<T, Index>();
}

void fingerprints() {
  for (const std::int64_t width : {2, 5, 33, 70}) {
    dense_fingerprints_of<float>(width);
    dense_fingerprints_of<double>(width);
  }
  sparse_fingerprints_of<float, std::int32_t>();
  sparse_fingerprints_of<float, std::int64_t>();
  sparse_fingerprints_of<double, std::int32_t>();
  sparse_fingerprints_of<double, std::int64_t>();
  check(Fingerprint(2, 3).value() != Fingerprint(3, 2).value(), "the shape counts");
}

}  // namespace

int main() {
  return run_all({{"bad CSR is refused with its place", bad_csr},
                  {"overflow in CSR is refused", csr_overflow},
                  {"rows of all lengths pass unless one has a column twice", rows_of_all_lengths},
                  {"empty CSR passes", empty_csr},
                  {"bad dense rows are refused with their place", bad_dense},
                  {"fingerprints tell rows apart", fingerprints}});
}
