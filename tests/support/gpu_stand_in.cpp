#include "support/gpu_stand_in.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lockstep {
namespace {

constexpr auto invalid_value = static_cast<CudaStatus>(1);
constexpr auto invalid_device = static_cast<CudaStatus>(101);

}  // namespace

GpuStandIn::GpuStandIn(Communicator& world, int communicators, std::size_t largest_message)
    : nccl_(world, communicators, streams_, largest_message,
            [this](const void* data, std::size_t bytes) { return is_device_memory(data, bytes); }) {
  GpuProperties own{.name = "Stand-in", .memory_bytes = 1 << 20, .compute_major = 9};
  own.uuid.back() = static_cast<std::byte>(world.rank() + 1);
  devices.push_back(own);
  api_ = {cuda_api(), nccl_.api()};
  record_calls();
}

GpuStandIn::~GpuStandIn() {
  nccl_.abort_all();
  streams_.stop();
}

void GpuStandIn::finish() {
  nccl_.abort_all();
  streams_.stop();
  nccl_.finish();
}

CudaApi GpuStandIn::cuda_api() {
  CudaApi api;
  api.device_count = [this](int* count) {
    *count = static_cast<int>(devices.size());
    return CudaStatus::success;
  };
  api.set_device = [this](int device) {
    return device < static_cast<int>(devices.size()) ? CudaStatus::success : invalid_device;
  };
  api.get_properties = [this](GpuProperties* properties, int device) {
    *properties = devices.at(static_cast<std::size_t>(device));
    return CudaStatus::success;
  };
  api.memory_info = [this](std::size_t* free, std::size_t* total) {
    *total = devices.front().memory_bytes;
    *free = *total;
    return CudaStatus::success;
  };
  api.error_text = [](CudaStatus status) {
    return "stand-in CUDA error " + std::to_string(static_cast<int>(status));
  };
  api.begin_range = [](const char* /*name*/) {};
  api.end_range = [] {};
  add_memory(api);
  add_streams(api);
  return api;
}

void GpuStandIn::add_memory(CudaApi& api) {
  const auto allocate_in = [this](auto& memory) {
    return [this, &memory](void** data, std::size_t bytes) {
      const std::lock_guard lock(mutex_);
      auto block = std::make_unique<std::vector<std::byte>>(std::max<std::size_t>(bytes, 1));
      *data = block->data();
      memory[block->data()] = std::move(block);
      return CudaStatus::success;
    };
  };
  const auto free_from = [this](auto& memory) {
    return [this, &memory](void* data) {
      const std::lock_guard lock(mutex_);
      return memory.erase(static_cast<std::byte*>(data)) == 1 ? CudaStatus::success : invalid_value;
    };
  };
  api.allocate = allocate_in(device_memory_);
  api.free = free_from(device_memory_);
  api.allocate_pinned = allocate_in(pinned_memory_);
  api.free_pinned = free_from(pinned_memory_);
  api.copy_async = [this](void* to, const void* from, std::size_t bytes, CudaStream stream) {
    streams_.put(stream, [=] { std::memcpy(to, from, bytes); });
    return CudaStatus::success;
  };
}

void GpuStandIn::add_streams(CudaApi& api) {
  api.priority_range = [](int* least, int* greatest) {
    *least = 0;
    *greatest = greatest_priority;
    return CudaStatus::success;
  };
  api.create_stream = [this](CudaStream* stream, int priority) {
    *stream = streams_.create(priority);
    const std::lock_guard lock(mutex_);
    open_streams_.insert(*stream);
    return CudaStatus::success;
  };
  api.destroy_stream = [this](CudaStream stream) {
    const std::lock_guard lock(mutex_);
    return open_streams_.erase(stream) == 1 ? CudaStatus::success : invalid_value;
  };
  api.synchronize_stream = [this](CudaStream stream) {
    streams_.synchronize(stream);
    return CudaStatus::success;
  };
  api.wait_event = [this](CudaStream stream, CudaEvent event) {
    streams_.wait(stream, event);
    return CudaStatus::success;
  };
  api.create_event = [this](CudaEvent* event) {
    const std::lock_guard lock(mutex_);
    *event = events_.emplace_back(std::make_unique<CudaEventObject>()).get();
    open_events_.insert(*event);
    return CudaStatus::success;
  };
  api.record_event = [this](CudaEvent event, CudaStream stream) {
    streams_.record(event, stream);
    return CudaStatus::success;
  };
  api.query_event = [this](CudaEvent event) {
    return streams_.has_come(event) ? CudaStatus::success : CudaStatus::not_ready;
  };
  api.destroy_event = [this](CudaEvent event) {
    const std::lock_guard lock(mutex_);
    return open_events_.erase(event) == 1 ? CudaStatus::success : invalid_value;
  };
}

template <typename Result, typename... Arguments>
void GpuStandIn::record(std::function<Result(Arguments...)>& function, std::string name) {
  function = [this, name = std::move(name), inner = std::move(function)](Arguments... arguments) {
    note(name);
    return inner(arguments...);
  };
}

void GpuStandIn::record_calls() {
  record(api_.cuda.device_count, "device_count");
  record(api_.cuda.set_device, "set_device");
  record(api_.cuda.get_properties, "get_properties");
  record(api_.cuda.memory_info, "memory_info");
  record(api_.cuda.allocate, "allocate");
  record(api_.cuda.free, "free");
  record(api_.cuda.allocate_pinned, "allocate_pinned");
  record(api_.cuda.free_pinned, "free_pinned");
  record(api_.cuda.copy_async, "copy_async");
  record(api_.cuda.priority_range, "priority_range");
  record(api_.cuda.create_stream, "create_stream");
  record(api_.cuda.destroy_stream, "destroy_stream");
  record(api_.cuda.synchronize_stream, "synchronize_stream");
  record(api_.cuda.wait_event, "wait_event");
  record(api_.cuda.create_event, "create_event");
  record(api_.cuda.record_event, "record_event");
  record(api_.cuda.query_event, "query_event");
  record(api_.cuda.destroy_event, "destroy_event");
  record(api_.nccl.unique_id, "unique_id");
  record(api_.nccl.init, "init");
  record(api_.nccl.async_error, "async_error");
  record(api_.nccl.finalize, "finalize");
  record(api_.nccl.destroy, "destroy");
  record(api_.nccl.abort, "abort");
  record(api_.nccl.all_reduce, "all_reduce");
  record(api_.nccl.broadcast, "broadcast");
  record(api_.nccl.all_gather, "all_gather");
  record(api_.nccl.reduce_scatter, "reduce_scatter");
  record(api_.nccl.group_start, "group_start");
  record(api_.nccl.group_end, "group_end");
}

void GpuStandIn::note(const std::string& name) {
  if (std::this_thread::get_id() == home_) {
    if (on_call) on_call(name);
    const std::lock_guard lock(mutex_);
    calls_.push_back(name);
  } else {
    const std::lock_guard lock(mutex_);
    ++calls_elsewhere_[name];
    called_.notify_all();
  }
}

std::vector<std::string> GpuStandIn::calls() {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void GpuStandIn::clear_calls() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
}

int GpuStandIn::calls_of(std::string_view name) {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::ranges::count(calls_, name));
}

void GpuStandIn::wait_for_calls_elsewhere(const std::string& name, int times) {
  std::unique_lock lock(mutex_);
  const int enough = calls_elsewhere_[name] + times;
  called_.wait(lock, [&] { return calls_elsewhere_[name] >= enough; });
}

bool GpuStandIn::is_device_memory(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  if (is_others_device_memory && is_others_device_memory(data, bytes)) return true;
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(device_memory_, [&](const auto& entry) {
    const std::vector<std::byte>& block = *entry.second;
    return begin >= block.data() && begin + bytes <= block.data() + block.size();
  });
}

int GpuStandIn::open_objects() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(open_streams_.size() + open_events_.size() + device_memory_.size() +
                          pinned_memory_.size()) +
         nccl_.open();
}

}  // namespace lockstep
