#pragma once

#include <string>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// The fingerprint of `dataset`; throws UsageError on every rank where ranks hold different data:
/// nodes may have different copies of a file, which would train without an error. Where one rank
/// cannot read its data all throw AgreedError. Collective.
std::string common_fingerprint(Communicator& comm, const Dataset& dataset);

}  // namespace lockstep
