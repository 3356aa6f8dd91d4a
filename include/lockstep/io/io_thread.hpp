#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "lockstep/base/error.hpp"

namespace lockstep {

/// The one thread of a rank that calls HDF5, which is not thread-safe: it brings the library up and
/// down and does what it is handed in the order it was handed. Collective work must be submitted in
/// the same order on every rank. At most one a process at a time.
class IoThread {
 public:
  IoThread() : IoThread(nullptr) {}
  /// Calls `moved` on the thread before and after each piece of work.
  explicit IoThread(std::function<void()> moved);
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;
  /// Does what is still queued, then ends the thread.
  ~IoThread();

  /// Queues `work` and returns at once. Its result or exception comes through the future, whose
  /// destruction does not wait. `work` owns, or its caller keeps alive, all it refers to.
  template <typename F>
  auto submit(F&& work) -> std::future<std::invoke_result_t<std::decay_t<F>&>> {
    using Result = std::invoke_result_t<std::decay_t<F>&>;
    // Shared because std::function wants a copyable target.
    auto task = std::make_shared<std::packaged_task<Result()>>(std::forward<F>(work));
    auto result = task->get_future();
    enqueue([task] { (*task)(); });
    return result;
  }

  /// Does `work` on the thread and waits for its result. Throws Error on the thread itself, where
  /// it would wait for ever.
  template <typename F>
  auto run(F&& work) {
    check(std::this_thread::get_id() != thread_.get_id(), "run work on the IO thread",
          "the caller is the IO thread itself");
    return submit(std::forward<F>(work)).get();
  }

 private:
  void enqueue(std::function<void()> work);
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool ending_ = false;
  std::function<void()> moved_;
  std::thread thread_;
};

}  // namespace lockstep
