#include "support/stand_in_channel.hpp"

#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

#include "lockstep/comm/packed.hpp"

namespace lockstep {
namespace {

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

StandInChannel::StandInChannel(std::unique_ptr<Communicator> comm, std::size_t largest_message)
    : largest_message_(largest_message),
      comm_(std::move(comm)),
      sent_(largest_message),
      received_(largest_message * static_cast<std::size_t>(comm_->size())) {}

void StandInChannel::send(const StandInMessage& message) {
  Packer packer;
  packer.add(message.what);
  packer.add(as_text(message.data));
  if (packer.bytes().size() > largest_message_) throw std::logic_error("too long for the stand-in");
  std::memcpy(sent_.data(), packer.bytes().data(), packer.bytes().size());
  step_ = comm_->start_all_gather(buffer_of(std::span(sent_)), buffer_of(std::span(received_)),
                                  "a stand-in's step");
  ++steps_;
}

std::optional<std::vector<StandInMessage>> StandInChannel::receive() {
  if (!step_->done()) return std::nullopt;
  step_.reset();
  std::vector<StandInMessage> messages;
  for (int rank = 0; rank < comm_->size(); ++rank) {
    Unpacker unpacker(as_text(std::span(received_).subspan(
        static_cast<std::size_t>(rank) * largest_message_, largest_message_)));
    StandInMessage& message = messages.emplace_back();
    message.what = unpacker.text();
    const std::string data = unpacker.text();
    const auto bytes = std::as_bytes(std::span(data));
    message.data.assign(bytes.begin(), bytes.end());
  }
  return messages;
}

void StandInChannel::drain(Communicator& control) {
  const std::int64_t most = all_reduce_value(control, steps_, ReduceOp::max, "a stand-in's steps");
  if (step_) step_->wait();
  while (steps_ < most) {
    send({"nothing", {}});
    step_->wait();
  }
  step_.reset();
}

}  // namespace lockstep
