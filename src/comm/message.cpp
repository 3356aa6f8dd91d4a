#include "lockstep/comm/message.hpp"

#include "lockstep/base/error.hpp"

namespace lockstep {

void check_buffer(const Buffer& buffer, MemoryKind reachable, const std::string& attempted) {
  if (buffer.memory != reachable && reachable == MemoryKind::host) {
    throw Error(attempted, "the buffer is in device memory, which this communicator cannot reach",
                "use a device communicator, or copy the buffer to host memory");
  }
  if (buffer.memory != reachable) {
    throw Error(attempted, "the buffer is in host memory, which this communicator cannot reach",
                "use a host communicator, or copy the buffer to device memory");
  }
  if (buffer.count < 0 || (buffer.data == nullptr && buffer.count > 0)) {
    throw Error(attempted, "no memory for " + std::to_string(buffer.count) + " elements");
  }
}

void check_parts(const Buffer& part, const Buffer& whole, int ranks, MemoryKind reachable,
                 const std::string& attempted) {
  check_buffer(part, reachable, attempted);
  check_buffer(whole, reachable, attempted);
  if (part.dtype != whole.dtype) {
    throw Error(attempted, std::string(name_of(part.dtype)) + " parts of a " +
                               std::string(name_of(whole.dtype)) + " whole");
  }
  if (whole.count != part.count * ranks) {
    throw Error(attempted, std::to_string(ranks) + " parts of " + std::to_string(part.count) +
                               " elements do not make " + std::to_string(whole.count));
  }
}

void check_reducible_on_host(DType dtype, const std::string& attempted) {
  if (dtype == DType::float16 || dtype == DType::bfloat16) {
    throw Error(attempted, "cannot reduce " + std::string(name_of(dtype)) + " in host memory",
                "reduce in float32");
  }
}

}  // namespace lockstep
