#pragma once

#include <optional>
#include <span>

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

namespace lockstep {

/// Numbers of a device on their way to the host: copied when what is queued on the device by now is
/// done, while the host goes on.
class HostCopy {
 public:
  /// `numbers`: float64. On a CPU they are here at once.
  explicit HostCopy(const at::Tensor& numbers);

  /// Waits until they are here. Row-major; they live as long as this object.
  std::span<const double> wait() const;

 private:
  at::Tensor here_;  // pinned where they come from a GPU
  std::optional<c10::Event> arrived_;
};

}  // namespace lockstep
