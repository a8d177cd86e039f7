#include "hinge/fourier.hpp"

#include <cmath>
#include <limits>
#include <memory>

#include "handles.hpp"

namespace hinge::python {

namespace {

template <class T>
using Panels = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
void write(const RowsHandle& handle, const Panels<T>& panels, const Vector<T>& phases, double scale,
           const MutableMatrix<T>& out, std::int64_t n_threads) {
  constexpr auto kWidth = FourierMap<T>::kWidth;
  const auto n_out = static_cast<std::int64_t>(out.shape(1));
  if (handle.n_features() > std::numeric_limits<std::int32_t>::max()) throw nb::value_error("rows have too many features");
  if (handle.visit([](const auto& rows) { return rows.rho != 0.0; })) throw nb::value_error("rows have a constant feature");
  if (!std::isfinite(scale)) throw nb::value_error("the scale must be finite");
  expect_length("panels", panels.shape(0), (n_out + kWidth - 1) / kWidth);
  expect_length("a panel", panels.shape(1), handle.n_features());
  expect_length("a row of a panel", panels.shape(2), kWidth);
  expect_length("phases", phases.shape(0), static_cast<std::int64_t>(panels.shape(0)) * kWidth);
  expect_length("out", out.shape(0), handle.size());
  const FourierMap<T> map{handle.n_features(), n_out, static_cast<T>(scale), {panels.data(), panels.size()}, view(phases)};
  PythonPoll poll(std::make_shared<StopToken>(), in_main_thread());
  {
    const WithoutGil released;
    handle.visit([&](const auto& rows) { map.write(rows, std::span<T>(out.data(), out.size()), n_threads, poll); });
  }
  poll.raise_error();
}

template <class T>
void bind(nb::module_& m) {
  m.def("fourier", &write<T>, nb::arg("rows"), nb::arg("panels"), nb::arg("phases"), nb::arg("scale"), nb::arg("out"),
        nb::arg("n_threads"),
        "scale cos(2 pi (x.f + p)) of every row and frequency, into `out`. A panel has 128 bytes of frequencies for each "
        "feature of x.");
}

}  // namespace

void bind_features(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace hinge::python
