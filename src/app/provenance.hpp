#pragma once

#include <string>

#include "lockstep/config/configuration.hpp"

#include "app/job.hpp"

namespace lockstep {

/// What made a file: versions, ranks, threads, host, scheduler's job, start time; names and values
/// for /provenance. `data` is the training data's fingerprint.
StoredSettings provenance_of(const CommandContext& context, const Job& job,
                             const std::string& data);

/// Names of the entries that a resumed run compares: what makes a difference bit for bit.
constexpr const char* provenance_data = "data_fingerprint";
constexpr const char* provenance_ranks = "world_size";
constexpr const char* provenance_threads = "threads_per_rank";

}  // namespace lockstep
