#pragma once
// Fields of a saved state, to Python and back: numbers, and arrays of a known or a varying length.

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "handles.hpp"
#include "hinge/state.hpp"

namespace hinge::python {

template <class T>
nb::object to_python(const T& field) {
  if constexpr (requires { typename T::value_type; }) {
    return nb::cast(owned(std::vector<typename T::value_type>(field.begin(), field.end())));
  } else {
    return nb::cast(field);
  }
}

/// Counters far from where adding to them could overflow.
inline void expect_count(const char* name, std::int64_t count) {
  if (count >= 0 && count < (std::int64_t{1} << 60)) return;
  throw nb::value_error((std::string("saved state: ") + name + " out of range").c_str());
}

template <class T>
void from_python(const char* name, const nb::object& value, T& field) {
  const auto number = nb::cast<T>(value);
  if constexpr (std::is_same_v<T, std::int64_t>) expect_count(name, number);
  field = number;
}

template <class T>
void from_python(const char* name, const nb::object& value, std::vector<T>& field) {
  const auto array = nb::cast<Vector<T>>(value);
  expect_length(name, array.shape(0), static_cast<std::int64_t>(field.size()));
  if constexpr (std::is_same_v<T, std::int64_t>) {
    for (const std::int64_t count : view(array)) expect_count(name, count);
  }
  std::copy(view(array).begin(), view(array).end(), field.begin());
}

template <class T>
void from_python(const char*, const nb::object& value, Varying<T>& field) {
  const auto array = nb::cast<Vector<T>>(value);
  field.assign(view(array).begin(), view(array).end());
}

/// The fields of a part of a solver, by name.
template <class Part>
nb::dict saved_fields(Part& part) {
  nb::dict out;
  part.fields([&](const char* name, auto& field) { out[name] = to_python(field); });
  return out;
}

}  // namespace hinge::python
