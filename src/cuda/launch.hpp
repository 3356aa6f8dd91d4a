#pragma once

#include <string>
#include <vector>

#include "cuda/stream_event.hpp"

namespace lockstep {

/// A collective, or a group of them, from when it is asked for until it is done. Events order it:
/// its own stream waits for the buffers' streams before it, and they for it behind.
class Launch {
 public:
  /// `api` is borrowed.
  explicit Launch(const CudaApi& api) : api_(api), done_(api) {}

  /// A collective that is part of it; `own` waits for what is in `streams` by now.
  void add(const std::string& what, const std::vector<CudaStream>& streams, CudaStream own);
  /// Everything is in `own`.
  void mark_launched(CudaStream own);

  /// `stream` waits until the launch is done. Throws Error where it was not launched.
  void make_wait(CudaStream stream) const;
  /// Whether the data is there, so that it takes place, if all before it is done and others are as
  /// far. Throws Error where the work before it failed, as the next one.
  bool is_ready() const;
  bool is_done() const;

  /// What it is, for errors.
  const std::string& what() const { return what_; }

 private:
  const CudaApi& api_;
  std::string what_;
  std::vector<Event> ready_;
  Event done_;
  bool launched_ = false;
};

}  // namespace lockstep
