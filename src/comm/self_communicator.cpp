#include "lockstep/comm/self_communicator.hpp"

#include <cstring>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/message.hpp"

namespace lockstep {
namespace {

void copy(const Buffer& from, const Buffer& to) {
  if (from.count == 0 || from.data == to.data) return;
  std::memcpy(to.data, from.data, static_cast<std::size_t>(from.count) * size_of(from.dtype));
}

}  // namespace

// What a larger group would refuse is refused here too, so that a run on one rank finds it.

Work SelfCommunicator::start_all_reduce(Buffer buffer, ReduceOp, std::string_view purpose) {
  const std::string attempted = message_text("all_reduce", purpose);
  check_buffer(buffer, MemoryKind::host, attempted);
  check_reducible_on_host(buffer.dtype, attempted);
  return {};
}

Work SelfCommunicator::start_broadcast(Buffer buffer, int root, std::string_view purpose) {
  const std::string attempted = message_text("broadcast", purpose);
  check_buffer(buffer, MemoryKind::host, attempted);
  if (root != 0) {
    throw Error(attempted, "root " + std::to_string(root) + " is no rank of a group of one");
  }
  return {};
}

Work SelfCommunicator::start_all_gather(Buffer send, Buffer receive, std::string_view purpose) {
  check_parts(send, receive, size(), MemoryKind::host, message_text("all_gather", purpose));
  copy(send, receive);
  return {};
}

Work SelfCommunicator::start_reduce_scatter(Buffer send, Buffer receive, ReduceOp,
                                            std::string_view purpose) {
  const std::string attempted = message_text("reduce_scatter", purpose);
  check_parts(receive, send, size(), MemoryKind::host, attempted);
  check_reducible_on_host(send.dtype, attempted);
  copy(send, receive);
  return {};
}

void SelfCommunicator::barrier(std::string_view) {}

std::unique_ptr<Communicator> SelfCommunicator::duplicate(std::string_view) {
  return std::make_unique<SelfCommunicator>();
}

}  // namespace lockstep
