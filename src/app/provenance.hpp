#pragma once

#include <array>
#include <string>

#include "lockstep/config/configuration.hpp"

#include "app/job.hpp"

namespace lockstep {

/// What made a file: versions, ranks, threads, host, scheduler's job, start time; names and values
/// for /provenance. `data` is the training data's fingerprint.
StoredSettings provenance_of(const CommandContext& context, const Job& job,
                             const PrecisionChoice& precision, const std::string& data);

/// Names of the entries that a resumed run compares: what makes a difference bit for bit.
inline constexpr const char* provenance_data = "data_fingerprint";
inline constexpr const char* provenance_version = "lockstep_version";
inline constexpr const char* provenance_ranks = "world_size";
/// How images were normalised: ImageTransform::normalization_text().
inline constexpr const char* provenance_normalization = "normalization";
/// By what the network convolves: convolutions_of().
inline constexpr const char* provenance_convolutions = "convolutions";
/// Those that a difference of makes sums be formed in another order.
inline constexpr std::array bitwise_provenance{
    provenance_ranks, "device",           "threads_per_rank",
    "nodes",          "precision",        "libtorch_version",
    "mpi_version",    provenance_version, provenance_convolutions};

}  // namespace lockstep
