#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "hinge/evaluate.hpp"
#include "hinge/parts.hpp"
#include "toys.hpp"

using namespace hinge;
using namespace hinge::test;

namespace {

constexpr std::int64_t kRows = 60'000;  // many parts

/// Multipliers and weights for the toy, at random.
struct Guess {
  std::vector<double> a;
  std::vector<double> w;

  Guess(const Toy& toy, std::uint64_t seed) : w(static_cast<std::size_t>(toy.options.d) + 1) {
    Rng rng = make_rng(seed);
    for (const double cost : toy.cost) a.push_back(cost * (1.4 * rng.uniform() - 0.2));
    for (double& x : w) x = 2.0 * rng.uniform() - 1.0;
    if (toy.options.rho == 0.0) w.back() = 0.0;
  }
};

void parts_cover_every_row_once() {
  for (const std::int64_t size : {0, 1, 5, 4096, 100'000, 1'234'567}) {
    for (const std::int64_t stored : {std::int64_t{0}, size, 50 * size}) {
      for (const std::int64_t width : {0, 10, 1'000'000}) {
        const Parts parts = Parts::of(size, stored, width);
        check(parts.count >= 1 && parts.begin(0) == 0 && parts.end(parts.count - 1) == size, "from the first row to the last");
        for (std::int64_t part = 0; part < parts.count; ++part) {
          check(parts.begin(part) <= parts.end(part), "ascending");
          const std::int64_t rows = parts.end(part) - parts.begin(part);
          check(parts.count == 1 || rows >= Parts::kLeastRows || (rows + 1) * (stored / size + 1) >= Parts::kLeastStored,
                "of at least a few thousand rows, or as many values");
        }
      }
    }
  }
  check(Parts::of(1'000'000, 50'000'000, 100).count > 8, "large data have many parts");
  check(Parts::of(1000, 784'000, 785).count == 2, "a few long rows have several");
}

struct Evaluation {
  std::vector<double> z;
  Primal upper{};
  std::vector<double> a;
  std::vector<double> w;
  Dual lower{};
};

Evaluation evaluate(const Toy& toy, const Guess& guess, std::int64_t n_threads) {
  const auto rows = toy.rows();
  const Problem problem = toy.problem();
  Poll poll = never();
  Evaluation out{std::vector<double>(toy.target.size()), {}, guess.a, std::vector<double>(guess.w.size()), {}};
  check(decisions(rows, guess.w, out.z, poll, n_threads) &&
            primal(rows, problem, guess.w, nullptr, out.upper, poll, n_threads) &&
            dual(rows, problem, out.a, out.w, out.lower, poll, n_threads),
        "an evaluation that nobody stops is finished");
  return out;
}

/// The same in one pass over the rows.
Evaluation evaluate_both(const Toy& toy, const Guess& guess, std::int64_t n_threads) {
  Poll poll = never();
  Evaluation out{{}, {}, {}, std::vector<double>(guess.w.size()), {}};
  check(both_sides(toy.rows(), toy.problem(), guess.w, out.upper, guess.a, out.a, out.w, out.lower, poll, n_threads),
        "an evaluation that nobody stops is finished");
  return out;
}

bool same_bits(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }
bool same_bits(const std::vector<double>& x, const std::vector<double>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double l, double r) { return same_bits(l, r); });
}

void check_same_bits(const Evaluation& one, const Evaluation& other, const std::string& where) {
  check(same_bits(other.upper.value, one.upper.value) && same_bits(other.upper.rounding, one.upper.rounding) &&
            same_bits(other.upper.b, one.upper.b),
        where + ": primal");
  check(same_bits(other.lower.value, one.lower.value) && same_bits(other.lower.rounding, one.lower.rounding) &&
            same_bits(other.a, one.a) && same_bits(other.w, one.w),
        where + ": dual");
}

void any_number_of_threads_gives_the_same_bits() {
  for (const Loss loss : {Loss::Kind::hinge, Loss::Kind::squared_hinge}) {
    for (const bool free : {false, true}) {
      const Toy toy(1, {.m = kRows, .d = 7, .rho = free ? 0.0 : 1.0, .loss = loss, .free_intercept = free, .weighted = true});
      check(parts_of(toy.rows(), toy.options.d).count > 2, "there are many parts");
      const Guess guess(toy, 2);
      const Evaluation one = evaluate(toy, guess, 1);
      check(one.lower.value <= one.upper.value, "D <= P");
      check_same_bits(one, evaluate_both(toy, guess, 1), "both sides in one pass");
      for (const std::int64_t n_threads : {2, 3, 7}) {
        const Evaluation many = evaluate(toy, guess, n_threads);
        const std::string where = std::to_string(n_threads) + " threads";
        check(same_bits(many.z, one.z), where + ": decisions");
        check_same_bits(one, many, where);
        check_same_bits(one, evaluate_both(toy, guess, n_threads), where + ", both sides in one pass");
      }
    }
  }
}

/// Chunks of any size, merged, bound the same exact value; integers make it exact.
void merged_chunks_bound_the_exact_value() {
  for (const Loss loss : {Loss::Kind::hinge, Loss::Kind::squared_hinge}) {
    Toy toy(3, {.m = 500, .d = 4, .loss = loss});
    for (std::size_t k = 0; k < toy.x.size(); ++k) toy.x[k] = std::round(8.0 * toy.x[k]);
    for (std::int64_t i = 0; i < toy.options.m; ++i) {
      toy.norms[static_cast<std::size_t>(i)] = 0.0;
      for (std::int64_t j = 0; j < toy.options.d; ++j) toy.norms[static_cast<std::size_t>(i)] += toy.at(i, j) * toy.at(i, j);
    }
    const auto rows = toy.rows();
    const Problem problem = toy.problem();
    const std::vector<double> w{1.0, -2.0, 0.5, 3.0, 0.0};
    const std::vector<double> a(toy.target.size(), 0.5);
    const double P = toy.primal_value(w, 0.25);  // exact: small multiples of a power of two
    const double D = toy.dual_value(a);          // likewise
    for (const std::int64_t length : {1, 7, 499, 500}) {
      const PrimalSum no_rows(w, 0.25);
      PrimalSum upper(no_rows);
      DualSum lower(toy.options.d);
      Poll poll = never();
      for (std::int64_t begin = 0; begin < toy.options.m; begin += length) {
        PrimalSum part(no_rows);
        DualSum dual_part(toy.options.d);
        for (std::int64_t i = begin; i < std::min(begin + length, toy.options.m); ++i) {
          const double z = rows.dot(i, w);
          check(part.add(rows, problem, i, i + 1, &z, poll), "not stopped");
          check(dual_part.add(rows, problem, i, i + 1, &a[static_cast<std::size_t>(i)], poll), "not stopped");
        }
        upper.merge(part);
        lower.merge(dual_part);
      }
      const Primal bound = upper.bound();
      check(bound.value >= P && bound.value <= P * (1.0 + 1e-12), "P bounded from above, tightly");
      check(bound.value - bound.rounding == P, "P itself");
      std::vector<double> of_a(w.size());
      lower.w.write(of_a);
      const double value = lower.total.value() - lower.penalty.value() - 0.5 * squared_norm(of_a);
      check(value == D, "D itself");
      check(of_a == toy.combine(a), "w(a) itself");
    }
  }
}

void stop_is_noticed() {
  const Toy toy(4, {.m = kRows, .d = 60});
  const auto rows = toy.rows();
  const Problem problem = toy.problem();
  const Guess guess(toy, 5);
  for (const std::int64_t n_threads : {1, 2}) {  // a million values for each: only then does a poll look
    std::vector<double> z(toy.target.size());
    std::vector<double> a = guess.a;
    std::vector<double> w(guess.w.size());
    Primal upper{};
    Dual lower{};
    Poll first = stopped();
    check(!decisions(rows, guess.w, z, first, n_threads), "decisions are stopped");
    Poll second = stopped();
    check(!primal(rows, problem, guess.w, nullptr, upper, second, n_threads), "the primal is stopped");
    Poll third = stopped();
    check(!dual(rows, problem, a, w, lower, third, n_threads), "the dual is stopped");
    Poll fourth = stopped();
    check(!both_sides(rows, problem, guess.w, upper, guess.a, a, w, lower, fourth, n_threads), "both sides are stopped");
  }
}

void stop_of_another_thread_is_noticed() {
  auto token = std::make_shared<StopToken>();
  Poll poll(token);
  std::thread other([token] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    token->stop();
  });
  const bool finished = for_parts({64, 64}, 3, poll, [](std::int64_t, std::int64_t, Poll& own) {
    while (!own(1 << 20)) std::this_thread::yield();
    return false;
  });
  other.join();
  check(!finished, "work that only a stop can end has ended");
}

/// A sum whose parts fail, or stop, where told to.
struct Count {
  std::int64_t rows = 0;
  void merge(const Count& other) { rows += other.rows; }
};

void exception_of_one_thread_is_thrown_and_nobody_hangs() {
  const Parts parts{640, 64};
  for (const std::int64_t n_threads : {1, 2, 7}) {
    for (const std::int64_t bad : {0, 1, 5, 63}) {
      Poll poll = never();
      const auto fails = [&](std::int64_t begin) {
        if (begin == parts.begin(bad)) throw std::runtime_error("part " + std::to_string(bad));
      };
      const auto message_of = [&](auto&& work) {
        try {
          work();
        } catch (const std::runtime_error& error) {
          return std::string(error.what());
        }
        return std::string();
      };
      Count total;
      const std::string expected = "part " + std::to_string(bad);
      check(message_of([&] {
              sum_over(parts, n_threads, poll, Count{}, total, [&](Count& sum, std::int64_t begin, std::int64_t end, Poll&) {
                fails(begin);
                sum.rows += end - begin;
                return true;
              });
            }) == expected,
            "a sum throws what one of its parts throws");
      check(total.rows <= 10 * bad, "and has merged no part beyond it");
      std::atomic<std::int64_t> done = 0;
      check(message_of([&] {
              for_parts(parts, n_threads, poll, [&](std::int64_t begin, std::int64_t, Poll&) {
                fails(begin);
                ++done;
                return true;
              });
            }) == expected,
            "parts in any order, likewise");
      check(done <= 63, "every other part at most once");
    }
  }
}

void sum_in_order_whoever_is_faster() {
  struct Order {
    std::vector<std::int64_t> parts;
    void merge(const Order& other) { parts.insert(parts.end(), other.parts.begin(), other.parts.end()); }
  };
  Poll poll = never();
  Order total;
  const bool finished = sum_over({64, 64}, 7, poll, Order{}, total, [](Order& sum, std::int64_t begin, std::int64_t, Poll&) {
    if (begin % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sum.parts.push_back(begin);
    return true;
  });
  check(finished && total.parts.size() == 64, "all parts are there");
  for (std::size_t k = 0; k < total.parts.size(); ++k) check(total.parts[k] == static_cast<std::int64_t>(k), "in their order");
}

/// Threads of a crew are kept from one piece of work to the next. Work inside of work begins threads of its own.
void a_crew_does_all_work_and_nobody_hangs() {
  const Parts parts{200, 20};
  using Total = TotalOf<std::vector<double>>;
  const Total empty{std::vector<double>(1)};
  const auto sum = [&](std::int64_t n_threads) {
    Total total(empty);
    Poll poll = never();
    check(sum_over(parts, n_threads, poll, empty, total,
                   [](Total& part, std::int64_t begin, std::int64_t end, Poll&) {
                     for (std::int64_t i = begin; i < end; ++i) part.values[0] += 1.0 / static_cast<double>(i + 1);
                     return true;
                   }),
          "all parts are summed");
    return total.values[0];
  };
  const double alone = sum(1);
  for (const std::int64_t n_threads : {1, 2, 5}) {
    const Crew crew(n_threads);
    for (int times = 0; times < 300; ++times) check(sum(3) == alone, "same bits, whoever does it");
    {
      const Crew another(2);
      check(sum(2) == alone, "a crew within a crew");
    }
    std::atomic<std::int64_t> rows = 0;
    Poll poll = never();
    const bool done = for_parts(parts, 2, poll, [&](std::int64_t begin, std::int64_t end, Poll&) {
      rows += sum(2) == alone ? end - begin : 0;
      return true;
    });
    check(done && rows == 200, "work within work");
    bool thrown = false;
    try {
      for_parts(parts, 2, poll, [](std::int64_t, std::int64_t, Poll&) -> bool { throw std::runtime_error("no"); });
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    check(thrown && sum(2) == alone, "an exception is passed on, and work goes on");
  }
  check(Crew::free() == nullptr, "a crew ends");
}

}  // namespace

int main() {
  return run_all(
      {{"parts cover every row once", parts_cover_every_row_once},
       {"any number of threads gives the same bits", any_number_of_threads_gives_the_same_bits},
       {"merged chunks bound the exact value", merged_chunks_bound_the_exact_value},
       {"a stop is noticed", stop_is_noticed},
       {"a stop of another thread is noticed", stop_of_another_thread_is_noticed},
       {"an exception of one thread is thrown, and nobody hangs", exception_of_one_thread_is_thrown_and_nobody_hangs},
       {"a sum is merged in order, whoever is faster", sum_in_order_whoever_is_faster},
       {"a crew does all work, and nobody hangs", a_crew_does_all_work_and_nobody_hangs}});
}
