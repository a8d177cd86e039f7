#include <cmath>
#include <numbers>
#include <vector>

#include "check.hpp"
#include "hinge/fourier.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

/// Frequencies and phases in turns, in panels; those of column j are also in `f` and `p`.
template <class T>
struct Drawn {
  std::vector<T> panels, phases;
  std::vector<T> f, p;
  FourierMap<T> map;

  Drawn(std::int64_t n_in, std::int64_t n_out, Rng& rng) : map{n_in, n_out, T(1), {}, {}} {
    constexpr auto kWidth = FourierMap<T>::kWidth;
    const std::int64_t n_panels = (n_out + kWidth - 1) / kWidth;
    panels.assign(static_cast<std::size_t>(n_panels * n_in * kWidth), T(0));
    phases.assign(static_cast<std::size_t>(n_panels * kWidth), T(0));
    for (std::int64_t j = 0; j < n_out; ++j) {
      phases[static_cast<std::size_t>(j)] = static_cast<T>(rng.uniform());
      p.push_back(phases[static_cast<std::size_t>(j)]);
      for (std::int64_t k = 0; k < n_in; ++k) {
        const auto x = static_cast<T>(4.0 * rng.uniform() - 2.0);
        panels[static_cast<std::size_t>((j / kWidth * n_in + k) * kWidth + j % kWidth)] = x;
        f.push_back(x);
      }
    }
    map.panels = panels;
    map.phases = phases;
  }
};

template <class T>
std::vector<T> written(const FourierMap<T>& map, const Rows auto& rows, std::int64_t n_threads) {
  std::vector<T> out(static_cast<std::size_t>(rows.size() * map.n_out), T(-9));
  Poll poll = never();
  check(map.write(rows, std::span<T>(out), n_threads, poll), "finished");
  return out;
}

template <class T>
void check_map(double tolerance) {
  Rng rng = make_rng(1);
  for (const std::int64_t d : {1, 5, 40}) {
    for (const std::int64_t n_out : {1, 16, 31, 70}) {
      for (const std::int64_t m : {1, 2, 7}) {
        const Toy toy(static_cast<std::uint64_t>(d), {.m = m, .d = d, .density = 0.4});
        Drawn<T> drawn(d, n_out, rng);
        std::vector<T> first;
        in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
          if (rows.rho != 0.0 || rows.size() != m) return;
          const auto out = written(drawn.map, rows, 1);
          check(out == written(drawn.map, rows, 3), layout + ": threads change no bit");
          if (first.empty()) first = out;
          for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n_out; ++j) {
              double turns = drawn.p[static_cast<std::size_t>(j)];
              rows.for_each(i, [&](std::int64_t k, double x) {
                turns += static_cast<double>(static_cast<T>(x)) * drawn.f[static_cast<std::size_t>(j * d + k)];
              });
              check_close(out[static_cast<std::size_t>(i * n_out + j)], std::cos(2.0 * std::numbers::pi * turns), tolerance,
                          layout + ": a cosine");
            }
          }
        });
      }
    }
  }
}

/// Angles beyond any precision give something between -1 and 1.
void huge_angles() {
  Rng rng = make_rng(2);
  Drawn<float> drawn(3, 40, rng);
  for (float& x : drawn.panels) x *= 1e30F;
  const Toy toy(3, {.m = 5, .d = 3, .density = 1.0});
  in_every_layout(toy, [&](const auto& rows, const std::string& layout) {
    if (rows.rho != 0.0) return;
    for (const float x : written(drawn.map, rows, 1)) check(std::abs(x) <= 1.0F, layout + ": bounded");
  });
}

}  // namespace

int main() {
  return run_all({{"cosines in float", [] { check_map<float>(2e-4); }},
                  {"cosines in double", [] { check_map<double>(1e-11); }},
                  {"huge angles", huge_angles}});
}
