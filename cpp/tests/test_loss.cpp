#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/loss.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

constexpr Loss kHinge = Loss::Kind::hinge;
constexpr Loss kSquared = Loss::Kind::squared_hinge;

std::string name(Loss loss) { return loss.is_hinge() ? "hinge" : "squared hinge"; }

/// f(loss, cost, slack, multiplier in the box) at random, bounds and kinks among them.
template <class F>
void at_random(F&& f) {
  Rng rng = make_rng(1);
  for (const Loss loss : {kHinge, kSquared}) {
    for (int trial = 0; trial < 20000; ++trial) {
      const double cost = std::pow(10.0, 6.0 * rng.uniform() - 3.0);
      const double slack = trial % 7 == 0 ? 0.0 : 6.0 * rng.uniform() - 3.0;
      const double share = trial % 5 == 0 ? static_cast<double>(rng.below(2)) : rng.uniform();
      f(loss, cost, slack, cost * share * (loss.is_hinge() ? 1.0 : 5.0));
    }
  }
}

double dual_term(Loss loss, double a, double cost) { return a - loss.dual_penalty(a, cost); }

void values_are_those_of_the_definition() {
  at_random([](Loss loss, double cost, double s, double a) {
    const double positive = std::max(0.0, s);
    check(loss.value(s) == (loss.is_hinge() ? positive : positive * positive), name(loss) + ": value");
    check_close(loss.dual_penalty(a, cost), loss.is_hinge() ? 0.0 : a * a / (4.0 * cost), 1e-12, name(loss) + ": penalty");
    const double h = 1e-6;
    if (std::abs(s) > h) {
      check_close(loss.slope(s), (loss.value(s + h) - loss.value(s - h)) / (2.0 * h), 1e-6,
                  name(loss) + ": slope is the derivative");
    }
  });
  check(kHinge.slope(0.0) == 0.0 && kSquared.slope(0.0) == 0.0, "a margin of exactly 1 is no loss");
  check(kHinge.slope(1e-300) == 1.0, "the slope of the hinge is exactly 1");
}

/// Fenchel and Young, with the conjugate C loss(s) -> a s - ... : C loss(s) >= a s - penalty(a), equal where a = C slope(s).
void penalty_is_the_conjugate() {
  at_random([](Loss loss, double cost, double s, double a) {
    const double scale = 1e-12 * cost * (1.0 + s * s) * 30.0;
    check(cost * loss.value(s) >= a * s - loss.dual_penalty(a, cost) - scale, name(loss) + ": C loss(s) + conjugate(a) >= a s");
    const double best = cost * loss.slope(s);
    check(best >= 0.0 && best <= loss.box(cost), name(loss) + ": C slope(s) lies in the box");
    check_close(cost * loss.value(s) / cost, (best * s - loss.dual_penalty(best, cost)) / cost, 1e-12,
                name(loss) + ": equal at a = C slope(s)");
  });
}

/// With the row's margin p = t (w.x + b): s = 1 - p, g = p - 1 + diagonal a.
void gap_share_is_its_definition_and_never_negative() {
  at_random([](Loss loss, double cost, double s, double a) {
    const double g = -s + loss.diagonal(cost) * a;
    const double expected = cost * loss.value(s) - a * s + loss.dual_penalty(a, cost);
    const double scale = cost * (1.0 + s * s) * 30.0;
    const double share = loss.gap_share(a, g, cost);
    check(std::abs(share - expected) <= 1e-13 * scale, name(loss) + ": C loss(s) + a (p - 1) + penalty(a)");
    check(share >= -1e-13 * scale, name(loss) + ": no share is negative");
    const double best = cost * loss.slope(s);
    check(std::abs(loss.gap_share(best, -s + loss.diagonal(cost) * best, cost)) <= 1e-13 * scale,
          name(loss) + ": 0 at a = C slope(s)");
  });
}

/// Along one coordinate D(next) = D(a) + dual_term(next) - dual_term(a) - (next - a) p - (next - a)^2 / 2 |x|^2.
void best_multiplier_is_the_maximum_along_the_coordinate() {
  Rng rng = make_rng(2);
  at_random([&](Loss loss, double cost, double s, double a) {
    const double norm2 = rng.below(6) == 0 ? 0.0 : std::pow(10.0, 4.0 * rng.uniform() - 2.0);
    const double p = 1.0 - s;
    const double diagonal = loss.diagonal(cost);
    const auto gain = [&](double next) {
      const double change = next - a;
      return dual_term(loss, next, cost) - dual_term(loss, a, cost) - change * p - 0.5 * change * change * norm2;
    };
    if (norm2 == 0.0 && loss.is_hinge()) {
      check(loss.best_multiplier(a, -1.0, 0.0, cost) == cost, "a row of zeros has multiplier C");
      return;
    }
    const double best = loss.best_multiplier(a, p - 1.0 + diagonal * a, norm2 + diagonal, cost);
    check(best >= 0.0 && best <= loss.box(cost), name(loss) + ": inside the box");
    const double scale = 1e-11 * (cost + a + best) * (1.0 + std::abs(s) + (best + a) * norm2);
    check(gain(best) >= -scale, name(loss) + ": D does not fall");
    for (const double other : {0.0, 0.5 * best, 0.99 * best, 1.01 * best, 2.0 * best, best + 0.1 * cost, cost}) {
      if (other > loss.box(cost)) continue;
      check(gain(other) <= gain(best) + scale, name(loss) + ": no other multiplier is better");
    }
  });
  check_close(kSquared.best_multiplier(0.0, -1.0, kSquared.diagonal(3.0), 3.0), 6.0, 1e-15,
              "a row of zeros has multiplier 2 C");
}

void nan_stays_nan() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Loss loss : {kHinge, kSquared}) {
    check(std::isnan(loss.value(nan)), name(loss) + ": a slack that is no number is never taken for no loss");
    check(loss.slope(nan) == 0.0, name(loss) + ": and no step is made on it");
  }
}

}  // namespace

int main() {
  return run_all(
      {{"values are those of the definition", values_are_those_of_the_definition},
       {"the penalty is the conjugate", penalty_is_the_conjugate},
       {"a gap share is its definition, and never negative", gap_share_is_its_definition_and_never_negative},
       {"the best multiplier is the maximum along the coordinate", best_multiplier_is_the_maximum_along_the_coordinate},
       {"NaN stays NaN", nan_stays_nan}});
}
