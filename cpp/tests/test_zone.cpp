#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/zone.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

// ---- Zone

/// The minimum on a ray, against a fine search by bisection of the derivative.
void line_search_finds_the_minimum() {
  Rng rng = make_rng(18);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 1 + static_cast<int>(rng.below(40));
    const bool hinge = trial % 2 == 0;
    const Loss loss = hinge ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    const double rate = 4.0 * rng.uniform() + 0.1;
    const double longest = trial % 3 == 0 ? 0.3 : 1.0;
    struct Row {
      Zone zone;
      double a, z, change;
    };
    std::vector<Row> rows;
    for (int k = 0; k < n; ++k) {
      const double cost = 0.1 + rng.uniform();
      const Zone zone = Zone::of(loss, cost, rate);
      rows.push_back({zone, hinge ? cost * rng.uniform() : 0.0, 4.0 * rng.uniform() - 2.0, 6.0 * rng.uniform() - 3.0});
    }
    const double slope = -3.0 * rng.uniform() * n;
    const double curvature = 0.1 + rng.uniform();
    const auto derivative = [&](double t) {
      double sum = slope + t * curvature;
      for (const Row& row : rows) {
        sum += (row.zone.next(row.a, row.z + t * row.change) - row.zone.next(row.a, row.z)) * row.change;
      }
      return sum;
    };
    ZoneSearch search;
    ZoneSearch other;
    ZoneBlock block(loss, rate);
    std::vector<double> change;
    std::vector<bool> moves(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto begin = static_cast<std::int64_t>(k) - block.size();
      block.add(static_cast<std::int64_t>(k), hinge ? rows[k].zone.top : 0.5 * rows[k].zone.weight, rows[k].a, rows[k].z);
      change.push_back(rows[k].change);
      if (block.size() < 7 && k + 1 < rows.size()) continue;
      const auto moving = [&](std::int64_t j) { moves[static_cast<std::size_t>(begin + j)] = true; };
      (k % 2 == 0 ? search : other).add(block, change.data(), longest, moving);
      block.clear();
      change.clear();
    }
    search.merge(other);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Row& row = rows[k];
      for (double t = 0.0; t <= longest && !moves[k]; t += 0.1 * longest) {
        check(row.zone.next(row.a, row.z + t * row.change) == row.zone.next(row.a, row.z), "a row that does not move");
      }
    }
    const double found = search.minimum(slope, curvature, longest);
    double low = 0.0;
    double high = longest;
    for (int k = 0; k < 200; ++k) (derivative(0.5 * (low + high)) < 0.0 ? low : high) = 0.5 * (low + high);
    check_close(found, low, 1e-6, "trial " + std::to_string(trial));
    check(found == longest || std::abs(derivative(found)) <= 1e-8 * -slope, "no slope left");
  }
}

void block_of_zones_is_its_rows() {
  Rng rng = make_rng(5);
  for (int trial = 0; trial < 200; ++trial) {
    const Loss loss = trial % 2 == 0 ? Loss::Kind::hinge : Loss::Kind::squared_hinge;
    const double rate = 0.1 + 4.0 * rng.uniform();
    const double t = rng.uniform();
    ZoneBlock block(loss, rate);
    std::vector<double> a, z, cost, change;
    for (std::int64_t k = 0; k < 1 + trial % ZoneBlock::kMost; ++k) {
      cost.push_back(0.1 + rng.uniform());
      a.push_back(loss.is_hinge() ? cost.back() * rng.uniform() : 0.0);
      z.push_back(4.0 * rng.uniform() - 2.0);
      change.push_back(2.0 * rng.uniform() - 1.0);
      block.add(3 * k, cost.back(), a.back(), z.back());
    }
    block.move(t, change.data());
    double next[ZoneBlock::kMost];
    block.next(next);
    std::vector<Weighted> inside(1);
    block.append_inside(inside);
    double gap = 0.0;
    std::size_t n = 1;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const Zone zone = Zone::of(loss, cost[k], rate);
      const double moved = z[k] + t * change[k];
      check(next[k] == zone.next(a[k], moved), "the multiplier of the row alone");
      gap += zone.gap(next[k], moved);
      if (!zone.contains(a[k], moved)) continue;
      check(n < inside.size() && inside[n].row == static_cast<std::int64_t>(3 * k) && inside[n].weight == cost[k], "inside");
      ++n;
    }
    check(n == inside.size(), "no row more");
    check(block.gap(next) == gap, "the gaps of the rows, in their order");
  }
}

/// Within rounding of its zone, or without a number, a row may not be taken to stay outside.
void a_row_moves_unless_it_is_clearly_outside() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Row {
    double a, z, change;
    bool moves;
  };
  const Row rows[] = {{0.0, -1e-3, 5e-4, false}, {1.0, 1e-3, -5e-4, false}, {0.0, -1.0, 1.0, true}, {0.1, -0.1, 0.0, true},
                      {1.0, 1.0, -1.0, true},    {0.0, -0.5, nan, true},    {0.0, nan, 0.1, true},  {0.5, 0.0, 1e-9, true}};
  ZoneBlock block(Loss::Kind::hinge, 1.0);
  std::vector<double> change;
  for (const Row& row : rows) {
    block.add(0, 1.0, row.a, row.z);
    change.push_back(row.change);
  }
  std::vector<bool> moves(std::size(rows));
  ZoneSearch().add(block, change.data(), 1.0, [&](std::int64_t j) { moves[static_cast<std::size_t>(j)] = true; });
  for (std::size_t k = 0; k < std::size(rows); ++k) check(moves[k] == rows[k].moves, "row " + std::to_string(k));
}

void uphill_is_no_way() {
  check(ZoneSearch().minimum(0.0, 1.0, 1.0) == 0.0, "a slope of zero");
  check(ZoneSearch().minimum(std::numeric_limits<double>::quiet_NaN(), 1.0, 1.0) == 0.0, "no slope at all");
}

}  // namespace

int main() {
  return run_all({{"the line search finds the minimum", line_search_finds_the_minimum},
                  {"a block of zones is its rows", block_of_zones_is_its_rows},
                  {"a row moves unless it is clearly outside", a_row_moves_unless_it_is_clearly_outside},
                  {"uphill is no way", uphill_is_no_way}});
}
