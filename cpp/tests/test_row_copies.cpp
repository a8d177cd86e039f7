#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/row_copies.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// Every third row, from the last to the first.
std::vector<std::int64_t> chosen(std::int64_t m) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = m - 1; i >= 0; i -= 3) rows.push_back(i);
  return rows;
}

template <Rows R>
bool hold(RowCopies& copies, const R& rows, const std::vector<std::int64_t>& which, std::int64_t n_threads, Poll& poll) {
  const auto row_of = [&](std::int64_t k) { return which[static_cast<std::size_t>(k)]; };
  return copies.hold(rows, static_cast<std::int64_t>(which.size()), row_of, n_threads, poll);
}

/// The values of these rows are the same in float: all that is computed from copies has the bits of what the rows give.
template <Rows R>
void check_copies(const R& rows, Rng& rng, const std::string& layout) {
  const std::vector<std::int64_t> which = chosen(rows.size());
  std::vector<double> w(static_cast<std::size_t>(rows.n_features()) + 1);
  for (double& x : w) x = 2.0 * rng.uniform() - 1.0;
  for (const std::int64_t n_threads : {1, 3}) {
    RowCopies copies;
    check(copies.empty(), layout + ": empty at first");
    Poll poll = never();
    check(hold(copies, rows, which, n_threads, poll), layout + ": finished");
    const auto held = copies.view(rows);
    check(held.size() == static_cast<std::int64_t>(which.size()) && held.n_features() == rows.n_features(), layout + ": shape");
    for (std::int64_t k = 0; k < held.size(); ++k) {
      const std::int64_t i = which[static_cast<std::size_t>(k)];
      check(held.stored(k) == rows.stored(i), layout + ": as many values");
      check(held.squared_norm(k) == rows.squared_norm(i), layout + ": the norm");
      check(held.dot(k, w) == rows.dot(i, w), layout + ": the product, with the constant feature");
      check(RowCopies::can_hold(rows, i), layout + ": can be held");
    }
    copies.release();
    check(copies.empty(), layout + ": empty again");
  }
}

void all_layouts() {
  Rng rng = make_rng(4);
  for (const std::int64_t m : {1, 7, 40}) {
    for (const double rho : {0.0, 2.0}) {
      for (const double density : {0.0, 0.5, 1.0}) {
        const Toy toy(static_cast<std::uint64_t>(m), {.m = m, .d = 6, .density = density, .rho = rho});
        in_every_layout(toy, [&](const auto& rows, const std::string& layout) { check_copies(rows, rng, layout); });
      }
    }
  }
}

void kept_rows() {
  const Toy toy(5, {.m = 9, .d = 4});
  const std::vector<std::int64_t> kept{1, 4, 5, 8};
  std::vector<double> norms;
  for (const std::int64_t i : kept) norms.push_back(toy.norms[static_cast<std::size_t>(i)]);
  DenseRows<double> rows = toy.rows();
  rows.kept = kept.data();
  rows.n_kept = 4;
  rows.norms = norms.data();
  Rng rng = make_rng(6);
  check_copies(rows, rng, "kept");
}

void rows_that_single_precision_cannot_hold() {
  const Toy toy(7, {.m = 2, .d = 3, .scale = 1e36});
  DenseRows<double> rows = toy.rows();
  check(RowCopies::can_hold(rows, 0), "1e36 is no problem");
  std::vector<double> large(toy.x);
  large[1] = 1e39;
  rows.values = large.data();
  const std::vector<double> norms{1e78, 1.0};
  rows.norms = norms.data();
  check(!RowCopies::can_hold(rows, 0) && RowCopies::can_hold(rows, 1), "1e39 is one");
  rows.n_columns = std::int64_t{1} << 31;
  check(!RowCopies::can_hold(rows, 1), "so are that many columns");
}

void a_stop_leaves_nothing_behind() {
  const Toy toy(8, {.m = 30, .d = 5});
  Poll poll = stopped();
  poll(std::int64_t{1} << 40);
  RowCopies copies;
  check(!hold(copies, toy.rows(), chosen(30), 1, poll) && copies.empty(), "stopped, and empty");
}

/// As when there is no memory for them.
void an_exception_leaves_nothing_behind() {
  const Toy toy(9, {.m = 30, .d = 5});
  RowCopies copies;
  Poll poll = never();
  check(hold(copies, toy.rows(), chosen(30), 1, poll) && !copies.empty(), "copies of other rows");
  const auto row_of = [](std::int64_t k) { return k < 5 ? k : throw std::bad_alloc(); };
  bool thrown = false;
  try {
    copies.hold(toy.rows(), 10, row_of, 1, poll);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  check(thrown && copies.empty(), "thrown, and empty");
}

}  // namespace

int main() {
  return run_all({{"all layouts", all_layouts},
                  {"kept rows", kept_rows},
                  {"rows that single precision cannot hold", rows_that_single_precision_cannot_hold},
                  {"a stop leaves nothing behind", a_stop_leaves_nothing_behind},
                  {"an exception leaves nothing behind", an_exception_leaves_nothing_behind}});
}
