#include <limits>
#include <vector>

#include "check.hpp"
#include "hinge/validate.hpp"

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

  std::optional<Fault> validate() {
    return validate_csr(values.data(), indices.data(), indptr.data(), static_cast<std::int64_t>(values.size()), 2, 3, norms);
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
  const double* no_values = nullptr;
  const std::int32_t* no_indices = nullptr;
  check(!validate_csr(no_values, no_indices, indptr.data(), 0, 2, 3, norms), "rows without values pass");
  check(norms == std::vector<double>{0, 0}, "and have norm 0");
  check(!validate_csr(no_values, no_indices, indptr.data(), 0, 0, 0, std::span<double>()), "no rows and no columns pass");
}

void bad_dense() {
  std::vector<double> norms(2);
  const auto validate = [&](const std::vector<double>& values) { return validate_dense(values.data(), 2, 3, norms); };
  check(!validate({1, 2, 3, 0, 0, 0}), "good rows pass");
  check(norms == std::vector<double>{14, 0}, "squared norms");
  expect(validate({1, 2, 3, 0, kNan, kInfinity}), Kind::nan, 1, 1, "NaN");
  expect(validate({1, 2, kInfinity, 0, kNan, 0}), Kind::infinity, 0, 2, "infinity");
  expect(validate({0, 0, 0, 0, 0, -kInfinity}), Kind::infinity, 1, 2, "minus infinity");
  expect(validate({1e155, 0, 0, 0, 0, 0}), Kind::overflow, 0, -1, "a square overflows");
  expect(validate({1e154, 1e154, 1e154, 0, 0, 0}), Kind::overflow, 0, -1, "a sum of squares overflows");
  const std::vector<float> narrow{std::numeric_limits<float>::max(), 0, 0, 0, 0, 0};
  check(!validate_dense(narrow.data(), 2, 3, norms), "no float overflows");
}

}  // namespace

int main() {
  return run_all({{"bad CSR is refused with its place", bad_csr},
                  {"overflow in CSR is refused", csr_overflow},
                  {"empty CSR passes", empty_csr},
                  {"bad dense rows are refused with their place", bad_dense}});
}
