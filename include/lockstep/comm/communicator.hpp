#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/base/dtype.hpp"

namespace lockstep {

enum class ReduceOp { sum, max, min };
enum class MemoryKind { host, cuda };

/// A message's memory: `count` elements of `dtype` at `data`, borrowed until the operation is done.
/// `stream` orders device memory (a cudaStream_t, null for the default one): the message holds what
/// was put there by the work in the stream so far. Null for host memory.
struct Buffer {
  void* data = nullptr;
  std::int64_t count = 0;
  DType dtype = DType::uint8;
  MemoryKind memory = MemoryKind::host;
  void* stream = nullptr;
};

Buffer buffer_of(std::span<std::byte> bytes);
Buffer buffer_of(std::span<std::int64_t> values);
Buffer buffer_of(std::span<float> values);
Buffer buffer_of(std::span<double> values);

/// A collective in flight. Must be waited for, also where the result is not needed. A Work that is
/// destroyed earlier, as when an exception unwinds, waits for nothing: the message is abandoned and
/// may still touch its buffer, so that the only thing left to do is to end the job.
class Work {
 public:
  class Impl {
   public:
    virtual ~Impl() = default;
    virtual void wait() = 0;
    virtual bool done() = 0;
  };

  /// Work that is done already.
  Work() = default;
  explicit Work(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

  /// Returns when the buffer may be read and reused; throws Error if the operation failed. Of a
  /// buffer in device memory that is said to its stream, not to the caller, who returns at once:
  /// whatever is put into the stream from then on may read and reuse the buffer.
  void wait();
  /// Moves the message on and tells whether it has arrived; throws Error if the operation failed.
  /// The answer differs from rank to rank: never decide by it what ranks must decide alike.
  bool done();

 private:
  std::unique_ptr<Impl> impl_;
};

/// A group of ranks and the collectives between them. Every operation is collective over all ranks,
/// which must call in the same order with equal counts, dtypes and roots; an empty buffer takes
/// part like any other. `purpose` names what the message is for, e.g. "gradients, bucket 2", and
/// appears in errors and logs. One thread at a time may use a communicator; two communicators may
/// be used by two threads.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// In place: every rank ends with the reduction of all ranks' buffers, bitwise equal everywhere
  /// (of a NaN sum, only that it is NaN). The maximum and the minimum of anything and NaN are NaN.
  virtual Work start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) = 0;
  /// Every rank ends with root's content.
  virtual Work start_broadcast(Buffer buffer, int root, std::string_view purpose) = 0;
  /// receive.count == size() * send.count; rank r's part lands at r * send.count. The two must not
  /// overlap.
  virtual Work start_all_gather(Buffer send, Buffer receive, std::string_view purpose) = 0;
  /// send.count == size() * receive.count; rank r ends with the reduction of every rank's r-th
  /// part. The two must not overlap; `send` is left as it was.
  virtual Work start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                                    std::string_view purpose) = 0;
  virtual void barrier(std::string_view purpose) = 0;

  /// A communicator over the same ranks whose messages never meet this one's. Collective.
  virtual std::unique_ptr<Communicator> duplicate(std::string_view purpose) = 0;

  // The blocking forms.
  void all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose);
  void broadcast(Buffer buffer, int root, std::string_view purpose);
  void all_gather(Buffer send, Buffer receive, std::string_view purpose);
  void reduce_scatter(Buffer send, Buffer receive, ReduceOp op, std::string_view purpose);
};

/// The global sum (or max, min) of one number. Collective.
std::int64_t all_reduce_value(Communicator& comm, std::int64_t value, ReduceOp op,
                              std::string_view purpose);
double all_reduce_value(Communicator& comm, double value, ReduceOp op, std::string_view purpose);

/// `text` of rank `root` on every rank. Collective.
std::string broadcast_text(Communicator& comm, std::string text, int root,
                           std::string_view purpose);

/// Every rank's text, by rank. Collective; lengths may differ.
std::vector<std::string> all_gather_text(Communicator& comm, const std::string& text,
                                         std::string_view purpose);

}  // namespace lockstep
