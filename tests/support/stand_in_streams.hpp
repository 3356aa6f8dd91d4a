#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// Whether an event's last record has come.
struct StandInMark {
  bool has_come = false;
};

struct CudaEventObject {
  std::shared_ptr<StandInMark> last;
};

/// CUDA's streams and events on the host: each stream is a queue of work that a thread of its own
/// does in order. A stream can be held, as a GPU that is late: what is in it waits.
class StandInStreams {
 public:
  using Kernel = std::function<void()>;

  StandInStreams();
  StandInStreams(const StandInStreams&) = delete;
  StandInStreams& operator=(const StandInStreams&) = delete;
  ~StandInStreams();

  CudaStream create(int priority);
  /// Of that priority, which exactly one has.
  CudaStream find(int priority);

  // A null stream is the default one; it waits for no other and no other for it.
  void put(CudaStream stream, Kernel kernel);
  void record(CudaEvent event, CudaStream stream);
  void wait(CudaStream stream, CudaEvent event);
  bool has_come(CudaEvent event);
  /// Returns when the stream is empty.
  void synchronize(CudaStream stream);

  void hold(CudaStream stream);
  void release(CudaStream stream);
  /// Returns when nothing can go on: each stream is empty, held, or waits for an event. What was
  /// put into the streams and does not wait for what it should has then been done too early.
  void settle();

  /// Ends the threads; what was not begun is dropped.
  void stop();

 private:
  struct Task {
    std::shared_ptr<StandInMark> needs;  ///< null: nothing
    Kernel kernel;
    std::shared_ptr<StandInMark> marks;
  };
  friend struct CudaStreamObject;

  CudaStreamObject& object(CudaStream stream);
  void add(CudaStream stream, Task task);
  void work(CudaStreamObject& stream);
  bool can_go_on(const CudaStreamObject& stream) const;

  std::mutex mutex_;  ///< of everything but what kernels do
  std::condition_variable changed_;
  std::vector<std::unique_ptr<CudaStreamObject>> streams_;
  bool stopping_ = false;
};

struct CudaStreamObject {
  int priority = 0;
  bool held = false;
  bool busy = false;
  std::deque<StandInStreams::Task> tasks;
  std::thread thread;
};

}  // namespace lockstep
