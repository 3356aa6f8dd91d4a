#pragma once

#include "lockstep/base/file_descriptor.hpp"

namespace lockstep {

/// Wakes threads that wait in poll(), once and for good. Any thread may call any member.
class WakeEvent {
 public:
  /// Throws Error where the system gives no descriptor.
  WakeEvent();

  void set() noexcept;
  bool is_set() const { return wait_for(0.0); }
  /// Returns whether it was set before the time was up.
  bool wait_for(double seconds) const;
  /// Readable (POLLIN) from set() on; not to be read from.
  int descriptor() const { return descriptor_.get(); }

 private:
  FileDescriptor descriptor_;
};

}  // namespace lockstep
