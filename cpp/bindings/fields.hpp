#pragma once
// Fields of a saved state, to Python and back: numbers, arrays of a known or a varying length, and random generators.

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "handles.hpp"
#include "hinge/rng.hpp"
#include "hinge/state.hpp"

namespace hinge::python {

[[noreturn]] inline void refuse_field(const char* name, const std::string& why) {
  throw nb::value_error(("saved state: " + std::string(name) + " " + why).c_str());
}

/// Counters far from where adding to them could overflow.
inline void expect_count(const char* name, std::int64_t count) {
  if (count < 0 || count >= (std::int64_t{1} << 60)) refuse_field(name, "is out of range");
}

template <class T>
nb::object to_python(const T& field) {
  if constexpr (std::is_same_v<T, Rng>) {
    return nb::cast(owned(std::vector<std::uint64_t>(field.state().begin(), field.state().end())));
  } else if constexpr (requires { typename T::value_type; }) {
    return nb::cast(owned(std::vector<typename T::value_type>(field.begin(), field.end())));
  } else if constexpr (std::is_same_v<T, bool>) {
    return nb::cast(static_cast<std::int64_t>(field));  // numbers only
  } else {
    return nb::cast(field);
  }
}

/// Numbers and arrays may come back as other kinds of numbers and arrays (from a file, say), never as anything else.
template <class T>
T cast_field(const char* name, const nb::object& value) {
  try {
    return nb::cast<T>(value);
  } catch (const std::exception&) {
    refuse_field(name, "is of the wrong kind");
  }
}

template <class T>
  requires std::is_arithmetic_v<T>
void from_python(const char* name, const nb::object& value, T& field) {
  using Number = std::conditional_t<std::is_same_v<T, bool>, std::int64_t, T>;
  const auto number = cast_field<Number>(name, value);
  if constexpr (std::is_same_v<T, std::int64_t>) expect_count(name, number);
  field = static_cast<T>(number);
}

template <class T>
void from_python(const char* name, const nb::object& value, std::vector<T>& field) {
  const auto array = cast_field<Vector<T>>(name, value);
  if (array.shape(0) != field.size()) {
    refuse_field(name, "has length " + std::to_string(array.shape(0)) + ", expected " + std::to_string(field.size()));
  }
  if constexpr (std::is_same_v<T, std::int64_t>) {
    for (const std::int64_t count : view(array)) expect_count(name, count);
  }
  std::copy(view(array).begin(), view(array).end(), field.begin());
}

template <class T>
void from_python(const char* name, const nb::object& value, Varying<T>& field) {
  const auto array = cast_field<Vector<T>>(name, value);
  field.assign(view(array).begin(), view(array).end());
}

inline void from_python(const char* name, const nb::object& value, Rng& field) {
  const auto words = cast_field<Vector<std::uint64_t>>(name, value);
  if (words.shape(0) != 4) refuse_field(name, "has not 4 words");
  if (std::all_of(view(words).begin(), view(words).end(), [](std::uint64_t word) { return word == 0; })) {
    refuse_field(name, "is a random generator of zeros only, which is none");
  }
  field = Rng(Rng::State{words.data()[0], words.data()[1], words.data()[2], words.data()[3]});
}

/// The arrays of a solver that has ended need not be copied.
template <class T>
nb::object taken_by_python(T& field) {
  return to_python(field);
}
template <class T>
nb::object taken_by_python(std::vector<T>& field) {
  return nb::cast(owned(std::move(field)));
}
template <class T>
nb::object taken_by_python(Varying<T>& field) {
  return taken_by_python(static_cast<std::vector<T>&>(field));
}

/// The fields of a part of a solver, by name.
template <class Part>
nb::dict saved_fields(Part& part) {
  nb::dict out;
  part.fields([&](const char* name, auto& field) { out[name] = to_python(field); });
  return out;
}

/// The same; the part is of no use afterwards.
template <class Part>
nb::dict surrendered_fields(Part& part) {
  nb::dict out;
  part.fields([&](const char* name, auto& field) { out[name] = taken_by_python(field); });
  return out;
}

template <class Part>
void restore_fields(Part& part, const nb::dict& saved) {
  part.fields([&](const char* name, auto& field) {
    if (!saved.contains(name)) refuse_field(name, "is missing");
    from_python(name, saved[name], field);
  });
}

}  // namespace hinge::python
