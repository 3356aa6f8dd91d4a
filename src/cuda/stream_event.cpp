#include "cuda/stream_event.hpp"

#include "lockstep/base/error.hpp"

namespace lockstep {

CudaStream stream_of(const Buffer& buffer) {
  return static_cast<CudaStream>(buffer.stream);
}

std::vector<CudaStream> streams_of(const Buffer& send, const Buffer& receive) {
  if (send.stream == receive.stream) return {stream_of(send)};
  return {stream_of(send), stream_of(receive)};
}

void check_cuda(const CudaApi& api, CudaStatus status, const std::string& attempted) {
  if (status == CudaStatus::success) return;
  throw Error(attempted, api.error_text(status),
              status == CudaStatus::out_of_memory
                  ? "a lower batch_size with more grad_accum_steps; nvidia-smi shows who else uses "
                    "the GPU's memory"
                  : "nvidia-smi shows whether the GPU works and who uses it");
}

PriorityStream::PriorityStream(const CudaApi& api) : api_(api) {
  int least = 0;
  int greatest = 0;
  check_cuda(api, api.priority_range(&least, &greatest), "ask for the priorities of streams");
  check_cuda(api, api.create_stream(&stream_, greatest), "create a stream for collectives");
}

PriorityStream::~PriorityStream() {
  api_.destroy_stream(stream_);
}

Event::Event(const CudaApi& api) : api_(&api) {
  check_cuda(api, api.create_event(&event_), "create an event");
}

Event::~Event() {
  if (event_ != nullptr) api_->destroy_event(event_);
}

void Event::record(CudaStream stream) {
  check_cuda(*api_, api_->record_event(event_, stream), "record an event");
}

void Event::make_wait(CudaStream stream) const {
  check_cuda(*api_, api_->wait_event(stream, event_), "make a stream wait");
}

bool Event::has_come() const {
  const CudaStatus status = api_->query_event(event_);
  if (status == CudaStatus::not_ready) return false;
  check_cuda(*api_, status, "compute on the GPU");
  return true;
}

}  // namespace lockstep
