#include "hinge/kernel_pegasos.hpp"
#include "hinge/kernel_rows.hpp"
#include "hinge/lasvm.hpp"
#include "run.hpp"

namespace hinge::python {

namespace {

std::optional<Owned<double>> sums_of(const RowsHandle& handle, const Kernel& kernel, const Vector<double>& beta, Poll& poll,
                                     std::int64_t n_threads) {
  expect_length("beta", beta.shape(0), handle.size());
  std::vector<double> sums(beta.shape(0));
  bool finished = false;
  {
    const WithoutGil released;
    finished = handle.visit([&](const auto& rows) { return kernel_sums(rows, kernel, view(beta), sums, poll, n_threads); });
  }
  if (!finished) return std::nullopt;
  return owned(std::move(sums));
}

Owned<double> row_of(const RowsHandle& handle, const Kernel& kernel, std::int64_t i) {
  if (i < 0 || i >= handle.size()) throw nb::index_error("row out of range");
  std::vector<double> values(static_cast<std::size_t>(handle.size()));
  handle.visit([&](const auto& rows) {
    const std::int64_t held[] = {i};
    const Geometry geometry = geometry_of(kernel, rows);
    const KernelBlock<std::decay_t<decltype(rows)>> block(kernel, rows, geometry, held);
    auto scratch = block.scratch();
    std::vector<std::int64_t> columns(values.size());
    std::iota(columns.begin(), columns.end(), std::int64_t{0});
    block.values(columns, scratch, values);
  });
  return owned(std::move(values));
}

double reach_of(const RowsHandle& handle, const Kernel& kernel) {
  return handle.visit([&](const auto& rows) {
    const Geometry geometry = geometry_of(kernel, rows);
    return geometry.cancels(kernel) ? geometry.largest_norm() : 0.0;
  });
}

Owned<double> diagonal_of(const RowsHandle& handle, const Kernel& kernel) {
  std::vector<double> values(static_cast<std::size_t>(handle.size()));
  handle.visit([&](const auto& rows) {
    for (std::int64_t i = 0; i < rows.size(); ++i) values[static_cast<std::size_t>(i)] = kernel_diagonal(rows, kernel, i);
  });
  return owned(std::move(values));
}

void expect_positive(const char* name, std::int64_t value) {
  if (value < 1) throw nb::value_error((std::string(name) + " must be at least 1").c_str());
}

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::enum_<Kernel::Kind>(m, "KernelKind")
      .value("rbf", Kernel::Kind::rbf)
      .value("laplacian", Kernel::Kind::laplacian)
      .value("polynomial", Kernel::Kind::polynomial)
      .value("sigmoid", Kernel::Kind::sigmoid)
      .value("linear", Kernel::Kind::linear)
      .value("cosine", Kernel::Kind::cosine);
  nb::class_<Kernel>(m, "Kernel", "k(x, z) + constant for two rows.")
      .def(
          "__init__",
          [](Kernel* self, Kernel::Kind kind, double gamma, std::int64_t degree, double coef0, double constant) {
            if (!(gamma > 0.0 && std::isfinite(gamma))) throw nb::value_error("gamma must be positive and finite");
            if (degree < 1 || degree > 1000) throw nb::value_error("degree must lie between 1 and 1000");
            if (!std::isfinite(coef0) || !(constant >= 0.0)) throw nb::value_error("coef0 and constant must be finite");
            new (self) Kernel{kind, gamma, degree, coef0, constant};
          },
          nb::arg("kind"), nb::arg("gamma"), nb::arg("degree"), nb::arg("coef0"), nb::arg("constant"));
  m.def("kernel_sums", &sums_of, nb::arg("rows"), nb::arg("kernel"), nb::arg("beta"), nb::arg("poll"), nb::arg("n_threads") = 1,
        "sum_h beta_h k(x_h, x_j) for every row j, or None when stopped.");
  m.def("kernel_row", &row_of, nb::arg("rows"), nb::arg("kernel"), nb::arg("i"), "k(x_i, x_j) for every row j.");
  m.def("kernel_reach", &reach_of, nb::arg("rows"), nb::arg("kernel"),
        "The largest |x|^2 if |x - z|^2 is computed from norms and products, with the origin that they have; otherwise 0.");
  m.def("kernel_diagonal", &diagonal_of, nb::arg("rows"), nb::arg("kernel"), "k(x_i, x_i) for every row i.");

  nb::class_<LasvmOptions>(m, "LasvmOptions")
      .def(
          "__init__",
          [](LasvmOptions* self, std::int64_t online_epochs, double tau, std::int64_t working_set, std::int64_t cache_bytes,
             double tol, std::int64_t n_threads) {
            if (online_epochs < 0) throw nb::value_error("online_epochs must not be negative");
            if (!(tau >= 0.0) || !(tol >= 0.0)) throw nb::value_error("tau and tol must not be negative");
            if (working_set < 2) throw nb::value_error("working_set must be at least 2");
            expect_positive("cache_bytes", cache_bytes);
            expect_positive("n_threads", n_threads);
            new (self) LasvmOptions{online_epochs, tau, working_set, cache_bytes, tol, n_threads};
          },
          nb::arg("online_epochs"), nb::arg("tau"), nb::arg("working_set"), nb::arg("cache_bytes"), nb::arg("tol"),
          nb::arg("n_threads"));
  bind_solver<Lasvm, Kernel, LasvmOptions, Order, Rng>(m, "Lasvm", "LASVM at work: (problem, kernel, options, order, rng)");
  nb::class_<KernelPegasosOptions>(m, "KernelPegasosOptions")
      .def(
          "__init__",
          [](KernelPegasosOptions* self, Sampling sampling, bool projection, std::int64_t cache_bytes) {
            expect_positive("cache_bytes", cache_bytes);
            new (self) KernelPegasosOptions{sampling, projection, cache_bytes};
          },
          nb::arg("sampling"), nb::arg("projection"), nb::arg("cache_bytes"));
  bind_solver<KernelPegasos, Kernel, KernelPegasosOptions, Order, Rng>(
      m, "KernelPegasos", "Pegasos with a kernel at work: (problem, kernel, options, order, rng)");
}

}  // namespace hinge::python
