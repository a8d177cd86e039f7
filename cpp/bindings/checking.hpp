#pragma once
// Rows that come from outside are checked here, a few at a time: while they are in the cache, their fingerprint is taken, and whatever
// else is to be done with them.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "handles.hpp"
#include "hinge/fingerprint.hpp"
#include "hinge/parts.hpp"
#include "hinge/row_blocks.hpp"
#include "hinge/validate.hpp"

namespace hinge::python {

inline std::string place(const Fault& fault) {
  const std::string row = "row " + std::to_string(fault.row);
  return fault.column < 0 ? row : row + ", column " + std::to_string(fault.column);
}

[[noreturn]] inline void refuse(const Fault& fault) {
  using enum Fault::Kind;
  const std::string at = place(fault);
  const auto message = [&]() -> std::string {
    switch (fault.kind) {
      case nan:
        return "Input X contains NaN (" + at + "). Impute or drop missing values first, for example with sklearn.impute.";
      case infinity:
        return "Input X contains infinity (" + at + "). Replace or drop it first.";
      case overflow:
        return "The squared norm of " + at + " of X overflows float64. Scale the features first.";
      case index_range:
        return "Corrupt CSR matrix: column index out of range at " + at + ".";
      case duplicate:
        return "CSR matrix with duplicate entries at " + at + ": call sum_duplicates() on it first.";
      case indptr:
        return "Corrupt CSR matrix: indptr does not start at 0, decreases, or points beyond the data at " + at + ".";
    }
    return "Invalid X at " + at + ".";
  }();
  throw nb::value_error(message.c_str());
}

/// work(poll) without the GIL; raises what a signal handler has raised on the way.
template <class F>
void interruptible(F&& work) {
  PythonPoll poll(std::make_shared<StopToken>(), in_main_thread());
  {
    const WithoutGil released;
    work(poll);
  }
  poll.raise_error();
}

/// For rows that nobody will want to tell from others.
struct NoFingerprint {
  template <class R>
  void add(const R&, std::int64_t, std::int64_t) {}
  void merge(const NoFingerprint&) {}
};

struct RowsFingerprint : Fingerprint {
  using Fingerprint::Fingerprint;

  /// The rows begin .. end-1 of all rows.
  template <class T>
  void add(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end) {
    const std::int64_t n = rows.n_features();
    add_values(begin * n, rows.values + begin * n, (end - begin) * n);
  }
  template <class T, class Index>
  void add(const CsrRows<T, Index>& rows, std::int64_t begin, std::int64_t end) {
    const std::int64_t first = rows.indptr[begin];
    const std::int64_t n = rows.indptr[end] - first;
    add_entries(first, rows.values + first, rows.indices + first, n);
    add_ends(begin, rows.indptr + begin + 1, end - begin);
  }

  /// All rows of a part, as if there were no others.
  template <class T>
  void add_part(const DenseRows<T>& rows) {
    const std::int64_t n = rows.n_features();
    for (std::int64_t i = 0; i < rows.size(); ++i) add_values(i * n, rows.values + rows.row(i) * n, n);
  }
  template <class T, class Index>
  void add_part(const CsrRows<T, Index>& rows) {
    std::int64_t end = 0;
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const std::int64_t at = rows.indptr[rows.row(i)];
      const std::int64_t n = rows.stored(i);
      add_entries(end, rows.values + at, rows.indices + at, n);
      end += n;
      add_ends(i, &end, 1);
    }
  }
};

/// What checking some of the rows has found.
template <class Print>
struct Checked {
  Print print;
  std::optional<Fault> fault;

  void merge(const Checked& other) {  // parts come in the order of their rows: the first fault stays
    print.merge(other.print);
    if (!fault) fault = other.fault;
  }
};

template <class T>
std::optional<Fault> fault_in(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end, std::span<double> norms,
                              Repeats&) {
  return validate_dense(rows.values, begin, end, rows.n_columns, norms);
}

template <class T, class Index>
std::optional<Fault> fault_in(const CsrRows<T, Index>& rows, std::int64_t begin, std::int64_t end, std::span<double> norms,
                              Repeats& repeats) {
  return validate_csr(rows.values, rows.indices, rows.indptr, begin, end, rows.n_columns, norms, repeats);
}

/// Has the line at every so many bytes from `begin` on fetched.
template <std::int64_t kBytes, class T>
[[gnu::always_inline]] inline void fetch_each(const T* begin, const T* end) {
  for (; begin < end; begin += kBytes / sizeof(T)) __builtin_prefetch(begin);
}

inline constexpr std::int64_t kPage = 4096;

/// What is looked at ahead of the rows that are checked, and how far ahead, in blocks of rows that are checked at once.
template <class R>
struct Ahead;

/// Sparse rows: pages of the rows begin .. end-1 that will be read soon. In a process that was forked the first look at a page takes some tenths
/// of a microsecond: its entry in the page table is new and must be marked as used. Asked for ahead of time, it is not waited for. Checks
/// of all rows with fingerprint, the first ones in a forked process: 20 newsgroups 3.0 ms without and 1.5 ms with it, Adult 1.4 and
/// 0.9 ms. Otherwise it costs a little: RCV1-like 100,000 takes 4.4 ms instead of 4.1.
template <class T, class Index>
struct Ahead<CsrRows<T, Index>> {
  /// About a megabyte. At 8 KB the processor's own guesses suffer, and the checks of RCV1-like 100,000 take 1.4 times as long.
  static constexpr std::int64_t kBlocks = 192;
  static void look(const CsrRows<T, Index>& rows, std::int64_t begin, std::int64_t end) {
    fetch_each<kPage>(rows.values + rows.indptr[begin], rows.values + rows.indptr[end]);
    fetch_each<kPage>(rows.indices + rows.indptr[begin], rows.indices + rows.indptr[end]);
  }
};

/// Dense rows: what is checked next is fetched while the fingerprint, which is work for the processor alone, is taken. Checks of Covertype
/// with fingerprint: 7.9 ms; 9.3 to 14 ms, from process to process, with the processor's own guesses and twice the block.
template <class T>
struct Ahead<DenseRows<T>> {
  static constexpr std::int64_t kBlocks = 2;
  static void look(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end) {
    fetch_each<dense::kLine>(rows.values + begin * rows.n_columns, rows.values + end * rows.n_columns);
  }
};

/// Rows that are checked at once store about so many values: they are still in the first level of the cache for what comes next, along
/// with those that are fetched ahead.
inline constexpr std::int64_t kStoredAtOnce = 1 << 9;

/// Checks all rows, a few at a time, and refuses them with the first fault. then(begin, end, poll), for rows that have passed, returns
/// false when stopped by its poll. Returns the squared norms; `print` receives every row.
template <class R, class Print, class Then>
std::vector<double> check(const R& rows, std::int64_t n_threads, Print& print, Then&& then) {
  std::vector<double> norms(static_cast<std::size_t>(rows.size()));
  Checked<Print> all{print, std::nullopt};
  std::atomic<std::int64_t> good = rows.size();  // rows behind a fault need not be looked at
  const std::int64_t per_row = rows.total_stored() / std::max<std::int64_t>(rows.size(), 1);
  const std::int64_t at_once = kStoredAtOnce / (per_row + 1) + 1;
  const auto add = [&](Checked<Print>& part, std::int64_t begin, std::int64_t end, Poll& own) {
    Repeats repeats;
    for (std::int64_t i = begin; i < std::min<std::int64_t>(end, good); i += at_once) {
      const std::int64_t last = std::min(i + at_once, end);
      constexpr std::int64_t ahead = Ahead<R>::kBlocks;
      Ahead<R>::look(rows, std::min(i + ahead * at_once, rows.size()), std::min(last + ahead * at_once, rows.size()));
      part.fault = fault_in(rows, i, last, norms, repeats);
      if (part.fault) {
        for (std::int64_t known = good; begin < known && !good.compare_exchange_weak(known, begin);) {
        }
        return true;
      }
      part.print.add(rows, i, last);
      if (!then(i, last, own) || own((last - i) * per_row)) return false;
    }
    return true;
  };
  bool finished = false;
  interruptible([&](Poll& poll) { finished = sum_over(parts_of(rows, 0), n_threads, poll, Checked<Print>{}, all, add); });
  if (!finished) throw nb::value_error("Validation was stopped.");
  if (all.fault) refuse(*all.fault);
  print = all.print;
  return norms;
}

/// Rows whose values and indices nobody has looked at yet.
template <class T>
DenseRows<T> unchecked(const Matrix<T>& values) {
  DenseRows<T> rows;
  rows.n_kept = static_cast<std::int64_t>(values.shape(0));
  rows.n_columns = static_cast<std::int64_t>(values.shape(1));
  rows.values = values.data();
  return rows;
}

template <class T, class Index>
CsrRows<T, Index> unchecked(const Vector<T>& values, const Vector<Index>& indices, const Vector<std::int64_t>& indptr,
                            std::int64_t n_columns) {
  if (indptr.shape(0) == 0) throw nb::value_error("Corrupt CSR matrix: indptr is empty.");
  if (n_columns < 0) throw nb::value_error("Corrupt CSR matrix: negative number of columns.");
  CsrRows<T, Index> rows;
  rows.n_kept = static_cast<std::int64_t>(indptr.shape(0)) - 1;
  rows.n_columns = n_columns;
  rows.values = values.data();
  rows.indices = indices.data();
  rows.indptr = indptr.data();
  const auto n_stored = static_cast<std::int64_t>(std::min(values.shape(0), indices.shape(0)));
  if (const auto fault = validate_indptr(rows.indptr, rows.n_kept, n_stored)) refuse(*fault);
  return rows;
}

}  // namespace hinge::python
