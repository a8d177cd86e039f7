#include <vector>

#include "check.hpp"
#include "hinge/rows.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

static_assert(Rows<DenseRows<float>> && Rows<CsrRows<double, std::int32_t>>);

std::vector<double> some_weights(std::int64_t d, Rng& rng) {
  std::vector<double> w(static_cast<std::size_t>(d) + 1);
  for (double& x : w) x = 2.0 * rng.uniform() - 1.0;
  return w;
}

/// Row `position` of `rows` is row `i` of the toy.
template <Rows R>
void check_row(const R& rows, std::int64_t position, const Toy& toy, std::int64_t i, std::span<const double> w,
               const std::string& layout) {
  rows.prefetch(position);
  check_close(rows.dot(position, w), toy.dot(i, w), 1e-13, layout + ": dot");
  std::vector<double> v(w.begin(), w.end());
  rows.add(position, -2.5, v);
  for (std::int64_t j = 0; j <= toy.options.d; ++j) {
    const double x = j < toy.options.d ? toy.at(i, j) : toy.options.rho;
    check_close(v[static_cast<std::size_t>(j)], w[static_cast<std::size_t>(j)] - 2.5 * x, 1e-15, layout + ": add");
  }
  double squares = 0.0;
  for (std::int64_t j = 0; j < toy.options.d; ++j) squares += w[static_cast<std::size_t>(j)] * toy.at(i, j) * toy.at(i, j);
  check_close(rows.weighted_squares(position, w.data()), squares, 1e-14, layout + ": weighted squares");
  std::vector<double> seen(w.size());
  std::int64_t visits = 0;
  rows.for_each(position, [&](std::int64_t j, double x) {
    seen[static_cast<std::size_t>(j)] += x;
    ++visits;
  });
  for (std::int64_t j = 0; j < toy.options.d; ++j) {
    check(seen[static_cast<std::size_t>(j)] == toy.at(i, j), layout + ": for_each gives every value");
  }
  check(seen.back() == toy.options.rho, layout + ": for_each gives the constant feature");
  check(visits == rows.stored(position) + (toy.options.rho != 0.0 ? 1 : 0), layout + ": for_each visits what is stored");
}

void all_rows() {
  Rng rng = make_rng(1);
  for (std::int64_t d = 0; d <= 19; ++d) {  // every remainder of 4 and 8
    for (const double density : {0.0, 0.5, 1.0}) {
      for (const double rho : {0.0, 1.5}) {
        const Toy toy(static_cast<std::uint64_t>(d), {.m = 6, .d = d, .density = density, .rho = rho});
        const auto w = some_weights(d, rng);
        in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
          check(rows.size() == 6 && rows.n_features() == d, layout + ": shape");
          for (std::int64_t i = 0; i < 6; ++i) {
            check_row(rows, i, toy, i, w, layout);
            check(rows.squared_norm(i) == toy.norms[static_cast<std::size_t>(i)], layout + ": squared norm");
          }
        });
      }
    }
  }
}

void kept_rows() {
  Rng rng = make_rng(2);
  const Toy toy(3, {.m = 9, .d = 7, .rho = 0.5});
  const std::vector<std::int64_t> kept{8, 0, 3, 3};
  std::vector<double> norms;
  for (const std::int64_t i : kept) norms.push_back(toy.norms[static_cast<std::size_t>(i)]);
  const auto w = some_weights(7, rng);
  in_every_layout(toy, [&](auto rows, const std::string& layout) {
    rows.kept = kept.data();
    rows.n_kept = 4;
    rows.norms = norms.data();
    check(rows.size() == 4, layout + ": as many rows as kept");
    for (std::int64_t i = 0; i < 4; ++i) {
      check_row(rows, i, toy, kept[static_cast<std::size_t>(i)], w, layout);
      check(rows.squared_norm(i) == norms[static_cast<std::size_t>(i)], layout + ": norms are by position");
    }
  });
}

void types_agree_to_the_bit() {
  Rng rng = make_rng(4);
  const Toy toy(5, {.m = 8, .d = 23, .rho = 1.0});
  const auto w = some_weights(23, rng);
  const ToyCsr<double, std::int64_t> wide(toy);
  const auto expected = wide.rows();
  in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
    if (layout.starts_with("dense")) return;
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      check(rows.dot(i, w) == expected.dot(i, w), layout + ": the same bits as with other types");
    }
  });
}

/// Long rows have loops of their own: short ones, those just long enough, and those that are not fetched to their end.
void dense_sums_have_eight_lanes() {
  Rng rng = make_rng(6);
  for (const std::int64_t d : {1, 127, 128, 129, 135, 256, 257, 263, 1023, 1024, 1025, 1031, 2047, 2100}) {
    const Toy toy(static_cast<std::uint64_t>(d), {.m = 3, .d = d, .rho = 0.5});
    const auto w = some_weights(d, rng);
    in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
      if (!layout.starts_with("dense")) return;
      for (std::int64_t i = 0; i < rows.size(); ++i) {
        double sum[8] = {};
        std::int64_t at = 0;
        std::vector<double> expected(w);
        rows.for_each(i, [&](std::int64_t j, double x) {
          if (j < d) sum[at++ % 8] += x * w[static_cast<std::size_t>(j)];
          expected[static_cast<std::size_t>(j)] += 1.5 * x;
        });
        const double product = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
        std::vector<double> v(w);
        rows.add(i, 1.5, v);
        check(v == expected, layout + ": add");
        for (std::int64_t next = 0; next < rows.size(); ++next) {
          check(rows.product(i, w.data(), next) == product, layout + ": the bits of eight lanes, whichever row comes next");
          check(rows.dot(i, w, next) == product + 0.5 * w.back(), layout + ": dot");
        }
      }
    });
  }
}

/// Rows read together give the bits of rows read one by one.
void together_as_one_by_one() {
  Rng rng = make_rng(7);
  for (const std::int64_t d : {0, 1, 2, 3, 5, 9, 31, 54, 200}) {
    const Toy toy(static_cast<std::uint64_t>(d), {.m = kMostAtOnce + kPrefetchDistance, .d = d, .rho = 0.5});
    const auto w = some_weights(d, rng);
    in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
      for (const std::int64_t count : {0, 1, 15, 16, 17, 64}) {
        std::vector<std::int64_t> list;
        std::vector<double> scales;
        for (std::int64_t k = 0; k < rows.size(); ++k) list.push_back(rng.below(rows.size()));
        for (std::int64_t k = 0; k < count; ++k) scales.push_back(2.0 * rng.uniform() - 1.0);
        const auto chosen = std::span<const std::int64_t>(list).first(static_cast<std::size_t>(count));

        for (const std::int64_t ahead : {std::int64_t{0}, std::int64_t{2}, kPrefetchDistance}) {
          std::vector<double> products(static_cast<std::size_t>(count));
          const auto coming = std::span<const std::int64_t>(list).first(static_cast<std::size_t>(count + ahead));
          rows.products(count, coming, w.data(), products.data());
          for (std::size_t k = 0; k < products.size(); ++k) {
            check(products[k] == rows.product(list[k], w.data()), layout + ": products");
          }
        }

        std::vector<double> v(w);
        std::vector<double> expected(w);
        std::vector<Sum> sums(w.size());
        std::vector<double> sizes(w.size());
        rows.add_each(chosen, scales.data(), v);
        for (std::size_t k = 0; k < chosen.size(); ++k) {
          rows.add(chosen[k], scales[k], expected);
          rows.for_each(chosen[k], [&](std::int64_t j, double x) {
            sums[static_cast<std::size_t>(j)].add(scales[k] * x);
            sizes[static_cast<std::size_t>(j)] += std::abs(scales[k] * x);
          });
        }
        check(v == expected, layout + ": add_each");

        Sums exact(w.size());
        rows.add_compensated(chosen, scales.data(), exact);
        exact.write(v);
        constexpr double kMost = static_cast<double>(kAddedTogether) * kRoundoff;
        for (std::size_t j = 0; j < v.size(); ++j) {
          check(std::abs(v[j] - sums[j].value()) <= kMost * sizes[j], layout + ": add_compensated");
        }
      }
    });
  }
}

}  // namespace

int main() {
  return run_all({{"all rows", all_rows},
                  {"kept rows", kept_rows},
                  {"types agree to the bit", types_agree_to_the_bit},
                  {"dense sums have eight lanes", dense_sums_have_eight_lanes},
                  {"together as one by one", together_as_one_by_one}});
}
