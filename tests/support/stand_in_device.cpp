#include "support/stand_in_device.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/_copy_from_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

namespace lockstep::test {
namespace {

constexpr c10::DeviceType kind = c10::DeviceType::PrivateUse1;

std::atomic<std::int64_t> waits{0};
std::atomic<std::int64_t> beside{0};

// ---- Streams

/// Work that waits until somebody asks for it; the default stream's is never put here.
class LateStream {
 public:
  void push(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    ++pushed_;
  }
  std::int64_t pushed() {
    const std::lock_guard lock(mutex_);
    return pushed_;
  }
  bool done(std::int64_t position) {
    const std::lock_guard lock(mutex_);
    return done_ >= position;
  }
  /// Does what was there at `position`.
  void run_to(std::int64_t position) {
    const std::lock_guard lock(mutex_);
    while (done_ < position) {
      queue_.front()();
      queue_.pop_front();
      ++done_;
    }
  }

 private:
  std::mutex mutex_;
  std::deque<std::function<void()>> queue_;
  std::int64_t pushed_ = 0;
  std::int64_t done_ = 0;
};

constexpr c10::StreamId pool = 3;
std::array<LateStream, pool + 1> streams;  // the first is the default one's place and stays empty
thread_local c10::StreamId current = 0;

c10::Stream stream_of(c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, stand_in_device(), id);
}

LateStream& late(c10::StreamId id) {
  return streams.at(static_cast<std::size_t>(id));
}

struct Event {
  c10::StreamId stream = 0;
  std::int64_t position = 0;
};

/// What LibTorch asks a kind of device for.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kind; }
  c10::Device exchangeDevice(c10::Device /*device*/) const override { return stand_in_device(); }
  c10::Device getDevice() const override { return stand_in_device(); }
  void setDevice(c10::Device /*device*/) const override {}
  void uncheckedSetDevice(c10::Device /*device*/) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device /*device*/) const override { return stream_of(current); }
  c10::Stream getDefaultStream(c10::Device /*device*/) const override { return stream_of(0); }
  c10::Stream getStreamFromGlobalPool(c10::Device /*device*/, bool /*high*/) const override {
    static std::atomic<c10::StreamId> next{0};
    return stream_of(1 + next++ % pool);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return stream_of(std::exchange(current, stream.id()));
  }
  bool queryStream(const c10::Stream& stream) const override {
    return late(stream.id()).done(late(stream.id()).pushed());
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    late(stream.id()).run_to(late(stream.id()).pushed());
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex /*device*/,
              c10::EventFlag /*flag*/) const override {
    if (*event == nullptr) *event = new Event;
    *static_cast<Event*>(*event) = {stream.id(), late(stream.id()).pushed()};
  }
  void block(void* event, const c10::Stream& stream) const override {
    const Event waited = *static_cast<Event*>(event);
    const auto wait = [waited] { late(waited.stream).run_to(waited.position); };
    if (stream.id() == 0) {
      wait();
    } else {
      late(stream.id()).push(wait);
    }
  }
  bool queryEvent(void* event) const override {
    const Event asked = *static_cast<Event*>(event);
    return late(asked.stream).done(asked.position);
  }
  void synchronizeEvent(void* event) const override {
    const Event waited = *static_cast<Event*>(event);
    late(waited.stream).run_to(waited.position);
  }
  void destroyEvent(void* event, c10::DeviceIndex /*device*/) const noexcept override {
    delete static_cast<Event*>(event);
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// ---- Memory

std::mutex blocks_mutex;
std::map<const std::byte*, std::size_t>& blocks() {
  static auto* const lasting = new std::map<const std::byte*, std::size_t>;
  return *lasting;
}

std::size_t memory_limit = std::numeric_limits<std::size_t>::max();
std::size_t memory_used = 0;

/// Throws what LibTorch throws where a GPU's memory is full, in the words it uses for CUDA's.
void add_block(const void* data, std::size_t bytes) {
  const std::lock_guard lock(blocks_mutex);
  TORCH_CHECK_WITH(OutOfMemoryError, bytes <= memory_limit - std::min(memory_used, memory_limit),
                   "CUDA out of memory. Tried to allocate ", bytes,
                   " bytes. GPU 0 has a capacity of ", memory_limit, " bytes.");
  blocks()[static_cast<const std::byte*>(data)] = bytes;
  memory_used += bytes;
}

void free_block(void* data) {
  {
    const std::lock_guard lock(blocks_mutex);
    if (const auto block = blocks().find(static_cast<const std::byte*>(data));
        block != blocks().end()) {
      memory_used -= block->second;
      blocks().erase(block);
    }
  }
  std::free(data);
}

class Memory final : public c10::Allocator {
 public:
  explicit Memory(c10::Device device) : device_(device) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = std::malloc(bytes == 0 ? 1 : bytes);
    TORCH_CHECK(data != nullptr, "no memory");
    c10::DataPtr owner(data, data, &free_block, device_);
    std::memset(data, 0xFF, bytes);  // NaN as any floating-point number, -1 as an integer
    if (!device_.is_cpu()) add_block(data, bytes);
    return owner;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  c10::Device device_;
};

Memory device_memory(stand_in_device());
Memory pinned_memory(c10::Device(c10::DeviceType::CPU));
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &device_memory);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*device*/) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex /*device*/) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex /*device*/) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex /*device*/) const override { return 0; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_memory; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex /*device*/) const override {
    static const at::Generator generator = at::detail::createCPUGenerator(0);
    return generator;
  }
};

const bool hooks_registered = [] {
  static Hooks hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
  c10::register_privateuse1_backend("stand_in");
  return true;
}();

// ---- Operators: the CPU's, on the same memory

/// The tensor as one of the CPU's; an empty one can be resized.
at::Tensor on_cpu(const at::Tensor& tensor) {
  const auto options = tensor.options().device(at::kCPU).requires_grad(false);
  if (tensor.numel() == 0) return at::empty(tensor.sizes(), options);
  return at::from_blob(
      tensor.data_ptr(), tensor.sizes(), tensor.strides(), [tensor](void*) {}, options);
}

/// The CPU's tensor as one of the device.
at::Tensor on_device(const at::Tensor& tensor) {
  auto* keeper = new at::Tensor(tensor);
  c10::DataPtr data(
      tensor.storage().mutable_data(), keeper,
      [](void* kept) { delete static_cast<at::Tensor*>(kept); }, stand_in_device());
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(c10::Storage::use_byte_size_t(), tensor.storage().nbytes(), std::move(data),
                   &device_memory, /*resizable=*/false),
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), tensor.dtype());
  result.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(),
                                                      tensor.storage_offset());
  return result;
}

bool is_ours(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kind;
}

/// Which of the CPU's tensors stand for which of the device's in one call.
class Exchange {
 public:
  c10::IValue to_cpu(const c10::IValue& value) {
    if (value.isTensor()) return to_cpu(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(to_cpu(tensor));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList()) {
        list.push_back(tensor ? std::optional(to_cpu(*tensor)) : std::nullopt);
      }
      return list;
    }
    if (value.isDevice() && value.toDevice().type() == kind) return c10::Device(at::kCPU);
    return value;
  }

  /// What an operator has made of empty tensors that were its results' places.
  void adopt_resized() {
    for (const auto& [ours, cpus] : pairs_) {
      if (ours.numel() != 0 || cpus.numel() == 0) continue;
      ours.unsafeGetTensorImpl()->set_storage_keep_dtype(on_device(cpus).storage());
      ours.unsafeGetTensorImpl()->set_sizes_and_strides(cpus.sizes(), cpus.strides());
    }
  }

  /// As a GPU's operators do: what computes takes none of the CPU's tensors but single numbers.
  void refuse_mixed_devices(const std::string& op) const {
    constexpr std::array copies{"aten::copy_", "aten::_to_copy"};
    TORCH_CHECK(!saw_cpus_ || pairs_.empty() || std::ranges::find(copies, op) != copies.end(), op,
                ": expected all tensors to be on the same device");
  }

  c10::IValue to_device(const c10::IValue& value) const {
    if (value.isTensor()) return to_device(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(to_device(tensor));
    return list;
  }

 private:
  at::Tensor to_cpu(const at::Tensor& tensor) {
    if (!is_ours(tensor)) {
      if (tensor.defined() && tensor.dim() > 0) saw_cpus_ = true;
      return tensor;
    }
    return pairs_.emplace_back(tensor, on_cpu(tensor)).second;
  }
  at::Tensor to_device(const at::Tensor& tensor) const {
    if (!tensor.defined()) return tensor;
    for (const auto& [ours, cpus] : pairs_) {
      if (cpus.is_same(tensor)) return ours;
    }
    return on_device(tensor);
  }

  std::deque<std::pair<at::Tensor, at::Tensor>> pairs_;
  bool saw_cpus_ = false;
};

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::size_t arguments = op.schema().arguments().size();
  const std::size_t first = stack->size() - arguments;
  Exchange exchange;
  for (std::size_t i = first; i < stack->size(); ++i) (*stack)[i] = exchange.to_cpu((*stack)[i]);
  exchange.refuse_mixed_devices(op.schema().name());
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  exchange.adopt_resized();
  for (std::size_t i = first; i < stack->size(); ++i) (*stack)[i] = exchange.to_device((*stack)[i]);
}

void read_a_number(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ++waits;
  const at::Tensor tensor = on_cpu(stack->back().toTensor());
  stack->back() = tensor;
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
}

at::Tensor make_empty(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                      std::optional<at::Layout> /*layout*/, std::optional<at::Device> /*device*/,
                      std::optional<bool> /*pinned*/, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &device_memory,
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   dtype.value_or(at::kFloat), format);
}

at::Tensor make_empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                              std::optional<at::ScalarType> dtype,
                              std::optional<at::Layout> /*layout*/,
                              std::optional<at::Device> /*device*/,
                              std::optional<bool> /*pinned*/) {
  return at::detail::empty_strided_generic(sizes, strides, &device_memory,
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           dtype.value_or(at::kFloat));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const at::Tensor source = is_ours(from) ? on_cpu(from) : from;
  const at::Tensor target = is_ours(to) ? on_cpu(to) : to;
  const bool to_host = !is_ours(to);
  if (to_host && !non_blocking) ++waits;
  if (current == 0) {
    target.copy_(source);
  } else {
    TORCH_CHECK(non_blocking, "a blocking copy beside the default stream");
    ++beside;
    late(current).push([source, target] { target.copy_(source); });
  }
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  return copy_from(from, to, /*non_blocking=*/false);
}

bool shallow_copies(const at::Tensor& /*self*/, const at::Tensor& /*from*/) {
  return true;
}

void record_stream(at::Tensor& /*tensor*/, c10::Stream /*stream*/) {}

torch::CppFunction on_the_cpu() {
  return torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>();
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(on_the_cpu());
}

// Autocast has no effect: operations compute in what they are given.
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &make_empty);
  library.impl("empty_strided", &make_empty_strided);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view", &at::native::view);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", torch::CppFunction::makeFromBoxedFunction<&read_a_number>());
  library.impl("_has_compatible_shallow_copy_type", &shallow_copies);
  library.impl("record_stream", &record_stream);
  // Else these look for an implementation by the kind of device.
  library.impl("convolution", on_the_cpu());
  library.impl("convolution_backward", on_the_cpu());
  library.impl("native_group_norm", on_the_cpu());
  library.impl("native_group_norm_backward", on_the_cpu());
}

}  // namespace

bool is_stand_in_memory(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  const std::lock_guard lock(blocks_mutex);
  auto block = blocks().upper_bound(begin);
  if (block == blocks().begin()) return false;
  --block;
  return begin + bytes <= block->first + block->second;
}

void limit_memory(std::size_t bytes) {
  const std::lock_guard lock(blocks_mutex);
  memory_limit = bytes;
}

std::int64_t host_waits() {
  return waits;
}

std::int64_t copies_beside() {
  return beside;
}

}  // namespace lockstep::test
