#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lockstep/app/run_settings.hpp"
#include "lockstep/launch/topology.hpp"
#include "lockstep/train/precision.hpp"

#include "app/commands.hpp"
#include "app/compute.hpp"

namespace lockstep {

/// Where this process stands and what it may use.
struct Job {
  Topology topology;
  std::int64_t threads = 1;  ///< compute threads of this rank; set in LibTorch
  Compute compute;           ///< what this rank computes on
  // For the log; the same on all ranks.
  std::string scheduler;  ///< "Slurm job 12"; empty outside one
  std::string threads_reason;
};

/// Reads the settings from the context's sources and checks them. Throws AgreedError where anything
/// is wrong with them on any rank. Collective. Returns whether the settings were to be printed
/// only, which is done then.
bool read_settings(const CommandContext& context, Configuration& configuration);

/// Checks the launch against the scheduler's variables, finds the topology, chooses what to compute
/// on and sets the number of compute threads. Throws AgreedError where the launch would run
/// independent copies or the device that is asked for is not there. Collective.
Job join_job(const CommandContext& context, const TrainOptions& options);

/// Element types and precision as the settings ask and what all ranks compute on allows; said aloud
/// by the caller. Collective.
PrecisionChoice precision_of(Communicator& world, const TrainOptions& options,
                             const Compute& compute);

/// What a data set asks of a model; throws UsageError where images are not square.
ImageClassifierShape shape_of(const Dataset& dataset);

/// A model of the settings' kind, on `device`, in the precision's dtype, channels last.
std::unique_ptr<Model> build_model(const RunSettings& settings, const Dataset& dataset,
                                   const Precision& precision, c10::Device device);

/// By what the model convolves with this precision, for the log.
std::string convolutions_of(const Model& model, const Precision& precision, const Compute& compute);

/// A loader that visits `dataset` once, in order: `batch_size` samples a rank at a time, in
/// `memory`.
std::unique_ptr<Loader> evaluation_loader(const RunSettings& settings, const Dataset& dataset,
                                          const Topology& topology, const BatchMemory& memory = {});

}  // namespace lockstep
