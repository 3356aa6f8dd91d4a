#pragma once

#include <unistd.h>

#include "lockstep/base/unique_handle.hpp"

namespace lockstep {

struct FileDescriptorTraits {
  using type = int;
  static int empty() { return -1; }
  static void release(int descriptor) noexcept { ::close(descriptor); }
};

/// A file, socket or pipe of the operating system.
using FileDescriptor = UniqueHandle<FileDescriptorTraits>;

}  // namespace lockstep
