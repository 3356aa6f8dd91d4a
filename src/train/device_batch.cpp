#include "lockstep/train/device_batch.hpp"

#include <memory>

#include <ATen/ops/from_blob.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "lockstep/model/dtype.hpp"

namespace lockstep {
namespace {

at::Tensor images_in(Batch& batch) {
  const ImageShape& shape = batch.image_shape;
  return at::from_blob(batch.images.data(),
                       {batch.samples, shape.channels, shape.height, shape.width}, at::kFloat);
}

at::Tensor labels_in(Batch& batch) {
  return at::from_blob(batch.labels.data(), {batch.samples}, at::kLong);
}

/// Whoever drops it waits for the event.
class WaitWhenDropped {
 public:
  explicit WaitWhenDropped(c10::DeviceType type) : event_(type) {}
  WaitWhenDropped(const WaitWhenDropped&) = delete;
  WaitWhenDropped& operator=(const WaitWhenDropped&) = delete;
  ~WaitWhenDropped() {
    try {
      event_.synchronize();
    } catch (const std::exception&) {
      // The device has failed: it copies no more, and who uses it next is told so.
    }
  }

  c10::Event& event() { return event_; }

 private:
  c10::Event event_;
};

}  // namespace

BatchUpload::BatchUpload(at::Device device, DType dtype)
    : device_(device), type_(scalar_type_of(dtype)) {
  if (device.is_cpu()) return;
  copies_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

DeviceBatch BatchUpload::operator()(Batch& batch) const {
  const at::TensorOptions options = at::TensorOptions(device_).dtype(type_);
  if (!copies_) {
    return {.images = images_in(batch).to(options, /*non_blocking=*/false, /*copy=*/true,
                                          at::MemoryFormat::ChannelsLast),
            .labels = labels_in(batch)};
  }
  const c10::Stream computing = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  const auto copied = std::make_shared<WaitWhenDropped>(device_.type());
  DeviceBatch there;
  {
    const c10::StreamGuard beside(*copies_);
    there.images = images_in(batch).to(device_, /*non_blocking=*/true);
    there.labels = labels_in(batch).to(device_, /*non_blocking=*/true);
    copied->event().record(*copies_);
  }
  batch.reading = copied;
  copied->event().block(computing);
  // Their memory belongs to the copies' stream: it must not be given to a later copy while it is
  // still computed with.
  there.images.record_stream(computing);
  there.labels.record_stream(computing);
  there.images = there.images.to(options, /*non_blocking=*/true, /*copy=*/false,
                                 at::MemoryFormat::ChannelsLast);
  return there;
}

}  // namespace lockstep
