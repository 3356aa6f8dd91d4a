#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/io/metrics_table.hpp"

namespace lockstep {

/// How many samples of each class a classifier took for which.
struct ConfusionMatrix {
  ConfusionMatrix() = default;
  explicit ConfusionMatrix(std::int64_t number_of_classes)
      : classes(number_of_classes),
        counts(static_cast<std::size_t>(number_of_classes * number_of_classes)) {}

  bool empty() const { return classes == 0; }
  std::int64_t& at(std::int64_t label, std::int64_t predicted) {
    return counts[static_cast<std::size_t>(label * classes + predicted)];
  }

  std::int64_t classes = 0;
  std::vector<std::int64_t> counts;  ///< samples [label, predicted], row by row
};

/// What a run has measured so far, as metrics.h5 and a checkpoint's /metrics hold it. Every rank
/// holds all of it in the same shape; where values differ, rank 0's count. `rank` has one row an
/// epoch; `confusion` is the last validation's.
struct MetricsHistory {
  /// The columns of format version 1, without rows.
  MetricsHistory();

  MetricsTable epoch;
  RankTable rank;
  MetricsTable step;
  ConfusionMatrix confusion;
};

/// The history as data sets <prefix>/epoch/<quantity>[epoch], <prefix>/rank/<quantity>[epoch, rank]
/// <prefix>/step/<quantity>[log point] and <prefix>/validation/confusion[label, predicted]. The
/// views borrow from `history`.
std::vector<ArrayView> arrays_of(const MetricsHistory& history, std::string_view prefix);

/// The reverse. Collective; called on the IO thread. Throws Error where a quantity is missing.
MetricsHistory read_history(ArrayFileReader& file, std::string_view prefix);

/// format="lockstep.metrics".
FileFormat metrics_format();

/// Replaces the metrics file at `path`; see write_array_file(). `groups` are /config and
/// /provenance. Collective; called on the IO thread.
WriteReport write_metrics(const std::filesystem::path& path, const MetricsHistory& history,
                          const std::vector<SettingsGroup>& groups, Communicator& comm);

/// Collective; called on the IO thread.
MetricsHistory read_metrics(const std::filesystem::path& path, Communicator& comm);

}  // namespace lockstep
