#include <algorithm>
#include <set>
#include <vector>

#include "check.hpp"
#include "hinge/order.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

void every_row_once() {
  Rng rng = make_rng(1);
  for (const std::int64_t n : {0, 1, 2, 15, 16, 17, 100, 1000, 1023}) {
    for (const Order& order : {Order{0, 1}, Order{1, 1}, Order{4, 1}, Order{4, 3}, Order{64, 64}}) {
      auto visit = order.of_all(n, rng);
      std::sort(visit.begin(), visit.end());
      check(static_cast<std::int64_t>(visit.size()) == n, "an epoch has as many steps as rows");
      for (std::int64_t i = 0; i < n; ++i) check(visit[static_cast<std::size_t>(i)] == i, "an epoch visits every row once");
    }
  }
}

void blocks_stay_together() {
  Rng rng = make_rng(2);
  const Order order{8, 2};
  const auto visit = order.of_all(1000, rng);
  for (std::size_t begin = 0; begin + 16 <= visit.size(); begin += 16) {
    std::set<std::int64_t> blocks;
    for (std::size_t k = begin; k < begin + 16; ++k) blocks.insert(visit[k] / 8);
    check(blocks.size() <= 3, "16 successive steps come from a group of two blocks (three with the short one)");
  }
}

void some_rows_only() {
  Rng rng = make_rng(3);
  const std::vector<std::int64_t> rows{3, 5, 8, 13, 21};
  std::vector<std::int64_t> visit(rows.size());
  Order{2, 1}.arrange(rows, visit, rng);
  std::sort(visit.begin(), visit.end());
  check(visit == rows, "the rows given are the rows visited");
}

void same_seed_same_order() {
  Rng a = make_rng(4);
  Rng b = make_rng(4);
  const Order order{16, 4};
  const auto first = order.of_all(5000, a);
  check(first == order.of_all(5000, b), "the same seed gives the same order");
  check(first != order.of_all(5000, a), "the next epoch has another order");
}

void draws_in_range() {
  Rng rng = make_rng(5);
  for (const std::int64_t i : draws(3, 1000, rng)) check(i >= 0 && i < 3, "draws are rows");
}

void kept_order_stays() {
  Rng rng = make_rng(6);
  const Order order = Order::once(1000, rng);
  const auto first = order.of_all(1000, rng);
  check(std::set<std::int64_t>(first.begin(), first.end()).size() == 1000, "every row once");
  check(!std::is_sorted(first.begin(), first.end()), "the rows are shuffled");
  check(first == order.of_all(1000, rng), "the next epoch has the same order");
  const std::vector<std::int64_t> some{first[900], first[3], first[77]};
  std::vector<std::int64_t> visit(some.size());
  order.arrange(some, visit, rng);
  check(visit == std::vector<std::int64_t>{first[3], first[77], first[900]}, "some rows keep their places");
  bool refused = false;
  try {
    order.of_all(1001, rng);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  check(refused, "an order kept for other rows is refused");
}

void subsets_have_no_row_twice() {
  Rng rng = make_rng(7);
  std::vector<int> seen(6);
  for (int round = 0; round < 2000; ++round) {
    const auto rows = subsets(6, 3, 2, rng);
    check(rows.size() == 6, "two sets of three");
    for (const std::size_t begin : {0, 3}) {
      const std::set<std::int64_t> one(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                       rows.begin() + static_cast<std::ptrdiff_t>(begin) + 3);
      check(one.size() == 3, "three different rows");
      for (const std::int64_t i : one) ++seen[static_cast<std::size_t>(i)];
    }
  }
  for (const int count : seen) check(count > 1800 && count < 2200, "each row in half of the sets");
}

}  // namespace

int main() {
  return run_all({{"every row once", every_row_once},
                  {"blocks stay together", blocks_stay_together},
                  {"some rows only", some_rows_only},
                  {"same seed, same order", same_seed_same_order},
                  {"draws in range", draws_in_range},
                  {"a kept order stays", kept_order_stays},
                  {"subsets have no row twice", subsets_have_no_row_twice}});
}
