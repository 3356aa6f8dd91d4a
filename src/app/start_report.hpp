#pragma once

#include <string>

#include "lockstep/app/run_settings.hpp"
#include "lockstep/base/log.hpp"

#include "app/job.hpp"
#include "app/train_setup.hpp"

namespace lockstep {

/// Says, a line each, who trains on what and why so: ranks, device, backend, precision, threads,
/// data, model and batches; and the event "start". `backend`: its reason. Not collective.
void report_start(const Job& job, const std::string& backend, const RunSettings& settings,
                  const TrainSetup& setup, Log& log);

}  // namespace lockstep
