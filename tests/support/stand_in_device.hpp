#pragma once

#include <cstddef>
#include <cstdint>

#include <c10/core/Device.h>

// A device of LibTorch's in host memory (its slot for other makers' devices, PrivateUse1), which
// stands in for a GPU where there is none. A program that links it has it. Its tensors cannot be
// read as CPU tensors, its backward passes run on a thread of their own, and its memory holds NaNs
// until something is written to it.
//
// The default stream computes at once. What is copied in another stream is copied late: when
// somebody who waits properly asks for it. Who does not wait computes with NaNs.

namespace lockstep::test {

inline at::Device stand_in_device() {
  return {c10::DeviceType::PrivateUse1, 0};
}

/// Whether `bytes` at `data` were given out as the device's memory.
bool is_stand_in_memory(const void* data, std::size_t bytes);

/// How often the host has waited for what the device was doing: for a number (Tensor::item()), for
/// a copy to the host that blocks.
std::int64_t host_waits();

/// From here on the device holds so many bytes at once and no more.
void limit_memory(std::size_t bytes);

/// How many copies from the host to the device went in a stream beside the default one.
std::int64_t copies_beside();

}  // namespace lockstep::test
