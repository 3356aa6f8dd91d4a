#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/io/metrics_table.hpp"

namespace lockstep {

/// What a run has measured so far, as metrics.h5 and a checkpoint's /metrics hold it. `epoch` and
/// `step` have the same number of rows on every rank and rank 0's values count; `rank` holds this
/// rank's own values, one row an epoch.
struct MetricsHistory {
  /// The columns of format version 1, without rows.
  MetricsHistory();

  MetricsTable epoch;
  MetricsTable rank;
  MetricsTable step;
};

/// The history as data sets <prefix>/epoch/<quantity>[epoch], <prefix>/rank/<quantity>[epoch, rank]
/// and <prefix>/step/<quantity>[log point]. The views borrow from `history`.
std::vector<ArrayView> arrays_of(const MetricsHistory& history, std::string_view prefix,
                                 int world_size);

/// The reverse: each rank gets its own column of <prefix>/rank. Collective; called on the IO
/// thread. Throws Error where a quantity is missing or the file was written by another number of
/// ranks.
MetricsHistory read_history(ArrayFileReader& file, std::string_view prefix, Communicator& comm);

/// format="lockstep.metrics".
FileFormat metrics_format();

/// Replaces the metrics file at `path`; see write_array_file(). `groups` are /config and
/// /provenance. Collective; called on the IO thread.
WriteReport write_metrics(const std::filesystem::path& path, const MetricsHistory& history,
                          const std::vector<SettingsGroup>& groups, Communicator& comm);

/// Collective; called on the IO thread.
MetricsHistory read_metrics(const std::filesystem::path& path, Communicator& comm);

}  // namespace lockstep
