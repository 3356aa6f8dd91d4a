#include "lockstep/comm/communicator.hpp"

#include <algorithm>

#include "lockstep/base/narrow.hpp"

namespace lockstep {

Buffer buffer_of(std::span<std::byte> bytes) {
  return {.data = bytes.data(), .count = std::ssize(bytes), .dtype = DType::uint8};
}

Buffer buffer_of(std::span<std::int64_t> values) {
  return {.data = values.data(), .count = std::ssize(values), .dtype = DType::int64};
}

Buffer buffer_of(std::span<float> values) {
  return {.data = values.data(), .count = std::ssize(values), .dtype = DType::float32};
}

Buffer buffer_of(std::span<double> values) {
  return {.data = values.data(), .count = std::ssize(values), .dtype = DType::float64};
}

void Work::wait() {
  if (!impl_) return;
  // Given up first: a message that failed must not be waited for a second time.
  const std::unique_ptr<Impl> impl = std::move(impl_);
  impl->wait();
}

bool Work::done() {
  return !impl_ || impl_->done();
}

void Communicator::all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) {
  start_all_reduce(buffer, op, purpose).wait();
}

void Communicator::broadcast(Buffer buffer, int root, std::string_view purpose) {
  start_broadcast(buffer, root, purpose).wait();
}

void Communicator::all_gather(Buffer send, Buffer receive, std::string_view purpose) {
  start_all_gather(send, receive, purpose).wait();
}

void Communicator::reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                                  std::string_view purpose) {
  start_reduce_scatter(send, receive, op, purpose).wait();
}

std::int64_t all_reduce_value(Communicator& comm, std::int64_t value, ReduceOp op,
                              std::string_view purpose) {
  comm.all_reduce(buffer_of(std::span(&value, 1)), op, purpose);
  return value;
}

double all_reduce_value(Communicator& comm, double value, ReduceOp op, std::string_view purpose) {
  comm.all_reduce(buffer_of(std::span(&value, 1)), op, purpose);
  return value;
}

std::string broadcast_text(Communicator& comm, std::string text, int root,
                           std::string_view purpose) {
  std::int64_t length = std::ssize(text);
  comm.broadcast(buffer_of(std::span(&length, 1)), root, purpose);
  text.resize(narrow<std::size_t>(length));
  comm.broadcast(buffer_of(std::as_writable_bytes(std::span(text))), root, purpose);
  return text;
}

std::vector<std::string> all_gather_text(Communicator& comm, const std::string& text,
                                         std::string_view purpose) {
  const auto ranks = narrow<std::size_t>(comm.size());
  std::int64_t length = std::ssize(text);
  std::vector<std::int64_t> lengths(ranks);
  comm.all_gather(buffer_of(std::span(&length, 1)), buffer_of(std::span(lengths)), purpose);

  // Gathered parts must be of one size: each text is filled up to the longest.
  const auto longest = narrow<std::size_t>(*std::ranges::max_element(lengths));
  std::string padded = text;
  padded.resize(longest);
  std::string all(ranks * longest, '\0');
  comm.all_gather(buffer_of(std::as_writable_bytes(std::span(padded))),
                  buffer_of(std::as_writable_bytes(std::span(all))), purpose);

  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    texts.push_back(all.substr(rank * longest, narrow<std::size_t>(lengths[rank])));
  }
  return texts;
}

}  // namespace lockstep
