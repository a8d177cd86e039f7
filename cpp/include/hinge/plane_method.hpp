#pragma once
// What the cutting-plane methods share: a bundle of planes, the best w so far with its b, and the bounds that come with them.
//
// The methods differ in where the next plane touches the risk. A plane that is already in the bundle is not added again: then
// the best w is the optimum, but for what the reduced problem was left unfinished, and that is made up for.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hinge/bundle.hpp"
#include "hinge/contact.hpp"
#include "hinge/parts.hpp"
#include "hinge/planes.hpp"
#include "hinge/poll.hpp"
#include "hinge/problem.hpp"
#include "hinge/row_blocks.hpp"
#include "hinge/rows.hpp"
#include "hinge/solver.hpp"

namespace hinge {

struct PlaneMethod {
  std::int64_t patience;  // drop planes that so many solutions in a row have not used

  Bundle bundle;
  Cut cut;                                                  // the last plane
  std::vector<double> w;                                    // the best so far
  double b = 0.0;                                           // the best for w if it is free, else 0
  std::vector<double> v;                                    // solution of the reduced problem
  double primal = std::numeric_limits<double>::infinity();  // P(w, b)
  double dual = 0.0;                                        // value of the reduced problem, a lower bound
  bool settled = false;                                     // the last epoch could do no more
  std::int64_t touched = 0;                                 // rows read

  PlaneMethod(const Problem& problem, std::int64_t n_features, std::int64_t keep_unused, std::int64_t n_threads)
      : patience(keep_unused),
        bundle(problem.size(), checked(n_features)),
        cut(problem.size(), n_features),
        w(static_cast<std::size_t>(n_features) + 1),
        v(w),
        contact_(problem.size()),
        n_threads_(n_threads) {}

  /// What a saved run consists of.
  template <class F>
  void fields(F&& field) {
    bundle.fields(field);
    field("cut", cut.a);
    field("cut_members", cut.members);
    field("cut_part_row", cut.part.row);
    field("cut_part_share", cut.part.share);
    field("w", w);
    field("b", b);
    field("v", v);
    field("primal", primal);
    field("dual", dual);
    field("settled", settled);
  }

  void check_restored(const Problem& problem) const {
    bundle.check_restored(problem.size());
    Bundle::check_rows(cut.members, cut.part, problem.size());
  }

  /// (P, D) at hand. A run that can do no more says so by a gap of nothing: only an exact evaluation can tell how good it is.
  std::optional<Estimate> estimate(const Problem&) const { return Estimate{settled ? dual : primal, dual}; }

  void point(const Problem& problem, Point& out) const {
    out.w = w;
    out.b = b;
    bundle.multipliers(problem, out.multipliers);
  }

 protected:
  /// t_i at.x_i. False when stopped by the poll.
  template <Rows R>
  bool find_margins(const R& rows, const Problem& problem, std::span<const double> at, std::span<double> margins, Poll& poll) {
    std::atomic<std::int64_t> read = 0;
    const bool done = for_parts(parts_of(rows, 0), n_threads_, poll, [&](std::int64_t begin, std::int64_t end, Poll& own) {
      std::int64_t i = begin;
      bool stopped = false;
      for (; i < end && !stopped; ++i) {
        margins[i] = problem.target[i] * rows.dot(i, at);
        stopped = own(rows.stored(i));
      }
      read += i - begin;
      return !stopped;
    });
    touched += read;
    return done;
  }

  /// The plane of the contact joins the bundle; the next v and the lower bound. False when stopped by the poll.
  template <Rows R>
  bool solve_with_contact(const R& rows, const Problem& problem, Poll& poll) {
    if (!contact_.move(rows, problem, cut, touched, poll)) return false;
    const bool is_new = !bundle.has(cut);
    if (is_new) bundle.add(cut);
    const double before = dual;
    dual = bundle.solve(is_new ? kPart * (primal - dual) : 0.0, v, poll);
    settled = !is_new && !(dual > before);
    bundle.drop_unused(patience);
    return !poll.stopped();
  }

  /// The planes of the same sets of rows on another problem, and their v.
  template <Rows R>
  void rebuild_planes(const R& rows, const Problem& problem, Poll& poll) {
    bundle.rebuild(rows, problem, touched, poll);
    cut.clear();
    dual = bundle.solve(0.0, v, poll);
    settled = false;
  }

  Contact contact_;  // of the epoch at work
  BestShift best_shift_;

 private:
  std::int64_t n_threads_;

  static constexpr double kPart = 0.01;  // of the gap that the reduced problem may leave
  /// A plane of so many features takes 16 MB, and a run may keep hundreds of planes.
  static constexpr std::int64_t kMostFeatures = 2'000'000;

  static std::int64_t checked(std::int64_t n_features) {
    if (n_features <= kMostFeatures) return n_features;
    throw std::invalid_argument("cutting planes are dense: with " + std::to_string(n_features) +
                                " features each takes 8 bytes a feature, and hundreds may be needed. At most " +
                                std::to_string(kMostFeatures) + " features are accepted; use solver \"dcd\" or \"mpu\"");
  }
};

}  // namespace hinge
