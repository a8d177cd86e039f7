#include "hinge/fourier.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "handles.hpp"
#include "hinge/structured.hpp"

namespace hinge::python {

namespace {

template <class T>
using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
void check(const RowsHandle& handle, double scale, const MutableMatrix<T>& out) {
  if (handle.n_features() > std::numeric_limits<std::int32_t>::max()) throw nb::value_error("rows have too many features");
  if (handle.visit([](const auto& rows) { return rows.rho != 0.0; })) throw nb::value_error("rows have a constant feature");
  if (!std::isfinite(scale)) throw nb::value_error("the scale must be finite");
  expect_length("out", out.shape(0), handle.size());
}

/// All features of all rows, by either map.
template <class T, class Map>
void write(const RowsHandle& handle, const Map& map, const MutableMatrix<T>& out, std::int64_t n_threads) {
  PythonPoll poll(std::make_shared<StopToken>(), in_main_thread());
  {
    const WithoutGil released;
    handle.visit([&](const auto& rows) { map.write(rows, std::span<T>(out.data(), out.size()), n_threads, poll); });
  }
  poll.raise_error();
}

template <class T>
void fourier(const RowsHandle& handle, const Cube<T>& panels, const Vector<T>& phases, double scale,
             const MutableMatrix<T>& out, std::int64_t n_threads) {
  constexpr auto kWidth = FourierMap<T>::kWidth;
  const auto n_out = static_cast<std::int64_t>(out.shape(1));
  check(handle, scale, out);
  expect_length("panels", panels.shape(0), (n_out + kWidth - 1) / kWidth);
  expect_length("a panel", panels.shape(1), handle.n_features());
  expect_length("a row of a panel", panels.shape(2), kWidth);
  expect_length("phases", phases.shape(0), static_cast<std::int64_t>(panels.shape(0)) * kWidth);
  const FourierMap<T> map{handle.n_features(), n_out, static_cast<T>(scale), {panels.data(), panels.size()}, view(phases)};
  write(handle, map, out, n_threads);
}

template <class T>
void structured_fourier(const RowsHandle& handle, const Cube<T>& signs, const Vector<T>& lengths, const Vector<T>& phases,
                        double scale, const MutableMatrix<T>& out, std::int64_t n_threads) {
  const auto n = static_cast<std::int64_t>(signs.shape(2));
  const auto n_out = static_cast<std::int64_t>(out.shape(1));
  check(handle, scale, out);
  if (n < structured::kShortest || n < handle.n_features() || !std::has_single_bit(static_cast<std::uint64_t>(n))) {
    throw nb::value_error("the signs must be as many as a power of 2, at least 64, and no fewer than the features of a row");
  }
  expect_length("signs", signs.shape(0), (n_out + n - 1) / n);
  expect_length("a block of signs", signs.shape(1), structured::kFactors);
  expect_length("lengths", lengths.shape(0), static_cast<std::int64_t>(signs.shape(0)) * n);
  expect_length("phases", phases.shape(0), static_cast<std::int64_t>(signs.shape(0)) * n);
  const StructuredMap<T> map{n, n_out, static_cast<T>(scale), {signs.data(), signs.size()}, view(lengths), view(phases)};
  write(handle, map, out, n_threads);
}

template <class T>
void bind(nb::module_& m) {
  m.def("fourier", &fourier<T>, nb::arg("rows"), nb::arg("panels"), nb::arg("phases"), nb::arg("scale"), nb::arg("out"),
        nb::arg("n_threads"),
        "scale cos(2 pi (x.f + p)) of every row and frequency, into `out`. A panel has 128 bytes of frequencies for each "
        "feature of x.");
  m.def("structured_fourier", &structured_fourier<T>, nb::arg("rows"), nb::arg("signs"), nb::arg("lengths"), nb::arg("phases"),
        nb::arg("scale"), nb::arg("out"), nb::arg("n_threads"),
        "scale cos(2 pi (l y + p)) of every row, y = H D1 H D2 H D3 x in blocks, into `out`. signs: (blocks, 3, n), D3 first.");
}

}  // namespace

void bind_features(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace hinge::python
