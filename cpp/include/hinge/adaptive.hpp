#pragma once
// Adaptive: a linear classifier on a stream, with steps that need no tuning, whatever the scales of the features.
//
// Ross, Mineiro, Langford, "Normalized online learning" (UAI 2013), the adaptive variant (NAG), for the hinge loss.
// The steps stop where the loss ends: Karampatziakis, Langford, "Online importance weight aware updates" (UAI 2011).
// The average forgets: Shamir, Zhang, "Stochastic gradient descent for non-smooth optimization" (ICML 2013), section 4.
//
// s_j is the largest |x_j| so far, and everything is kept in units of it: u_j = x_j / s_j lies in [-1, 1], v_j = w_j s_j. When
// s_j grows, v_j stays: w_j was learned for a feature that seemed smaller, and shrinks. Row t = 1, 2, ... of weight h:
//
//   1. s_j <- max(s_j, |x_j|), the squares q_j in the new units;  N <- N + |u|^2
//   2. slack = 1 - y v.u; nothing to learn unless it is positive
//   3. q_j <- q_j + u_j^2,   r_j = u_j / sqrt(q_j)
//   4. v <- v + min(h eta sqrt(t / N), slack / r.u) y r                     (never further than to a margin of 1)
//   5. average <- (1 - g) average + g v,   g = max((p + 1) / (t + p), 1 / window)
//
// sqrt(N / t) is the root of the number of features that a row has, so eta is a number without a unit. Instead of the average
// its distance from v is kept, d <- (1 - g) (d + change of v), as lag_scale * lag: a row costs its non-zeros.
//
// There is no regularisation and no lambda. The intercept is the weight of a constant feature, scaled like the others.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "hinge/epoch.hpp"
#include "hinge/poll.hpp"
#include "hinge/rows.hpp"
#include "hinge/sums.hpp"

namespace hinge {

struct AdaptiveOptions {
  bool average = true;
  std::int64_t window = 0;  // 0: none
};

/// What belongs to one class against the rest, in units of the scales.
struct AdaptiveModel {
  std::vector<double> v;
  std::vector<double> squares;
  std::vector<double> lag;  // empty without an average

  AdaptiveModel(std::int64_t n_features, bool average)
      : v(static_cast<std::size_t>(n_features) + 1), squares(v.size()), lag(average ? v.size() : 0) {}

  template <class F>
  void fields(F&& field) {
    field("v", v);
    field("squares", squares);
    field("lag", lag);
  }
};

/// On a stream: rows come in chunks and are not kept. One model per class against the rest, or one for two classes; every
/// row goes to all of them before the next one, so that they have always seen the same rows.
struct AdaptiveStream {
  /// eta and p: of 0.5 to 99 and 0 to 4 the best over ten data sets, raw and scaled; from 2 to 4 it hardly matters which.
  static constexpr double kRate = 3.0;
  static constexpr double kForget = 4.0;
  /// A feature that was never larger than this is none: dividing by it could overflow.
  static constexpr double kSmallest = 1e-150;
  static constexpr double kTinyLag = 1e-100;

  AdaptiveOptions options;
  double rho;             // the constant feature; 0: no intercept
  std::int64_t seen = 0;  // rows, t
  double active = 0.0;    // N
  double lag_scale = 1.0;
  std::vector<double> scales;  // s
  std::vector<AdaptiveModel> models;

  AdaptiveStream(std::int64_t n_models, std::int64_t n_features, double constant, AdaptiveOptions how)
      : options(how),
        rho(constant),
        scales(static_cast<std::size_t>(n_features) + 1),
        models(static_cast<std::size_t>(n_models), AdaptiveModel(n_features, how.average)) {}

  std::int64_t n_features() const { return static_cast<std::int64_t>(scales.size()) - 1; }
  std::int64_t steps() const { return seen; }

  /// What all models share.
  template <class F>
  void fields(F&& field) {
    field("active", active);
    field("lag_scale", lag_scale);
    field("scales", scales);
  }

  void check_restored() const {
    const auto sound = [](const std::vector<double>& values) {
      return std::all_of(values.begin(), values.end(), [](double x) { return x >= 0.0 && std::isfinite(x); });
    };
    bool good = sound(scales) && active >= 0.0 && std::isfinite(active) && lag_scale > 0.0 && lag_scale <= 1.0;
    for (const AdaptiveModel& model : models) {
      good = good && sound(model.squares);
      for (const auto* values : {&model.v, &model.lag}) {
        good = good && std::all_of(values->begin(), values->end(), [](double x) { return std::isfinite(x); });
      }
    }
    if (!good) throw std::invalid_argument("scales, squares or weights are out of range");
  }

  /// w of model k, averaged if asked for; returns b.
  double write(std::size_t k, std::span<double> w) const {
    const AdaptiveModel& model = models[k];
    for (std::size_t j = 0; j < w.size(); ++j) {
      const double v = options.average ? model.v[j] - lag_scale * model.lag[j] : model.v[j];
      w[j] = scales[j] > 0.0 ? v / scales[j] : 0.0;
    }
    return 0.0;  // it is the weight of the constant feature
  }

  /// The rows of a chunk, those in `visit` in that order: classes[i] and weights[i] > 0 belong to row i. Returns how many
  /// rows were taken: fewer than all when stopped by the poll.
  template <Rows R>
  std::int64_t present(const R& rows, std::span<const std::int64_t> visit, std::span<const std::int64_t> classes,
                       std::span<const double> weights, Poll& poll) {
    const std::int64_t before = seen;
    const auto n_models = static_cast<std::int64_t>(models.size());
    const auto step = [&](std::int64_t i) {
      ++seen;
      take(rows, i);
      for (std::int64_t k = 0; k < n_models; ++k) {
        const std::int64_t positive = n_models == 1 ? 1 : k;
        learn(models[static_cast<std::size_t>(k)], classes[i] == positive ? 1.0 : -1.0, weights[i]);
      }
      if (options.average) follow();
    };
    const auto stop = [&](std::int64_t work) { return poll(n_models * work); };
    each_row(rows, visit, stop, step, classes, weights);
    return seen - before;
  }

 private:
  // The row at hand, in units of the scales, without zeros; and r.
  std::vector<std::size_t> columns_;
  std::vector<double> u_;
  std::vector<double> r_;

  /// 1. The scales grow, and the row is put in their units.
  template <Rows R>
  void take(const R& rows, std::int64_t i) {
    columns_.clear();
    u_.clear();
    rows.for_each(i, [&](std::int64_t column, double x) {
      const auto j = static_cast<std::size_t>(column);
      const double size = std::abs(x);
      if (size > scales[j] && size > kSmallest) {
        const double ratio = scales[j] / size;
        for (AdaptiveModel& model : models) model.squares[j] *= ratio * ratio;
        scales[j] = size;
      }
      if (!(size > 0.0 && scales[j] > 0.0)) return;
      columns_.push_back(j);
      u_.push_back(x / scales[j]);
    });
    r_.resize(u_.size());
    active += interleaved_sum(u_.size(), [&](std::size_t p) { return u_[p] * u_[p]; });
  }

  /// 2. to 4.
  void learn(AdaptiveModel& model, double y, double weight) {
    const double margin = y * interleaved_sum(u_.size(), [&](std::size_t p) { return model.v[columns_[p]] * u_[p]; });
    const double slack = 1.0 - margin;
    if (!(slack > 0.0) || u_.empty()) return;
    for (std::size_t p = 0; p < u_.size(); ++p) {
      double& square = model.squares[columns_[p]];
      square += u_[p] * u_[p];
      r_[p] = square > 0.0 ? u_[p] / std::sqrt(square) : 0.0;
    }
    const double reach = interleaved_sum(u_.size(), [&](std::size_t p) { return r_[p] * u_[p]; });
    if (!(reach > 0.0)) return;
    const double rate = weight * kRate * std::sqrt(static_cast<double>(seen) / active);
    const double step = y * std::min(rate, slack / reach);
    for (std::size_t p = 0; p < u_.size(); ++p) {
      const double change = step * r_[p];
      model.v[columns_[p]] += change;
      if (options.average) model.lag[columns_[p]] += change / lag_scale;
    }
  }

  /// 5. The average takes its step: its distance from v shrinks.
  void follow() {
    const auto t = static_cast<double>(seen);
    const double window = options.window > 0 ? 1.0 / static_cast<double>(options.window) : 0.0;
    const double keep = 1.0 - std::max((kForget + 1.0) / (t + kForget), window);
    if (keep > 0.0) lag_scale *= keep;
    if (keep > 0.0 && lag_scale >= kTinyLag) return;
    for (AdaptiveModel& model : models) {
      for (double& lag : model.lag) lag = keep > 0.0 ? lag * lag_scale : 0.0;
    }
    lag_scale = 1.0;
  }
};

}  // namespace hinge
