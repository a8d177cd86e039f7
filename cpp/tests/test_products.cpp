#include <vector>

#include "check.hpp"
#include "hinge/products.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// Each product has the bits of the product with its column alone.
template <Rows R>
void check_products(const R& rows, std::int64_t n, Rng& rng, const std::string& layout) {
  const std::int64_t d = rows.n_features();
  std::vector<double> weights(static_cast<std::size_t>(d * n));
  for (double& x : weights) x = 2.0 * rng.uniform() - 1.0;
  std::vector<double> found(static_cast<std::size_t>(rows.size() * n), -1.0);
  Poll poll = never();
  const Products<R> products(rows, weights, n);
  check(products(0, 3, found, poll) && products(3, rows.size(), found, poll), layout + ": finished");
  for (std::int64_t c = 0; c < n; ++c) {
    std::vector<double> column;
    for (std::int64_t j = 0; j < d; ++j) column.push_back(weights[static_cast<std::size_t>(j * n + c)]);
    column.shrink_to_fit();
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      check(found[static_cast<std::size_t>(i * n + c)] == rows.product(i, column.data()), layout + ": same bits as alone");
    }
  }
  Poll stop = stopped();
  std::vector<double> none(found.size());
  bool finished = true;
  for (int times = 0; finished && times < 1'000'000; ++times) finished = products(0, rows.size(), none, stop);
  check(!finished || rows.total_stored() == 0, layout + ": stopped by the poll");
}

void all_layouts() {
  Rng rng = make_rng(1);
  for (const std::int64_t d : {1, 3, 8, 21, 40, 101}) {
    for (const double density : {0.0, 0.4, 1.0}) {
      for (const std::int64_t n : {1, 2, 5, 13, 20}) {
        const Toy toy(static_cast<std::uint64_t>(d), {.m = 6, .d = d, .density = density});
        in_every_layout(toy, [&](const auto& rows, const std::string& layout) { check_products(rows, n, rng, layout); });
      }
    }
  }
}

/// More weights than the cache holds: those of later rows are fetched ahead, and none beyond the last row.
void many_weights() {
  Rng rng = make_rng(2);
  const Toy toy(5, {.m = 40, .d = 8000, .density = 0.004});
  in_every_layout(toy, [&](const auto& rows, const std::string& layout) { check_products(rows, 13, rng, layout); });
}

}  // namespace

int main() { return run_all({{"all layouts", all_layouts}, {"many weights", many_weights}}); }
