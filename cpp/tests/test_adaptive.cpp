#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "hinge/adaptive.hpp"
#include "hinge/scaled_rows.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

std::vector<std::int64_t> first(std::int64_t m) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(m));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

void stream_is_the_same_however_it_is_cut_and_laid_out() {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Toy toy(seed, {.m = 40, .weighted = seed % 2 == 0, .scale = std::pow(10.0, static_cast<double>(seed % 7) - 3.0)});
    const AdaptiveOptions options{seed % 3 != 0, seed % 2 == 0 ? 0 : 7};
    std::vector<std::int64_t> classes;
    for (std::int64_t i = 0; i < toy.options.m; ++i) classes.push_back(i % 3);
    const auto all = first(toy.options.m);
    AdaptiveStream dense(3, toy.options.d, 1.0, options);
    Poll poll = never();
    const auto plain_dense = toy.rows();
    dense.present(ScaledRows{plain_dense, {}, 1.0}, all, classes, toy.cost, poll);
    in_every_layout(toy, [&](const auto& plain, const std::string& layout) {
      const ScaledRows rows{plain, {}, 1.0};
      AdaptiveStream cut(3, toy.options.d, 1.0, options);
      Rng rng = make_rng(seed);
      for (std::size_t begin = 0; begin < all.size();) {
        const auto length = std::min(all.size() - begin, static_cast<std::size_t>(1 + rng.below(5)));
        cut.present(rows, std::span<const std::int64_t>(all).subspan(begin, length), classes, toy.cost, poll);
        begin += length;
      }
      cut.check_restored();
      check(dense.seen == cut.seen && dense.scales == cut.scales, layout + ": the same count and scales");
      for (std::size_t k = 0; k < 3; ++k) check(dense.models[k].v == cut.models[k].v, layout + ": the same bits");
    });
  }
}

/// The distance that is kept is that of an average that is computed by its definition.
void average_is_the_recomputed_one() {
  for (const std::int64_t window : {0, 2, 9}) {
    const Toy toy(3, {.m = 400, .density = 1.0});
    AdaptiveStream stream(1, toy.options.d, 1.0, {true, window});
    std::vector<double> average(static_cast<std::size_t>(toy.options.d) + 1);
    const auto plain = toy.rows();
    const ScaledRows rows{plain, {}, 1.0};
    Poll poll = never();
    for (std::int64_t i = 0; i < toy.options.m; ++i) {
      const std::vector<std::int64_t> label(400, toy.target[static_cast<std::size_t>(i)] > 0.0 ? 1 : 0);
      const std::vector<std::int64_t> one{i};
      stream.present(rows, one, label, toy.cost, poll);
      const auto t = static_cast<double>(i + 1);
      const double share = std::max((AdaptiveStream::kForget + 1.0) / (t + AdaptiveStream::kForget),
                                    window > 0 ? 1.0 / static_cast<double>(window) : 0.0);
      const auto& model = stream.models[0];
      for (std::size_t j = 0; j < average.size(); ++j) {
        average[j] += share * (model.v[j] - average[j]);
        check_close(model.v[j] - stream.lag_scale * model.lag[j], average[j], 1e-9, "the average in units of the scales");
      }
    }
  }
}

void stopped_stream_has_given_its_rows_to_all_models() {
  const Toy toy(5, {.m = 30});
  Poll poll = stopped();
  poll(1 << 20);  // due: the next look ends the work
  const auto all = first(30);
  AdaptiveStream stream(4, toy.options.d, 1.0, {});
  const auto plain = toy.rows();
  check(stream.present(ScaledRows{plain, {}, 1.0}, all, all, toy.cost, poll) == 1, "one row, then the poll");
  check(stream.seen == 1, "and it was counted");
  for (const auto& model : stream.models) check(model.v.back() != 0.0, "each model has learned from it");
}

}  // namespace

int main() {
  return run_all({{"a stream is the same however it is cut and laid out", stream_is_the_same_however_it_is_cut_and_laid_out},
                  {"the average is the recomputed one", average_is_the_recomputed_one},
                  {"a stopped stream has given its rows to all models", stopped_stream_has_given_its_rows_to_all_models}});
}
