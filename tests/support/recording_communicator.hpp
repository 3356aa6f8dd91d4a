#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// One call of a collective as a rank made it.
struct CollectiveRecord {
  std::string operation;  ///< "all_reduce", "broadcast", ...; the blocking forms are no different
  std::string purpose;
  std::int64_t count = 0;  ///< elements sent; 0 for barrier and duplicate
  DType dtype = DType::uint8;

  std::int64_t bytes() const { return count * static_cast<std::int64_t>(size_of(dtype)); }
  bool operator==(const CollectiveRecord&) const = default;
};

/// Passes every collective on to another communicator, which must outlive it, and records it.
/// Duplicates belong to the other communicator: their messages are not recorded.
class RecordingCommunicator : public Communicator {
 public:
  explicit RecordingCommunicator(Communicator& inner) : inner_(inner) {}

  const std::vector<CollectiveRecord>& records() const { return records_; }
  void clear() { records_.clear(); }

  /// Bytes of this rank's buffers in all recorded calls of `operation`.
  std::int64_t bytes_of(std::string_view operation) const {
    std::int64_t bytes = 0;
    for (const CollectiveRecord& record : records_) {
      if (record.operation == operation) bytes += record.bytes();
    }
    return bytes;
  }

  /// One line a call, e.g. "all_reduce 12 float32 gradients, bucket 2": what ranks must have in
  /// common.
  std::string sequence() const {
    std::string text;
    for (const CollectiveRecord& record : records_) {
      text += record.operation + " " + std::to_string(record.count) + " " +
              std::string(name_of(record.dtype)) + " " + record.purpose + "\n";
    }
    return text;
  }

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }

  Work start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) override {
    record("all_reduce", buffer, purpose);
    return inner_.start_all_reduce(buffer, op, purpose);
  }
  Work start_broadcast(Buffer buffer, int root, std::string_view purpose) override {
    record("broadcast", buffer, purpose);
    return inner_.start_broadcast(buffer, root, purpose);
  }
  Work start_all_gather(Buffer send, Buffer receive, std::string_view purpose) override {
    record("all_gather", send, purpose);
    return inner_.start_all_gather(send, receive, purpose);
  }
  Work start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                            std::string_view purpose) override {
    record("reduce_scatter", send, purpose);
    return inner_.start_reduce_scatter(send, receive, op, purpose);
  }
  void barrier(std::string_view purpose) override {
    record("barrier", {}, purpose);
    inner_.barrier(purpose);
  }
  std::unique_ptr<Communicator> duplicate(std::string_view purpose) override {
    record("duplicate", {}, purpose);
    return inner_.duplicate(purpose);
  }

 private:
  void record(std::string operation, const Buffer& buffer, std::string_view purpose) {
    records_.push_back({std::move(operation), std::string(purpose), buffer.count, buffer.dtype});
  }

  Communicator& inner_;
  std::vector<CollectiveRecord> records_;
};

}  // namespace lockstep
