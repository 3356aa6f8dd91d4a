#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lockstep/app/run_settings.hpp"
#include "lockstep/launch/topology.hpp"
#include "lockstep/train/precision.hpp"

#include "app/commands.hpp"

namespace lockstep {

/// Where this process stands and what it may use.
struct Job {
  Topology topology;
  std::int64_t threads = 1;  ///< compute threads of this rank; set in LibTorch
  // For the log; the same on all ranks.
  std::string scheduler;  ///< "Slurm job 12"; empty outside one
  std::string device;     ///< the device, and why that
  std::string backend;    ///< what moves data between ranks, and why that
  std::string threads_reason;
};

/// Reads the settings from the context's sources and checks them. Throws AgreedError where anything
/// is wrong with them on any rank. Collective. Returns whether the settings were to be printed
/// only, which is done then.
bool read_settings(const CommandContext& context, Configuration& configuration);

/// Checks the launch against the scheduler's variables, finds the topology and sets the number of
/// compute threads. Throws AgreedError where the launch would run independent copies. Collective.
Job join_job(const CommandContext& context, const TrainOptions& options);

/// Element types and precision as the settings ask and the processors of all ranks allow; said
/// aloud by the caller. Collective.
PrecisionChoice precision_of(Communicator& world, const TrainOptions& options);

/// What a data set asks of a model; throws UsageError where images are not square.
ImageClassifierShape shape_of(const Dataset& dataset);

/// A model of the settings' kind, in the precision's dtype, channels last.
std::unique_ptr<Model> build_model(const RunSettings& settings, const Dataset& dataset,
                                   const Precision& precision);

/// A loader that visits `dataset` once, in order: `batch_size` samples a rank at a time.
std::unique_ptr<Loader> evaluation_loader(const RunSettings& settings, const Dataset& dataset,
                                          const Topology& topology);

}  // namespace lockstep
