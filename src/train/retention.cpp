#include "lockstep/train/retention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

struct Metric {
  const char* name;
  bool larger_is_better;
};

constexpr std::array metrics{Metric{"val_loss", false}, Metric{"val_accuracy", true},
                             Metric{"val_top5_accuracy", true}};

bool larger_is_better(std::string_view name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name) return metric.larger_is_better;
  }
  throw Error("rank checkpoints", "there is no metric '" + std::string(name) + "'");
}

/// The steps at which epochs ended, from the best to the worst.
std::vector<std::int64_t> best_first(const MetricsTable& epochs, const std::string& name) {
  const std::vector<std::int64_t>& steps = epochs.integers("global_step");
  const std::vector<double>& values = epochs.reals(name);
  const bool larger = larger_is_better(name);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!std::isnan(values[row])) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return larger ? values[a] > values[b] : values[a] < values[b];
  });
  std::vector<std::int64_t> ranked;
  for (const std::size_t row : rows) ranked.push_back(steps[row]);
  return ranked;
}

}  // namespace

std::vector<std::string> retention_metrics() {
  std::vector<std::string> names;
  for (const Metric& metric : metrics) names.emplace_back(metric.name);
  return names;
}

Retention retention_of(const TrainOptions& options, const MetricsHistory& history) {
  Retention retention{.last = options.keep_last};
  const std::vector<std::int64_t>& steps = history.epoch.integers("global_step");
  const std::vector<std::int64_t>& epochs = history.epoch.integers("epoch");
  for (std::size_t row = 0; row < steps.size() && options.keep_every > 0; ++row) {
    if ((epochs[row] + 1) % options.keep_every == 0) retention.always.push_back(steps[row]);
  }
  if (options.keep_best != "none") {
    retention.best_first = best_first(history.epoch, options.keep_best);
  }
  return retention;
}

std::vector<Attribute> checkpoint_attributes(const MetricsHistory& history, std::int64_t step) {
  std::vector<Attribute> attributes{{"global_step", step}, {"epochs_done", history.epoch.rows()}};
  if (history.epoch.rows() == 0 || history.epoch.integers("global_step").back() != step) {
    return attributes;
  }
  for (const Metric& metric : metrics) {
    const double value = history.epoch.reals(metric.name).back();
    if (!std::isnan(value)) attributes.push_back({metric.name, value});
  }
  return attributes;
}

}  // namespace lockstep
