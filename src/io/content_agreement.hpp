#pragma once

#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/array_file.hpp"

namespace lockstep {

/// `content` with rank 0's attributes and settings. Throws the same Error on all ranks where an
/// array is malformed on any rank or the lists of arrays differ between ranks: writing them would
/// corrupt the file or wait for ever. Collective.
Content agreed_content(const Content& content, Communicator& comm);

}  // namespace lockstep
