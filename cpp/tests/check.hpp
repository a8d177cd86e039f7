#pragma once
// The whole test framework: a test is a function, `check` reports what broke, `run_all` is main.

#include <cmath>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <source_location>
#include <string>

namespace hinge::test {

inline int failures = 0;

inline void check(bool holds, const std::string& promise, std::source_location where = std::source_location::current()) {
  if (holds) return;
  ++failures;
  std::printf("  %s:%u: broken: %s\n", where.file_name(), static_cast<unsigned>(where.line()), promise.c_str());
}

/// |x - y| <= tolerance (1 + |y|)
inline void check_close(double x, double y, double tolerance, const std::string& promise,
                        std::source_location where = std::source_location::current()) {
  const bool close = std::abs(x - y) <= tolerance * (1.0 + std::abs(y));
  check(close, close ? promise : promise + " (" + std::to_string(x) + " is not " + std::to_string(y) + ")", where);
}

struct Test {
  const char* promise;
  void (*run)();
};

inline int run_all(std::initializer_list<Test> tests) {
  for (const auto& test : tests) {
    const int before = failures;
    try {
      test.run();
    } catch (const std::exception& error) {
      check(false, std::string("no exception, got ") + error.what());
    }
    std::printf("%s %s\n", failures == before ? "ok    " : "FAILED", test.promise);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace hinge::test
