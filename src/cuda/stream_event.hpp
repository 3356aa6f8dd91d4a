#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// Throws Error with CUDA's own text unless `status` is success.
void check_cuda(const CudaApi& api, CudaStatus status, const std::string& attempted);

CudaStream stream_of(const Buffer& buffer);
/// Those of a message's memory, each once.
std::vector<CudaStream> streams_of(const Buffer& send, const Buffer& receive);

/// A stream of the highest priority, destroyed when it goes out of scope; work in it goes on.
class PriorityStream {
 public:
  explicit PriorityStream(const CudaApi& api);
  PriorityStream(const PriorityStream&) = delete;
  PriorityStream& operator=(const PriorityStream&) = delete;
  ~PriorityStream();

  CudaStream get() const { return stream_; }

 private:
  const CudaApi& api_;
  CudaStream stream_ = nullptr;
};

/// An event, destroyed when it goes out of scope; who waits for it already goes on waiting.
class Event {
 public:
  explicit Event(const CudaApi& api);
  Event(Event&& other) noexcept : api_(other.api_), event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event();

  /// Comes when everything is done that is in `stream` by now.
  void record(CudaStream stream);
  /// What is put into `stream` from now on waits for the event.
  void make_wait(CudaStream stream) const;
  /// Whether the event has come; throws Error where work before it failed.
  bool has_come() const;

 private:
  const CudaApi* api_;
  CudaEvent event_ = nullptr;
};

}  // namespace lockstep
